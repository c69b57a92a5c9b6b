"""Revalidating: 100,000 entries that are all answered 304, against h2load sending the same requests to the same nginx."""
import json
import pathlib
import re
import urllib.request

from measure import Failure, at_most, median, run, spread

ENTRIES = 100_000
IN_FLIGHT = 64


def refresh(bench):
    nginx = bench.serve()
    # One file under many names: each is an entry of its own, and one pair of validators makes the rival's requests the same.
    urls = [f"{nginx.url}/100.jpg?n={number}" for number in range(ENTRIES)]
    lists = bench.write_list("refresh.txt", urls)
    cache = bench.new_folder("refresh")
    flags = at_most(IN_FLIGHT)
    bench.prefetch(lists, cache, *flags, expect=ENTRIES)
    with urllib.request.urlopen(urls[0]) as response:
        validators = {name: response.headers[name] for name in ("ETag", "Last-Modified")}
    rival = [
        "h2load", "--h1", "-n", str(ENTRIES), "-c", str(IN_FLIGHT), "-t", "1", "-i", lists,
        "-H", f"If-None-Match: {validators['ETag']}", "-H", f"If-Modified-Since: {validators['Last-Modified']}",
        "-H", "Accept: image/*"]
    # The first one sorts in what the prefetch left in the index's log.
    refreshed(bench, cache, flags)
    before = size(cache)
    runs, rivals = [], []
    for number in range(bench.rounds):
        for tool in ("sleeve", "h2load") if number % 2 == 0 else ("h2load", "sleeve"):
            if tool == "sleeve":
                runs.append(refreshed(bench, cache, flags))
            else:
                rivals.append(run(rival, synced=False))
                check(rivals[-1].output.decode())
        bench.report.keep("refresh", "sleeve", runs[-1])
        bench.report.keep("refresh", "h2load", rivals[-1])
        bench.note(f"  round {number + 1}: sleeve {runs[-1].wall:.3f} s, h2load {rivals[-1].wall:.3f} s")
    row = bench.report.row
    row("100,000 × 304: request rate / h2load's", median(rivals) / median(runs), at_least=0.8,
        note=f"{spread(runs)} / {spread(rivals)}, {median(runs, 'cpu'):.2f} s of CPU / {median(rivals, 'cpu'):.2f}")
    row("the cache grows by", (size(cache) - before) / 1e6, "MB", at_most=0.001, note=f"{before / 1e6:.1f} MB before")


def refreshed(bench, cache, flags):
    result = run([bench.sleeve, "refresh", "--all", "--cache", str(cache), "--quiet", "--json", *flags])
    summary = json.loads(result.output)
    if summary["revalidated"] != ENTRIES or summary["bytes"]:
        raise Failure(f"{ENTRIES:,} entries should have been revalidated: {result.output.decode().strip()}")
    return result


def check(told):
    """Every request of the rival's must have been answered 304, which it counts as 3xx."""
    found = re.search(r"status codes: \d+ 2xx, (\d+) 3xx", told)
    if not found or int(found[1]) != ENTRIES:
        raise Failure(f"h2load did not get {ENTRIES:,} times 304:\n{told}")


def size(folder):
    """What the cache takes of the disk, in bytes."""
    return sum(path.stat().st_blocks * 512 for path in pathlib.Path(folder).rglob("*") if path.is_file())
