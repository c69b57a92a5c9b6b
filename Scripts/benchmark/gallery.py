"""Measures what the gallery promises. Called by Scripts/bench-gallery, which sees to the tools."""
import argparse
import pathlib
import signal
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "Browser"))

from gallery_memory import memory  # noqa: E402
from gallery_page import arrivals, opening  # noqa: E402
from gallery_scrolling import scrolling  # noqa: E402
from report import Report, machine  # noqa: E402
from stage import Stage, StageError  # noqa: E402
from webdriver import BrowserError, Driver  # noqa: E402

SECTIONS = {
    "arrivals": ("from a cover's arrival in the cache to the end of its spinner", arrivals),
    "opening": ("first covers on the screen, warm cache", opening),
    "scrolling": ("frames while scrolling 10,000 albums", scrolling),
    "memory": ("the server's memory with 50 pages", memory),
}


class Bench:
    """What the sections share: the command, the browsers, the table."""

    def __init__(self, sleeve, driver, report, quick):
        self.sleeve, self.driver, self.report, self.quick = sleeve, driver, report, quick

    def stage(self):
        return Stage(self.sleeve)

    def note(self, text):
        print(text, file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="Scripts/bench-gallery", description="Measures what the gallery promises.")
    parser.add_argument("--only", default="", metavar="A,B", help="only these sections: " + ", ".join(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="fewer rounds, to see that it works")
    parser.add_argument("--out", metavar="DIR", help="where the results go (default: .build/bench)")
    parser.add_argument("--sleeve", metavar="FILE", help="measure this executable (default: built from the checkout)")
    parser.add_argument("--root", default=ROOT, help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.only = [name for name in options.only.split(",") if name]
    if unknown := set(options.only) - set(SECTIONS):
        parser.error(f"no such section: {', '.join(unknown)}")
    return options


def main():
    options = arguments()
    if options.check:
        print("given" if options.sleeve else "build")
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    root = pathlib.Path(options.root).resolve()
    out = pathlib.Path(options.out).resolve() if options.out else root / ".build" / "bench"
    out.mkdir(parents=True, exist_ok=True)
    sleeve = pathlib.Path(options.sleeve or root / ".build/release/sleeve").resolve()
    report = Report(machine(out, root, sleeve, rivals=False))
    try:
        with Driver() as driver:
            bench = Bench(sleeve, driver, report, options.quick)
            for name, (title, section) in SECTIONS.items():
                if not options.only or name in options.only:
                    print(f"\n== {title}", file=sys.stderr)
                    section(bench)
                    report.facts["browser"] = driver.version
    finally:
        for stage in list(Stage.open):
            stage.close()
        if report.rows:
            report.write(out, "gallery")
            print("\n" + report.text())
            print(f"\nwritten: {out}/gallery.md and gallery.json")
    return 3 if report.failed else 0


try:
    sys.exit(main())
except (BrowserError, StageError, AssertionError) as failure:
    sys.exit(f"bench-gallery: {failure}")
except KeyboardInterrupt:
    sys.exit(130)
