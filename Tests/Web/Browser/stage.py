"""The processes and the folder of a test: a gallery, a cache, an origin of covers; and those that the tests of a run share."""
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request


# Below those that systems give to other programs while a server that starts again is away.
PORTS = itertools.count(random.randrange(20_000, 30_000))


class StageError(Exception):
    pass


def unused_port():
    """A port of this machine that no test of this run has had."""
    for port in PORTS:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass  # Another program has it.


class Server:
    """A `sleeve` command that prints its address as the first line on stdout."""

    def __init__(self, command, log):
        self.log = log
        with open(log, "ab") as errors:
            # In its own process group, so that Ctrl-C interrupts only run.py, which then closes this process.
            self.process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
                start_new_session=True)
        try:
            # The printed address, which may have a token.
            self.address = self.process.stdout.readline().strip()
        except BaseException:
            self.close()
            raise
        if not self.address:
            self.close()
            raise StageError(f"{' '.join(map(str, command))}: did not start: {log.read_text(errors='replace')[-2000:]}")
        parts = urllib.parse.urlsplit(self.address)
        self.url, self.port = parts._replace(query="").geturl(), parts.port
        self.base = f"{parts.scheme}://{parts.netloc}"

    def ask(self, method, path, body=None):
        """Another program's request to the gallery. Returns the status and the answer."""
        token = urllib.parse.parse_qs(urllib.parse.urlsplit(self.address).query)["token"][0]
        fields = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, None if method == "GET" else json.dumps(body or {}).encode(), fields, method=method)
        try:
            with urllib.request.urlopen(request) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def pause(self):
        """Stops the process without closing its connections, until `resume`."""
        self.process.send_signal(signal.SIGSTOP)
        # Until one of its threads has taken the signal, the others go on: they could still answer.
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self, at_once=False):
        """Ends the process by SIGTERM, or by SIGKILL if `at_once`. Fails if it had to be killed after 20 s."""
        if self.process.poll() is None:
            self.resume()
            try:
                if not at_once:
                    self.process.terminate()
                    self.process.wait(20)
            finally:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()


class Stage:
    open = []  # The stages that are not closed yet, for run.py to close when the tests have ended.

    def __init__(self, sleeve, common=None):
        """- `common`: what it shares with others: the origin, until it starts one of its own, and the covers that are cached."""
        self.sleeve, self.common = pathlib.Path(sleeve).resolve(), common
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sleeve-stage-"))
        self.cache, self.library = self.folder / "cache", self.folder / "albums.json"
        self.origin, self.server = common and common.origin, None
        self.servers = []
        Stage.open.append(self)

    def start_origin(self, *options):
        """Starts an origin of its own, to stop it, to pause it, or because it counts requests."""
        self.origin = self.start("origin", "--port", unused_port(), *options)
        return self.origin

    def start_server(self, *options):
        """Starts the gallery, on its former port if it ran before."""
        port = self.server.port if self.server else unused_port()
        self.server = self.start("serve", "--port", port, "--cache", self.cache, "--library", self.library, *options)
        return self.server

    def start(self, command, *options):
        server = Server([self.sleeve, command, *options], self.folder / f"{command}.log")
        self.servers.append(server)
        return server

    def serve(self, albums, *options, warm=True):
        """Starts the gallery with these albums; if `warm`, with their covers in the cache."""
        self.write_library(albums)
        if warm:
            self.warm()
        return self.start_server(*options)

    def albums(self, count, query=""):
        """Albums with covers of the origin. - `query`: the origin's parameters for every cover."""
        return [{
            "title": f"Album {n:05}", "artist": f"Artist {n * 7 % 97:02}", "genre": ("Folk", "Jazz", "Soul")[n % 3],
            "coverUrl": f"{self.origin.base}/covers/{n}.jpg{query}", "year": str(1950 + n * 13 % 75),
        } for n in range(1, count + 1)]

    def write_library(self, albums):
        """Replaces the library file in one step, so that a gallery that runs never reads half of it."""
        new = self.folder / "albums.new"
        new.write_text(json.dumps(albums, ensure_ascii=False, indent=1))
        os.replace(new, self.library)

    def version(self):
        """What changes when the library file is written, even if the albums are the same then."""
        status = self.library.stat()
        return status.st_ino, status.st_mtime_ns

    def saved(self):
        """The albums in the library file."""
        return json.loads(self.library.read_text())

    def warm(self):
        """Puts the library's covers into the cache: a copy of the common cache, and what is not in it by downloads."""
        urls = {album["coverUrl"] for album in self.saved() if album["coverUrl"]}
        if self.common and urls & self.common.cached:
            shutil.copytree(self.common.cache, self.cache)
            urls -= self.common.cached
        if urls:
            self.run("prefetch", self.library, "--quiet", exits=(0, 3))

    def run(self, command, *options, exits=(0,)):
        """Runs a command on the cache."""
        done = subprocess.run(
            [self.sleeve, command, *options, "--cache", self.cache], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        if done.returncode not in exits:
            raise StageError(f"sleeve {command}: exit {done.returncode}: {done.stderr}")

    def log_tails(self):
        """The end of each process's stderr."""
        logs = sorted(self.folder.glob("*.log"))
        return "\n".join(f"-- {log.stem}\n{log.read_text(errors='replace')[-1500:]}" for log in logs if log.stat().st_size)

    def close(self):
        try:
            for server in reversed(self.servers):
                server.close()
        finally:
            Stage.open.remove(self)
            shutil.rmtree(self.folder, ignore_errors=True)


class Common(Stage):
    """What the tests of a run share: an origin, a cache with its first covers, and galleries whose albums no test changes."""

    def __init__(self, sleeve):
        super().__init__(sleeve)
        self.start_origin()
        first = self.albums(12)  # Most tests that change their albums have no more.
        self.write_library(first)
        self.warm()
        self.cached = {album["coverUrl"] for album in first}
        self.galleries = {}

    def gallery(self, albums, warm=True):
        """The stage of a gallery with these albums. Starts it for the first test that needs it."""
        key = json.dumps([albums, warm])
        if key not in self.galleries:
            stage = Stage(self.sleeve, self)
            stage.serve(albums, warm=warm)
            stage.as_served = stage.version()
            self.galleries[key] = stage
        return self.galleries[key]

    def forget(self, gallery):
        """Closes a gallery that a test may have changed."""
        self.galleries = {key: stage for key, stage in self.galleries.items() if stage is not gallery}
        gallery.close()
