"""Cover-like pictures in several sizes, made by libvips (the package pyvips-binary of PyPI)."""
from measure import Failure

SIDES = (600, 1_500, 3_000)
SEEDS = 6
QUALITY = 88


def vips():
    try:
        import pyvips
    except ImportError:
        return None
    pyvips.cache_set_max(0)
    return pyvips


def make(folder):
    """Writes the same pictures in each size, as `SIDE-SEED.jpg`. Returns their paths by size."""
    pyvips = vips()
    if pyvips is None:
        raise Failure("pyvips is missing: pip install pyvips pyvips-binary")
    largest = max(SIDES)
    folder.mkdir(parents=True, exist_ok=True)
    paths = {side: [folder / f"{side}-{seed}.jpg" for seed in range(SEEDS)] for side in SIDES}
    for seed in range(SEEDS):
        master = picture(pyvips, largest, seed)
        for side in SIDES:
            master.resize(side / largest).write_to_file(f"{paths[side][seed]}[Q={QUALITY},optimize-coding=true,strip=true]")
    return paths


def picture(pyvips, side, seed):
    """Clouds in two colours with a grain, a disc, and lines of text: smooth areas, texture and edges, as covers have them."""
    def clouds(cell, number):
        return pyvips.Image.perlin(side, side, cell_size=cell, seed=97 * seed + number, uchar=False)

    light = clouds(side // 3, 1) + clouds(side // 12, 2) * 0.5 + clouds(side // 60, 3) * 0.25
    grain = pyvips.Image.gaussnoise(side, side, mean=0, sigma=5, seed=seed).gaussblur(1.2) * 2
    base = [(60 + 40 * ((seed * 5 + channel * 3) % 4), 45 * ((seed + channel) % 3) - 30) for channel in range(3)]
    bands = [light * slope + level + grain for level, slope in base]
    image = bands[0].bandjoin(bands[1:]).cast("uchar").copy(interpretation="srgb")
    image = image.draw_circle([240, 225, 200], side // 2, side // 2, side // 4, fill=True)
    text = pyvips.Image.text(f"ALBUM {seed}\nThe Artists\nSide A · 33⅓", width=side // 2, dpi=side // 6)
    ink = (image * 0 + 20).cast("uchar")
    mask = text.embed(side // 4, side // 3, side, side)
    return mask.ifthenelse(ink, image, blend=True)
