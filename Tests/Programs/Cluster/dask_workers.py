#!/usr/bin/env python3
"""Tests shards as tasks of Dask: four workers download 24 shards of a list, and one of them is killed.

  Tests/Programs/Cluster/dask_workers.py --sleeve FILE

It needs the package distributed of PyPI beside its interpreter. `Scripts/test --cluster` installs it.
"""
import argparse, json, os, pathlib, shutil, signal, subprocess, sys, tempfile, time

from origin import Origin

SHARDS, HOSTS, PER_HOST = 24, 64, 4


def download(sleeve, folder, shard, run):
    """A task: downloads a shard into the cache of the worker that runs it. Returns its outcomes by URL, and the summary."""
    # A worker that is started again in place of a killed one is another process.
    node = f"{run}-{os.getpid()}"
    report = f"{folder}/{node}-{shard}.jsonl"
    # The kernel ends the command with its worker.
    words = ["setpriv", "--pdeathsig", "KILL", "--", sleeve, "prefetch", f"{folder}/list", "--shard", f"{shard}/{SHARDS}", "--cache", f"{folder}/{node}", "--library",
             f"{folder}/library.json", "--per-host", str(PER_HOST), "--user-agent", node, "--report", report, "--json", "--quiet"]
    process = subprocess.run(words, capture_output=True, text=True)
    # 3: some covers failed.
    if process.returncode not in (0, 3):
        raise RuntimeError(f"exit {process.returncode}: {process.stderr}")
    lines = [json.loads(line) for line in pathlib.Path(report).read_text().splitlines()]
    return [(line["url"], line["outcome"]) for line in lines], json.loads(process.stdout)


def main():
    import dask, distributed
    parser = argparse.ArgumentParser()
    parser.add_argument("--sleeve", required=True)
    parser.add_argument("--covers", type=int, default=1_600)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="sleeve-dask-")
    subprocess.run([options.sleeve, "origin", "--write-to", f"{folder}/covers", "--count", "1"], check=True, stdout=subprocess.DEVNULL)
    origin = Origin(next(pathlib.Path(f"{folder}/covers").rglob("*.jpg")).read_bytes(), delay=0.1)
    urls = [f"http://h{number % HOSTS}.localhost:{origin.port}/covers/{number}.jpg" for number in range(options.covers)]
    pathlib.Path(f"{folder}/list").write_text("\n".join(urls))
    failures = []

    def check(claim, holds, detail=""):
        print(("passed: " if holds else "FAILED: ") + claim + (f" ({detail})" if detail else ""), flush=True)
        if not holds:
            failures.append(claim)

    dask.config.set({"distributed.worker.daemon": False, "distributed.logging.distributed": "error", "distributed.admin.event-loop": "asyncio"})

    def run(name, kills):
        began = time.monotonic()
        with distributed.LocalCluster(
                n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50, local_directory=f"{folder}/dask") as cluster, \
                distributed.Client(cluster) as client:
            tasks = client.map(lambda shard: download(options.sleeve, folder, shard, name), range(SHARDS), pure=False, retries=2)
            if kills:
                while origin.requests < options.covers // 4:
                    time.sleep(0.01)
                victim = sorted(client.run(os.getpid).values())[0]
                os.kill(victim, signal.SIGKILL)
            results = client.gather(tasks)
        outcomes = [outcome for lines, _ in results for outcome in lines]
        return outcomes, [summary for _, summary in results], time.monotonic() - began

    try:
        outcomes, summaries, seconds = run("first", kills=True)
        names = sorted(url for url, _ in outcomes)
        check("every cover of the list is in the report of one shard, and downloaded or fresh",
              names == sorted(urls) and {outcome for _, outcome in outcomes} <= {"downloaded", "fresh"}, f"{len(names)} covers in {seconds:.0f} s")
        check("the shards add up to the list", sum(summary["requested"] for summary in summaries) == options.covers)
        check(f"no host got more than {PER_HOST} requests at one time", origin.highest <= PER_HOST, f"at most {origin.highest}")
        check("no host was asked by two workers at one time", not origin.conflicts, str(origin.conflicts[:3]))
        again = origin.requests - options.covers
        check("a killed worker's covers are asked for again at most once each in flight", again <= 2 * 128 and max(origin.asked.values()) <= 2, f"{again} again")
    finally:
        origin.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
