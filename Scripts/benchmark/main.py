"""Measures Sleeve's figures. Scripts/bench installs the tools and calls it; the sections are in sections.py."""
import argparse
import pathlib
import shutil
import signal
import sys
import tempfile

from measure import Failure, need_space
from report import Report, committed, machine
from sections import SECTIONS, Bench


def arguments():
    parser = argparse.ArgumentParser(prog="Scripts/bench", description="Measures Sleeve's figures against other programs.")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="rounds of every comparison (default: 7)")
    parser.add_argument("--only", default="", metavar="A,B", help="only these sections: " + ", ".join(SECTIONS))
    parser.add_argument("--million", action="store_true", help="also a cache of 1,000,000 covers, made once (minutes, 15 GB)")
    parser.add_argument("--out", metavar="DIR", help="where the results go (default: .build/bench)")
    parser.add_argument("--sleeve", metavar="FILE", help="measure this executable (default: built from the checkout)")
    parser.add_argument("--root", help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.only = [name for name in options.only.split(",") if name]
    unknown = set(options.only) - set(SECTIONS)
    if unknown or options.rounds < 1:
        parser.error(f"no such section: {', '.join(unknown)}" if unknown else "--rounds must be at least 1")
    options.wanted = [
        name for name in SECTIONS
        if name in options.only or not options.only and getattr(options, name, True)]
    return options


def main():
    options = arguments()
    if options.check:
        print("" if options.sleeve else "build")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    root = pathlib.Path(options.root).resolve()
    home = root / ".build" / "bench"
    out = pathlib.Path(options.out).resolve() if options.out else home
    for folder in (home, out):
        folder.mkdir(parents=True, exist_ok=True)
    sleeve = pathlib.Path(options.sleeve or root / ".build/release/sleeve").resolve()

    # The files of every round stay until the end: deleting them would slow the next round.
    need_space(home, 2 + options.rounds * 1.3 + (12 if "million" in options.wanted else 0))
    work = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=home))
    facts = machine(home, root, sleeve)
    report = Report(facts, committed(root / "Tests/Laboratory/Benchmarks", facts["processor"]))
    try:
        bench = Bench(sleeve, home, work, options.rounds, report)
        try:
            for name in options.wanted:
                print(f"\n== {SECTIONS[name][0]}", file=sys.stderr)
                SECTIONS[name][1](bench)
        finally:
            bench.close()
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if report.rows:
            report.write(out)
            print("\n" + report.text())
            print(f"\nwritten: {out}/results.md and results.json, kept as runs/*.json")
    for what in report.red:
        print(f"worse than the committed figure by more than 5 %: {what}", file=sys.stderr)
    return 1 if report.red else 0


try:
    sys.exit(main())
except Failure as failure:
    sys.exit(f"bench: {failure}")
except KeyboardInterrupt:
    sys.exit(130)
