#!/usr/bin/env python3
"""Tests the configurations of Scripts/edges: three mirrors of one origin behind nginx and behind HAProxy, while one is killed, started
again, and frozen, and while the origin is gone; with and without a tier.

  Tests/Cluster/edges.py --sleeve FILE
"""
import argparse, concurrent.futures, http.client, itertools, os, pathlib, re, shutil, signal, subprocess, sys, tempfile, time

from origin import Origin
from ports import free_port, wait_for

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNT = 300


class Edge:
    """Mirrors and a balancer with one of the configurations, on free ports."""

    def __init__(self, name, sleeve, folder, origin, has_tier):
        self.name, self.sleeve, self.folder, self.origin = name, sleeve, folder, origin
        self.port, self.ports = free_port(), [free_port() for _ in range(3)]
        self.mirrors = [None] * 3
        os.makedirs(f"{folder}/tier")
        self.options = ["--tier", f"{folder}/tier"] if has_tier else []
        for number in range(3):
            self.start(number)
        file = {"nginx": "nginx.conf", "haproxy": "haproxy.cfg"}[name]
        text = (ROOT / "Scripts/edges" / file).read_text()
        for old, new in zip((8740, 8741, 8742, 8743), (self.port, *self.ports)):
            text = re.sub(rf":{old}\b", f":{new}", text)
        path = f"{folder}/{file}"
        pathlib.Path(path).write_text(text)
        program = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
        words = {"nginx": [program, "-p", folder, "-c", path, "-e", f"{folder}/error.log", "-g",
                           f"daemon off; pid {folder}/pid;"], "haproxy": [program, "-db", "-f", path]}[name]
        self.balancer = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port)

    def start(self, number):
        self.mirrors[number] = subprocess.Popen(
            [self.sleeve, "serve", "--mirror", f"http://127.0.0.1:{self.origin.port}", "--port", str(self.ports[number]), "--cache",
             f"{self.folder}/cache-{number}", "--quiet", *self.options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.ports[number])

    def kill(self, number):
        self.mirrors[number].kill()
        self.mirrors[number].wait()

    def get(self, path):
        """Returns how long a request took, and whether it failed."""
        began = time.monotonic()
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            connection.request("GET", path)
            response = connection.getresponse()
            is_good = response.status == 200 and response.read() == self.origin.body(path)
            connection.close()
        except (OSError, http.client.HTTPException):
            is_good = False
        return time.monotonic() - began, not is_good

    def load(self, meanwhile=None):
        """Requests every cover. Returns how many failed, the longest time, and the number of requests to the origin."""
        before = self.origin.requests
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            results = [pool.submit(self.get, f"/covers/{number}.jpg") for number in range(COUNT)]
            if meanwhile:
                while sum(result.done() for result in results) < COUNT // 4:
                    time.sleep(0.005)
                meanwhile()
            times, failures = zip(*(result.result() for result in results))
        return sum(failures), max(times), self.origin.requests - before

    def stop(self):
        for process in [self.balancer, *self.mirrors]:
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in [self.balancer, *self.mirrors]:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sleeve", required=True)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="sleeve-edges-")
    subprocess.run([options.sleeve, "origin", "--write-to", f"{folder}/covers", "--count", "1"], check=True, stdout=subprocess.DEVNULL)
    cover = next(path for path in pathlib.Path(f"{folder}/covers").rglob("*.jpg")).read_bytes()
    failures = []

    def check(claim, holds, detail=""):
        print(("passed: " if holds else "FAILED: ") + claim + (f" ({detail})" if detail else ""))
        if not holds:
            failures.append(claim)

    try:
        for name, has_tier in itertools.product(("nginx", "haproxy"), (False, True)):
            origin = Origin(cover)
            edge = Edge(name, options.sleeve, f"{folder}/{name}-{has_tier}", origin, has_tier)
            try:
                failed, _, asked = edge.load()
                check(f"{name}: the origin is asked once for each URL", (failed, asked) == (0, COUNT), f"{failed} failed, {asked} requests")
                failed, _, asked = edge.load()
                check(f"{name}: afterwards it is not asked", (failed, asked) == (0, 0), f"{failed} failed, {asked} requests")
                failed, _, asked = edge.load(lambda: edge.kill(1))
                _, _, more = edge.load()
                check(f"{name}: no request fails while a mirror is killed", failed == 0, f"{failed} failed")
                allowed, claim = (0, "not asked again, as the tier has its share") if has_tier else (COUNT * 0.45, "asked again for its share only")
                check(f"{name}: the origin is {claim}", asked + more <= allowed, f"{asked + more} of {COUNT}")
                edge.start(1)
                # Until the balancer tries it again: fail_timeout, and a check.
                time.sleep({"nginx": 6, "haproxy": 1}[name])
                failed, _, asked = edge.load()
                check(f"{name}: a mirror that comes back has its covers", (failed, asked) == (0, 0), f"{failed} failed, {asked} requests")
                if name == "haproxy":
                    failed, longest, _ = edge.load(lambda: edge.mirrors[2].send_signal(signal.SIGSTOP))
                    check(f"{name}: no request fails while a mirror is frozen", failed == 0, f"{failed} failed, the longest took {longest:.1f} s")
                    edge.mirrors[2].send_signal(signal.SIGCONT)
                    time.sleep(1)
                origin.shutdown()
                origin.server_close()
                failed, _, _ = edge.load()
                check(f"{name}: without the origin every cover is served", failed == 0, f"{failed} failed")
            finally:
                edge.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
