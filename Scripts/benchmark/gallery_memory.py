"""The server's memory while 50 pages are open: most of them real HTTP clients that do what a page does, some real tabs."""
import http.client
import json
import statistics
import subprocess
import threading
import time

from page import Gallery

CLIENTS, TABS = 47, 3
WINDOW = 60  # Covers a page tells of at a time, in view and near.


class Client:
    """Loads the page as a browser does, keeps the event stream open, and says what it shows."""

    def __init__(self, port, number):
        self.port, self.page = port, f"client-{number:04}"
        self.cookie = ""
        self.arrived = self.told = 0
        self.calls = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.load()
        self.stream = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.stream.request(
            "GET", f"/api/events?page={self.page}", headers={"Accept": "text/event-stream", "Cookie": self.cookie})
        self.events = self.stream.getresponse()
        self.reader = threading.Thread(target=self.listen, daemon=True)
        self.reader.start()

    def ask(self, method, path, body=None):
        headers = {"Cookie": self.cookie} | ({"Content-Type": "application/json"} if body is not None else {})
        self.calls.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self.calls.getresponse()
        if cookie := answer.getheader("Set-Cookie"):
            self.cookie = cookie.split(";")[0]
        return answer.read()

    def load(self):
        for path in ("/", "/app.js", "/api/state"):
            self.ask("GET", path)
        self.albums = [album["id"] for album in json.loads(self.ask("GET", "/api/library"))["albums"]]

    def listen(self):
        try:
            for line in self.events:
                self.arrived += line.startswith(b"event: cover")
                self.told += line.startswith(b"event: library")
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass  # The stream was closed.

    def show(self, start):
        ids = self.albums[start:start + WINDOW]
        self.ask("POST", "/api/covers", {"page": self.page, "view": ids[:10], "near": ids[10:]})

    def close(self):
        self.calls.close()
        if self.stream.sock:
            self.stream.sock.shutdown(2)
        self.reader.join(10)
        self.stream.close()


def resident(process):
    """Resident memory of a process in MB."""
    return int(subprocess.run(["ps", "-o", "rss=", "-p", str(process)], stdout=subprocess.PIPE, text=True).stdout) * 1024 / 1e6


def memory(bench):
    rounds = 4 if bench.quick else 12
    with bench.stage() as stage:
        stage.start_origin("--delay", 5)
        stage.write_library(stage.albums((rounds + 1) * WINDOW * 5))
        stage.start_server()
        process = stage.server.process.pid
        before = resident(process)
        browser, clients = bench.driver.browser(), []
        try:
            handles = []
            for number in range(TABS):
                if number:
                    browser.tab(browser.new_tab())
                handles.append(Gallery(browser, stage.server.url).open())
            for number in range(CLIENTS):
                clients.append(Client(stage.server.port, number))
            connected = resident(process)
            bench.note(f"  {before:.1f} MB before, {connected:.1f} MB with {CLIENTS + TABS} pages")
            measured = []
            for turn in range(rounds):
                work(bench, clients, turn, 4 if bench.quick else 5)
                measured.append(resident(process))
                arrived = sum(client.arrived for client in clients)
                bench.note(f"  round {turn + 1}: {measured[-1]:.1f} MB, {arrived:,} arrivals told")
            told = min(client.told for client in clients)
        finally:
            for client in clients:
                client.close()
            browser.close()
    # The first rounds fill what is filled once: pools, tables, the allocator's arenas.
    settled = measured[1:]
    first, last = statistics.median(settled[:3]), statistics.median(settled[-3:])
    pages = f"{CLIENTS} HTTP clients and {TABS} browser tabs"
    bench.report.row("server's memory before a page is open", before, "MB")
    bench.report.row(f"server's memory with {CLIENTS + TABS} pages open", connected, "MB", note=pages)
    bench.report.row("server's memory after the last round", measured[-1], "MB", at_most=200,
                     note=f"{arrived:,} arrivals told to pages, {told} edits, {rounds} rounds")
    bench.report.row("growth from the first rounds to the last", (last / first - 1) * 100, "%", at_most=10,
                     note=" ".join(f"{value:.0f}" for value in measured) + " MB")


def work(bench, clients, turn, edits):
    """Every page scrolls a little, covers arrive, some albums are added and taken back."""
    expected = sum(client.arrived for client in clients)
    start = turn * WINDOW * 5
    for step in range(5):
        for client in clients:
            client.show(start + step * WINDOW)
        expected += WINDOW * len(clients)
        # All of them are told of every cover; some were there already when they asked.
        wait(lambda: sum(client.arrived for client in clients) >= expected or idle(clients))
    for number in range(edits):
        told = [client.told for client in clients]
        album = {"title": f"Edit {turn}-{number}", "artist": "", "genre": "", "year": "2001", "coverUrl": ""}
        clients[number % len(clients)].ask("POST", "/api/albums", {"album": album})
        wait(lambda: all(client.told > before for client, before in zip(clients, told)))
        clients[number % len(clients)].ask("POST", "/api/undo", {})
    for client in clients[:10]:
        client.load()


def idle(clients):
    """Whether nothing has arrived for half a second."""
    before = sum(client.arrived for client in clients)
    time.sleep(0.5)
    return before == sum(client.arrived for client in clients)


def wait(condition):
    end = time.monotonic() + 120
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("the server did not tell its pages within 120 s")
        time.sleep(0.01)
