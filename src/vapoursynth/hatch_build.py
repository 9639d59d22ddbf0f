"""Has cargo build the plug-in, and puts it where VapourSynth finds it: vapoursynth/plugins/histeq."""

import json
import os
import pathlib
import subprocess
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = pathlib.Path(__file__).resolve().parent


class Build(BuildHookInterface):
    def initialize(self, version, build_data):
        if version == "editable":
            raise SystemExit("VapourSynth looks for plug-ins among its own files: install without -e")
        # Tests take what they have built, which is slower: the whole workspace.
        profile = os.environ.get("HISTEQ_PROFILE", "release")
        build = ["cargo", "build", "--profile", profile, "--locked", "--message-format", "json-render-diagnostics"]
        build += ["-p", "histeq-vapoursynth"] if profile == "release" else ["--workspace"]
        messages = subprocess.run(build, cwd=HERE, check=True, stdout=subprocess.PIPE, text=True).stdout
        made = [json.loads(line) for line in messages.splitlines()]
        (library,) = [
            name
            for message in made
            if message["reason"] == "compiler-artifact" and message["target"]["name"] == "histeq_vapoursynth"
            for name in message["filenames"]
            if pathlib.Path(name).suffix in (".so", ".dylib", ".dll")
        ]
        folder = "vapoursynth/plugins/histeq"
        build_data["force_include"] = {
            library: f"{folder}/{pathlib.Path(library).name}",
            str(HERE / "manifest.vs"): f"{folder}/manifest.vs",
        }
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
        build_data["pure_python"] = False
