"""The bytes of small audio files and pictures: the formats' own structure, tags and lengths, and hardly any sound."""
import base64
import functools
import hashlib
import re
import struct


# ---- Pictures. The album that one shows is in its comment and, as eight by eight squares, in its pixels.

MARK = b"sleeve-world:"


def squares(key):
    """64 bits of a key: whether a square is light."""
    digest = hashlib.sha256(key.encode()).digest()
    return [digest[n // 8] >> n % 8 & 1 for n in range(64)]


@functools.lru_cache(4_096)
def picture(key, side=600):
    """A baseline JPEG (ITU-T T.81) in shades of grey, of blocks of one shade each."""
    def segment(marker, body):
        return b"\xff" + bytes([marker]) + struct.pack(">H", len(body) + 2) + body

    def table(kind, codes):  # codes: the symbols by the length of their codes
        return bytes([kind]) + bytes(len(one) for one in codes) + bytes(13) + b"".join(map(bytes, codes))

    blocks, light = (side + 7) // 8, squares(key)
    bits, last = [], 0
    for row in range(blocks):
        for column in range(blocks):
            shade = 32 if light[row * 8 // blocks * 8 + column * 8 // blocks] else -32
            step, last = shade - last, shade
            if step == 0:
                bits.append("0")
            else:
                size = abs(step).bit_length()
                value = step if step > 0 else step + (1 << size) - 1
                bits.append({7: "10", 6: "110"}[size] + format(value, f"0{size}b"))
            bits.append("0")
    text = "".join(bits)
    text += "1" * (-len(text) % 8)
    scan = int(text, 2).to_bytes(len(text) // 8, "big").replace(b"\xff", b"\xff\0")
    return (
        b"\xff\xd8" + segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0") + segment(0xFE, MARK + key.encode() + b";")
        + segment(0xDB, b"\0" + bytes([16] * 64)) + segment(0xC0, struct.pack(">BHHB", 8, side, side, 1) + b"\1\x11\0")
        + segment(0xC4, table(0, [[0], [7], [6]]) + table(0x10, [[0], [], []]))
        + segment(0xDA, b"\1\1\0\0\x3f\0") + scan + b"\xff\xd9")


def sides(jpeg):
    """The width and the height that a JPEG's frame has."""
    at = 2
    while jpeg[at + 1] not in (0xC0, 0xC2): at += 2 + int.from_bytes(jpeg[at + 2:at + 4], "big")
    height, width = struct.unpack(">HH", jpeg[at + 5:at + 9])
    return width, height


def shown(data):
    """The keys of all pictures in a file, also of those in its tags."""
    keys = {found.decode() for found in re.findall(re.escape(MARK) + rb"([^;]*);", data)}
    for text in re.findall(rb"METADATA_BLOCK_PICTURE=([A-Za-z0-9+/=]+)", data):
        keys |= shown(base64.b64decode(text + b"=" * (-len(text) % 4)))
    return keys


# ---- Audio. Tags are Vorbis comments by name.

def song(format, tags, length, cover=None):
    """A file of a format (mp3, flac, m4a, ogg) that is `length` ms long; 0 for one that does not say."""
    return {"mp3": mp3, "flac": flac, "m4a": m4a, "ogg": ogg}[format]({k: str(v) for k, v in tags.items() if v}, length, cover)


def sound(tags):
    """The last 32 bytes of a file, which are those of its song alone."""
    return hashlib.sha256(repr(tags).encode()).digest()


FRAMES = {
    "TITLE": "TIT2", "ALBUM": "TALB", "ALBUMARTIST": "TPE2", "ARTIST": "TPE1", "DATE": "TDRC", "ORIGINALDATE": "TDOR",
    "DISCNUMBER": "TPOS", "COMPILATION": "TCMP", "COMPOSER": "TCOM", "GENRE": "TCON",
}
IDS = {"MUSICBRAINZ_ALBUMID": "MusicBrainz Album Id", "MUSICBRAINZ_RELEASEGROUPID": "MusicBrainz Release Group Id"}


def track(tags):
    number, total = tags.get("TRACKNUMBER", ""), tags.get("TRACKTOTAL", "")
    return number + ("/" + total if number and total else "")


def mp3(tags, length, cover):
    """ID3v2.4, and frames of 128 kbit/s, the first of which has the number of all."""
    def syncsafe(number):
        return bytes(number >> shift & 127 for shift in (21, 14, 7, 0))

    def frame(name, body):
        return name.encode() + syncsafe(len(body)) + b"\0\0" + body

    texts = [(FRAMES[key], value) for key, value in tags.items() if key in FRAMES] + [("TRCK", track(tags))]
    frames = b"".join(frame(name, b"\3" + value.encode()) for name, value in texts if value)
    for key, name in IDS.items():
        if key in tags:
            frames += frame("TXXX", b"\3" + name.encode() + b"\0" + tags[key].encode())
    if cover:
        frames += frame("APIC", b"\0image/jpeg\0\3\0" + cover)
    count = round(length * 44_100 / 1_000 / 1_152)
    info = bytes(32) + b"Info" + struct.pack(">III", 3, count, count * 417)
    first = (b"\xff\xfb\x90\0" + info).ljust(417, b"\0") if count else b""
    return b"ID3\4\0\0" + syncsafe(len(frames)) + frames + first + (b"\xff\xfb\x90\0" + bytes(381) + sound(tags)) * 2


def comments(tags):
    texts = [f"{key}={value}".encode() for key, value in tags.items()]
    return struct.pack("<I", 6) + b"sleeve" + struct.pack("<I", len(texts)) + b"".join(
        struct.pack("<I", len(text)) + text for text in texts)


def picture_block(cover):
    return struct.pack(">II", 3, 10) + b"image/jpeg" + struct.pack(">6I", 0, *sides(cover), 8, 0, len(cover)) + cover


def flac(tags, length, cover):
    """RFC 9639."""
    stream = 44_100 << 44 | 1 << 41 | 15 << 36 | round(length * 44.1)
    blocks = [(0, struct.pack(">HH", 4_096, 4_096) + bytes(6) + stream.to_bytes(8, "big") + bytes(16)), (4, comments(tags))]
    if cover:
        blocks.append((6, picture_block(cover)))
    head = b"".join(
        bytes([kind | (0x80 if number == len(blocks) - 1 else 0)]) + len(body).to_bytes(3, "big") + body
        for number, (kind, body) in enumerate(blocks))
    return b"fLaC" + head + b"\xff\xf8\xc9\x18" + sound(tags)


def m4a(tags, length, cover):
    """ISO/IEC 14496-12, with iTunes' metadata."""
    def atom(name, *parts):
        body = b"".join(parts)
        return struct.pack(">I", len(body) + 8) + name + body

    def data(kind, body):
        return atom(b"data", struct.pack(">II", kind, 0), body)

    names = {
        "TITLE": b"\xa9nam", "ALBUM": b"\xa9alb", "ALBUMARTIST": b"aART", "ARTIST": b"\xa9ART", "DATE": b"\xa9day",
        "COMPOSER": b"\xa9wrt", "GENRE": b"\xa9gen",
    }
    items = [atom(names[key], data(1, value.encode())) for key, value in tags.items() if key in names]
    for name, number, total in ((b"trkn", "TRACKNUMBER", "TRACKTOTAL"), (b"disk", "DISCNUMBER", "DISCTOTAL")):
        if tags.get(number, "").isdigit():
            items.append(atom(name, data(0, struct.pack(">4H", 0, int(tags[number]), int(tags.get(total, 0)), 0))))
    if "COMPILATION" in tags:
        items.append(atom(b"cpil", data(21, b"\1")))
    for key, name in {**IDS, "ORIGINALDATE": "ORIGINALDATE"}.items():
        if key in tags:
            items.append(atom(b"----", atom(b"mean", bytes(4), b"com.apple.iTunes"), atom(b"name", bytes(4), name.encode()), data(1, tags[key].encode())))
    if cover:
        items.append(atom(b"covr", data(13, cover)))
    meta = atom(b"meta", bytes(4), atom(b"hdlr", bytes(8), b"mdirappl", bytes(9)), atom(b"ilst", *items))
    codec = bytes.fromhex("03190001000411401500000000000000000000000005021210060102")
    entry = atom(b"mp4a", bytes(6), b"\0\1", bytes(8), struct.pack(">HHII", 2, 16, 0, 44_100 << 16), atom(b"esds", bytes(4), codec))
    table = atom(b"stbl", atom(b"stsd", bytes(4), b"\0\0\0\1", entry))
    media = atom(b"mdia", atom(b"mdhd", bytes(12), struct.pack(">IIHH", 1_000, length, 0x55C4, 0)), atom(b"hdlr", bytes(8), b"soun", bytes(13)), atom(b"minf", table))
    header = atom(b"mvhd", bytes(12), struct.pack(">II", 1_000, length), bytes(80))
    return atom(b"ftyp", b"M4A \0\0\0\0M4A mp42") + atom(b"moov", header, atom(b"trak", media), atom(b"udta", meta)) + atom(b"mdat", sound(tags))


CRC = []
for number in range(256):
    value = number << 24
    for _ in range(8):
        value = (value << 1 ^ (0x04C11DB7 if value >> 31 else 0)) & 0xFFFFFFFF
    CRC.append(value)


def ogg(tags, length, cover):
    """Ogg (RFC 3533) with Vorbis."""
    def page(number, kind, position, packets):
        lacing = b"".join(b"\xff" * (len(one) // 255) + bytes([len(one) % 255]) for one in packets)
        head = b"OggS\0" + bytes([kind]) + struct.pack("<QII", position, 1, number)
        body = bytes([len(lacing)]) + lacing + b"".join(packets)
        check = 0
        for byte in head + bytes(4) + body:
            check = (check << 8 & 0xFFFFFFFF) ^ CRC[check >> 24 ^ byte]
        return head + struct.pack("<I", check) + body

    if cover:
        tags = {**tags, "METADATA_BLOCK_PICTURE": base64.b64encode(picture_block(cover)).decode()}
    first = b"\1vorbis" + bytes(4) + b"\2" + struct.pack("<I", 44_100) + bytes(12) + b"\xb8\1"
    return (
        page(0, 2, 0, [first]) + page(1, 0, 0, [b"\3vorbis" + comments(tags) + b"\1", b"\5vorbis" + bytes(8)])
        + page(2, 4, round(length * 44.1), [sound(tags)]))
