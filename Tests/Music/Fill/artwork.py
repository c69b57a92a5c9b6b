"""Covers that look like covers, and what services make of them: sizes, codings, scans. Needs Pillow.

A key names an artwork and what is changed of its design: `a12`; `a12.n2`, with a number; `a12.banner`, of an edition; `placeholder.deezer`.
Each picture has the key in a comment, as those of `media` have.
"""
import functools
import io
import random

import media

try:
    from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageFont, PngImagePlugin
except ImportError:
    raise SystemExit("pictures are made by Pillow: python3 -m venv .build/worlds; .build/worlds/bin/pip install pillow; and .build/worlds/bin/python for python3") from None

SIDE = 1_000
STYLES = {"photo": 40, "type": 14, "shapes": 16, "framed": 16, "dark": 6, "white": 5, "plain": 3}
WORDS = "NORTH HOTEL SILVER GARDEN MACHINE WINTER ECHO RIVER GLASS PAPER TIGER MOON VELVET STATIC SUMMER STONE OCEAN MIRROR RADIO HOLLOW".split()


def color(chance, least=30, most=225): return tuple(chance.randint(least, most) for _ in range(3))


@functools.lru_cache(64)
def font(size): return ImageFont.load_default(size)


def photograph(chance, side):
    """Soft masses of colour with finer and finer detail, and a few shapes."""
    small = side // 2
    picture = Image.new("RGB", (small, small), color(chance, 90, 160))
    for cells, share in ((3, .8), (6, .5), (14, .35), (40, .22)):
        layer = Image.frombytes("RGB", (cells, cells), chance.randbytes(cells * cells * 3))
        picture = Image.blend(picture, layer.resize((small, small), Image.Resampling.BICUBIC), share)
    picture = picture.resize((side, side), Image.Resampling.BILINEAR)
    draw = ImageDraw.Draw(picture)
    for _ in range(4):
        left, top = chance.uniform(0, .8) * side, chance.uniform(0, .8) * side
        draw.ellipse((left, top, left + chance.uniform(.08, .3) * side, top + chance.uniform(.08, .3) * side), fill=color(chance, 0, 255))
    return picture


