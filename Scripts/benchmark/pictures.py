"""Cover-like pictures in several sizes, made by libvips (the package pyvips-binary of PyPI), and a server of many of them."""
import http.server
import threading

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


class Server:
    """Serves `/SIDE/NUMBER.jpg`: pictures with different bytes for every number, by a comment at their start (ITU-T T.81 section B.2.4.5)."""

    def __init__(self, paths):
        bodies = {side: [path.read_bytes() for path in files] for side, files in paths.items()}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                side, number = (int(part) for part in self.path.removesuffix(".jpg").strip("/").split("/"))
                body, comment = bodies[side][number % SEEDS], b"%09d" % number
                body = body[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + body[2:]
                self.send_response(200)
                self.send_header("Content-Type", "image/jpeg")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
