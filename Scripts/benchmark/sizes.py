"""Smaller pictures: their CPU time against that of libvips on the same core, and their likeness to its result."""
import json
import os
import pathlib
import statistics
import time

import pictures
from measure import run

SIZE = 300


def sizes(bench):
    """One picture after the other, on one core."""
    if pictures.vips() is None or not pathlib.Path(bench.lab).exists():
        return bench.report.skip("CPU time of a smaller picture / that of libvips", "no pyvips, or no sleeve-lab beside this sleeve")
    paths = pictures.make(bench.new_folder("pictures"))
    core = min(os.sched_getaffinity(0))
    for side, files in paths.items():
        ours, theirs, likeness = [], [], []
        folder = bench.new_folder("sizes")
        for _ in range(bench.rounds):
            command = ["taskset", "-c", str(core), bench.lab, "sizes", "--size", str(SIZE), "--rounds", "3", "--write-to", str(folder), *map(str, files)]
            result = json.loads(run(command).output)
            ours.append(statistics.mean(result["micros"]) / 1000)
            theirs.append(statistics.mean(oracle(files, core)))
        for file in files:
            likeness.append(ssim(thumbnail(file.read_bytes()), (folder / file.name).read_bytes()))
        bench.report.row(
            f"CPU time of a picture of {SIZE} from {side:,} pixels / that of libvips", statistics.median(ours) / statistics.median(theirs), better="less",
            note=f"{statistics.median(ours):.2f} / {statistics.median(theirs):.2f} ms; {statistics.mean(map(os.path.getsize, files)) / 1024:.0f} KiB")
        bench.report.row(f"its likeness to libvips' (SSIM), the least of {len(files)}", min(likeness))


def thumbnail(bytes):
    image = pictures.vips().Image.thumbnail_buffer(bytes, SIZE)
    return image.jpegsave_buffer(Q=82, optimize_coding=True, strip=True)


def oracle(files, core):
    """The CPU time of libvips in milliseconds, the least of three for each file."""
    contents, before = [file.read_bytes() for file in files], os.sched_getaffinity(0)
    os.environ["VIPS_CONCURRENCY"] = "1"
    pictures.vips().voperation.vips_lib.vips_concurrency_set(1)
    os.sched_setaffinity(0, {core})
    try:
        times = []
        for bytes in contents:
            rounds = []
            for _ in range(3):
                start = time.process_time()
                thumbnail(bytes)
                rounds.append((time.process_time() - start) * 1000)
            times.append(statistics.median(rounds))
        return times
    finally:
        os.sched_setaffinity(0, before)


def ssim(one, other):
    """The mean structural similarity of the luminance (Wang et al. 2004), with a Gaussian window of 1.5 pixels."""
    pyvips = pictures.vips()
    x, y = (pyvips.Image.new_from_buffer(bytes, "").colourspace("b-w").cast("float") for bytes in (one, other))
    if (x.width, x.height) != (y.width, y.height):
        return 0
    blur = lambda image: image.gaussblur(1.5, precision="float")  # noqa: E731
    mean_x, mean_y = blur(x), blur(y)
    variance_x, variance_y = blur(x * x) - mean_x * mean_x, blur(y * y) - mean_y * mean_y
    covariance = blur(x * y) - mean_x * mean_y
    first, second = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    numerator = (mean_x * mean_y * 2 + first) * (covariance * 2 + second)
    return (numerator / ((mean_x * mean_x + mean_y * mean_y + first) * (variance_x + variance_y + second))).avg()
