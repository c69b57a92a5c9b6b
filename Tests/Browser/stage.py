"""The real processes of a test, on loopback and in a folder of their own: an origin of covers, a cache, a gallery."""
import json
import pathlib
import shutil
import signal
import subprocess
import tempfile
import urllib.parse


class StageError(Exception):
    pass


class Server:
    """A `sleeve` command that says its address as the first line on stdout."""

    stubborn = False  # It was asked to end, and did not.

    def __init__(self, command, log):
        self.log = log
        with open(log, "ab") as errors:
            # A group of its own: Ctrl-C is for the program that runs the tests, which then ends this in order.
            self.process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
                start_new_session=True)
        try:
            self.url = self.process.stdout.readline().strip()
        except BaseException:
            self.close()
            raise
        if not self.url:
            self.close()
            raise StageError(f"{' '.join(map(str, command))}: did not start: {log.read_text(errors='replace')[-2000:]}")
        self.base = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(self.url))
        self.port = urllib.parse.urlsplit(self.url).port

    def pause(self):
        """Stops answering, without closing a connection, until `resume`."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self, at_once=False):
        """Ends it, asked first, or killed without a word."""
        if self.process.poll() is None:
            self.resume()
            if not at_once:
                self.process.terminate()
                try:
                    self.process.wait(20)
                except subprocess.TimeoutExpired:
                    at_once = self.stubborn = True
            if at_once:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()


class Stage:
    open = []  # Every one that was not closed yet, for when a program is stopped in the middle.

    def __init__(self, sleeve):
        self.sleeve = pathlib.Path(sleeve).resolve()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sleeve-stage-"))
        self.cache, self.library = self.folder / "cache", self.folder / "albums.json"
        self.origin = self.server = None
        self.servers = []
        Stage.open.append(self)

    def start_origin(self, *options):
        self.origin = self.start("origin", "--port", 0, *options)
        return self.origin

    def start_server(self, *options):
        """The gallery; when it was there before, on the port it had."""
        port = self.server.port if self.server else 0
        self.server = self.start("serve", "--port", port, "--cache", self.cache, "--library", self.library, *options)
        return self.server

    def start(self, command, *options):
        server = Server([self.sleeve, command, *options], self.folder / f"{command}.log")
        self.servers.append(server)
        return server

    def albums(self, count, query=""):
        """So many albums with covers of the origin; `query` are the origin's parameters, the same for each."""
        return [{
            "title": f"Album {n:05}", "artist": f"Artist {n * 7 % 97:02}", "genre": ("Folk", "Jazz", "Soul")[n % 3],
            "coverUrl": f"{self.origin.base}/covers/{n}.jpg{query}", "year": str(1950 + n * 13 % 75),
        } for n in range(1, count + 1)]

    def write_library(self, albums):
        self.library.write_text(json.dumps(albums, ensure_ascii=False, indent=1))

    def saved(self):
        """What the library file holds now."""
        return json.loads(self.library.read_text())

    def warm(self):
        """Fills the cache with the covers of the library."""
        done = subprocess.run(
            [self.sleeve, "prefetch", self.library, "--cache", self.cache, "--quiet"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 3):
            raise StageError(f"sleeve prefetch: exit {done.returncode}: {done.stderr}")

    def said(self):
        """The last of what the processes said on stderr."""
        logs = sorted(self.folder.glob("*.log"))
        return "\n".join(f"-- {log.stem}\n{log.read_text(errors='replace')[-1500:]}" for log in logs if log.stat().st_size)

    def close(self):
        for server in reversed(self.servers):
            server.close()
        if self in Stage.open:
            Stage.open.remove(self)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
