"""An origin that counts requests, by cover, by host and by who asks."""
import collections, http.server, threading, time


class Origin(http.server.ThreadingHTTPServer):
    """Serves covers, each with bytes of its own."""
    daemon_threads, request_queue_size = True, 512

    def __init__(self, cover, delay=0.02):
        super().__init__(("127.0.0.1", 0), Handler)
        self.cover, self.delay, self.lock = cover, delay, threading.Lock()
        self.port, self.is_overloaded = self.server_address[1], False
        self.asked = collections.Counter()
        self.in_flight, self.highest, self.conflicts = collections.defaultdict(collections.Counter), 0, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def requests(self):
        with self.lock:
            return sum(self.asked.values())

    def handle_error(self, *_):
        """A killed client has closed its connection."""

    def body(self, path):
        # A JPEG may have bytes after its end.
        return self.cover + path.encode()

    def begin(self, host, node, path):
        with self.lock:
            self.asked[path] += 1
            nodes = self.in_flight[host]
            nodes[node] += 1
            self.highest = max(self.highest, sum(nodes.values()))
            if len(+nodes) > 1:
                self.conflicts.append((host, dict(+nodes)))

    def end(self, host, node):
        with self.lock:
            self.in_flight[host][node] -= 1


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        host, node = self.headers["Host"].split(":")[0], self.headers["User-Agent"]
        self.server.begin(host, node, self.path)
        try:
            time.sleep(self.server.delay)
            body = b"" if self.server.is_overloaded else self.server.body(self.path)
            self.send_response(503 if self.server.is_overloaded else 200)
            if self.server.is_overloaded:
                self.send_header("Retry-After", "100")
            self.send_header("Content-Type", "image/jpeg")
            self.send_header("Cache-Control", "max-age=3600")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            # The client may act on the response before this thread runs on.
            self.server.end(host, node)
            node = None
            self.wfile.write(body)
        except OSError:
            pass
        finally:
            if node:
                self.server.end(host, node)
