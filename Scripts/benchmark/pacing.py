"""Adaptive concurrency against the best fixed number in flight, which a sweep finds, and with a host that stalls."""
import json
import os
import signal
import subprocess
import time
import urllib.request
from statistics import median

from measure import Failure, always, at_most, origin as start_origin, stop

CEILING = 256
SWEEP = [2, 4, 8, 16, 20, 32, 64, 128, 256]
HOSTS = {
    "20 ms": ["--delay", "20"],
    "20 ms, 10 MB/s": ["--delay", "20", "--total-bandwidth", "10M"],
    "20 ms, 429 past 20": ["--delay", "20", "--max-in-flight", "20"],
}
# More than any host answers in the time.
COVERS = 200_000
# Alternating runs with the best fixed number and with adaptation: the best run of a sweep was also a lucky one.
PAIRS = 5


def pacing(bench):
    row = bench.report.row
    for name, options in HOSTS.items():
        sweep = {number: goodput(bench, options, always(number), begin=1, end=2.5)[0] for number in SWEEP}
        best = max(sweep, key=sweep.get)
        bench.note(f"  {name}: " + ", ".join(f"{number}: {rate:,.0f}/s" for number, rate in sweep.items()))
        pairs = [[goodput(bench, options, flags, begin=3, end=5) for flags in (always(best), at_most(CEILING))]
                 for _ in range(PAIRS)]
        before, found = ([rate for rate, _ in runs] for runs in zip(*pairs))
        refused = max(share for _, (_, share) in pairs)
        bench.note(f"  {name}, {best} and adaptive in turn: "
                   + ", ".join(f"{ours:,.0f}/s of {best_rate:,.0f}/s" for best_rate, ours in zip(before, found))
                   + f"; {refused:.2%} refused at most")
        row(f"{name}: goodput in the 4th and 5th second / the best fixed", median(found) / median(before),
            better="more",
            note=f"{median(found):,.0f}/s / {median(before):,.0f}/s with {best} in flight")
        if "429" in name:
            row(f"{name}: answered 429", refused * 100, "%")
    stalling(bench)
    slow_hosts(bench)


def stalling(bench):
    """Ten hosts, one of which stalls: the throughput that the nine others lose."""
    rates = {False: [], True: []}
    for number in range(4):
        rates[number % 2 == 1].append(nine(bench, stalls=number % 2 == 1))
    whole, stalled = (sum(rates[kind]) / len(rates[kind]) for kind in (False, True))
    bench.report.row("one of ten hosts stalls: goodput of the nine / before", stalled / whole, better="more",
                     note=f"{stalled:,.0f}/s / {whole:,.0f}/s, hosts that answer after 100 ms")


def slow_hosts(bench):
    """Twenty hosts, ten of which answer after a second: the whole run against that of one slow host."""
    origins = [start_origin(bench.sleeve, "--delay", delay) for delay in ["20", "1000"] * 10]
    walls = {"one": [], "all": []}
    try:
        for _ in range(5):
            for name, hosts in (("one", origins[1:2]), ("all", origins)):
                urls = [cover(origin, number) for number in range(10) for origin in hosts]
                listed = bench.write_list("hosts.txt", urls)
                walls[name].append(bench.prefetch(listed, bench.new_folder("pacing"), expect=len(urls)).wall)
    finally:
        for origin in origins:
            origin.close()
    whole, own = median(walls["all"]), median(walls["one"])
    bench.report.row("twenty hosts of ten covers, ten hosts slow: wall time / a slow host's own", whole / own, better="less",
                     note=f"{whole:.2f} s / {own:.2f} s")


def nine(bench, stalls):
    origins = [start_origin(bench.sleeve, "--delay", "100") for _ in range(10)]
    try:
        urls = (cover(origin, number) for number in range(COVERS // 100) for origin in origins)
        with prefetching(bench, urls, []):
            time.sleep(2)
            if stalls:
                os.kill(origins[0].process.pid, signal.SIGSTOP)
            time.sleep(1)
            before = [counts(origin)["requests"] for origin in origins[1:]]
            started = time.monotonic()
            time.sleep(3)
            after = [counts(origin)["requests"] for origin in origins[1:]]
            return (sum(after) - sum(before)) / (time.monotonic() - started)
    finally:
        os.kill(origins[0].process.pid, signal.SIGCONT)
        for origin in origins:
            origin.close()


def goodput(bench, options, flags, begin, end):
    """Accepted requests per second between two times of a run, and the share of rejected ones until then."""
    origin = start_origin(bench.sleeve, *options)
    try:
        with prefetching(bench, (cover(origin, number) for number in range(COVERS)), flags):
            time.sleep(begin)
            before, started = counts(origin), time.monotonic()
            time.sleep(end - begin)
            after, seconds = counts(origin), time.monotonic() - started
        if after["requests"] >= COVERS:
            raise Failure("the list was too short")
        good = [count["requests"] - count["overruns"] - count["inFlight"] for count in (before, after)]
        return (good[1] - good[0]) / seconds, after["overruns"] / max(1, after["requests"])
    finally:
        origin.close()


def cover(origin, number):
    # Few different bodies, so that the disk is not measured.
    return f"{origin.url}/covers/{number}.jpg?same={number % 64}"


def counts(origin):
    with urllib.request.urlopen(origin.url + "/counts") as response:
        return json.load(response)


class prefetching:
    """A prefetch of many covers that is stopped at the end of the block."""

    def __init__(self, bench, urls, flags):
        command = [bench.sleeve, "prefetch", bench.write_list("pacing.txt", urls), "--cache", str(bench.new_folder("pacing")),
                   "--quiet", *flags]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is not None:
            raise Failure(f"prefetch ended early with {self.process.returncode}")
        stop(self.process)
