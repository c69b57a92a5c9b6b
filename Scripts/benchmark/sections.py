"""The figures, one function each."""
import json
import pathlib
import shutil
import subprocess
import sys

from links import links
from measure import Failure, Nginx, in_turn, median, origin as start_origin, run, spread
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
        self.floor = self.build_floor()
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

    def build_floor(self):
        """The transfers alone, in C; None where it cannot be built."""
        program = self.work / "floor"
        source = pathlib.Path(__file__).with_name("floor.c")
        built = subprocess.run(["cc", "-O2", "-o", str(program), str(source), "-lcurl"], stderr=subprocess.DEVNULL)
        return str(program) if built.returncode == 0 else None

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


def in_flight(bench, section, url, certificate=None, **others):
    """The corpus with 64 in flight: Sleeve, curl, curl and a sync of its files, the transfers alone, and other programs, in turn."""
    urls = [f"{url}/{number}.jpg" for number in range(COVERS)]
    lists = bench.write_list(f"{section}.txt", urls)
    configuration = bench.write_list(f"{section}.curl", (f'url = "{url}"\noutput = "{number}"' for number, url in enumerate(urls)))
    trust = ["--cacert", str(certificate)] if certificate else []
    curl = ["curl", "--no-progress-meter", "--fail", "--parallel", "--parallel-max", "64", *trust, "--config", configuration]

    def rival(*command):
        folder = bench.new_folder(section)
        result = run(command, folder)
        if len(list(folder.iterdir())) != COVERS:
            raise Failure(f"{command[0]} has not downloaded every cover")
        return result

    contenders = {
        "sleeve": lambda: bench.prefetch(lists, bench.new_folder(section), "--parallel", "64", "--per-host", "64", *trust),
        "curl": lambda: rival(*curl),
        "curl and sync": lambda: rival("sh", "-c", '"$@" && sync -f .', "sh", *curl),
        **{name: lambda command=command: rival(*command, lists) for name, command in others.items()}}
    if bench.floor:
        contenders["floor"] = lambda: run([bench.floor, lists, "64", "200", str(certificate or "")])
    return lists, in_turn(bench, section, contenders)


def http(bench):
    lists, runs = in_flight(
        bench, "http", bench.serve().url, wget2=["wget2", "--max-threads=64", "-q", "-i"],
        aria2c=["aria2c", "-j", "64", "--quiet", "--no-conf", "-i"])
    for rival in ("curl and sync", "curl", "wget2", "aria2c"):
        bench.report.ratio(f"HTTP, wall time / that of {rival}", runs, rival)
    bench.report.ratio("HTTP, CPU time / curl's", runs, "curl", kind="cpu")
    bench.report.row("HTTP, covers a second", COVERS / median(runs["sleeve"]))
    bench.report.row("peak memory of the 5,000", max(run.summary["peakMemoryBytes"] for run in runs["sleeve"]) / 1e6, "MB")
    cache = bench.new_folder("warm")
    bench.prefetch(lists, cache, "--per-host", "64")
    again = [bench.prefetch(lists, cache, outcome="fresh") for _ in range(bench.rounds)]
    bench.report.row("second run, all 5,000 fresh", median(again) * 1000, "ms")


def https(bench):
    nginx = bench.serve()
    _, runs = in_flight(bench, "https", nginx.tls_url, nginx.certificate)
    for rival in ("curl and sync", "curl"):
        bench.report.ratio(f"HTTPS with HTTP/2, wall time / that of {rival}", runs, rival)
    bench.report.ratio("HTTPS with HTTP/2, CPU time / curl's", runs, "curl", kind="cpu")


def get(bench):
    lists, cache = bench.fill()
    url = pathlib.Path(lists).read_text().splitlines()[100]
    expected = (bench.corpus / "100.jpg").read_bytes()

    def cached():
        result = run([bench.sleeve, "get", url, "--quiet", "--offline", "--cache", str(cache)], synced=False)
        if result.output != expected:
            raise Failure("sleeve get returned other bytes than the server sent")
        return result

    runs = in_turn(bench, "get", {"sleeve": cached, "curl": lambda: run(["curl", "--version"], synced=False)}, 40)
    bench.report.ratio("sleeve get of a cached cover, wall time / that of curl --version", runs, "curl")
    bench.report.row(
        "sleeve get of a cached cover, start to bytes", median(runs["sleeve"], "to_bytes") * 1000, "ms", note=f"{len(expected) / 1000:.0f} KB")


def upkeep(bench):
    """A cache of 100,000 covers of 16 KB: carrying it to another machine, listing it, making room."""
    count, size = 100_000, 16_000
    origin = start_origin(bench.sleeve)
    try:
        lists = bench.write_list("upkeep.txt", (f"{origin.url}/covers/{number}.jpg?size={size}" for number in range(count)))
        cache = bench.new_folder("upkeep")
        bench.prefetch(lists, cache, "--per-host", "64", expect=count)
    finally:
        origin.close()
    tar, command = bench.work / "upkeep.tar", [bench.sleeve, "cache"]
    run([*command, "pack", str(tar), "--quiet", "--cache", str(cache)])
    folders = {}

    def unpack():
        folders["sleeve"] = bench.new_folder("unpacked")
        return run([*command, "unpack", str(tar), "--quiet", "--cache", str(folders["sleeve"])])

    def extract():
        folders["tar"] = bench.new_folder("extracted")
        return run(["sh", "-c", f"tar xf {tar} && sync -f ."], folders["tar"])

    rounds = min(3, bench.rounds)
    runs = in_turn(bench, "unpack", {"sleeve": unpack, "tar and sync": extract}, rounds)
    bench.report.ratio(f"unpacking {count:,} covers, wall time / that of tar and sync", runs, "tar and sync")
    listed = [run([*command, "list", "--json", "--cache", str(cache)], synced=False) for _ in range(rounds)]
    bench.report.row(f"listing {count:,} covers as JSON", median(listed), "s", note=spread(listed))
    half = f"{count * size // 2 // 1000}K"
    evicted = [run([*command, "evict", "--to", half, "--quiet", "--cache", str(folders["sleeve"])])]
    removed = [run(["rm", "-rf", *(str(folder) for folder in sorted((folders["tar"] / "covers").iterdir())[::2])])]
    runs = {"sleeve": evicted, "rm": removed}
    bench.report.ratio(f"evicting half of {count:,} covers, wall time / that of rm -rf of as many", runs, "rm")


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
    "upkeep": ("a cache of 100,000 covers: unpack, list, evict", upkeep),
    "refresh": ("50,000 entries over HTTP/2, all answered 304", refresh),
    "sizes": ("smaller pictures, against libvips", sizes),
    "pacing": ("adapting to a host", pacing),
    "million": ("a cache of 1,000,000 entries", million),
}
