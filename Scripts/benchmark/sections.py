"""The figures, one function each."""
import json
import pathlib
import shutil
import statistics
import subprocess
import sys

from links import links
from measure import Failure, Nginx, median, origin as start_origin, run, spread
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


def against(bench, name, rival, comparison):
    ours, theirs = comparison["sleeveSeconds"], comparison["rivalSeconds"]
    bench.report.row(
        f"{name}, wall time / {rival}'s", ours["median"] / theirs["median"],
        note=f"{seconds(ours)} / {seconds(theirs)}")


def seconds(spread):
    return f"{spread['median']:.3f} s ({spread['minimum']:.3f}–{spread['maximum']:.3f})"


def http(bench):
    results, rivals = compare(bench, "http", bench.serve().url, ["curl", "aria2c", "wget2"])
    cold, warm, row = results["cold"], results["warm"], bench.report.row
    for rival in rivals:
        against(bench, "HTTP", rival, rivals[rival])
    row("HTTP, CPU time / curl's", rivals["curl"]["cpuRatio"]["median"])
    row("HTTP, covers a second", cold["coversPerSecond"]["median"])
    row("peak memory of the 5,000", cold["peakMemoryBytes"] / 1e6, "MB")
    times = [run["seconds"] for run in warm["rounds"]]
    row("second run, all 5,000 fresh", statistics.median(times), "s", note=f"{min(times):.3f}–{max(times):.3f}")


def https(bench):
    nginx = bench.serve()
    _, rivals = compare(bench, "https", nginx.tls_url, ["curl"], certificate=str(nginx.certificate))
    against(bench, "HTTPS with HTTP/2", "curl", rivals["curl"])
    bench.report.row("HTTPS with HTTP/2, CPU time / curl's", rivals["curl"]["cpuRatio"]["median"])


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
        "sleeve get of a cached cover, start to bytes", median(runs, "to_bytes") * 1000, "ms",
        note=f"{len(expected) / 1000:.0f} KB; to the end of the process {median(runs) * 1000:.1f} ms")


def million(bench):
    cache, lists = bench.home / "million" / "cache", bench.home / "million" / "list.txt"
    if not (bench.home / "million" / "whole").exists():
        shutil.rmtree(cache.parent, ignore_errors=True)
        cache.parent.mkdir(parents=True)
        origin = start_origin(bench.sleeve)
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
        "1,000,000 downloaded, peak memory", made["memory"] / 1e6, "MB", note=f"in {made['seconds']:.0f} s")

    rounds, row = max(3, bench.rounds // 2), bench.report.row
    runs = []
    for number in range(rounds):
        runs.append(bench.prefetch(str(lists), cache, expect=MILLION, outcome="fresh"))
        bench.report.keep("million", "fresh", runs[-1])
        bench.note(f"  round {number + 1}: {MILLION / runs[-1].wall:,.0f} fresh a second")
    row("1,000,000 entries, fresh covers a second", MILLION / median(runs), note=spread(runs))
    row("1,000,000 fresh, peak memory", max(run.memory for run in runs) / 1e6, "MB")
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
        "storing into 1,000,000 entries, speed / an empty cache's", median(runs["empty"]) / median(runs["full"]),
        note=f"{spread(runs['full'])} / {spread(runs['empty'])}")


SECTIONS = {
    "http": ("5,000 covers over HTTP/1.1, 64 in flight, and again", http),
    "https": ("the same over HTTPS with HTTP/2", https),
    "links": ("links with a delay, HTTP/2 and HTTP/1.1 over TLS, in turn with curl", links),
    "get": ("sleeve get", get),
    "refresh": ("50,000 entries over HTTP/2, all answered 304", refresh),
    "sizes": ("smaller pictures, against libvips", sizes),
    "pacing": ("adapting to a host", pacing),
    "million": ("a cache of 1,000,000 entries", million),
}
