"""Recovery of unreachable origins, and the order of requests."""
import http.server
import threading
import urllib.request

from case import GalleryTest
from page import IN_VIEW

STATES = f"{IN_VIEW}.map((option) => option.dataset.state)"


class Recovering(GalleryTest):
    expected = ("Failed to load resource",)

    def open_without_origin(self, count):
        self.stage.start_origin()
        self.stage.write_library(self.stage.albums(count))
        port = self.stage.origin.port
        self.stage.origin.close()
        self.stage.start_server()
        page = self.open()
        self.assertEqual(set(page.covers_settle().values()), {"failed"})
        return page, port

    def test_a_page_that_was_opened_before_its_origin_recovers_by_itself(self):
        page, port = self.open_without_origin(12)
        self.stage.start("origin", "--port", port)
        page.until(f"{STATES}.every((state) => state === 'ready')", what="the covers in view, without a click or a reload")

    def test_trying_one_cover_again_sends_a_request_and_brings_the_others_of_its_host(self):
        page, port = self.open_without_origin(12)
        self.stage.start("origin", "--port", port)
        # Not by the mouse: the button is hidden if the page has recovered by itself in this moment.
        page.run("document.querySelector('#retry').click()")
        page.until(f"{STATES}.every((state) => state === 'ready')", what="the covers in view")


class Witness(http.server.ThreadingHTTPServer):
    """A proxy that records requests and answers them when its gate opens."""

    daemon_threads = True

    def __init__(self, behind):
        self.behind, self.asked, self.gate = behind, [], threading.Event()
        super().__init__(("127.0.0.1", 0), WitnessHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class WitnessHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append(self.path)
        self.server.gate.wait(60)
        try:
            with urllib.request.urlopen(self.server.behind + self.path) as answer:
                body = answer.read()
                self.send_response(200)
                self.send_header("Content-Type", answer.headers["Content-Type"])
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
        except OSError:
            self.close_connection = True  # The test is over.

    def log_message(self, *_):
        pass


class Order(GalleryTest):
    def test_the_chosen_cover_and_its_neighbours_are_asked_for_first_and_a_change_of_place_reorders_them(self):
        witness = Witness(self.stage.origin.base)
        self.addCleanup(witness.server_close)
        self.addCleanup(witness.shutdown)
        self.addCleanup(witness.gate.set)
        albums = [{**album, "coverUrl": f"http://127.0.0.1:{witness.server_port}/covers/{number}.jpg"}
                  for number, album in enumerate(self.stage.albums(200), 1)]
        # Those in flight at the same time arrive in any order.
        self.stage.serve(albums, "--per-host", "4", warm=False)
        page = self.open()
        self.eventually(lambda: len(witness.asked) >= 4, "the first requests")
        numbers = [int(path.split("/")[-1].split(".")[0]) for path in witness.asked]
        self.assertEqual(sorted(numbers[:4]), [1, 2, 3, 4], "the chosen one and its neighbours, outwards")
        sent = len(witness.asked)
        page.run("""
            const original = fetch;
            window.fetch = async (path, request) => {
                const response = await original(path, request);
                if (path === 'api/covers') [window.reported] = JSON.parse(request.body).view;
                return response;
            };""")
        page.focus_covers()
        page.press("End")
        page.until("reported === arguments[0]", page.wait_for_place(200)["id"], what="the server to know what is looked at")
        witness.gate.set()
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        later = [int(path.split("/")[-1].split(".")[0]) for path in witness.asked[sent:]]
        before = later[:later.index(200)]
        self.assertLessEqual(len(before), 8, f"asked for before what is looked at now: {before}")
