"""The figures, one function each. The targets are for these sizes and numbers of covers."""
import json
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

from gallery import gallery
from links import links
from measure import Failure, Nginx, Origin, always, median, run, spread
from pacing import pacing
from refreshing import refresh
from sizes import sizes

COVERS = 5_000
MILLION = 1_000_000


class Bench:
    """The corpus, the servers, new folders and the report, which the sections share."""

    def __init__(self, sleeve, home, work, rounds, report):
        self.sleeve, self.home, self.work = str(sleeve), home, work
        self.lab = str(sleeve.with_name("sleeve-lab"))
        self.rounds, self.report = rounds, report
        self.folders = 0
        self.nginx = None
        self.filled = None
        self.corpus = work / "corpus"
        subprocess.run([self.sleeve, "origin", "--write-to", str(self.corpus), "--count", str(COVERS)], check=True)
        files = list(self.corpus.iterdir())
        if len(files) != COVERS:
            raise Failure(f"the corpus has {len(files)} covers")
        self.bytes = sum(len(file.read_bytes()) for file in files)  # Reading them all warms the page cache.
        self.note(f"{COVERS:,} JPEG covers, {self.bytes / COVERS / 1000:.1f} KB on average")
        report.facts["covers"] = f"{COVERS:,} JPEGs, {self.bytes / COVERS / 1000:.1f} KB on average"

    def close(self):
        if self.nginx:
            self.nginx.close()
            self.nginx = None

    def note(self, text):
        print(text, file=sys.stderr, flush=True)

    def new_folder(self, name):
        self.folders += 1
        folder = self.work / f"{self.folders:04}-{name}"
        folder.mkdir()
        return folder

    def serve(self):
        if not self.nginx:
            self.nginx = Nginx(self.work / "nginx", self.corpus)
        return self.nginx

    def write_list(self, name, lines):
        path = self.work / name
        with path.open("w") as file:
            for line in lines:
                file.write(line + "\n")
        return str(path)

    def prefetch(self, list_path, cache, *options, expect=COVERS, outcome="downloaded", limit=300):
        result = run([self.sleeve, "prefetch", list_path, "--cache", str(cache), "--quiet", "--json", *options], limit=limit)
        result.summary = json.loads(result.output)
        if result.summary[outcome] != expect:
            raise Failure(f"{expect:,} covers should have been {outcome}: {result.output.decode().strip()}")
        return result

    def fill(self):
        """A list and a cache with its covers. Made once."""
        if not self.filled:
            lists = self.write_list("filled.txt", (f"{self.serve().url}/{n}.jpg" for n in range(COVERS)))
            self.filled = lists, self.new_folder("filled")
            self.prefetch(*self.filled, "--per-host", "64")
        return self.filled

    def measure(self, section, *command):
        """Runs `sleeve bench`, and keeps its report in the results."""
        folder = ["--folder", str(self.work), "--json"]
        words = [self.sleeve, command[0], *folder, *command[1:]]
        process = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        if process.returncode != 0:
            raise Failure(f"{' '.join(words)}: exit {process.returncode}")
        report = json.loads(process.stdout)
        self.report.runs[section] = report
        return report


def compare(bench, section, url, rivals, *options, certificate=None):
    """`sleeve bench` of the corpus, 64 in flight, with other programs in turn. Returns its results by scenario and its comparisons
    by rival."""
    lists = bench.write_list(f"{section}.txt", (f"{url}/{n}.jpg" for n in range(COVERS)))
    command = ["bench", lists, "--rounds", str(bench.rounds), "--only", "cold,warm", "--compare", ",".join(rivals)]
    if certificate:
        command += ["--cacert", certificate]
    report = bench.measure(section, *command, "--", "--parallel", "64", "--per-host", "64", *options)
    comparisons = {comparison["rival"]: comparison for comparison in report["comparisons"]}
    for rival, comparison in comparisons.items():
        if "failure" in comparison:
            raise Failure(f"{rival} failed: {comparison['failure']}")
    return {result["scenario"]: result for result in report["results"]}, comparisons


def against(bench, name, rival, comparison, at_most=None):
    ours, theirs = comparison["sleeveSeconds"], comparison["rivalSeconds"]
    bench.report.row(
        f"{name}, wall time / {rival}'s", ours["median"] / theirs["median"], at_most=at_most,
        note=f"{seconds(ours)} / {seconds(theirs)}")


