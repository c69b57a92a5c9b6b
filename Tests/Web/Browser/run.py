#!/usr/bin/env python3
"""Runs the gallery's tests in a real browser.

    python3 Tests/Web/Browser/run.py --sleeve .build/release/sleeve [--screenshots DIR] [names…]

Names are parts of files', classes' or tests' names. Exit code 1: a test failed. Needs the packages that `Scripts/test --browser` installs.
"""
import argparse
import os
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


class Result(unittest.TextTestResult):
    """Prints each test's claim, and how long it took."""

    def startTest(self, test):
        self.started = time.monotonic()
        super().startTest(test)

    def getDescription(self, test):
        name = getattr(test, "_testMethodName", str(test)).removeprefix("test_").replace("_", " ")
        return f"{type(test).__module__.removeprefix('test_')}: {name}"

    def addSuccess(self, test):
        self.stream.write(f"{time.monotonic() - self.started:.1f} s ")
        super().addSuccess(test)


def main():
    parser = argparse.ArgumentParser(prog="run.py", description="Runs the tests of the gallery in a real browser.")
    parser.add_argument("--sleeve", required=True, metavar="PATH", help="the executable to test")
    parser.add_argument("--screenshots", default=here.parents[2] / ".build/browser", metavar="DIR", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="only tests with one of these in file, class or name")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    Settings.sleeve, Settings.screenshots = options.sleeve, options.screenshots.resolve()

    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*" for name in options.names] or None
    found = loader.discover(str(here), pattern="test_*.py")
    if not found.countTestCases():
        sys.exit("run.py: no such test")
    try:
        runner = unittest.TextTestRunner(resultclass=Result, verbosity=2)
        outcome = runner.run(found)
        failed = [test for test, _ in outcome.failures + outcome.errors]
        # CI runs on machines that stand still for seconds. What fails for that passes alone; a fault fails again.
        if os.environ.get("CI") and 0 < len(failed) <= 5 and all(isinstance(test, unittest.TestCase) for test in failed):
            print("once more, alone: what failed")
            outcome = runner.run(loader.loadTestsFromNames([test.id() for test in failed]))
    finally:
        for stage in reversed(list(Stage.open)):
            stage.close()
        if Settings.browser:
            Settings.browser.quit()
    print(f"screenshots in {Settings.screenshots}")
    return 0 if outcome.wasSuccessful() else 1


try:
    sys.exit(main())
except KeyboardInterrupt:
    sys.exit(130)
