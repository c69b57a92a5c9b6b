"""Revalidation of 50,000 entries over HTTPS with HTTP/2, all answered 304, against h2load with the same requests."""
import json
import pathlib
import re
import ssl
import urllib.request

from measure import Failure, at_most, median, run, spread

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
    row("50,000 × 304 over HTTP/2: request rate / h2load's", median(rivals) / median(runs),
        note=f"{spread(runs)} / {spread(rivals)}, {median(runs, 'cpu'):.2f} s of CPU / {median(rivals, 'cpu'):.2f}")
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
