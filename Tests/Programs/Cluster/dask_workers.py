#!/usr/bin/env python3
"""Runs the job of the article SeveralMachines, as it is printed there, on two nights, with four workers of Dask on this machine. Commands and
workers are killed meanwhile.

  Tests/Programs/Cluster/dask_workers.py --sleeve FILE

It needs the package distributed of PyPI beside its interpreter. `Scripts/test --cluster` installs it.
"""
import argparse, collections, hashlib, json, os, pathlib, re, shutil, signal, subprocess, sys, tempfile, time

import dask, distributed

from origin import Origin

ARTICLE = pathlib.Path(__file__).resolve().parents[3] / "Sources/Covers/CoverLibrary/CoverLibrary.docc/SeveralMachines.md"
HOSTS, PER_HOST = 64, 4
# How many covers the list has on each night.
NIGHTS = [1_200, 1_600]


class Victim:
    """A process of the command that waits for an answer of the origin."""

    def __init__(self, process):
        self.process = int(process)
        self.words = pathlib.Path(f"/proc/{process}/cmdline").read_text().split("\0")
        self.worker = int(pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])

    @property
    def shard(self):
        return int(self.words[self.words.index("--shard") + 1].split("/")[0]) if "--shard" in self.words else None


def victim(origin, command, is_due, job):
    """Waits for a process of a command; None if the job ends before."""
    while job.poll() is None:
        for node in origin.nodes() if is_due() else []:
            try:
                found = Victim(node)
                if command in found.words:
                    return found
            except OSError:
                # It has ended meanwhile.
                pass
        time.sleep(0.002)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sleeve", required=True)
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sleeve-dask-"))
    python, commands = [re.search(rf"```{name}\n(import.*?|export.*?)```", ARTICLE.read_text(), re.S)[1] for name in ["python", "sh"]]
    (folder / "covers.py").write_text(python)
    shards = int(re.search(r"^SHARDS = (\d+)$", python, re.M)[1])
    (folder / "packs").mkdir()
    (folder / "bin").mkdir()
    # The origin is told which process asks.
    (folder / "bin/sleeve").write_text(
        '#!/bin/sh\ncase $1 in prefetch | refresh) exec "$SLEEVE" "$@" --user-agent $$ ;; *) exec "$SLEEVE" "$@" ;; esac\n')
    (folder / "bin/sleeve").chmod(0o755)
    os.environ.update(SLEEVE=os.path.abspath(options.sleeve), SLEEVE_LIBRARY=f"{folder}/library.json", TMPDIR=str(folder),
                      PATH=f"{folder}/bin:{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    subprocess.run(["sleeve", "origin", "--write-to", f"{folder}/covers", "--count", "1"], check=True, stdout=subprocess.DEVNULL)
    origin = Origin(next((folder / "covers").rglob("*.jpg")).read_bytes(), delay=0.1)
    failures = []

    def check(claim, holds, detail=""):
        print(("passed: " if holds else "FAILED: ") + claim + (f" ({detail})" if detail else ""), flush=True)
        if not holds:
            failures.append(claim)

    def shard_of(host):
        return int(hashlib.sha256(host.encode()).hexdigest()[:16], 16) % shards

    def night(number, address, kills):
        """Runs the article's commands. Returns how often each cover was asked for and sent, and the shards that were killed."""
        covers = [f"h{cover % HOSTS}.localhost/{cover}.jpg" for cover in range(NIGHTS[number])]
        urls = [cover.replace("/", f":{origin.port}/", 1) for cover in covers]
        (folder / "list.txt").write_text("".join(f"http://{url}\n" for url in urls))
        script = commands.replace("tcp://scheduler:8786", address).replace("/nfs", str(folder))
        os.environ["SLEEVE_CACHE"] = f"{folder}/gathered-{number}"
        (asked, sent), began, killed = origin.counts(), time.monotonic(), []
        with open(folder / "log", "w+") as log:
            job = subprocess.Popen(["sh", "-ec", script], cwd=folder, stdout=log, stderr=log)
            for command, requests, is_worker in kills:
                found = victim(origin, command, lambda: (origin.counts()[0] - asked).total() >= requests, job)
                if found:
                    os.kill(found.worker if is_worker else found.process, signal.SIGKILL)
                    killed.append(found.shard)
            status = job.wait(timeout=300)
            seconds = time.monotonic() - began
            if status != 0:
                log.seek(0)
                print(log.read()[-4_000:])
        print(f"night {number + 1}: {len(covers)} covers, {seconds:.0f} s, killed {', '.join(command for command, _, _ in kills)}")
        check("the job succeeds, though all of these were killed", status == 0 and len(killed) == len(kills), f"exit {status}")
        lines = [json.loads(line) for report in (folder / "packs").glob("*.jsonl") for line in report.read_text().splitlines()]
        outcomes = collections.Counter(line["outcome"] for line in lines)
        check("every cover of the list is in the report of one shard, and there",
              sorted(line["url"] for line in lines) == sorted(f"http://{url}" for url in urls) and outcomes.keys() <= {"downloaded", "fresh"}, str(dict(outcomes)))
        packs, reports = [list((folder / "packs").glob(f"*-of-{shards}.{kind}")) for kind in ["tar", "jsonl"]]
        check("every shard has a pack and a report, also without covers",
              len(packs) == len(reports) == shards and any(report.stat().st_size == 0 for report in reports))
        listed = subprocess.run(["sleeve", "cache", "list", "--json"], check=True, capture_output=True, text=True).stdout.splitlines()
        check("every cover is in the gathered cache, which is whole",
              sorted(json.loads(line)["url"] for line in listed) == sorted(f"http://{url}" for url in urls)
              and subprocess.run(["sleeve", "cache", "verify", "--quiet"]).returncode == 0, f"{len(listed)} covers")
        now = origin.counts()
        asked, sent = now[0] - asked, now[1] - sent
        again = [cover for cover, count in sent.items() if count > 1]
        check("only shards that were killed download again, and only what their packs lacked",
              {shard_of(cover.split("/")[0]) for cover in again} <= set(killed) and max(sent.values()) <= 1 + len(kills), f"{len(again)} covers")
        check("no host was asked by two commands at one time", not origin.conflicts, str(origin.conflicts[:3]))
        check(f"no host got more than {PER_HOST} requests at one time", origin.highest <= PER_HOST, f"at most {origin.highest}")
        return covers, asked, sent

    dask.config.set({"distributed.worker.daemon": False, "distributed.logging.distributed": "error", "distributed.admin.event-loop": "asyncio"})
    try:
        with distributed.LocalCluster(
                n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50, local_directory=f"{folder}/dask") as cluster:
            first, _, sent = night(0, cluster.scheduler_address, [("prefetch", 300, False), ("prefetch", 600, True)])
            check("the first night brings every cover", set(first) == set(sent))
            second, asked, sent = night(1, cluster.scheduler_address, [("refresh", 200, False), ("refresh", 400, True), ("prefetch", 600, False), ("prefetch", 800, True)])
            check("the second night asks for every cover, and transfers only the new ones",
                  set(second) == set(asked) and set(second) - set(first) == set(sent), f"{asked.total()} requests, {sent.total()} covers")
    finally:
        origin.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
