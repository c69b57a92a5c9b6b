"""Decodes the browser's PNG screenshots and compares their pixels."""
import base64
import collections
import struct
import zlib


def clip(browser, box, margin=12):
    """The pixels of a part of the page, as rows of RGB bytes."""
    area = {"x": max(0, box["x"] - margin), "y": max(0, box["y"] - margin), "width": box["width"] + 2 * margin,
            "height": box["height"] + 2 * margin, "scale": 1}
    return decode(base64.b64decode(browser.cdp("Page.captureScreenshot", format="png", clip=area)["data"]))


def decode(png):
    at, data, size, channels = 8, b"", None, 3
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and colour in (2, 6), "not the PNG a browser makes"
            size, channels = (width, height), 3 if colour == 2 else 4
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    data = zlib.decompress(data)
    stride = size[0] * channels
    rows, above = [], bytes(stride)
    for y in range(size[1]):
        start = y * (stride + 1)
        row = unfilter(data[start], bytearray(data[start + 1:start + 1 + stride]), above, channels)
        rows.append(row)
        above = row
    return [[tuple(row[x:x + 3]) for x in range(0, stride, channels)] for row in rows]


def unfilter(kind, row, above, step):
    for x in range(len(row)):
        left = row[x - step] if x >= step else 0
        if kind == 1:
            row[x] = row[x] + left & 255
        elif kind == 2:
            row[x] = row[x] + above[x] & 255
        elif kind == 3:
            row[x] = row[x] + (left + above[x] >> 1) & 255
        elif kind == 4:
            corner = above[x - step] if x >= step else 0
            guess = left + above[x] - corner
            a, b, c = abs(guess - left), abs(guess - above[x]), abs(guess - corner)
            row[x] = row[x] + (left if a <= b and a <= c else above[x] if b <= c else corner) & 255
    return row


def luminance(pixel):
    r, g, b = (value / 255 / 12.92 if value <= 10 else ((value / 255 + 0.055) / 1.055) ** 2.4 for value in pixel)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def contrast_with_ground(pixels, colour):
    """The contrast of a colour (r, g, b, alpha) with the most frequent pixel."""
    ground = collections.Counter(pixels).most_common(1)[0][0]
    *rgb, alpha = colour
    return contrast(ground, [value * alpha + below * (1 - alpha) for value, below in zip(rgb, ground)])


def inside(rows):
    return [pixel for row in rows for pixel in row]


def around(rows, margin):
    """The pixels of a frame `margin` pixels wide."""
    middle = rows[margin:-margin]
    return inside(rows[:margin]) + inside(rows[-margin:]) + inside(row[:margin] + row[-margin:] for row in middle)


def changed(before, after, ratio=3):
    """How many pixels differ with at least this contrast."""
    count = 0
    for one, other in zip(before, after):
        for a, b in zip(one, other):
            count += a != b and contrast(a, b) >= ratio
    return count
