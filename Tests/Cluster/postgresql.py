#!/usr/bin/env python3
"""Tests Scripts/queue/worker against a real PostgreSQL: workers are killed and stopped, and the database is killed, while 3,000 covers
of 40 hosts are downloaded. Every cover must be settled, and no host may be asked by two workers at one time.

  Tests/Cluster/postgresql.py --sleeve FILE [--covers N] [--kills N]
"""
import argparse, json, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, threading, time

from origin import Origin

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKER = ROOT / "Scripts/queue/worker"
LEASE = 3
PER_HOST = 4


class Database:
    """A PostgreSQL of its own, which listens on a socket in a temporary folder. It does not run as root."""

    def __init__(self, folder):
        programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin")) or [pathlib.Path(shutil.which("postgres") or "postgres").parent]
        self.programs, self.folder = programs[-1], folder
        self.prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] if os.getuid() == 0 else []
        if self.prefix:
            shutil.chown(folder, "postgres", "postgres")
        self.run("initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "sleeve", "--no-sync")
        self.start()

    def run(self, program, *words):
        subprocess.run([*self.prefix, self.programs / program, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)

    def start(self):
        options = f"-c listen_addresses= -c unix_socket_directories={self.folder}"
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-o", options, "-l", f"{self.folder}/log", "-w", "start")

    def restart(self):
        """Kills it, as a power failure of its machine would, and starts it."""
        postmaster = int(pathlib.Path(f"{self.folder}/data/postmaster.pid").read_text().split()[0])
        children = subprocess.run(["pgrep", "-P", str(postmaster)], capture_output=True, text=True).stdout.split()
        for process in [postmaster, *map(int, children)]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        # It starts again when the last of its processes has let go of the shared memory.
        for _ in range(50):
            try:
                return self.start()
            except subprocess.CalledProcessError:
                time.sleep(0.1)

    def stop(self):
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "stop")


class Nodes:
    def __init__(self, sleeve, folder, environment, count):
        self.sleeve, self.folder, self.environment = sleeve, folder, environment
        self.processes = [None] * count
        for number in range(count):
            self.start(number)

    def start(self, number):
        words = [
            sys.executable, WORKER, "run", "--drain", "--lease", str(LEASE), "--parallel", "16", "--sleeve", self.sleeve, "--", "--cache", f"{self.folder}/cache-{number}",
            "--library", f"{self.folder}/library.json", "--per-host", str(PER_HOST), "--user-agent", f"node-{number}"]
        self.processes[number] = subprocess.Popen(words, env=self.environment, start_new_session=True)

    def kill(self, number):
        """Kills the worker; the kernel kills its sleeve."""
        self.processes[number].kill()
        self.processes[number].wait()

    def stop(self, number):
        """Stops the worker and its sleeve for 2.5 leases."""
        group = self.processes[number].pid
        os.killpg(group, signal.SIGSTOP)
        threading.Timer(LEASE * 2.5, lambda: self.processes[number].pid == group and os.killpg(group, signal.SIGCONT)).start()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sleeve", required=True)
    parser.add_argument("--covers", type=int, default=3_000)
    parser.add_argument("--kills", type=int, default=20)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="sleeve-queue-")
    os.chmod(folder, 0o755)
    subprocess.run([options.sleeve, "origin", "--write-to", f"{folder}/covers", "--count", "1"], check=True, stdout=subprocess.DEVNULL)
    cover = next(pathlib.Path(f"{folder}/covers").rglob("*.jpg")).read_bytes()
    origin = Origin(cover, delay=0.05)
    os.mkdir(f"{folder}/database")
    database = Database(f"{folder}/database")
    environment = {**os.environ, "DATABASE_URL": f"host={folder}/database user=sleeve dbname=postgres"}

    def worker(*words, **more):
        return subprocess.run([sys.executable, WORKER, *words], env=environment, check=True, capture_output=True, text=True, **more).stdout

    failures = []

    def check(claim, holds, detail=""):
        print(("passed: " if holds else "FAILED: ") + claim + (f" ({detail})" if detail else ""))
        if not holds:
            failures.append(claim)

    nodes = None
    try:
        worker("create")
        urls = [f"http://h{number % 40}.localhost:{origin.port}/covers/{number}.jpg" for number in range(options.covers)]
        # A host's covers lie together, as in a crawl.
        check("a URL is added once", worker("add", input="\n".join(urls)) == f"{options.covers} new\n" and worker("add", input=urls[0]) == "0 new\n")
        nodes = Nodes(options.sleeve, folder, environment, 4)
        generator = random.Random(1)
        deadline = time.monotonic() + 240
        disturbances = ["kill"] * options.kills + ["stop", "database"]
        generator.shuffle(disturbances)

        def status():
            while True:
                try:
                    return json.loads(worker("status"))
                except subprocess.CalledProcessError:
                    time.sleep(0.2)

        total = len(disturbances)
        while time.monotonic() < deadline:
            now = status()
            if now["done"] >= options.covers:
                break
            # Spread over the run, so that each falls into the midst of it.
            while disturbances and now["done"] >= options.covers * (total - len(disturbances)) // (total + 4):
                kind, number = disturbances.pop(), generator.randrange(4)
                if kind == "kill":
                    nodes.kill(number)
                    nodes.start(number)
                elif kind == "stop":
                    nodes.stop(number)
                else:
                    database.restart()
            for number, process in enumerate(nodes.processes):
                if process.poll() is not None:
                    nodes.start(number)
            time.sleep(0.05)
        now = status()
        check("every cover is settled", now == {"done": options.covers, "failed": 0, "due": 0, "waiting": 0}, str(now))
        check("each disturbance happened", not disturbances, f"{total - len(disturbances)} of {total}")
        check("no host was asked by two workers at one time", not origin.conflicts, str(origin.conflicts[:3]))
        check(f"no host got more than {PER_HOST} requests at one time", origin.highest <= PER_HOST, f"at most {origin.highest}")
        again = origin.requests - options.covers
        check("few covers were asked for again", again <= 40 * (options.kills + 2), str(again))
        for process in nodes.processes:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                failures.append("a worker does not end")
        check("workers end when nothing is due", all(process.poll() == 0 for process in nodes.processes))
    finally:
        for process in nodes.processes if nodes else []:
            if process.poll() is None:
                process.kill()
                process.wait()
        database.stop()
        origin.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
