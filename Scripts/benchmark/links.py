"""Downloads over emulated links, in turn with curl: nginx over TLS behind `sleeve-lab origin --link … --before`, and the Cover Art
Archive's shape."""
import contextlib
import json
import signal
import uuid
from statistics import median

from measure import Failure, Origin, run

COVERS = 300
MANY = 2_000
# At most this share of curl's time: a first run over HTTP/2 and HTTP/1.1, 300 other covers of the known host, 2,000 covers.
TARGETS = {
    "15ms/200mbit": {"first": (0.95, 1.05), "known": (0.9, 0.95), "many": (0.85, 0.85)},
    "50ms/200mbit": {"first": (0.95, 1.1), "known": (0.9, 0.95), "many": (0.8, 0.9)},
    "150ms/50mbit": {"first": (0.95, 1.05), "known": (0.95, 1.0), "many": (0.9, 0.95)},
}
NAMES = {"first": f"{COVERS} covers", "known": f"{COVERS} more of a known host", "many": f"{MANY:,} covers"}


def links(bench):
    nginx = bench.serve()
    for link, targets in TARGETS.items():
        for protocol, port in (("HTTP/2", nginx.tls_port), ("HTTP/1.1", nginx.tls1_port)):
            with Relay(bench, link, port) as relay:
                for case, at_most in targets.items():
                    pairs(bench, relay.url, nginx.certificate, case, f"{link}, {protocol}", at_most[protocol == "HTTP/1.1"], link)
    for protocol, port in (("HTTP/2", nginx.tls_port), ("HTTP/1.1", nginx.tls1_port)):
        with Relay(bench, "50ms/200mbit", port, "--loss", "1%", "--seed", "1") as relay:
            pairs(bench, relay.url, nginx.certificate, "first", f"50ms/200mbit, 1 % lost, {protocol}", 1, rounds=3)
    with Relay(bench, "50ms/200mbit", nginx.closing_port) as relay:
        pairs(bench, relay.url, nginx.certificate, "many", "50ms/200mbit, HTTP/2, connections of 100 requests", 1)
    archive(bench)
    connections(bench)
    tail(bench)


class Relay:
    """A link before a port of this machine."""

    def __init__(self, bench, link, port, *options):
        self.origin = Origin(bench.lab, "--link", link, "--before", f"127.0.0.1:{port}", *options)
        # It prints host and port. By name, as covers are.
        self.url = "https://localhost:" + self.origin.url.rsplit(":", 1)[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.origin.close()


def pairs(bench, url, certificate, case, name, at_most, link=None, rounds=5):
    """Runs of curl and Sleeve in turn, each into new folders."""
    begin = {"first": 0, "known": COVERS, "many": 2 * COVERS}[case]
    urls = [f"{url}/{number}.jpg" for number in range(begin, begin + (MANY if case == "many" else COVERS))]
    walls = {"curl": [], "sleeve": []}
    for _ in range(min(3 if case == "many" else rounds, bench.rounds)):
        walls["curl"].append(curl(bench, urls, certificate))
        cache = bench.new_folder("links")
        if case == "known":
            prefetch(bench, [f"{url}/{number}.jpg" for number in range(COVERS)], cache, certificate)
        walls["sleeve"].append(prefetch(bench, urls, cache, certificate))
    compared(bench, f"{name}: {NAMES[case]}", walls, at_most)
    if case == "many" and link:
        bodies = sum((bench.corpus / url.rsplit("/", 1)[1]).stat().st_size for url in urls)
        megabits = bodies * 8 / 1e6 / median(walls["sleeve"])
        capacity = int(link.split("/")[1].removesuffix("mbit"))
        bench.report.row(f"{name}: {NAMES[case]}, share of the link", megabits / capacity, at_least=0.85)


def compared(bench, name, walls, at_most):
    ours, theirs = walls["sleeve"], walls["curl"]
    bench.report.runs.setdefault("links", {})[name] = walls
    bench.report.row(f"{name}, wall time / curl's", median(ours) / median(theirs), at_most=at_most,
                     note=f"{median(ours):.2f} s ({min(ours):.2f}–{max(ours):.2f}) / "
                          f"{median(theirs):.2f} s ({min(theirs):.2f}–{max(theirs):.2f})")
    bench.note(f"  {name}: {median(ours) / median(theirs):.2f}")


def curl(bench, urls, certificate, *options):
    folder = bench.new_folder("curl")
    lines = (f'url = "{url}"\noutput = "{folder}/{number}"' for number, url in enumerate(urls))
    configuration = bench.write_list("links-curl.txt", lines)
    wall = run(["curl", "--silent", "--show-error", "--fail", "--parallel", "--parallel-max", "64", "--cacert", str(certificate),
                *options, "--config", configuration]).wall
    if len(list(folder.iterdir())) != len(urls):
        raise Failure("curl has not downloaded every cover")
    return wall


def prefetch(bench, urls, cache, certificate):
    return bench.prefetch(bench.write_list("links.txt", urls), cache, "--cacert", str(certificate), expect=len(urls)).wall


def archive(bench):
    """Each cover is two redirects away: the front server, the archive, and one of 40 storage hosts."""
    certificate = bench.work / "archive.pem"
    origin = Origin(bench.lab, "--tls", "--archive-hosts", "--certificate", str(certificate), "--link", "50ms/200mbit")
    with contextlib.closing(origin):
        base = "https://localhost:" + origin.url.rsplit(":", 1)[1]
        urls = [f"{base}/release/{uuid.UUID(int=number)}/front-500" for number in range(COVERS)]
        walls = {"curl": [], "sleeve": []}
        for _ in range(min(5, bench.rounds)):
            walls["curl"].append(curl(bench, urls, certificate, "--location"))
            walls["sleeve"].append(prefetch(bench, urls, bench.new_folder("links"), certificate))
    compared(bench, f"Cover Art Archive's shape, 50ms/200mbit: {COVERS} covers", walls, 0.85)


def connections(bench):
    """Connections to an HTTP/2 host, counted at the link, with the streams that servers allow."""
    for streams in (100, 128):
        certificate = bench.work / f"streams-{streams}.pem"
        with contextlib.closing(Origin(bench.lab, "--tls", "--streams", str(streams), "--certificate", str(certificate),
                                       "--link", "50ms/200mbit")) as origin:
            cache = bench.new_folder("links")
            prefetch(bench, [f"{origin.url}/covers/{number}.jpg" for number in range(1_000)], cache, certificate)
            origin.process.send_signal(signal.SIGINT)
            carried = json.loads(origin.process.stdout.read())
        bench.report.row(f"connections to a host that allows {streams} streams, 1,000 covers", carried["connections"], at_most=2)


def tail(bench):
    """The time from the last byte to the end of the process."""
    report = bench.measure("tail", "bench", "--link", "50ms/200mbit", "--covers", str(COVERS), "--protocol", "https", "--rounds",
                           str(min(5, bench.rounds)), "--only", "cold")
    bench.report.row("from the last byte to the end of the process, 50ms/200mbit",
                     report["results"][0]["tail"]["median"], "ms", at_most=20)
