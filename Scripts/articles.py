"""Checks that the documents beside the README and the documentation's articles name only types, files and links that exist.

    python3 Scripts/articles.py

A type is a word in backquotes with two capitals, such as `CacheWriter`, or any word in backquotes in the last column of a table
whose header ends with “type” or “file”; it must occur in a Swift source. A block of Swift after a line of a path in backquotes and a colon
must be a part of that file. A file is a path in backquotes that begins with one of this
checkout's folders. A link is the target of a Markdown link or of <doc:…>.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
catalogue = root / "Sources/Covers/CoverLibrary/CoverLibrary.docc"
words = set()
for folder in ("Sources", "Tests"):
    for source in (root / folder).rglob("*.swift"):
        words.update(re.findall(r"\w+", source.read_text()))

errors = []
for article in [*root.glob("*.md"), *catalogue.glob("*.md")]:
    names_types = False
    for number, line in enumerate(article.read_text().splitlines(), 1):
        names_types = line.startswith("|") and (names_types or line.endswith(("| type |", "| file |")))
        codes = re.findall(r"(?<!`)`([^`]+)`(?!`)", line)
        unknown = [name for code in codes for name in re.findall(r"\b[A-Z][a-z]+[A-Z]\w*", code)[:1]
                   if re.match(rf"{name}\b", code) and name not in words]
        if names_types:
            cell = re.findall(r"`([^`/]+)`", line.rstrip("| ").rpartition("|")[2])
            unknown += [name for code in cell for name in re.findall(r"[A-Z]\w*", code)[:1] if name not in words]
        paths = [code.split()[0] for code in codes if re.match(r"(Sources|Tests|Scripts|cache)/[\w./-]+", code)]
        links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", line) if "://" not in link and not link.startswith("#")]
        unknown += [path for path in paths if not (root / path).exists()]
        unknown += [link for link in links if not (article.parent / link).exists() and not list((catalogue / "Resources").glob(f"{link}.*"))]
        unknown += [name for name in re.findall(r"<doc:(\w+)>", line) if not (catalogue / f"{name}.md").exists()]
        errors += [f"{article.relative_to(root)}:{number}: {name} does not exist" for name in unknown]
    for path, block in re.findall(r"^`([\w./]+)`:\n\n```swift\n(.*?)```$", article.read_text(), re.M | re.S):
        if not (root / path).exists() or block not in (root / path).read_text():
            errors.append(f"{article.relative_to(root)}: a block of Swift is not what {path} has:\n{block}")
print("\n".join(errors), file=sys.stderr)
sys.exit(1 if errors else 0)