def seconds(spread):
    return f"{spread['median']:.3f} s ({spread['minimum']:.3f}–{spread['maximum']:.3f})"


def http(bench):
    results, rivals = compare(bench, "http", bench.serve().url, ["curl", "aria2c", "wget2"])
    cold, warm, row = results["cold"], results["warm"], bench.report.row
    for rival, at_most in (("curl", 0.6), ("aria2c", 0.125), ("wget2", None)):
        against(bench, "HTTP", rival, rivals[rival], at_most)
    row("HTTP, CPU time / curl's", rivals["curl"]["cpuRatio"]["median"], at_most=1)
    row("HTTP, covers a second", cold["coversPerSecond"]["median"])
    row("peak memory of the 5,000", cold["peakMemoryBytes"] / 1e6, "MB", at_most=80)
    times = [run["seconds"] for run in warm["rounds"]]
    row("second run, all 5,000 fresh", statistics.median(times), "s", at_most=0.15, note=f"{min(times):.3f}–{max(times):.3f}")


def https(bench):
    nginx = bench.serve()
    _, rivals = compare(bench, "https", nginx.tls_url, ["curl"], certificate=str(nginx.certificate))
    against(bench, "HTTPS with HTTP/2", "curl", rivals["curl"], at_most=0.4)
    bench.report.row("HTTPS with HTTP/2, CPU time / curl's", rivals["curl"]["cpuRatio"]["median"])


def delay(bench):
    covers, in_flight, seconds_to_answer = 20_000, 256, 0.05
    origin = Origin(bench.sleeve, "--delay", str(seconds_to_answer * 1000))
    try:
        report = bench.measure(
            "delay", "bench", "--origin", origin.url, "--covers", str(covers), "--size", "4000", "--rounds", str(bench.rounds),
            "--only", "cold", "--", *always(in_flight))
    finally:
        origin.close()
    rate = report["results"][0]["coversPerSecond"]["median"]
    bench.report.row(
        "answers after 50 ms, 256 in flight: share of 256 / 50 ms", rate / (in_flight / seconds_to_answer), at_least=0.9,
        note=f"{covers:,} covers, {rate:,.0f} a second")


def get(bench):
    lists, cache = bench.fill()
    url = pathlib.Path(lists).read_text().splitlines()[100]
    expected = (bench.corpus / "100.jpg").read_bytes()
    runs = []
    for _ in range(50):
        runs.append(run([bench.sleeve, "get", url, "--quiet", "--cache", str(cache)], synced=False))
        if runs[-1].output != expected:
            raise Failure("sleeve get returned other bytes than the server sent")
        bench.report.keep("get", "sleeve", runs[-1])
    bench.report.row(
        "sleeve get of a cached cover, start to bytes", median(runs, "to_bytes") * 1000, "ms", at_most=25,
        note=f"{len(expected) / 1000:.0f} KB; to the end of the process {median(runs) * 1000:.1f} ms")


def lookup(bench):
    if not pathlib.Path(bench.lab).exists():
        bench.report.skip("a cached cover from the library", "no sleeve-lab beside this sleeve")
        return
    lists, cache = bench.fill()
    urls = pathlib.Path(lists).read_text().splitlines()[:500]
    result = json.loads(run([bench.lab, "lookup", str(cache), *urls]).output)
    bench.report.row("a cached cover, on the caller's thread", result["syncMicros"], "µs", at_most=20)
    bench.report.row("a cached cover, through the actor", result["actorMicros"], "µs", at_most=150)


