"""Reads `swift package describe --type json` and fails if CoverLibrary, the public product, can reach a server."""
import json
import re
import sys

targets = {target["name"]: target for target in json.load(sys.stdin)["targets"]}
# The network does not know the disk, nor the disk the network; and neither they nor the library know a server.
forbidden = {
    "CoverLibrary": r"OriginServer|CoverGallery|CoverMirror|ServerChannels|Hummingbird.*|NIO.*|sleeve",
    "CurlHTTP": r"CoverCache|GRDB.*",
    "CoverCache": r"CurlHTTP|CCurl|HTTPTypes",
}


def reached(name, path=()):
    path += (name,)
    target = targets.get(name, {})
    for product in target.get("product_dependencies", []):
        yield path + (product,)
    for dependency in target.get("target_dependencies", []):
        yield path + (dependency,)
        yield from reached(dependency, path)


broken = [path for name, pattern in forbidden.items() for path in reached(name) if re.fullmatch(pattern, path[-1])]
for path in broken:
    print("not allowed: " + " → ".join(path), file=sys.stderr)
missing = [name for name in forbidden if name not in targets]
if missing:
    print("no such target: " + ", ".join(missing), file=sys.stderr)
sys.exit(1 if broken or missing else 0)
