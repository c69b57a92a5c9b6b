"""Downloads over emulated links, in turn with curl: nginx over TLS behind `sleeve-lab link`."""
import contextlib

from measure import Failure, Server, in_turn, run

COVERS = 300
MANY = 2_000
LINKS = ("15ms/200mbit", "50ms/200mbit", "150ms/50mbit")


def links(bench):
    nginx = bench.serve()
    protocols = (("HTTP/2", nginx.tls_port), ("HTTP/1.1", nginx.tls1_port))
    for model in LINKS:
        for protocol, port in protocols:
            with link(bench, model, port) as url:
                for count in (COVERS, MANY):
                    pairs(bench, url, count, f"{model}, {protocol}")
    for protocol, port in protocols:
        with link(bench, "50ms/200mbit", port, "--loss", "1%") as url:
            pairs(bench, url, COVERS, f"50ms/200mbit, 1 % lost, {protocol}", rounds=3)
    with link(bench, "50ms/200mbit", nginx.closing_port) as url:
        pairs(bench, url, MANY, "50ms/200mbit, HTTP/2, connections of 100 requests", has_floor=False)
    with link(bench, "50ms/200mbit", nginx.tls_port) as url:
        urls = [f"{url}/release/00000000-0000-4000-8000-{number:012}/front-500" for number in range(COVERS)]
        turns(bench, "Cover Art Archive's shape, 50ms/200mbit", urls, has_floor=False)


@contextlib.contextmanager
def link(bench, model, port, *options):
    """A link before a port of this machine."""
    with contextlib.closing(Server(bench.lab, "link", f"127.0.0.1:{port}", "--link", model, *options)) as server:
        # It prints host and port. By name, as covers are.
        yield "https://localhost:" + server.url.rsplit(":", 1)[1]


def pairs(bench, url, count, name, rounds=5, has_floor=True):
    urls = [f"{url}/{number}.jpg" for number in range(count)]
    turns(bench, f"{name}: {count:,} covers", urls, 3 if count == MANY else rounds, has_floor)


def turns(bench, name, urls, rounds=5, has_floor=True):
    """Sleeve, curl and the transfers alone in turn, each into new caches and folders."""
    certificate = ["--cacert", str(bench.nginx.certificate)]
    lists = bench.write_list("links.txt", urls)

    def sleeve():
        return bench.prefetch(lists, bench.new_folder("links"), *certificate, expect=len(urls))

    contenders = {"sleeve": sleeve, "curl": lambda: curl(bench, urls, certificate)}
    # It follows no redirects, and a host that closes connections takes it apart.
    if bench.floor and has_floor:
        contenders["floor"] = lambda: run([bench.floor, lists, "64", "200", str(bench.nginx.certificate)])
    runs = in_turn(bench, name, contenders, min(rounds, bench.rounds))
    bench.report.ratio(f"{name}, wall time / curl's", runs, "curl")


def curl(bench, urls, certificate):
    folder = bench.new_folder("curl")
    lines = (f'url = "{url}"\noutput = "{folder}/{number}"' for number, url in enumerate(urls))
    configuration = bench.write_list("links-curl.txt", lines)
    result = run(["curl", "--no-progress-meter", "--fail", "--location", "--parallel", "--parallel-max", "64", *certificate,
                  "--config", configuration])
    if len(list(folder.iterdir())) != len(urls):
        raise Failure("curl has not downloaded every cover")
    return result
