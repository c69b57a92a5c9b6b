#!/usr/bin/env python3
"""Fills a made music folder with a built `sleeve` and tells right, wrong and missed covers: `run.py --sleeve PATH [--world hard] [--seed N]`.

Services allow what they document, unless several fills share the work (--shards), each with a home and a library of its own. Exits with 1 if a
cover is wrong though facts tell it, or if fewer than --least percent of the covers that services have are right (hard: or the first that is listed as doubtful).

The world of pictures, and the others with --pictures, need Pillow. Pictures in the tags come first, as fills have it; `--source
caa,musicbrainz,itunes,deezer` leaves them out, `--min-pixels 600` does not write them. compare.py shows the tables of two builds.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import judge
import services
import world


class Sleeve:
    """The command in a home of its own."""

    def __init__(self, path, home, service):
        self.path, self.home = os.path.abspath(path), home
        os.makedirs(home, exist_ok=True)
        bases = [f"{name}={service.url}/{name}" for name in ("musicbrainz", "caa", "itunes", "deezer")]
        self.environment = {
            "HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "SLEEVE_SOURCE_BASE": ",".join(bases), "SLEEVE_CACHE": f"{home}/cache",
            "SLEEVE_LIBRARY": f"{home}/albums.json", "SLEEVE_CONTACT": "worlds@example.org"}

    def run(self, *words, limit=3_600):
        return subprocess.run([self.path, *words], env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=limit)

    def fill(self, folders, *options):
        """- Returns: What the report says."""
        report = f"{self.home}/report.jsonl"
        result = self.run("fill", *folders, "--report", report, "--quiet", *options)
        if result.returncode not in (0, 3): sys.exit(f"fill ended with {result.returncode}: {result.stderr[-2000:]}")
        with open(report) as file: return [json.loads(line) for line in file]


def fill(asked, folder, made, service):
    """Runs the fills. - Returns: The lines of their reports."""
    music = f"{folder}/music"
    asked.shards = min(asked.shards, len(os.listdir(music)))
    tops = [[f"{music}/{name}" for name in sorted(os.listdir(music))[shard::asked.shards]] for shard in range(asked.shards)]
    roots = [[music]] if asked.shards == 1 else [top for top in tops if top]
    sleeves = [Sleeve(asked.sleeve, f"{folder}/home{number}", service) for number in range(len(roots))]
    options = (["--embed"] if asked.embed else []) + (["--source", asked.source] if asked.source else [])
    if asked.min_pixels: options += ["--min-pixels", str(asked.min_pixels)]
    def all_of_them():
        with ThreadPoolExecutor(len(roots)) as pool: return sum(pool.map(lambda one, root: one.fill(root, *options), sleeves, roots), [])
    lines = all_of_them()
    if made["later"]:
        for entry in made["later"]:
            for path in entry["remove"]:
                if os.path.exists(f"{music}/{path}"): os.remove(f"{music}/{path}")
            for path, data in entry["songs"].items():
                os.makedirs(os.path.dirname(f"{music}/{path}"), exist_ok=True)
                with open(f"{music}/{path}", "wb") as file: file.write(bytes.fromhex(data))
        lines += all_of_them()
    return lines


def write(path, verdicts, service, seconds):
    """Rows of a kind each: a kind's counts, numbers by service, an album's outcome. Seconds by service are what its limit alone would take."""
    rows = [("kind", name, *row) for name, row in judge.counts(verdicts).items()]
    rows += [("requests", name, service.counts[name]) for name in sorted(service.counts)]
    rows += [("downloads", name, service.downloads[name]) for name in sorted(service.downloads)]
    rows += [("seconds", name, round(service.counts[name] * per / number)) for name, (number, per) in services.LIMITS.items()]
    rows += [("seconds", "all", round(seconds))]
    for one in verdicts:
        name = f"{one.album['name']}, {one.album['folders'][0]}"
        rows.append(("album", name, one.outcome, one.album["kind"], "; ".join(one.album.get("labels", [])), "; ".join(one.reasons)))
    with open(path, "w") as file: file.write("".join("\t".join(map(str, row)) + "\n" for row in rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sleeve", required=True)
    parser.add_argument("--world", default="ordinary", choices=["ordinary", "hard", "lengths", "pictures"])
    parser.add_argument("--pictures", action="store_true", help="services give pictures in sizes and codings of their own, as in the world of that name")
    parser.add_argument("--poor", action="store_true", help="the tags of the world of pictures have no year, totals and lengths")
    parser.add_argument("--seed", type=int, default=1, help="0 for a random one")
    parser.add_argument("--only", help="one kind of the hard world, or of that of lengths")
    parser.add_argument("--count", type=int, help="albums; of each kind, if hard")
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--source", help="as of fill")
    parser.add_argument("--min-pixels", type=int, help="as of fill")
    parser.add_argument("--embed", action="store_true")
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--wrong", help="a file for the wrong covers by kind")
    parser.add_argument("--table", help="a file for the table and each album's outcome, as tab-separated values")
    parser.add_argument("--keep", help="where the world is made, and kept")
    asked = parser.parse_args()
    seed = asked.seed or random.randrange(1, 1_000_000)
    folder = asked.keep or tempfile.mkdtemp(prefix="sleeve-world-")
    try:
        havePictures = asked.pictures or asked.world == "pictures"
        made = world.make(folder, asked.world, seed, asked.count, asked.only, havePictures, asked.poor)
        service = services.Services(made["releases"], asked.shards == 1, havePictures)
        start = time.monotonic()
        lines = fill(asked, folder, made, service)
        seconds = time.monotonic() - start
        doubtful = [(line["folder"], line.get("title"), line["url"]) for line in lines if line["outcome"] == "doubtful" and line.get("url")]
        verdicts = judge.judge(made, f"{folder}/music", doubtful)
    finally:
        if not asked.keep: shutil.rmtree(folder, ignore_errors=True)
    print(f"{asked.world} world, seed {seed}, {len(made['albums'])} albums, {seconds:.0f} s, {asked.shards} fills at a time")
    requests = [f"{name} {service.counts[name]}" + (f" ({service.refused[name]} refused)" if service.refused[name] else "") for name in sorted(service.counts)]
    print(f"requests: {sum(service.counts.values())}: {', '.join(requests)}")
    print(f"pictures: {', '.join(f'{name} {service.downloads[name]}' for name in sorted(service.downloads))}")
    print("\n".join(judge.table(verdicts)))
    if asked.table: write(asked.table, verdicts, service, seconds)
    wrong = judge.wrong(verdicts)
    print("\n".join(wrong or ["no wrong cover"]))
    # The right album with another's picture: no fact tells it.
    wrongs = [one.album.get("isLie", False) for one in verdicts if one.outcome == "wrong"]
    if sum(wrongs): print(f"{sum(wrongs)} of {len(wrongs)} wrong covers: a service or the tags have another album's picture")
    if asked.wrong:
        with open(asked.wrong, "w") as file: file.write("\n".join(wrong) + "\n")
    expected = [one for one in verdicts if one.album["accept"] and not one.album["tagsOnly"]]
    good = sum(one.outcome == "right" or asked.world == "hard" and one.outcome == "review" for one in expected)
    part = 100 * good / max(len(expected), 1)
    print(f"{part:.1f} % of {len(expected)} covers are right" + (" or listed first" if asked.world == "hard" else ""))
    for one in verdicts:
        if one.outcome == "missed": print(f"missed: {one.album['kind']}: {one.album['name']}")
    sys.exit(1 if not all(wrongs) or part < asked.least else 0)


if __name__ == "__main__":
    main()
