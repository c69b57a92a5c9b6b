#!/usr/bin/env python3
"""Times the first and the second scan of many files, and tells their memory: `scan.py --sleeve PATH [--sleeve OTHER] [--files 100000]`."""
import argparse
import os
import shutil
import tempfile
import time

import world


def scan(sleeve, music, home):
    environment = {"HOME": home, "PATH": os.environ["PATH"], "SLEEVE_LIBRARY": f"{home}/albums.json", "SLEEVE_CACHE": f"{home}/cache"}
    begin = time.monotonic()
    process = os.posix_spawn(sleeve, [sleeve, "album", "scan", music, "--quiet"], environment)
    _, status, used = os.wait4(process, 0)
    return time.monotonic() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1_024, os.waitstatus_to_exitcode(status)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--sleeve", action="append", required=True)
parser.add_argument("--files", type=int, default=100_000)
asked = parser.parse_args()
with tempfile.TemporaryDirectory(prefix="sleeve-scan-") as folder:
    world.make(f"{folder}/world", "large", 1, asked.files)
    for sleeve in asked.sleeve:
        home = f"{folder}/home"
        os.makedirs(home)
        for turn in ("first", "again"):
            seconds, used, megabytes, status = scan(os.path.abspath(sleeve), f"{folder}/world/music", home)
            print(f"{sleeve}: {turn}: {seconds:.1f} s, {used:.1f} s of the processor, {megabytes:.0f} MB, exit {status}", flush=True)
        shutil.rmtree(home)