def stop(bench):
    """From Ctrl-C, with a thousand covers stored and 64 transfers hanging, to the end of the process."""
    origin, there, hanging = Origin(bench.sleeve), 1_000, 64
    times = []
    try:
        lists = bench.write_list("stop.txt", [f"{origin.url}/covers/{n}.jpg" for n in range(there)] + [
            f"{origin.url}/covers/{n}.jpg?fault=never" for n in range(hanging)])
        for _ in range(bench.rounds):
            process = subprocess.Popen(
                [bench.sleeve, "prefetch", lists, "--cache", str(bench.new_folder("stop")), "--quiet", "--json", "--per-host", "64"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            time.sleep(2)
            started = time.monotonic()
            process.send_signal(signal.SIGINT)
            summary = json.loads(process.communicate(timeout=60)[0])
            times.append(time.monotonic() - started)
            if process.returncode != 130 or summary["downloaded"] != there:
                raise Failure(f"a stopped prefetch exits with {process.returncode}: {summary}")
    finally:
        origin.close()
    bench.report.row(
        "Ctrl-C with 64 transfers hanging, to the end of the process", max(times) * 1000, "ms", at_most=100,
        note=f"the longest of {bench.rounds}; median {statistics.median(times) * 1000:.0f} ms")


def million(bench):
    cache, lists = bench.home / "million" / "cache", bench.home / "million" / "list.txt"
    if not (bench.home / "million" / "whole").exists():
        shutil.rmtree(cache.parent, ignore_errors=True)
        cache.parent.mkdir(parents=True)
        origin = Origin(bench.sleeve)
        try:
            with lists.open("w") as file:
                file.writelines(f"{origin.url}/covers/{n}.jpg?size=1000\n" for n in range(MILLION))
            bench.note("  filling the cache, once; this takes minutes")
            made = bench.prefetch(
                str(lists), cache, "--per-host", "64", "--capacity", "100G", expect=MILLION, limit=1800)
        finally:
            origin.close()
        (cache.parent / "whole").write_text(json.dumps({"memory": made.memory, "seconds": made.wall}))
    made = json.loads((cache.parent / "whole").read_text())
    bench.report.row(
        "1,000,000 downloaded, peak memory", made["memory"] / 1e6, "MB", at_most=150, note=f"in {made['seconds']:.0f} s")

    rounds, row = max(3, bench.rounds // 2), bench.report.row
    runs = []
    for number in range(rounds):
        runs.append(bench.prefetch(str(lists), cache, expect=MILLION, outcome="fresh"))
        bench.report.keep("million", "fresh", runs[-1])
        bench.note(f"  round {number + 1}: {MILLION / runs[-1].wall:,.0f} fresh a second")
    row("1,000,000 entries, fresh covers a second", MILLION / median(runs), at_least=100_000, note=spread(runs))
    row("1,000,000 fresh, peak memory", max(run.memory for run in runs) / 1e6, "MB", at_most=150)
    store_into_both(bench, cache, rounds)


def store_into_both(bench, cache, rounds):
    """The same covers into a copy of the full cache and into an empty one, in alternating order. Every round uses other covers:
    the bytes of a stored cover would not be written again."""
    copy = bench.work / "million"
    bench.note("  copying the cache")
    subprocess.run(["cp", "-R", *(["--reflink=auto"] if sys.platform == "linux" else []), str(cache), str(copy)], check=True)
    corpus = bench.work / "more"
    subprocess.run([bench.sleeve, "origin", "--write-to", str(corpus), "--count", str(COVERS * rounds)], check=True)
    for file in corpus.iterdir():
        file.read_bytes()
    nginx = Nginx(bench.work / "nginx-more", corpus)
    runs = {"full": [], "empty": []}
    try:
        for number in range(rounds):
            covers = range(number * COVERS, (number + 1) * COVERS)
            lists = bench.write_list(f"more-{number}.txt", (f"{nginx.url}/{n}.jpg" for n in covers))
            for name in runs if number % 2 == 0 else reversed(runs):
                folder = copy if name == "full" else bench.new_folder("empty")
                runs[name].append(bench.prefetch(lists, folder, "--parallel", "64", "--per-host", "64"))
                bench.report.keep("million", name, runs[name][-1])
            bench.note(f"  round {number + 1}: full {runs['full'][-1].wall:.3f} s, empty {runs['empty'][-1].wall:.3f} s")
    finally:
        nginx.close()
    bench.report.row(
        "storing into 1,000,000 entries, speed / an empty cache's", median(runs["empty"]) / median(runs["full"]), at_least=0.8,
        note=f"{spread(runs['full'])} / {spread(runs['empty'])}")


SECTIONS = {
    "http": ("5,000 covers over HTTP/1.1, 64 in flight, and again", http),
    "https": ("the same over HTTPS with HTTP/2", https),
    "links": ("links with a delay, HTTP/2 and HTTP/1.1 over TLS, in turn with curl", links),
    "delay": ("an origin that answers after 50 ms, 256 in flight", delay),
    "get": ("sleeve get", get),
    "lookup": ("a cached cover through the library", lookup),
    "stop": ("stopping", stop),
    "refresh": ("50,000 entries over HTTP/2, all answered 304", refresh),
    "sizes": ("smaller pictures, against libvips", sizes),
    "pacing": ("adapting to a host", pacing),
    "gallery": ("the gallery in headless Chromium", gallery),
    "million": ("a cache of 1,000,000 entries", million),
}
