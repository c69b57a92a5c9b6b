"""Songs of next to no sound, FLAC (RFC 9639) and MP3 with ID3v2.4, as a person's tagger writes them; and what a file has, whoever wrote it last."""
import hashlib, struct

FRAMES = {"TITLE": "TIT2", "ALBUM": "TALB", "ALBUMARTIST": "TPE2", "ARTIST": "TPE1", "DATE": "TDRC", "GENRE": "TCON", "TRACKNUMBER": "TRCK"}


def song(format, tags, length, sound, cover=None):
    """The bytes of a file: `length` in ms; `sound` names the audio; `cover` is a JPEG."""
    sound = hashlib.sha256(sound.encode()).digest()
    return (flac if format == "flac" else mp3)({name: str(value) for name, value in tags.items() if value}, length, sound, cover)


def flac(tags, length, sound, cover):
    texts = [f"{name}={value}".encode() for name, value in tags.items()]
    comments = struct.pack("<I", 6) + b"person" + struct.pack("<I", len(texts)) + b"".join(struct.pack("<I", len(text)) + text for text in texts)
    stream = 44_100 << 44 | 1 << 41 | 15 << 36 | round(length * 44.1)
    blocks = [(0, struct.pack(">HH", 4_096, 4_096) + bytes(6) + stream.to_bytes(8, "big") + bytes(16)), (4, comments)]
    if cover: blocks.append((6, struct.pack(">II", 3, 10) + b"image/jpeg" + struct.pack(">6I", 0, 0, 0, 0, 0, len(cover)) + cover))
    last = len(blocks) - 1
    head = b"".join(bytes([kind | (0x80 if n == last else 0)]) + len(body).to_bytes(3, "big") + body for n, (kind, body) in enumerate(blocks))
    return b"fLaC" + head + b"\xff\xf8\xc9\x18" + sound


def mp3(tags, length, sound, cover):
    frames = b"".join(frame(FRAMES[name], b"\3" + value.encode()) for name, value in tags.items() if name in FRAMES)
    if cover: frames += frame("APIC", b"\0image/jpeg\0\3\0" + cover)
    # Frames of 128 kbit/s; the first one has the number of all.
    count = round(length * 44.1 / 1_152)
    first = (b"\xff\xfb\x90\0" + bytes(32) + b"Info" + struct.pack(">III", 3, count, count * 417)).ljust(417, b"\0")
    return b"ID3\4\0\0" + syncsafe(len(frames)) + frames + first + (b"\xff\xfb\x90\0" + bytes(381) + sound) * 2


def syncsafe(number): return bytes(number >> shift & 127 for shift in (21, 14, 7, 0))
def frame(name, body): return name.encode() + syncsafe(len(body)) + b"\0\0" + body


class Parts:
    """What a file has: its audio, its tags without pictures, and the pictures."""

    def __init__(self, data):
        self.tags, self.pictures = [], []
        (self.read_flac if data[:4] == b"fLaC" else self.read_mp3)(data)

    @property
    def picture(self): return self.pictures[0] if self.pictures else None

    def read_flac(self, data):
        at, is_last = 4, False
        while not is_last:
            is_last, kind, end = data[at] & 0x80, data[at] & 0x7F, at + 4 + int.from_bytes(data[at + 1:at + 4], "big")
            body, at = data[at + 4:end], end
            if kind == 6:
                mime = int.from_bytes(body[4:8], "big")
                description = int.from_bytes(body[8 + mime:12 + mime], "big")
                self.pictures.append(body[32 + mime + description:])
            elif kind != 1:
                self.tags.append((kind, body))
        self.audio = data[at:]

    def read_mp3(self, data):
        number = lambda four: sum(byte << shift for byte, shift in zip(four, (21, 14, 7, 0)))
        if data[:3] != b"ID3":
            self.audio = data
            return
        end, at = 10 + number(data[6:10]), 10
        while at + 10 <= end and data[at]:
            name, four = data[at:at + 4], data[at + 4:at + 8]
            size = number(four) if data[3] == 4 else int.from_bytes(four, "big")
            body, at = data[at + 10:at + 10 + size], at + 10 + size
            if name == b"APIC":
                self.pictures.append(body[body.index(b"\xff\xd8"):])
            else:
                self.tags.append((name, body))
        self.audio = data[end:]
