#!/usr/bin/env python3
"""Makes the changes that .github/CONTRIBUTING.md describes in a scratch copy, and checks its lists of files.

    tests/repository/contributing.py             each change by itself: the files that it edits are listed, and it compiles
    tests/repository/contributing.py --without   also without each of these files in turn: it must not compile, but for
                                                 files that a test asks for
    tests/repository/contributing.py --texts     only whether the files have what a change replaces
    tests/repository/contributing.py look ...    only these

A change adds a member beside one that exists: a look beside `thermal`, and so on. `cargo check` takes the packages that are
built below target, so it takes a minute for each. What is generated, and what lists members in documents, is compared by
tests/repository/contributing.rs, in the suite.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# For each section of CONTRIBUTING.md the edits: file, text that it has, text in place of that.
CHANGES = {
    "look": [
        (
            "src/core/spec/parameters/look.rs",
            'Exact = "exact", "Textbook',
            'Dusk = "dusk", "As thermal, to try";\n        Exact = "exact", "Textbook',
        ),
        ("src/core/spec/parameters/look.rs", "Look::Thermal => THERMAL,", "Look::Thermal | Look::Dusk => THERMAL,"),
    ],
    "option": [
        ("src/core/options/mod.rs", "    pub gray: bool,\n", "    pub gray: bool,\n    /// To try.\n    #[doc(hidden)]\n    pub tried: bool,\n"),
        (
            "src/core/options/table.rs",
            '    OptionInfo {\n        name: "roi",',
            '    OptionInfo {\n        name: "tried",\n        section: Section::Equalization,\n        kind: ValueKind::Flag,\n'
            '        placeholder: "",\n        values: "true or false",\n        default: "false",\n        summary: "To try",\n'
            '        details: "",\n        parse: |options, text| text.parse().ok().map(|tried| options.tried = tried),\n'
            "        report: |_, settings| Some(OptionValue::Flag(settings.tried)),\n    },\n"
            '    OptionInfo {\n        name: "roi",',
        ),
        (
            "src/core/options/setters.rs",
            "            /// Leaves luma alone",
            "            /// To try; false by default.\n            fn tried(tried: bool) => |options, tried| options.tried = tried;\n\n"
            "            /// Leaves luma alone",
        ),
        (
            "src/core/options/resolve.rs",
            "keeps_peak: self.look != Look::Exact,",
            "keeps_peak: self.look != Look::Exact,\n            tried: self.tried,",
        ),
        (
            "src/core/spec/parameters/settings.rs",
            "    pub keeps_peak: bool,\n",
            "    pub keeps_peak: bool,\n    /// To try.\n    pub tried: bool,\n",
        ),
        ("src/core/cuda/pipeline/task.rs", "keeps_peak: _,", "keeps_peak: _,\n            tried: _,"),
    ],
    "pixel format": [
        (
            "src/core/frame/format.rs",
            '    P016le | P016be = ',
            '    Nv20le | Nv20be = "nv20le" | "nv20be", semi_planar(sample(10), 1, 0);\n    P016le | P016be = ',
        ),
    ],
    "encoder": [
        (
            "src/media/sink/encoder/table.rs",
            '    row("flv", Quantizer',
            '    row("snow", Quantizer, Some(2.0), None, &[]),\n    row("flv", Quantizer',
        ),
    ],
    "kind of output": [
        ("src/media/sink/kind.rs", "    /// One file, or one stream, of", "    /// To try.\n    Tried,\n    /// One file, or one stream, of"),
        (
            "src/media/sink/kind.rs",
            "        if let Some(framing) = framing(name, format) {",
            '        if format == Some("tried") {\n            OutputKind::Tried\n        } else if let Some(framing) = framing(name, format) {',
        ),
        (
            "src/media/sink/kind.rs",
            "OutputKind::VirtualCamera | OutputKind::Server | OutputKind::Segments | OutputKind::File => true,",
            "OutputKind::VirtualCamera | OutputKind::Server | OutputKind::Segments | OutputKind::File | OutputKind::Tried => true,",
        ),
        (
            "src/media/sink/open.rs",
            "OutputKind::Images | OutputKind::Segments | OutputKind::File => {",
            "OutputKind::Images | OutputKind::Segments | OutputKind::File | OutputKind::Tried => {",
        ),
        *(
            ("src/media/sink/kind.rs", f"            | OutputKind::File => {end}", f"            | OutputKind::File\n            | OutputKind::Tried => {end}")
            for end in ("false,", "true,", "Files::One,")
        ),
    ],
    "backend": [
        (
            "src/core/equalize/backend/opening.rs",
            '        Cuda = "cuda", "An NVIDIA GPU, or an error";',
            '        Cuda = "cuda", "An NVIDIA GPU, or an error";\n        Tried = "tried", "To try";',
        ),
        ("src/core/equalize/backend/opening.rs", "            Backend::Cpu => false,", "            Backend::Cpu | Backend::Tried => false,"),
        ("src/core/equalize/backend/opening.rs", "Backend::Auto | Backend::Cpu => false,", "Backend::Auto | Backend::Cpu | Backend::Tried => false,"),
    ],
}

# tests/core/conformance/cases.rs asks for a row of each field, and setters.rs itself for a setter of each row.
ASKED_FOR_BY_A_TEST = {"src/core/options/table.rs", "src/core/options/setters.rs"}


def listed(name):
    """The files that the section about this change lists."""
    text = (ROOT / ".github/CONTRIBUTING.md").read_text()
    section = re.search(rf"^### (?:An?) {re.escape(name)}\n(.*?)(?=^##|\Z)", text, re.M | re.S)
    if not section:
        sys.exit(f"CONTRIBUTING.md has no section about a {name}")
    return set(re.findall(r"^\| `([^`]+)`", section[1], re.M))


def edited(folder, changes):
    """The files of the changes, with what is in them then."""
    texts = {}
    for file, old, new in changes:
        text = texts[file] if file in texts else (folder / file).read_text()
        if old not in text:
            sys.exit(f"{file} has no {old!r}: tests/repository/contributing.py is out of date")
        texts[file] = text.replace(old, new, 1)
    return texts


def edit(folder, changes):
    for file, text in edited(folder, changes).items():
        (folder / file).write_text(text)


def check(folder):
    command = ["cargo", "check", "--quiet", "--locked", "--workspace", "--all-targets", "--target-dir", str(ROOT / "target")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def main():
    names = [name for name in sys.argv[1:] if not name.startswith("-")] or list(CHANGES)
    if "--texts" in sys.argv:
        for name in names:
            edited(ROOT, CHANGES[name])
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "copy"
        git = lambda *words: subprocess.run(["git", *words], check=True, capture_output=True, text=True)
        git("-C", str(ROOT), "worktree", "add", "--detach", str(folder), "HEAD")
        try:
            for name in names:
                files = list(dict.fromkeys(file for file, _, _ in CHANGES[name]))
                missing = set(files) - listed(name)
                if missing:
                    sys.exit(f"{name}: CONTRIBUTING.md does not list {sorted(missing)}")
                edit(folder, CHANGES[name])
                fine, errors = check(folder)
                if not fine:
                    sys.exit(f"{name}: does not compile with {files}:\n{errors}")
                print(f"{name}: compiles with {', '.join(files)}", flush=True)
                git("-C", str(folder), "checkout", "--", ".")
                needed = [file for file in files if file not in ASKED_FOR_BY_A_TEST]
                for left in needed if "--without" in sys.argv and len(files) > 1 else []:
                    edit(folder, [change for change in CHANGES[name] if change[0] != left])
                    if check(folder)[0]:
                        sys.exit(f"{name}: compiles without {left}")
                    print(f"{name}: does not compile without {left}", flush=True)
                    git("-C", str(folder), "checkout", "--", ".")
        finally:
            git("-C", str(ROOT), "worktree", "remove", "--force", str(folder))


main()
