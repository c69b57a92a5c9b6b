#!/usr/bin/env python3
"""Two tables of `run.py --table`, of one world and two builds, side by side, with what became of which album: `compare.py BEFORE AFTER`."""
import collections
import sys

OUTCOMES = ["right", "review", "missed", "none", "wrong"]


def read(path):
    """Rows by their first word, then by their second."""
    rows = collections.defaultdict(dict)
    with open(path) as file:
        for line in file:
            first, second, *rest = line.rstrip("\n").split("\t")
            rows[first][second] = rest
    return rows


def main():
    before, after = map(read, sys.argv[1:3])
    print(" " * 34 + "".join(f"{name:>18}" for name in OUTCOMES))
    for kind in before["kind"]:
        cells = []
        for one, other in zip(before["kind"][kind], after["kind"].get(kind, ["0"] * len(OUTCOMES))):
            change = int(other) - int(one)
            cells.append(f"{one} → {other} ({change:+})" if change else one if one != "0" else "")
        print(f"{kind:34}" + "".join(f"{cell:>18}" for cell in cells))
    for name in ("requests", "downloads", "seconds"):
        for key in {**before[name], **after[name]}:
            print(f"{name + ' ' + key:34}{before[name].get(key, ['0'])[0]:>9} → {after[name].get(key, ['0'])[0]}")
    for album, (outcome, kind, labels, reason) in after["album"].items():
        former = before["album"].get(album, ["-"])[0]
        if former != outcome: print(f"{former} → {outcome}: {kind} ({labels}): {album}{': ' + reason if reason else ''}")
    count = len(before["album"])
    parts = [100 * int(rows["kind"]["all"][0]) / count for rows in (before, after)]
    print(f"written right: {parts[0]:.1f} → {parts[1]:.1f} % of {count} albums ({parts[1] - parts[0]:+.1f})")
    kinds = {row[1] for row in before["album"].values()}
    worse = [kind for kind, row in before["kind"].items() if kind in kinds and int(after["kind"].get(kind, row)[-1]) > int(row[-1])]
    print(f"more wrong covers: {', '.join(worse)}" if worse else "no kind has more wrong covers")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
