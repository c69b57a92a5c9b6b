"""Writes manual pages, one for each command, from what the command says of itself.

    sleeve --experimental-dump-help | python3 Scripts/packaging/manual.py DIRECTORY VERSION DATE

A page has the text and the groups of options of `sleeve help COMMAND`, and the options that `--help-hidden` adds. Lines that are
indented there are examples.
"""
import json
import pathlib
import re
import sys
import textwrap


EXPERTS = "OPTIONS FOR EXPERTS"
# Where the sections of options stand; those with other titles are between, in the order of the help.
PLACES = {"ARGUMENTS": 0, "OPTIONS": 2, EXPERTS: 3}


def escaped(text):
    """Text in roff's terms; words in backquotes are bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    for character, escape in (("‘", "\\(oq"), ("’", "\\(cq"), ("“", "\\(lq"), ("”", "\\(rq"), ("…", "...")):
        text = text.replace(character, escape)
    return re.sub(r"`([^`]+)`", r"\\fB\1\\fP", text)


def guarded(line):
    """A line that roff does not take for a request."""
    return "\\&" + line if line.startswith((".", "'")) else line


def filled(text):
    # Hyphens are escaped by now: the only places to break are spaces.
    lines = textwrap.wrap(escaped(text), 78, break_long_words=False, break_on_hyphens=False)
    return [guarded(line) for line in lines]


def prose(text):
    """Paragraphs, which are filled, and examples, which are not."""
    lines = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        for is_example, group in grouped(paragraph.split("\n")):
            if is_example:
                lines += [".PP" if lines else "", ".RS 4", ".nf"] + [guarded(escaped(line.strip())) for line in group] + [".fi", ".RE"]
            else:
                lines += ([".PP"] if lines else []) + filled(" ".join(group))
    return [line for line in lines if line]


def grouped(lines):
    groups = []
    for line in filter(str.strip, lines):
        is_example = line.startswith("  ")
        if not groups or groups[-1][0] != is_example:
            groups.append((is_example, []))
        groups[-1][1].append(line)
    return groups


def term(argument):
    """The names of an argument and of its value."""
    value = f"\\fI{escaped(argument.get('valueName', ''))}\\fP"
    if argument["kind"] == "positional":
        return value + (" ..." if argument["isRepeating"] else "")
    names = [("-" if name["kind"] == "short" else "--") + name["name"] for name in argument["names"]]
    text = ", ".join(f"\\fB{escaped(name)}\\fP" for name in names)
    return text if argument["kind"] == "flag" else f"{text} {value}"


def definition(argument):
    text = " ".join(filter(None, (argument.get("abstract", ""), argument.get("discussion", ""))))
    if values := argument.get("allValues"):
        text += f" (values: {', '.join(values)})"
    if default := argument.get("defaultValue"):
        text += f" (default: {default})"
    return [".TP", term(argument)] + (filled(text.replace("\n", " ")) or ["\\&"])


def heading(argument):
    """The group of an argument; options for experts are the last one."""
    if not argument["shouldDisplay"]:
        return EXPERTS
    return argument.get("sectionTitle", "ARGUMENTS" if argument["kind"] == "positional" else "OPTIONS").upper()


def synopsis(arguments):
    words = ["[\\fIoptions\\fP]"] if any(argument["kind"] != "positional" for argument in arguments) else []
    for argument in arguments:
        if argument["kind"] == "positional":
            words.append(f"[{term(argument)}]" if argument["isOptional"] else term(argument))
    return " ".join(words)


def pages(command, parents=()):
    """Yields the path of each command, and its page's lines."""
    path = (*parents, command["commandName"])
    commands = [sub for sub in command.get("subcommands", []) if sub["commandName"] != "help" and sub.get("shouldDisplay", True)]
    arguments = command.get("arguments", [])
    title, abstract = "-".join(path), command.get("abstract", "").rstrip(".")
    lines = [".SH NAME", f"{escaped(title)} \\- {escaped(abstract[:1].lower() + abstract[1:])}", ".SH SYNOPSIS", f".B {escaped(' '.join(path))}"]
    lines += [".I command"] if commands else []
    lines += filter(None, [synopsis(arguments)])
    if description := prose(command.get("discussion", "")):
        lines += [".SH DESCRIPTION", *description]
    sections = {}
    for argument in arguments:
        sections.setdefault(heading(argument), []).append(argument)
    for name in sorted(sections, key=lambda name: PLACES.get(name, 1)):
        lines += [f".SH {escaped(name)}", *(line for argument in sections[name] for line in definition(argument))]
    if commands:
        lines.append(".SH COMMANDS")
        for sub in commands:
            lines += [".TP", f".BR {escaped('-'.join((*path, sub['commandName'])))} (1)", *filled(sub.get("abstract", ""))]
    if parents:
        lines += [".SH SEE ALSO", f".BR {escaped('-'.join(parents))} (1)"]
    yield title, lines
    for sub in commands:
        yield from pages(sub, path)


def main(directory, version, date):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for title, lines in pages(json.load(sys.stdin)["command"]):
        head = f'.TH {escaped(title).upper()} 1 {date} "Sleeve {version}" "User Commands"'
        (directory / f"{title}.1").write_text("\n".join([head, ".nh", ".ad l", *lines]) + "\n")


main(*sys.argv[1:])
