"""A server of bytes and frames: HTTP/1.1, the same over TLS, and HTTP/2, on loopback."""
import asyncio, collections, random, socket, ssl, struct, subprocess

import hpack, plans

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


class Gone(Exception):
    """The connection ends."""


class Server:
    """Answers as a scenario says. `sent` has the digests that each number's URL may have in a cache, `named` what redirects led to."""

    def __init__(self, scenario, folder):
        (self.scenario, self.folder, self.phase, self.is_calm) = (scenario, folder, 0, False)
        self.certificate = f"{folder}/certificate.pem"
        (self.sent, self.named) = (collections.defaultdict(set), collections.defaultdict(set))
        (self.tries, self.names, self.requests, self.connections) = (collections.Counter(), collections.Counter(), 0, 0)
        (self.tasks, self.log) = (set(), [])

    async def start(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", f"{self.folder}/key.pem", "-out",
                        self.certificate, "-subj", "/CN=Sleeve test", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)
        self.hosts = {}
        for protocol in range(3):
            context = None
            if protocol:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(self.certificate, f"{self.folder}/key.pem")
                context.set_alpn_protocols(["h2", "http/1.1"] if protocol == 2 else ["http/1.1"])
            for group in range(4):
                is_mild = group == 0
                connected = lambda reader, writer, is_mild=is_mild: self.serve(Connection(reader, writer), is_mild)
                server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context, limit=1 << 20)
                self.hosts[protocol, group] = f"http{'s' if protocol else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    def url(self, number, path=""):
        return f"{self.hosts[number % 3, number % 4]}/{number}{path}.png"

    def history(self, numbers):
        """What was sent over the connections that have carried a number, in the order of the requests, by connection."""
        connections = {connection for connection, number, _ in self.log if number in numbers}
        return {each: [text for connection, _, text in self.log if connection == each] for each in sorted(connections)}

    def doubted(self):
        """The numbers that were answered over a connection of HTTP/1.1 with bytes that nobody asked for. A client that finds them asks for all these
        again, and has none until then."""
        names = ("followed", "doubled", "late_double", "body_of_304", "too_short", "bad_length", "bad_chunks", "bad_head")
        connections = {connection for connection, _, text in self.log if text.split(" ")[4] in names}
        doubted = {number for connection, number, _ in self.log if connection in connections}
        return doubted | {number for number in range(self.scenario.count) if doubted & self.led(number)}

    def led(self, number):
        """A number, and those that its redirects led to."""
        numbers, found = {number}, set()
        while numbers - found:
            found |= numbers
            numbers = found.union(*(self.named[each] for each in found))
        return found

    def allowed(self, number):
        """The digests that were sent as a whole cover of a number's URL, or of one that it redirected to."""
        found = self.led(number)
        # A whole picture may come by an answer that promises none, such as one whose coding is none.
        own = {plans.digest(plans.picture(each, version)) for each in found for version in range(3)}
        return own.union(*(self.sent[each] for each in found))

    def answer(self, path, conditions, is_http2, connection):
        digits = "".join(letter for letter in path.split(".")[0].split("-")[0] if letter.isdigit())
        number = int(digits or 0)
        rng = random.Random(f"{self.scenario.seed} {number} {self.phase} {self.tries[number, self.phase]}")
        own = self.scenario.own(rng, number, self.phase)
        if self.is_calm:
            answer = own.message()
            answer.name = "calm"
        else:
            answers = self.scenario.answers(number, self.phase, is_http2)
            answer = answers[min(self.tries[number, self.phase], len(answers) - 1)]
        self.tries[number, self.phase] += 1
        if answer.kind == "right" and own.tag in conditions:
            answer = plans.not_modified(own)
        if answer.whole is not None:
            self.sent[number].add(plans.digest(answer.whole))
        if answer.target is not None:
            target = number if answer.target < 0 else answer.target
            self.named[number].add(target)
            answer.fields = answer.fields + [("Location", self.url(target, f"-{self.tries[number, self.phase]}" if answer.target < 0 else ""))]
        self.log.append((connection.number, number, f"{self.phase}: {number} over HTTP/{2 if is_http2 else 1} {answer.name} {answer.status}"))
        self.names[answer.name] += 1
        self.requests += 1
        return answer

    async def serve(self, connection, is_mild):
        self.connections += 1
        connection.number = self.connections
        rng = random.Random(f"{self.scenario.seed} connection {self.connections}")
        secured = connection.writer.get_extra_info("ssl_object")
        is_http2 = secured is not None and secured.selected_alpn_protocol() == "h2"
        try:
            await (self.serve_http2 if is_http2 else self.serve_http1)(connection, rng.random() if not is_mild and not self.is_calm else 1)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, Gone):
            pass
        finally:
            connection.writer.close()

    async def serve_http1(self, connection, chance):
        if chance < 0.03:
            # Answers that nobody asked for, on a new connection.
            connection.write(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n" if chance < 0.02 else b"HTTP/1.1 400 Bad Request\r\n\r\n")
        elif chance < 0.05:
            connection.end("reset" if chance < 0.04 else "cut")
        while True:
            request = await connection.reader.readuntil(b"\r\n\r\n")
            fields = request.decode("latin-1").split("\r\n")
            conditions = "".join(field for field in fields if field.lower().startswith("if-none-match"))
            answer = self.answer(fields[0].split(" ")[1], conditions, False, connection)
            for act, *values in answer.steps or [("send", plans.plain(answer))]:
                if act == "send":
                    connection.write(values[0])
                    await connection.writer.drain()
                elif act == "wait":
                    await asyncio.sleep(values[0])
                else:
                    connection.end(act)

    async def serve_http2(self, connection, chance):
        if chance < 0.02 and self.scenario.has_shared_ends:
            connection.end("reset" if chance < 0.01 else "end")
        # SETTINGS_HEADER_TABLE_SIZE, and SETTINGS_MAX_CONCURRENT_STREAMS of 1, 3 or 100.
        streams = 1 if chance < 0.1 else 3 if chance < 0.2 else 100
        connection.frame(4, 0, 0, struct.pack(">HIHI", 1, 0, 3, streams))
        if 0.2 < chance < 0.23 and self.scenario.has_shared_ends:
            connection.frame(7, 0, 0, struct.pack(">II", 0, 0))
        decoder, block = hpack.Decoder(), b""
        if await connection.reader.readexactly(len(PREFACE)) != PREFACE:
            raise Gone
        while True:
            start = await connection.reader.readexactly(9)
            length, kind, flags, stream = int.from_bytes(start[:3], "big"), start[3], start[4], int.from_bytes(start[5:], "big") & 0x7FFFFFFF
            data = await connection.reader.readexactly(length)
            if kind == 4 and not flags & 1:
                connection.frame(4, 1, 0)
            elif kind == 6 and not flags & 1:
                connection.frame(6, 1, 0, data)
            elif kind in (1, 9):
                if kind == 1:
                    padding = data[0] if flags & 8 else 0
                    data = data[1 if flags & 8 else 0:len(data) - padding][5 if flags & 0x20 else 0:]
                block += data
                if flags & 4:
                    fields, block = dict(decoder.fields(block)), b""
                    answer = self.answer(fields[":path"], fields.get("if-none-match", ""), True, connection)
                    # A stream that waits does not hold the others up.
                    task = asyncio.create_task(self.send(answer, connection, stream))
                    self.tasks.add(task)
                    task.add_done_callback(self.tasks.discard)

    async def send(self, answer, connection, stream):
        fields = [(":status", f"{answer.status:03}")] + [(name.lower(), value) for name, value in answer.fields]
        if answer.status not in (204, 304):
            fields.append(("content-length", len(answer.body)))
        try:
            for act, *values in answer.steps or [("headers", fields, not answer.body), ("data", answer.body, True)][:2 if answer.body else 1]:
                if act == "headers":
                    block = hpack.encoded(values[0])
                    parts = [block[start:start + 16_384] for start in range(0, len(block), 16_384)] or [b""]
                    for number, part in enumerate(parts):
                        flags = (4 if part is parts[-1] else 0) | (1 if values[1] and number == 0 else 0)
                        connection.frame(9 if number else 1, flags, stream, part)
                elif act == "data":
                    body = values[0]
                    for start in range(0, max(len(body), 1), 16_384):
                        connection.frame(0, 1 if values[1] and start + 16_384 >= len(body) else 0, stream, body[start:start + 16_384])
                elif act == "rst":
                    connection.frame(3, 0, stream, struct.pack(">I", values[0]))
                elif act == "goaway":
                    connection.frame(7, 0, 0, struct.pack(">II", max(0, stream + values[1]), values[0]))
                elif act == "frame":
                    kind, flags, other, data = values
                    connection.frame(kind, flags, stream if other is None else other, data)
                elif act == "bytes":
                    connection.write(values[0])
                elif act == "wait":
                    await asyncio.sleep(values[0])
                else:
                    connection.end(act)
                await connection.writer.drain()
        except (OSError, Gone):
            pass


class Connection:
    def __init__(self, reader, writer):
        (self.reader, self.writer) = (reader, writer)

    def write(self, data):
        self.writer.write(data)

    def frame(self, kind, flags, stream, data=b""):
        self.write(len(data).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + data)

    def end(self, how):
        """Ends it: by FIN, over TLS with a notice ("end") or without ("cut"), or by RST ("reset")."""
        transport = self.writer.transport
        if transport.is_closing():
            raise Gone
        if how == "reset":
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if how == "end":
            transport.close()
        elif how == "cut" and transport.get_extra_info("ssl_object"):
            # What was written goes out first.
            transport.get_extra_info("socket").shutdown(socket.SHUT_WR)
        else:
            transport.close() if how == "cut" else transport.abort()
        raise Gone
