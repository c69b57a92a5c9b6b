"""What the hostile server answers: values that a seed, a number and a phase determine. Nothing here opens a socket."""
import dataclasses, gzip, hashlib, random, struct, zlib

END, RESET, CUT = ("end",), ("reset",), ("cut",)


def gzipped(data):
    """Without the time, which a seed does not determine."""
    return gzip.compress(data, mtime=0)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def picture(number, version=0):
    """A PNG of 300 bytes to 90 KB that no other number and no other version has."""
    rng = random.Random(f"picture {number} {version}")
    side = rng.choice([8, 8, 30, 60, 170])
    row = struct.pack(">II", number, version) + rng.randbytes(side * 3 - 8)
    rows = b"".join(b"\0" + row[line % 7:] + row[:line % 7] for line in range(side))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b""))


PLACEHOLDER = picture(1_000_000)


@dataclasses.dataclass
class Answer:
    """One answer to a request."""
    name: str
    status: int = 200
    fields: list = dataclasses.field(default_factory=list)
    body: bytes = b""
    #: The body that a client may store; None if it may store nothing of this.
    whole: bytes = None
    #: What is done instead of sending status, fields and body as they should be: of HTTP/1.1, or of HTTP/2.
    steps: list = None
    #: "right": the cover arrives. "broken": a client has to ask again. "other": neither is promised.
    kind: str = "other"
    #: The number whose URL a redirect leads to; -1 is another path of the same number.
    target: int = None


class Own:
    """The right answer to a request, which the faults change."""

    def __init__(self, rng, number, version, count):
        (self.rng, self.number, self.count) = (rng, number, count)
        self.body = picture(number, version)
        self.tag = f'"{number}-{version}"'
        policy = rng.choice(["max-age=86400", "max-age=0", "no-cache", "max-age=1, stale-while-revalidate=9"])
        self.fields = [("Content-Type", "image/png"), ("ETag", self.tag), ("Cache-Control", policy)]

    def message(self, status=200, body=None, fields=(), kind="right", whole=...):
        body = self.body if body is None else body
        return Answer("", status, self.fields + list(fields), body, body if whole is ... else whole, None, kind)

    def cut(self, least=40):
        """A place within the body."""
        return self.rng.randrange(least, len(self.body) - 20)


# MARK: Answers of both protocols

def typed(own):
    answer = own.message()
    answer.fields[0] = ("Content-Type", own.rng.choice(["text/html", "application/octet-stream", "image/jpeg", "", "nonsense", "a/b;;=\t"]))
    return answer


def coded(own):
    code, name = own.rng.choice([(gzipped, "gzip"), (zlib.compress, "deflate"), (gzipped, "x-gzip"), (gzipped, "GZIP")])
    return own.message(body=code(own.body), fields=[("Content-Encoding", name)], whole=own.body)


