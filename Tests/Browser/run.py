#!/usr/bin/env python3
"""Runs the gallery's tests in a real browser.

    python3 Tests/Browser/run.py --sleeve .build/release/sleeve [--screenshots DIR] [names…]

Names are parts of files', classes' or tests' names. Exit code 1: a test failed.
"""
import argparse
import pathlib
import signal
import sys
import time
import unittest

sys.dont_write_bytecode = True
here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))

from case import Settings  # noqa: E402
from stage import Stage  # noqa: E402
from webdriver import Driver  # noqa: E402


class Outcome(unittest.TestResult):
    """Prints a line for each test when it ends."""

    def startTest(self, test):
        super().startTest(test)
        self.started, self.verdict = time.monotonic(), None

    def addSuccess(self, test):
        super().addSuccess(test)
        self.verdict = "ok"

    def broken(self):
        """The failed tests. A test may have several traces, of which the console check is one."""
        return {test for test, _ in self.errors + self.failures}

    def stopTest(self, test):
        super().stopTest(test)
        traces = [trace for each, trace in self.errors + self.failures if each is test]
        verdict = "FAILED" if traces else self.verdict or "stopped"
        print(f"{verdict:>7} {time.monotonic() - self.started:5.1f} s  {claim(test)}", flush=True)
        for trace in traces:
            print("        " + trace.strip().replace("\n", "\n        "), flush=True)


def claim(test):
    return test._testMethodName.removeprefix("test_").replace("_", " ")


def tests(suite):
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from tests(each)
        else:
            yield each


def main():
    parser = argparse.ArgumentParser(prog="run.py", description="Runs the tests of the gallery in a real browser.")
    parser.add_argument("--sleeve", required=True, metavar="PATH", help="the executable to test")
    parser.add_argument("--screenshots", default=here.parents[1] / ".build/browser", metavar="DIR", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="only tests with one of these in file, class or name")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    Settings.sleeve, Settings.screenshots = options.sleeve, options.screenshots.resolve()

    found = list(tests(unittest.defaultTestLoader.discover(str(here), pattern="test_*.py")))
    if options.names:
        found = [test for test in found if any(name in test.id() for name in options.names)]
    if not found:
        sys.exit("run.py: no such test")
    outcome, started, last = Outcome(), time.monotonic(), None
    try:
        with Driver() as Settings.driver:
            for test in found:
                if type(test).__module__ != last:
                    last = type(test).__module__
                    print(f"== {last.removeprefix('test_')}", flush=True)
                test.run(outcome)
            # A busy machine may delay a browser once. A test that fails twice has failed.
            again = Outcome()
            for test in sorted(outcome.broken(), key=found.index):
                print("== again", flush=True)
                type(test)(test._testMethodName).run(again)
    finally:
        for stage in list(Stage.open):
            stage.close()
    broken, late = len(again.broken()), len(outcome.broken()) - len(again.broken())
    print(f"\n{len(found)} tests, {broken} failed, {late} passed only the second time, {time.monotonic() - started:.0f} s; screenshots in {Settings.screenshots}")
    return 1 if broken else 0


try:
    sys.exit(main())
except KeyboardInterrupt:
    sys.exit(130)
