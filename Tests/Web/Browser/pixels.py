"""Screenshots, and the contrast of what they show (WCAG 2)."""
import base64
import collections
import functools
import io

from PIL import Image, ImageChops


def capture(browser, box=None, margin=12):
    """The window's pixels, or those of an element's box and a margin around it."""
    clip = box and {
        "x": max(0, box["left"] - margin), "y": max(0, box["top"] - margin), "width": box["width"] + 2 * margin,
        "height": box["height"] + 2 * margin, "scale": 1}
    data = browser.cdp("Page.captureScreenshot", format="png", optimizeForSpeed=True, **({"clip": clip} if clip else {}))["data"]
    return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


def part(window, box, ratio=1):
    """The part of the window's pixels that shows a box, with so many pixels for a CSS pixel."""
    sides = box["left"], box["top"], box["right"], box["bottom"]
    return window.crop([round(min(max(side * ratio, 0), limit)) for side, limit in zip(sides, window.size * 2)])


@functools.cache
def luminance(pixel):
    r, g, b = (value / 255 / 12.92 if value <= 10 else ((value / 255 + 0.055) / 1.055) ** 2.4 for value in pixel)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def colours(image):
    """How often each colour is there, and the colour."""
    return image.getcolors(image.width * image.height)


def ground(image, rows=None):
    """The most frequent pixel: of the first and the last rows, if `rows` says how many."""
    if rows:
        edges = Image.new("RGB", (image.width, 2 * rows))
        edges.paste(image.crop((0, 0, image.width, rows)))
        edges.paste(image.crop((0, image.height - rows, *image.size)), (0, rows))
        image = edges
    return max(colours(image))[1]


def changed(before, after, ratio=3):
    """How many pixels differ with at least this contrast."""
    box = ImageChops.difference(before, after).getbbox()
    pairs = collections.Counter(zip(before.crop(box).getdata(), after.crop(box).getdata())) if box else {}
    return sum(count for (one, other), count in pairs.items() if contrast(one, other) >= ratio)