def miscoded(own):
    half_coded = gzipped(own.body)[:own.rng.randrange(20, len(own.body) // 2)]
    name, body, whole = own.rng.choice([
        ("gzip", own.body, own.body), ("gzip", half_coded, zlib.decompressobj(31).decompress(half_coded)), ("deflate", b"\x78\x9c" + own.body, None),
        ("br", own.body, own.body), ("gzip, gzip", gzipped(own.body), own.body), ("gzip", gzipped(own.body) + b"x", own.body),
        ("gzip", gzipped(own.body) * 2, own.body), ("q" * 9_000, own.body, None)])
    return own.message(body=body, fields=[("Content-Encoding", name)], kind="other", whole=whole)


def partial(own):
    end = len(own.body)
    whole = own.rng.random() < 0.5
    start, last, total = own.rng.choice([(0, end - 1, end)] if whole else [(1, end - 1, end), (0, end - 9, end), (0, end - 1, end + 9), (5, 2, 1)])
    answer = own.message(206, own.body[start:last + 1], [("Content-Range", f"bytes {start}-{last}/{total}")])
    if not whole:
        (answer.kind, answer.whole) = ("other", None)
    return answer


STATUSES = [0, 199, 201, 202, 204, 205, 207, 226, 299, 300, 304, 305, 306, 399, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 412, 413, 416, 417,
            418, 420, 421, 423, 425, 426, 428, 429, 430, 431, 451, 499, 500, 501, 502, 503, 504, 505, 507, 509, 511, 520, 599, 600, 999]


def status(own):
    code = own.rng.choice(STATUSES)
    body = own.rng.choice([b"", b"<html>no</html>", own.body, b"x" * 90_000]) if code not in (204, 205, 304) else b""
    pause = [("Retry-After", own.rng.choice(["0", "1", "-1", "soon", "Thu, 01 Jan 1970 00:00:00 GMT"]))] if own.rng.random() < 0.5 else []
    return own.message(code, body, pause, "other", None)


def unavailable(own):
    return own.message(own.rng.choice([429, 500, 502, 503, 504]), b"", [("Retry-After", "0")], "broken", None)


def no_picture(own):
    body = own.rng.choice([b"", b"<!doctype html><title>Sign in</title>", b'{"error": "rate limit"}', b"ID3\4" + bytes(200_000), b"\0" * 9])
    return own.message(body=body, kind="other", whole=None)


def half(own):
    """HTTP is complete, and the picture is not."""
    return own.message(body=own.rng.choice([own.body[:own.cut()], b"\xff\xd8\xff"]), kind="other")


def placeholder(own):
    return own.message(body=PLACEHOLDER, kind="other")


def odd_fields(own):
    more = own.rng.choice([
        [("Vary", "*")], [("Vary", "Accept, , User-Agent")], [("Age", "99999999999999")], [("Date", "yesterday")], [("Expires", "0")],
        [("Last-Modified", "Thu, 31 Feb 2030 25:61:61 GMT")], [("Set-Cookie", "a=" + "b" * 3_000)] * 9, [("X-Long", "y" * 60_000)], [("Link", "<a>")] * 300,
        [("ETag", 'W/"other"')], [("Cache-Control", "max-age=1, max-age=x, =,,\"")], [("Content-Disposition", "attachment; filename=../../x")]])
    return own.message(fields=more)


def unstorable(own):
    answer = own.message(kind="other", whole=None)
    answer.fields[2] = ("Cache-Control", own.rng.choice(["no-store", "max-age=60, No-Store", "no-store=\"x\", private"]))
    return answer


def redirect(own):
    answer = own.message(own.rng.choice([300, 301, 302, 303, 307, 308]), own.rng.choice([b"", b"moved", own.body]), kind="other", whole=None)
    answer.target = own.rng.choice([-1, -1, own.number, own.rng.randrange(own.count)])
    return answer


def not_modified(own):
    return Answer("not modified", 304, own.fields[1:])


# MARK: Answers of HTTP/1.1, to the byte

def head(status, fields, version="HTTP/1.1"):
    return f"{version} {status:03} Reason\r\n{''.join(f'{name}: {value}{chr(13)}{chr(10)}' for name, value in fields)}\r\n".encode("latin-1")


def plain(answer):
    """The bytes of an answer as they should be."""
    bodiless = answer.status in (204, 304)
    return head(answer.status, answer.fields + ([] if bodiless else [("Content-Length", len(answer.body))])) + (b"" if bodiless else answer.body)


def chunks(rng, body, extension=b"", trailers=b""):
    data, size = b"", rng.choice([7, 500, 5_000, 70_000]) if len(body) < 9_000 else 5_000
    for start in range(0, len(body), size):
        part = body[start:start + size]
        data += b"%x%s\r\n%s\r\n" % (len(part), extension, part)
    return data + b"0\r\n" + trailers + b"\r\n"


def wire(own, steps, kind="other", whole=None):
    return Answer("", whole=whole, steps=steps, kind=kind)


def chunked(own):
    extension, trailers = own.rng.choice([(b"", b""), (b";a=\"b\"", b""), (b"", b"ETag: \"trailer\"\r\nContent-Length: 5\r\n"), (b" ", b"")])
    more = own.rng.choice([[], [("Content-Length", own.rng.choice([5, len(own.body), 999_999]))]])
    data = head(200, own.fields + [("Transfer-Encoding", "chunked")] + more) + chunks(own.rng, own.body, extension, trailers)
    # A length beside chunks has to be taken for an attack or left out (RFC 9112 section 6.3).
    return wire(own, [("send", data)] + ([END] if more else []), "other" if more else "right", own.body)


def until_the_end(own):
    return wire(own, [("send", head(200, own.fields + [("Connection", "close")]) + own.body), own.rng.choice([END, CUT])], "right", own.body)


def old(own):
    return wire(own, [("send", head(200, own.fields, "HTTP/1.0") + own.body), END], "right", own.body)


def slow(own):
    data, steps = plain(own.message()), []
    places = sorted(own.rng.sample(range(1, len(data)), 4))
    for start, end in zip([0] + places, places + [len(data)]):
        steps += [("send", data[start:end]), ("wait", own.rng.choice([0.001, 0.02, 0.1]))]
    return wire(own, steps, "right", own.body)


def drip(own):
    data = plain(own.message())
    return wire(own, [step for byte in data[:60] for step in (("send", bytes([byte])), ("wait", 0.002))] + [("send", data[60:])], "right", own.body)


def interim(own):
    early = own.rng.choice([b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\nETag: \"early\"\r\n\r\n" * 5, b"HTTP/1.1 199 X\r\n\r\n"])
    return wire(own, [("send", early), ("wait", own.rng.choice([0, 0.02])), ("send", plain(own.message()))], "right", own.body)


def cut_off(own):
    """The connection ends within the head, the body or a chunk."""
    rng = own.rng
    shape = rng.choice(["length", "chunked", "close"])
    if shape == "length":
        data = plain(own.message())
    else:
        more = [("Transfer-Encoding", "chunked")] if shape == "chunked" else [("Connection", "close")]
        data = head(200, own.fields + more) + (chunks(rng, own.body) if shape == "chunked" else own.body)
    start = data.index(b"\r\n\r\n") + 4
    place = rng.choice([rng.randrange(0, start), rng.randrange(start, len(data) - 12), start])
    return wire(own, [("send", data[:place]), ("wait", rng.choice([0, 0.01])), rng.choice([END, CUT, RESET])], "broken")


def too_long(own):
    data = head(200, own.fields + [("Content-Length", len(own.body) + own.rng.choice([1, 100, 10**9]))]) + own.body
    return wire(own, [("send", data), own.rng.choice([END, CUT, RESET])])


def too_short(own):
    place = own.cut()
    steps = [("send", head(200, own.fields + [("Content-Length", place)]) + own.body[:place])]
    if own.rng.random() < 0.3:
        steps += [("wait", own.rng.choice([0.001, 0.02]))]
    return wire(own, steps + [("send", own.body[place:])], whole=own.body[:place])


def bad_length(own):
    length = len(own.body)
    fields = own.rng.choice([[length, length - 30], [length - 30, length], [f"{length}, {length - 30}"], [-1], ["x"], [2**64 + length], [f"0x{length:x}"], [""], [f"{length} x"]])
    return wire(own, [("send", head(200, own.fields + [("Content-Length", field) for field in fields]) + own.body), END], whole=own.body)


def bad_chunks(own):
    size, body = b"%x" % len(own.body), own.body
    start = head(200, own.fields + [("Transfer-Encoding", own.rng.choice(["chunked", "chunked", "Chunked", "gzip, chunked"]))])
    data = own.rng.choice([
        b"zz\r\n" + body, b"-5\r\n" + body, b"f" * 17 + b"\r\n" + body, size + b"\r\n" + body + b"0\r\n\r\n", size + b"\n" + body + b"\n0\n\n", b"\r\n" + body,
        b"0x" + size + b"\r\n" + body + b"\r\n0\r\n\r\n", size + b"\r\n" + body[:-9] + b"\r\n0\r\n\r\n", b"5\r\n" + body + b"\r\n0\r\n\r\n", b"0\r\n\r\n" + body])
    # libcurl takes a line feed alone for the end of a line.
    return wire(own, [("send", start + data), END], whole=body)


def followed(own):
    """Bytes after the answer, in the same write or a moment later; none of them is a whole answer with a picture."""
    rubbish = own.rng.choice([
        b"\r\n", b"\0" * 9, own.body[-30:], b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", b"x" * 70_000, b"\x89PNG"])
    pause = own.rng.choice([None, None, 0.001, 0.01, 0.05])
    data = plain(own.message())
    steps = [("send", data + rubbish)] if pause is None else [("send", data), ("wait", pause), ("send", rubbish)]
    return wire(own, steps + own.rng.choice([[], [END], [RESET]]), whole=own.body)


def doubled(own, late=False):
    """The whole answer twice, or that of another cover, which no client asked for."""
    extra = own.rng.choice([plain(own.message()), plain(own.message(body=picture(own.number + 500_000)))])
    bodiless = own.rng.random() < 0.3
    first = plain(not_modified(own)) if bodiless else plain(own.message())
    steps = [("send", first), ("wait", own.rng.choice([0.001, 0.005, 0.03])), ("send", extra)] if late else [("send", first + extra)]
    return wire(own, steps, whole=None if bodiless else own.body)


def late_double(own):
    return doubled(own, late=True)


def bad_head(own):
    body, data = own.body, plain(own.message())
    line, rest = data.split(b"\r\n", 1)
    new = own.rng.choice([
        b"HTTP/1.1 abc\r\n" + rest, b"ICY 200 OK\r\n" + rest, b"HTTP/3.0 200 OK\r\n" + rest, b"HTTP/1.1 2000 OK\r\n" + rest, b"HTTP/1.1 20\r\n" + rest, body,
        b"HTTP/2 200\r\n" + rest, b"\r\n\r\n" + data, line + b"\r\nX\0Y: \0\r\n" + rest, line + b"\r\nX: \xff\xfe\x80\r\n" + rest, line + b"\r\n folded: first\r\n" + rest,
        line + b"\r\nX: a\r\n b\r\n\tc\r\n" + rest, line + b"\r\nContent-Length : 9\r\n" + rest, line + b"\r\n: empty\r\n" + rest, line + b"\r\nno colon\r\n" + rest,
        line + b"\r\n" + b"X: " + b"y" * 400_000 + b"\r\n" + rest, line + b"\r\n" + b"X: y\r\n" * 60_000 + rest, data.replace(b"\r\n", b"\n", 6),
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" + data, line + b" " + b"r" * 9_000 + b"\r\n" + rest, line + b"\rX: y\r\n" + rest])
    return wire(own, [("send", new), own.rng.choice([END, RESET])], whole=body)


def closing(own):
    return wire(own, [("send", plain(own.message())), END], "right", own.body)


def body_of_304(own):
    return wire(own, [("send", head(304, own.fields + [("Content-Length", len(own.body))])), ("wait", own.rng.choice([0, 0.01])), ("send", own.body)])


def stalled(own):
    data = plain(own.message())
    return wire(own, [("send", data[:own.rng.choice([0, 30, len(data) - 9])]), ("wait", 60)])


# MARK: Answers of HTTP/2, frame by frame

def headers(own, more=(), first=((":status", "200"),), end=False):
    return ("headers", list(first) + [(name.lower(), value) for name, value in own.fields] + list(more), end)


def stream_reset(own, codes=tuple(range(15)), kind="other"):
    start = own.rng.choice([[], [headers(own)], [headers(own), ("data", own.body[:own.cut()], False)]])
    return wire(own, start + [("rst", own.rng.choice(codes))], kind)


def stream_broken(own):
    # INTERNAL_ERROR, REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM.
    return stream_reset(own, (2, 7, 8, 11), "broken")


def reset_at_end(own):
    return wire(own, [headers(own), ("data", own.body, True), ("rst", 0)], "right", own.body)


def going_away(own):
    rng = own.rng
    away = ("goaway", rng.randrange(14), rng.choice([0, -2, 2, 1_000]))
    whole = [headers(own), ("data", own.body, True)]
    return wire(own, rng.choice([[away], [away] + whole, whole + [away], whole[:1] + [("data", own.body[:own.cut()], False), away]])
                + rng.choice([[], [END], [RESET]]), whole=own.body)


def pieces(own):
    steps, body = [headers(own)], own.body
    while body:
        size = own.rng.choice([0, 1, 900, 16_384])
        steps += [("data", body[:size], False), ("wait", own.rng.choice([0, 0, 0.001, 0.01]))]
        body = body[size:]
    return wire(own, steps + own.rng.choice([[("data", b"", True)], [("headers", [("x-trailer", "1")], True)]]), "right", own.body)


def padded(own):
    """Unknown frames, padding, and a head in several frames."""
    part, steps = own.body[:60], [headers(own, [("x-long", "y" * 30_000)])]
    return wire(own, steps + [("frame", 0xF0, 0xFF, None, b"unknown"), ("frame", 0, 8, None, bytes([9]) + part + bytes(9)), ("data", own.body[60:], True)],
                "right", own.body)


def wrong_length(own):
    length = len(own.body) + own.rng.choice([-30, -1, 1, 30])
    more = own.rng.choice([[("content-length", str(length))], [("content-length", str(len(own.body))), ("content-length", str(length))], [("content-length", "x")]])
    return wire(own, [headers(own, more), ("data", own.body, True)])


def bad_fields(own):
    more = own.rng.choice([[("connection", "close")], [("transfer-encoding", "chunked")], [("X-Upper", "a")], [("upgrade", "h2c")], [("x", "a\0b")], [("x", " a ")],
                           [("te", "gzip")], [("x y", "a")], [(":path", "/")], [("x", "y" * 400_000)]])
    first = own.rng.choice([[(":status", "200")]] * 4 + [[], [(":status", "20x")], [(":status", "200"), (":status", "404")], [("x", "y"), (":status", "200")]])
    return wire(own, [headers(own, more, first), ("data", own.body, True)], whole=own.body)


def out_of_order(own):
    whole = [headers(own), ("data", own.body, True)]
    other = picture(own.number + 500_000)
    steps = own.rng.choice([
        [("data", own.body, False)] + whole, whole + [("data", other, True)], whole + [headers(own), ("data", other, True)], [headers(own), headers(own)] + whole[1:],
        whole + [("frame", 0, 1, 2_001, other)], [("frame", 5, 4, None, struct.pack(">I", 2) + b"\x88")] + whole, [("frame", 8, 0, None, bytes(4))] + whole,
        [headers(own), ("data", other[:50], True), ("data", own.body, True)], [("frame", 4, 0, 0, struct.pack(">HIHI", 3, 1, 4, 0))] + whole,
        [("frame", 1, 4, None, b"\xff\xff\xff\xff\xff\xff")] + whole, [("frame", 9, 4, None, b"x")] + whole, [("frame", 6, 0, 0, b"12345678")] * 20 + whole,
        [("frame", 0, 8, None, b"\xff" + own.body[:9])] + whole, [("bytes", b"HTTP/1.1 200 OK\r\n\r\n")] + whole])
    return wire(own, steps, whole=own.body)


def connection_cut(own):
    steps = own.rng.choice([[], [headers(own)], [headers(own), ("data", own.body[:own.cut()], False)], [("bytes", b"\0\0\x40\0\0")]])
    return wire(own, steps + [own.rng.choice([END, CUT, RESET])], "broken")


def interim_h2(own):
    return wire(own, [("headers", [(":status", "103"), ("link", "<a>")], False)] * 3 + [headers(own), ("data", own.body, True)], "right", own.body)


def stalled_h2(own):
    return wire(own, own.rng.choice([[], [headers(own)], [headers(own), ("data", own.body[:-9], False)]]) + [("wait", 60)])


BOTH = [typed, coded, miscoded, partial, status, status, unavailable, no_picture, half, odd_fields, unstorable, redirect]
HTTP1 = [chunked, until_the_end, old, slow, drip, interim, cut_off, cut_off, too_long, too_short, bad_length, bad_chunks, followed, followed, bad_head,
         bad_head, closing, body_of_304]
HTTP2 = [stream_reset, stream_broken, reset_at_end, pieces, padded, wrong_length, bad_fields, interim_h2]
SHARED_ENDS = [going_away, out_of_order, out_of_order, connection_cut]
RIGHT1 = [Own.message] * 6 + [typed, coded, odd_fields, chunked, until_the_end, old, slow, interim, closing]
RIGHT2 = [Own.message] * 6 + [typed, coded, odd_fields, reset_at_end, pieces, padded, interim_h2]
BROKEN1, BROKEN2 = [cut_off, unavailable], [stream_broken, unavailable]


@dataclasses.dataclass
class Scenario:
    """What a seed determines."""
    seed: str
    count: int
    #: Whole answers that no request asked for and that cannot be seen before the next one is sent: they come a moment later, or wait in TLS's buffer.
    has_unseen_doubles: bool = False
    #: Connections of HTTP/2 end while they carry other streams.
    has_shared_ends: bool = False

    def is_mild(self, number):
        """Whether the cover has to arrive in the first run: its host has no fault that a retry does not mend."""
        return number % 4 == 0

    def version(self, number, phase):
        return sum(random.Random(f"{self.seed} {number} version {earlier}").random() < 0.4 for earlier in range(1, phase + 1))

    def own(self, rng, number, phase):
        return Own(rng, number, self.version(number, phase), self.count)

    def answers(self, number, phase, is_http2):
        """What the first request for a cover gets in a phase, the second, and so on; the last one is for all others."""
        rng = random.Random(f"{self.seed} {number} {phase}")
        rights = RIGHT2 if is_http2 else RIGHT1
        if self.is_mild(number):
            faults = [rng.choice(BROKEN2 if is_http2 else BROKEN1)] if rng.random() < 0.25 else []
            makers = faults + [rng.choice(rights)]
        else:
            bad = BOTH + (HTTP2 if is_http2 else HTTP1) + ([placeholder] if phase else [])
            if is_http2:
                bad += SHARED_ENDS if self.has_shared_ends else []
            else:
                bad += ([doubled] if number % 3 == 0 or self.has_unseen_doubles else []) + ([late_double] * 3 if self.has_unseen_doubles else [])
            makers = [rng.choice(bad) for _ in range(rng.choice([0, 1, 1, 2, 3, 6]))] + [rng.choice(bad if rng.random() < 0.15 else rights)]
            if rng.random() < 0.04:
                makers.insert(0, stalled_h2 if is_http2 else stalled)
        made = []
        for maker in makers:
            answer = maker(self.own(rng, number, phase))
            # Those for all other requests are right at once.
            while maker is makers[-1] and self.is_mild(number) and answer.kind != "right":
                answer = maker(self.own(rng, number, phase))
            answer.name = "right" if maker is Own.message else maker.__name__
            made.append(answer)
        return made
