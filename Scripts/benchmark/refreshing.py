"""Revalidation of 50,000 entries over HTTPS with HTTP/2, all answered 304, against h2load with the same requests."""
import json
import pathlib
import re
import ssl
import urllib.request

from measure import Failure, at_most, in_turn, median, run

ENTRIES = 50_000
IN_FLIGHT = 64


def refresh(bench):
    nginx = bench.serve()
    # One file under many URLs: each is an entry, and one pair of validators makes h2load's requests the same.
    urls = [f"{nginx.tls_url}/100.jpg?n={number}" for number in range(ENTRIES)]
    lists = bench.write_list("refresh.txt", urls)
    cache = bench.new_folder("refresh")
    flags = [*at_most(IN_FLIGHT), "--cacert", str(nginx.certificate)]
    bench.prefetch(lists, cache, *flags, expect=ENTRIES)
    with urllib.request.urlopen(urls[0], context=ssl.create_default_context(cafile=nginx.certificate)) as response:
        validators = {name: response.headers[name] for name in ("ETag", "Last-Modified")}
    rival = [
        "h2load", "-n", str(ENTRIES), "-c", "1", "-m", str(IN_FLIGHT), "-i", lists,
        "-H", f"If-None-Match: {validators['ETag']}", "-H", f"If-Modified-Since: {validators['Last-Modified']}",
        "-H", "Accept: image/*"]
    # The first refresh checkpoints what the prefetch left in the index's log.
    refreshed(bench, cache, flags)
    before = size(cache)
    def others():
        result = run(rival, synced=False)
        check(result.output.decode())
        return result

    contenders = {"sleeve": lambda: refreshed(bench, cache, flags), "h2load": others}
    if bench.floor:
        conditions = [f"If-None-Match: {validators['ETag']}", f"If-Modified-Since: {validators['Last-Modified']}", "Accept: image/*"]
        contenders["floor"] = lambda: run(
            [bench.floor, lists, str(IN_FLIGHT), "304", str(nginx.certificate), *conditions], synced=False)
    runs = in_turn(bench, "refresh", contenders)
    row = bench.report.row
    bench.report.ratio("50,000 × 304 over HTTP/2, wall time / h2load's", runs, "h2load")
    if bench.floor:
        bench.report.ratio("50,000 × 304 over HTTP/2, CPU time / that of libcurl alone", runs, "floor", kind="cpu")
    row("CPU time of a 304", median(runs["sleeve"], "cpu") / ENTRIES * 1e6, "µs")
    row("the cache grows by", (size(cache) - before) / 1e6, "MB", note=f"{before / 1e6:.1f} MB before")


def refreshed(bench, cache, flags):
    result = run([bench.sleeve, "refresh", "--all", "--cache", str(cache), "--quiet", "--json", *flags])
    summary = json.loads(result.output)
    if summary["revalidated"] != ENTRIES or summary["bytes"]:
        raise Failure(f"{ENTRIES:,} entries should have been revalidated: {result.output.decode().strip()}")
    return result


def check(output):
    """Checks that h2load spoke HTTP/2 and that every response was a 304, which it counts as 3xx."""
    found = re.search(r"status codes: \d+ 2xx, (\d+) 3xx", output)
    if not found or int(found[1]) != ENTRIES or "Application protocol: h2" not in output:
        raise Failure(f"h2load did not get {ENTRIES:,} responses with status 304 over HTTP/2:\n{output}")


def size(folder):
    """The bytes that a folder allocates on the disk."""
    return sum(path.stat().st_blocks * 512 for path in pathlib.Path(folder).rglob("*") if path.is_file())
