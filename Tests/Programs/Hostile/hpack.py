"""Header fields of HTTP/2 (RFC 7541), as far as requests for covers need them: all of decoding, and the plainest encoding."""

# Appendix B gives each octet a canonical code; these are the octets whose codes are shortest, by length. No request here has others.
HUFFMAN = {5: "012aceiost", 6: " %-./3456789=A_bdfghlmnpru", 7: ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz", 8: "&*,;XZ", 10: '!"()?', 11: "'+|", 12: "#>",
           13: "\0$@[]~", 14: "^}", 15: "<`{"}
# Appendix A: the names of those that matter here; the others have no name.
STATIC = {4: (":path", "/"), 5: (":path", "/index.html"), 41: ("if-none-match", "")}


def _codes():
    code, last = 0, 5
    for length, octets in HUFFMAN.items():
        code <<= length - last
        last = length
        for octet in octets:
            yield format(code, f"0{length}b"), octet
            code += 1


CODES = dict(_codes())


def text_of(data):
    text, code = "", ""
    for bit in "".join(f"{byte:08b}" for byte in data):
        code += bit
        if code in CODES:
            text, code = text + CODES[code], ""
    return text


class Decoder:
    def __init__(self):
        (self.table, self.limit) = ([], 4_096)

    def fields(self, data):
        """The names and values of a block; names and values that no request here needs are empty."""
        (self.data, self.place, found) = (data, 0, [])
        while self.place < len(data):
            byte = data[self.place]
            if byte & 0x80:
                found.append(self.entry(self.integer(7)))
            elif byte & 0xE0 == 0x20:
                self.limit = self.integer(5)
            else:
                index = self.integer(6 if byte & 0x40 else 4)
                field = (self.entry(index)[0] if index else self.text(), self.text())
                found.append(field)
                if byte & 0x40:
                    self.table.insert(0, field)
            while sum(len(name) + len(value) + 32 for name, value in self.table) > self.limit:
                self.table.pop()
        return found

    def entry(self, index):
        return STATIC.get(index, ("", "")) if index < 62 else self.table[index - 62]

    def integer(self, bits):
        value = self.data[self.place] & (1 << bits) - 1
        self.place += 1
        if value == (1 << bits) - 1:
            shift, more = 0, True
            while more:
                byte = self.data[self.place]
                self.place += 1
                value += (byte & 0x7F) << shift
                (shift, more) = (shift + 7, byte & 0x80)
        return value

    def text(self):
        is_coded = self.data[self.place] & 0x80
        length = self.integer(7)
        data = self.data[self.place:self.place + length]
        self.place += length
        return text_of(data) if is_coded else data.decode("latin-1")


def encoded(fields):
    def text(value):
        data = str(value).encode("latin-1")
        size, length = b"", len(data)
        if length < 127:
            return bytes([length]) + data
        length -= 127
        while length >= 128:
            size += bytes([length % 128 + 128])
            length //= 128
        return b"\x7f" + size + bytes([length]) + data

    return b"".join(b"\0" + text(name) + text(value) for name, value in fields)
