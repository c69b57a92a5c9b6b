"""Checks the dependency graph of the package against the table in arrows.txt.

    swift package describe --type json | python3 Scripts/arrows.py
    python3 Scripts/arrows.py --self-check      does it fail when it should?

Prints every target by layer with what it depends on and its lines of code, and the folders of each target with what they refer to.
Fails on a dependency that is not in the table, on one that no source imports, on folders of one target that refer to each other in a
cycle, and on a room (a target below Sources) that has no line budget or exceeds it by more than 5 %. Lines are those of Swift and C. A folder refers to another if its sources name a top-level type that only the other declares; files beside the folders
count as the folder `.`.
"""
import json
import pathlib
import re
import sys

IMPORT = re.compile(r"^\s*(?:@\w+\s+)*(?:public |package |internal |private |fileprivate )?import (?:\w+ )?(\w+)", re.MULTILINE)
DECLARATION = re.compile(r"[{}]|(?<!import )\b(?:class|struct|enum|actor|protocol|typealias)\s+([A-Z]\w*)")
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|(#*)""".*?"""\1|(#*)"(?:\\.|[^"\\\n])*"\2', re.DOTALL)
TYPE_NAME = re.compile(r"(?<![.\w])[A-Z]\w*")


def read_table(text):
    """The allowed dependencies of each target, those that are linked but not imported, the known cycles of folders, and the budgets."""
    allowed, linked, cycles, budgets = {}, set(), [], {}
    for number, line in enumerate(text.splitlines(), 1):
        rule, _, reason = (part.strip() for part in line.partition("#"))
        if not rule:
            continue
        kind = re.fullmatch(r"([\w-]+)\s*->\s*(.*)|cycle\s+([\w-]+):\s*(.+)|lines\s+([\w-]+):\s*([\d,]+)", rule)
        if not kind or not reason:
            sys.exit(f"arrows.txt:{number}: expected `TARGET -> NAME, …  # reason`, `cycle TARGET: FOLDER, …  # reason` or `lines TARGET: N  # reason`")
        target, names, owner, folders, room, budget = kind.groups()
        if owner:
            cycles.append((owner, set(re.split(r",\s*", folders))))
        elif room:
            budgets[room] = int(budget.replace(",", ""))
        else:
            for name in filter(None, re.split(r",\s*", names)):
                allowed.setdefault(target, set()).add(name.removesuffix("*"))
                linked |= {(target, name.removesuffix("*"))} if name.endswith("*") else set()
            allowed.setdefault(target, set())
    return allowed, linked, cycles, budgets


def folder_references(sources):
    """Which folders each folder of a target refers to, and the types it names there. `sources` maps relative paths to texts."""
    code, top, nested = {}, {}, {}
    for path, text in sources.items():
        folder = path.split("/")[0] if "/" in path else "."
        text, depth = NO_CODE.sub(" ", text), 0
        code[folder] = code.get(folder, "") + "\n" + text
        for token in DECLARATION.finditer(text):
            if token[1]:
                (top if depth == 0 else nested).setdefault(token[1], set()).add(folder)
            depth += {"{": 1, "}": -1}.get(token[0], 0)
    references = {folder: {} for folder in code}
    for folder, text in code.items():
        for name in sorted(set(TYPE_NAME.findall(text)) & set(top)):
            homes = top[name] | nested.get(name, set())
            if len(homes) == 1 and folder not in homes:
                references[folder].setdefault(*homes, []).append(name)
    return references


def strongly_connected(graph):
    """The sets of two or more nodes that all reach each other."""
    reach = {node: set(targets) for node, targets in graph.items()}
    for middle in graph:
        for node in graph:
            if middle in reach[node]:
                reach[node] |= reach[middle]
    groups = {frozenset(other for other in graph if other in reach[node] and node in reach[other]) for node in graph}
    return [group for group in groups if len(group) > 1]


def named(references, folder):
    types = references[folder]
    return f"{folder} ({', '.join(types[:3])}{', …' if len(types) > 3 else ''})"


def check(targets, table, sources_of, length_of):
    """Returns the lines that show the graph, and the errors. `targets` is the list of `swift package describe`."""
    allowed, linked, known_cycles, budgets = read_table(table)
    lines = []
    errors = [f"lines {room}: there is no such target" for room in budgets if room not in {target["name"] for target in targets}]
    own = {target["name"]: target.get("target_dependencies", []) for target in targets}
    layers = {}

    def layer(name):
        if name not in layers:
            layers[name] = 1 + max((layer(other) for other in own[name]), default=-1)
        return layers[name]

    for target in sorted(targets, key=lambda target: (layer(target["name"]), target["name"])):
        name, products = target["name"], target.get("product_dependencies", [])
        sources = sources_of(target)
        imported = {module for text in sources.values() for module in IMPORT.findall(text)}
        imported |= {module.replace("_", "-") for module in imported}  # The module of `sleeve-lab` is `sleeve_lab`.
        mark = lambda other: other if other in imported else other + "*"
        arrows = ", ".join(map(mark, sorted(own[name]))) + (" | " + ", ".join(map(mark, sorted(products))) if products else "")
        length, budget = length_of(target), budgets.get(name)
        lines.append(f"{layer(name)}  {name}{f' -> {arrows}' if arrows else ''}  ({length:,}{f' of {budget:,}' if budget else ''} lines)")
        if budget is None and target.get("path", "").startswith("Sources/"):
            errors.append(f"{name}: no line budget; it has {length:,}: add `lines {name}: {-(-length // 50) * 50:,}  # why` to Scripts/arrows.txt")
        if budget is not None and length > budget * 1.05:
            errors.append(f"{name}: {length:,} lines are more than 5 % above its budget of {budget:,} in Scripts/arrows.txt")
        if missing := [other for other in own[name] + products if other not in allowed.get(name, set())]:
            errors.append(f"{name} -> {', '.join(missing)}: not in Scripts/arrows.txt")
        if unused := [other for other in own[name] + products if other not in imported and (name, other) not in linked]:
            errors.append(f"{name} -> {', '.join(unused)}: no source imports it")
        references = folder_references(sources)
        for folder, others in sorted(references.items()) if len(references) > 1 else ():
            lines.append(f"     {folder}/ -> " + ", ".join(named(others, other) for other in sorted(others)))
        for group in strongly_connected(references):
            if not any(owner == name and group <= folders for owner, folders in known_cycles):
                arrows = (f"{a} -> {named(references[a], b)}" for a in sorted(group) for b in sorted(group & set(references[a])))
                errors.append(f"{name}: its folders {', '.join(sorted(group))} form a cycle:\n    " + "\n    ".join(arrows))
    return lines, errors


def self_check():
    def errors(table, length=105, **sources):
        targets = [{"name": "Low"}, {"name": "High", "path": "Sources/High", "target_dependencies": ["Low"], "product_dependencies": ["Logging"]}]
        return check(targets, table, lambda target: sources if target["name"] == "High" else {}, lambda _: length)[1]

    budget = "\nlines High: 100  # size"
    table = "High -> Low, Logging  # why" + budget
    good = {"a/A.swift": "import Low\npublic import Logging\nstruct A {}", "b/B.swift": 'let b = A() // C\nlet s = "C"'}
    cycle = good | {"a/C.swift": "let d: D", "b/D.swift": "extension D {}; enum D {}"}
    assert errors(table, **good) == [], errors(table, **good)
    assert "-> Logging: not in" in errors("High -> Low  # why" + budget, **good)[0]
    assert "-> Low: not in" in errors("High -> Logging  # why" + budget, **good)[0]
    assert "-> Logging: no source imports it" in errors(table, **good | {"a/A.swift": "import Low\nstruct A {}"})[0]
    assert errors("High -> Low, Logging*  # why" + budget, **good | {"a/A.swift": "import Low\nstruct A {}"}) == []
    assert "its folders a, b form a cycle:\n    a -> b (D)\n    b -> a (A)" in errors(table, **cycle)[0]
    assert errors(table + "\ncycle High: a, b, c  # known", **cycle) == []
    assert errors(table, **cycle | {"b/E.swift": "struct E { struct A {} }"}) == [], "an ambiguous name is no reference"
    assert "106 lines are more than 5 % above its budget of 100" in errors(table, 106, **good)[0]
    assert "no line budget; it has 105: add `lines High: 150" in errors(table.removesuffix(budget), **good)[0]
    assert "lines Gone: there is no such target" in errors(table + "\nlines Gone: 1,000  # size", **good)[0]


if sys.argv[1:] == ["--self-check"]:
    self_check()
else:
    here = pathlib.Path(__file__).resolve().parent
    package = json.load(sys.stdin)
    root = here.parent
    lines, errors = check(
        package["targets"], (here / "arrows.txt").read_text(),
        lambda target: {name: (root / target["path"] / name).read_text() for name in target.get("sources", []) if name.endswith(".swift")},
        lambda target: sum(len(file.read_text().splitlines()) for file in (root / target["path"]).rglob("*") if file.suffix in (".swift", ".c", ".h")))
    print("\n".join(lines))
    for error in errors:
        print(f"not allowed: {error}", file=sys.stderr)
    sys.exit(1 if errors else 0)
