#!/usr/bin/env bash
# Licences, doubles, sources and advisories of the dependencies, by cargo-deny and .cargo/deny.toml.
#
# tests/repository/deny.sh [DATABASE]: a git repository with RustSec's database in place of that on GitHub. Where neither can be read,
# advisories are left out, and a line says so.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
command -v cargo-deny >/dev/null || fail "no cargo-deny here: cargo install --locked cargo-deny"
url=$(sed -n 's/^db-urls = \["\(.*\)"\]/\1/p' .cargo/deny.toml)
if [ -n "${1:-}" ]; then
    export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.file://$(realpath "$1").insteadOf" GIT_CONFIG_VALUE_0=$url
fi
checks=(licenses bans sources)
if git ls-remote --quiet "$url" HEAD >/dev/null 2>&1; then
    checks+=(advisories)
else
    echo "SKIPPED advisories: $url cannot be read"
fi
cargo-deny --all-features --locked --config .cargo/deny.toml check "${checks[@]}"