def placeholder(chance):
    """What a service shows where it has no picture: a disc on a ramp of grey."""
    picture = Image.linear_gradient("L").resize((SIDE, SIDE)).point(lambda value: 120 + value // 4).convert("RGB")
    draw = ImageDraw.Draw(picture)
    for radius, shade in ((.36, 70), (.33, 60), (.14, 200), (.12, 180), (.03, 40)):
        draw.ellipse([SIDE * (.5 - radius)] * 2 + [SIDE * (.5 + radius)] * 2, fill=(shade, shade, shade + 12))
    draw.text((SIDE * .5, SIDE * .93), chance.choice(["NO COVER", "NO IMAGE", "COVER"]), font=font(60), fill=(50, 50, 60), anchor="mm")
    return picture


@functools.lru_cache(64)
def artwork(key):
    """The picture as it was drawn, of 1,000 by 1,000 pixels. What a change does not name is that of the artwork without it."""
    name, *changes = key.split(".")
    chance = random.Random(name)
    if name == "placeholder": return placeholder(random.Random(key))
    style = chance.choices(list(STYLES), list(STYLES.values()))[0]
    ground, ink = color(chance), color(chance, 0, 255)
    if sum(abs(a - b) for a, b in zip(ground, ink)) < 220: ink = (250, 250, 240) if sum(ground) < 384 else (16, 16, 24)
    words = chance.sample(WORDS, 3)
    number = next((change[1:] for change in changes if change[0] == "n"), None)
    # Each picture of a series shows something else, or is one but for its number.
    inner = random.Random(f"{name} {number}") if number and random.Random(f"{name} series").random() < .5 else chance
    if style in ("photo", "dark"):
        picture = photograph(inner, SIDE)
        if style == "dark": picture, ink = ImageEnhance.Brightness(picture).enhance(.3), (200, 200, 200)
        draw = ImageDraw.Draw(picture)
        if style == "photo": draw.rectangle((0, 800, SIDE, SIDE), fill=ground)
        draw.text((50, 860), words[0], font=font(96), fill=ink, anchor="lm")
        draw.text((50, 950), words[1], font=font(48), fill=ink, anchor="lm")
    elif style == "white":
        picture = Image.new("RGB", (SIDE, SIDE), (250, 250, 248))
        draw = ImageDraw.Draw(picture)
        draw.text((500, 420), words[0], font=font(130), fill=(24, 24, 24), anchor="mm")
        draw.ellipse((400, 540, 600, 740), fill=ground)
        ink = (20, 20, 20)
    elif style == "plain":
        shade = chance.choice([4, 128, 252])
        picture = Image.new("RGB", (SIDE, SIDE), (shade, shade, shade))
        ImageDraw.Draw(picture).text((500, 500), words[0], font=font(70), fill=(abs(shade - 14),) * 3, anchor="mm")
        ink = (abs(shade - 14),) * 3
    else:
        picture = Image.new("RGB", (SIDE, SIDE), ground)
        draw = ImageDraw.Draw(picture)
        if style == "type":
            for line, word in enumerate(words): draw.text((50, 150 + 260 * line), word, font=font(190), fill=ink, anchor="lm")
            draw.rectangle((50, 820, 950, 860), fill=color(chance))
        elif style == "shapes":
            for _ in range(chance.randint(6, 12)):
                left, top = inner.uniform(-.1, .9) * SIDE, inner.uniform(-.1, .9) * SIDE
                box = (left, top, left + inner.uniform(.1, .5) * SIDE, top + inner.uniform(.1, .5) * SIDE)
                (draw.ellipse if inner.random() < .5 else draw.rectangle)(box, fill=color(inner, 0, 255))
            draw.text((50, 940), " ".join(words), font=font(60), fill=ink, anchor="lm")
        else:
            picture.paste(photograph(inner, 600), (200, 380))
            draw.rectangle((50, 50, 950, 330), fill=color(chance))
            draw.text((500, 190), words[0], font=font(120), fill=ink, anchor="mm")
    draw = ImageDraw.Draw(picture)
    if number: draw.text((880, 700), number[-2:], font=font(chance.choice([60, 220])), fill=ink, anchor="mm")
    if "banner" in changes:
        draw.rectangle((0, 0, SIDE, 84), fill=(24, 24, 24))
        draw.text((500, 42), "DELUXE EDITION", font=font(50), fill=(240, 240, 240), anchor="mm")
    return picture


def sized(picture, side, resampling=Image.Resampling.LANCZOS):
    return picture if picture.width == side else picture.resize((side, side), resampling, reducing_gap=2.0)


def scanned(picture, chance):
    """Turned a little, cropped, of another tone, blurred, with noise."""
    gamma, red, blue = chance.uniform(.85, 1.25), chance.uniform(.94, 1.06), chance.uniform(.94, 1.06)
    picture = picture.point([min(255, int(255 * (value / 255) ** gamma * part)) for part in (red, 1, blue) for value in range(256)])
    picture = picture.rotate(chance.uniform(.2, .6) * chance.choice([-1, 1]), Image.Resampling.BILINEAR, fillcolor=(235, 235, 230))
    left, top = (int(SIDE * chance.uniform(.005, .02)) for _ in range(2))
    picture = picture.crop((left, top, left + SIDE - 25, top + SIDE - 25))
    noise = Image.frombytes("L", (SIDE // 2, SIDE // 2), chance.randbytes(SIDE * SIDE // 4)).resize(picture.size).convert("RGB")
    return Image.blend(picture, noise, .03).filter(ImageFilter.GaussianBlur(.8))


def coded(picture, key, form="jpg", **options):
    """- Returns: its media type, and its bytes."""
    mark, file = media.MARK + key.encode() + b";", io.BytesIO()
    if form == "png":
        texts = PngImagePlugin.PngInfo()
        texts.add_text("Comment", mark.decode())
        picture.save(file, "PNG", pnginfo=texts, compress_level=1)
        return "image/png", file.getvalue()
    picture.save(file, "JPEG", comment=mark, **options)
    return "image/jpeg", file.getvalue()


@functools.lru_cache(256)
def given(key, entry, service, name):
    """An artwork as a service gives it for one of its entries, asked by a name with a size, such as `600x600bb.jpg` or `front-1200`."""
    chance = random.Random(f"{entry} {service}")
    digits = "".join(c if c.isdigit() else " " for c in name).split()
    if key.startswith("placeholder"):
        # One picture, and yet other bytes: of three sizes, and as many codings.
        form = sum(entry.encode()) % 3
        return coded(sized(artwork(key), [500, 600, 1_000][form]), key, ["jpg", "png", "jpg"][form], quality=[70, 0, 92][form])
    if service == "caa":
        isScan, form, most = chance.random() < .25, "png" if chance.random() < .12 else "jpg", chance.choice([600, 1_000, 1_200, 1_500])
        picture = scanned(artwork(key), chance) if isScan else artwork(key)
        if not digits: return coded(sized(picture, most), key, form, quality=95, subsampling=0)
        return coded(sized(picture, min(int(digits[0]), most)), key, quality=chance.randint(78, 90), progressive=chance.random() < .3)
    if service == "deezer": return coded(sized(artwork(key), int(digits[0])), key, quality=80)
    most = chance.choice([600, 1_400, 1_400, 1_500, 1_500, 1_500, 3_000])
    return coded(sized(artwork(key), min(int(digits[0]), most), Image.Resampling.BICUBIC), key, "png" if name.endswith("png") else "jpg", quality=90, subsampling=0)


def tagged(key, chance):
    """An artwork as the tags of songs have it. - Returns: the bytes of a JPEG."""
    side, quality = chance.choice([300, 350, 400, 500]), chance.randint(70, 85)
    return coded(sized(artwork(key), side, chance.choice([Image.Resampling.LANCZOS, Image.Resampling.BICUBIC, Image.Resampling.BOX])), key, quality=quality)[1]
