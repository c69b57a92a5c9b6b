"""An origin that counts requests and bodies, by cover, by host and by who asks."""
import collections, http.server, select, threading


class Origin(http.server.ThreadingHTTPServer):
    """Serves covers, each with bytes of its own, which are stale at once and validated by their path."""
    daemon_threads, request_queue_size = True, 512

    def __init__(self, cover, delay):
        super().__init__(("127.0.0.1", 0), Handler)
        self.cover, self.delay, self.lock, self.port = cover, delay, threading.Lock(), self.server_address[1]
        self.asked, self.bodies = collections.Counter(), collections.Counter()
        self.in_flight, self.highest, self.conflicts = collections.defaultdict(collections.Counter), 0, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """A killed client has closed its connection."""

    def counts(self):
        """How often each path was asked for, and how often it was sent whole."""
        with self.lock:
            return self.asked.copy(), self.bodies.copy()

    def nodes(self):
        """Who waits for an answer now: the words of the User-Agent."""
        with self.lock:
            return sorted({node for nodes in self.in_flight.values() for node in +nodes})

    def begin(self, host, node, path):
        with self.lock:
            self.asked[host + path] += 1
            nodes = self.in_flight[host]
            nodes[node] += 1
            self.highest = max(self.highest, nodes.total())
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
        # A client sends nothing before its answer, so what can be read is the end of one that was killed.
        is_gone, _, _ = select.select([self.connection], [], [], self.server.delay)
        tag = f'"{self.path}"'
        is_known = self.headers["If-None-Match"] == tag
        # A JPEG may have bytes after its end.
        body = b"" if is_known else self.server.cover + self.path.encode()
        # The client may act on the answer before this thread runs on.
        self.server.end(host, node)
        if is_gone:
            self.close_connection = True
            return
        with self.server.lock:
            self.server.bodies[host + self.path] += not is_known
        self.send_response(304 if is_known else 200)
        for field in [("ETag", tag), ("Cache-Control", "max-age=0"), ("Content-Type", "image/jpeg")]:
            self.send_header(*field)
        if not is_known:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
