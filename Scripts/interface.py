"""Checks that the gallery uses nothing of the library but its public interface, as a program of another package would.

    python3 Scripts/interface.py .build-test        after a build of `sleeve` for tests

Compiles the sources of CoverGallery again, without code, against copies of the library's modules that name another package: its `package`
declarations are out of reach then. A line that uses one must fail, or nothing was checked.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# The library's room and those that it re-exports, each with something of it that is no part of the interface.
LIBRARY = {
    "CoverLibrary": "LibraryAPI.initializeNetwork", "CoverCache": "CacheReader.self", "CoverFetch": "Ask.self",
}
root = pathlib.Path(__file__).resolve().parent.parent
build = root / sys.argv[1] / "release"


def compiler_call(target):
    """The build's arguments for a target, and its sources."""
    manifest = (build.parent / "release.yaml").read_text()
    start = re.search(rf'"C\.{target}-[^"]*\.module":\n', manifest).end()
    call = json.loads(re.search(r"^ +args: (\[.*\])$", manifest[start:], re.M)[1])
    kept, rest = [], iter(call)
    for argument in rest:
        if argument in ("-I", "-Xcc", "-module-name", "-target", "-swift-version", "-package-name", "-enable-upcoming-feature", "-sdk", "-F"):
            kept += [argument, next(rest)]
        elif argument == call[0] or argument.startswith("-D") or argument == "-parse-as-library":
            kept.append(argument)
    return kept, [line.strip().strip("'") for line in (build / f"{target}.build/sources").read_text().splitlines()]


def errors(call, sources):
    result = subprocess.run([*call, "-typecheck", *sources], capture_output=True, text=True)
    found = {line for line in (result.stdout + result.stderr).splitlines() if re.match(r"/.*: error: |error: ", line)}
    return sorted(found) or ([result.stderr] if result.returncode else [])


call, sources = compiler_call("CoverGallery")
package = call[call.index("-package-name") + 1].encode()
with tempfile.TemporaryDirectory() as folder:
    for name in LIBRARY:
        module = bytearray((build / f"Modules/{name}.swiftmodule").read_bytes())
        # The name is among the options at the module's beginning, at a multiple of four bytes.
        for place in range(0, min(len(module), 1 << 16), 4):
            if module[place:place + len(package)] == package:
                module[place:place + len(package)] = bytes(byte ^ 1 for byte in package)
        pathlib.Path(folder, f"{name}.swiftmodule").write_bytes(module)
    probe = pathlib.Path(folder, "probe.swift")
    probe.write_text("\n".join(f"import {name}\nfunc probe{name}() {{ _ = {use} }}" for name, use in LIBRARY.items()))
    allowed = errors(call, [str(probe)])
    call[1:1] = ["-I", folder]
    refused = errors(call, [str(probe)])
    if allowed or len(refused) != len(LIBRARY):
        sys.exit("nothing was checked: of what is no part of the interface these are refused as they must be:\n" + "\n".join(refused)
                 + "\nand these wrongly:\n" + "\n".join(allowed))
    found = errors(call, sources)
print("\n".join(found), file=sys.stderr)
sys.exit(1 if found else 0)
