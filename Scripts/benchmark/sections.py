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
from measure import Failure, Nginx, Origin, always, count_files, median, run, spread
from pacing import pacing
from refreshing import refresh

COVERS = 5_000
MILLION = 1_000_000


class Bench:
    """The corpus, the servers, new folders and the report, which the sections share."""

    def __init__(self, sleeve, root, home, work, rounds, report):
        self.sleeve, self.root, self.home, self.work = str(sleeve), root, home, work
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


def compare(bench, section, url, options, tools):
    """Rounds in which every tool downloads the corpus into a new folder, in alternating order."""
    lists = bench.write_list(f"{section}.txt", (f"{url}/{n}.jpg" for n in range(COVERS)))
    config = bench.write_list(
        f"{section}.curl", (f'url = "{url}/{n}.jpg"\noutput = "{n}.jpg"' for n in range(COVERS)))
    commands = {
        "curl": ["curl", "--parallel", "--parallel-max", "64", "--no-progress-meter", "-K", config],
        "aria2c": ["aria2c", "-j", "64", "-i", lists, "--quiet", "--no-conf"],
        "wget2": ["wget2", "--max-threads=64", "-i", lists, "-q"],
    }
    if "cacert" in options:
        commands["curl"] += ["--cacert", options["cacert"]]
    # Slow tools and those without a target run in the first rounds only.
    rounds = {"sleeve": bench.rounds, "curl": bench.rounds, "aria2c": min(3, bench.rounds), "wget2": min(3, bench.rounds)}
    runs = {tool: [] for tool in tools}
    for number in range(bench.rounds):
        for tool in tools if number % 2 == 0 else reversed(tools):
            if number >= rounds[tool]:
                continue
            folder = bench.new_folder(f"{section}-{tool}")
            if tool == "sleeve":
                cacert = ["--cacert", options["cacert"]] if "cacert" in options else []
                result = bench.prefetch(lists, folder, "--parallel", "64", "--per-host", "64", *cacert)
                bench.filled = lists, folder
            else:
                result = run(commands[tool], folder)
                if count_files(folder) != COVERS:
                    raise Failure(f"{tool} left {count_files(folder)} files")
            runs[tool].append(result)
            bench.report.keep(section, tool, result)
        bench.note(f"  round {number + 1}: " + ", ".join(
            f"{tool} {runs[tool][number].wall:.3f} s" for tool in tools if number < len(runs[tool])))
    return runs


def http(bench):
    nginx = bench.serve()
    runs = compare(bench, "http", nginx.url, {}, ["sleeve", "curl", "aria2c", "wget2"])
    wall, cpu, row = median(runs["sleeve"]), median(runs["sleeve"], "cpu"), bench.report.row
    row("HTTP, wall time / curl's", wall / median(runs["curl"]), at_most=0.5,
        note=f"{spread(runs['sleeve'])} / {spread(runs['curl'])}")
    row("HTTP, wall time / aria2c's", wall / median(runs["aria2c"]), at_most=0.125, note=f"aria2c {spread(runs['aria2c'])}")
    row("HTTP, wall time / wget2's", wall / median(runs["wget2"]), note=f"wget2 {spread(runs['wget2'])}")
    row("HTTP, CPU time / curl's", cpu / median(runs["curl"], "cpu"), at_most=1,
        note=f"{cpu:.3f} s / {median(runs['curl'], 'cpu'):.3f} s")
    row("HTTP, covers a second", COVERS / wall)
    row("peak memory of the 5,000", max(run.memory for run in runs["sleeve"]) / 1e6, "MB", at_most=80)


def https(bench):
    nginx = bench.serve()
    certificate = str(nginx.certificate)
    runs = compare(bench, "https", nginx.tls_url, {"cacert": certificate}, ["sleeve", "curl"])
    bench.report.row(
        "HTTPS with HTTP/2, wall time / curl's", median(runs["sleeve"]) / median(runs["curl"]), at_most=0.7,
        note=f"{spread(runs['sleeve'])} / {spread(runs['curl'])}")
    bench.report.row(
        "HTTPS with HTTP/2, CPU time / curl's", median(runs["sleeve"], "cpu") / median(runs["curl"], "cpu"))


def delay(bench):
    covers, in_flight, seconds = 20_000, 256, 0.05
    origin = Origin(bench.sleeve, "--delay", str(seconds * 1000))
    try:
        lists = bench.write_list("delay.txt", (f"{origin.url}/covers/{n}.jpg?size=4000" for n in range(covers)))
        runs = []
        for number in range(bench.rounds):
            runs.append(bench.prefetch(lists, bench.new_folder("delay"), *always(in_flight), expect=covers))
            bench.report.keep("delay", "sleeve", runs[-1])
            bench.note(f"  round {number + 1}: {covers / runs[-1].wall:,.0f} covers a second")
    finally:
        origin.close()
    bench.report.row(
        "answers after 50 ms, 256 in flight: share of 256 / 50 ms", covers / median(runs) / (in_flight / seconds), at_least=0.9,
        note=f"{covers:,} covers in {spread(runs)}, {median(runs, 'cpu'):.2f} s of CPU")


def fresh(bench):
    """The server has been stopped: a request would fail a cover."""
    if not bench.filled:
        lists = bench.write_list("fresh.txt", (f"{bench.serve().url}/{n}.jpg" for n in range(COVERS)))
        bench.filled = lists, bench.new_folder("fresh")
        bench.prefetch(*bench.filled, "--per-host", "64")
    bench.close()
    runs = []
    for number in range(bench.rounds):
        runs.append(bench.prefetch(*bench.filled, outcome="fresh"))
        bench.report.keep("fresh", "sleeve", runs[-1])
        bench.note(f"  round {number + 1}: {runs[-1].wall:.3f} s")
    bench.report.row("second run, all 5,000 fresh", median(runs), "s", at_most=0.15, note=spread(runs))


def get(bench):
    if not bench.filled:
        fresh(bench)
    lists, cache = bench.filled
    url = pathlib.Path(lists).read_text().splitlines()[100]
    expected = (bench.corpus / "100.jpg").read_bytes()
    runs = []
    for _ in range(50):
        runs.append(run([bench.sleeve, "get", url, "--cache", str(cache)], synced=False))
        if runs[-1].output != expected:
            raise Failure("sleeve get returned other bytes than the server sent")
        bench.report.keep("get", "sleeve", runs[-1])
    bench.report.row(
        "sleeve get of a cached cover, start to bytes", median(runs, "to_bytes") * 1000, "ms", at_most=25,
        note=f"{len(expected) / 1000:.0f} KB; to the end of the process {median(runs) * 1000:.1f} ms")


def lookup(bench):
    program = bench.root / ".build/release/LookupBench"
    if not program.exists():
        bench.report.skip("a cached cover from the library", "no LookupBench in this build")
        return
    if not bench.filled:
        fresh(bench)
    lists, cache = bench.filled
    urls = pathlib.Path(lists).read_text().splitlines()[:500]
    result = json.loads(run([str(program), str(cache), *urls]).output)
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
    "http": ("5,000 covers over HTTP/1.1, 64 in flight", http),
    "https": ("the same over HTTPS with HTTP/2", https),
    "delay": ("an origin that answers after 50 ms, 256 in flight", delay),
    "fresh": ("the second run: everything is fresh", fresh),
    "get": ("sleeve get", get),
    "lookup": ("a cached cover through the library", lookup),
    "stop": ("stopping", stop),
    "refresh": ("50,000 entries over HTTP/2, all answered 304", refresh),
    "pacing": ("adapting to a host", pacing),
    "gallery": ("the gallery in headless Chromium", gallery),
    "million": ("a cache of 1,000,000 entries", million),
}
