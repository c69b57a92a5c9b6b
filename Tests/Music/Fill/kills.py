#!/usr/bin/env python3
"""Kills `fill` and `fill --embed` at random moments, and looks at each file afterwards: `kills.py --sleeve PATH [--kills 200] [--seed N]`.

After each kill all sound, all files of the person and all covers are whole; after the next fill nothing hidden is left and every cover is right.
A fill beside another one ends with 75.
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import judge
import media
import services
import world
from run import Sleeve

OPTIONS = ["--source", "caa,deezer", "--quiet"]


class Trial:
    def __init__(self, path, folder, seed, albums=24):
        self.path, self.folder, self.original = path, folder, f"{folder}/original"
        self.made = world.make(self.original, "ordinary", seed, albums)
        self.give()
        self.service = services.Services(self.made["releases"], limits=False)
        self.files = {name: self.read(f"{self.original}/music/{name}") for name in self.names(f"{self.original}/music")}
        self.round = 0
        self.begin()

    def give(self):
        """Files of the person: covers of every fourth album, backs, notes, hidden files."""
        for number, album in enumerate(self.made["albums"]):
            folder = f"{self.original}/music/{album['folders'][0]}"
            given = {"back.jpg": media.picture("back"), "notes.txt": b"mine", ".mine.jpg": b"mine", ".cover.jpg.part": b"mine"}
            if number % 4 == 0: given["Folder.JPG"] = media.picture(f"own{number}")
            for name, data in given.items():
                with open(f"{folder}/{name}", "wb") as file: file.write(data)
                self.made["given"].append(f"{album['folders'][0]}/{name}")
            if number % 4 == 0: album["accept"] = [f"own{number}"]

    def names(self, top):
        return [os.path.relpath(os.path.join(folder, name), top) for folder, _, names in os.walk(top) for name in names]

    def read(self, path):
        with open(path, "rb") as file: return file.read()

    def begin(self):
        self.round += 1
        self.music = f"{self.folder}/music{self.round}"
        shutil.copytree(f"{self.original}/music", self.music)
        self.sleeve = Sleeve(self.path, f"{self.folder}/home{self.round}", self.service)

    def start(self, *options):
        return subprocess.Popen([self.path, "fill", self.music, *OPTIONS, *options], env=self.sleeve.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def faults(self, isWhole):
        """- isWhole: a fill has ended by itself."""
        found, now = [], set(self.names(self.music))
        found += [f"{name} is gone" for name in self.files.keys() - now]
        given = set(self.made["given"])
        for name in now:
            data = self.read(f"{self.music}/{name}")
            base = os.path.basename(name)
            if name in given:
                if data != self.files[name]: found.append(f"{name}, the person's, has changed")
            elif name in self.files:
                if data[-32:] != self.files[name][-32:]: found.append(f"the sound of {name} has changed")
                elif data != self.files[name] and not media.shown(data): found.append(f"{name} has changed, but has no cover")
            elif base.startswith("."):
                if isWhole: found.append(f"{name} is left")
            elif not any(data == media.picture(key) for key in media.shown(data)): found.append(f"{name} is no whole cover")
        if isWhole: found += [reason for one in judge.judge(self.made, self.music) for reason in one.reasons]
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sleeve", required=True)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="0 for a random one")
    asked = parser.parse_args()
    seed = asked.seed or random.randrange(1, 1_000_000)
    chance, faults, killed = random.Random(seed), [], 0
    with tempfile.TemporaryDirectory(prefix="sleeve-kills-") as folder:
        trial = Trial(os.path.abspath(asked.sleeve), folder, seed)
        begin = time.monotonic()
        one = trial.start("--embed")
        time.sleep(.3)
        other = trial.start().wait()
        if one.poll() is None and other != 75: faults.append(f"a fill beside another one ended with {other}")
        one.wait()
        longest = time.monotonic() - begin
        faults += trial.faults(True)
        trial.begin()
        while killed < asked.kills:
            process = trial.start(*(["--embed"] if killed % 2 else []))
            try:
                process.wait(chance.uniform(.02, longest))
                # The first fill was slower: later ones would end before they are killed.
                longest = max(longest * .9, .3)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                killed += 1
                faults += trial.faults(False)
                if killed % 5: continue
            if trial.start("--embed").wait() not in (0, 3): faults.append("the fill after a kill failed")
            faults += trial.faults(True)
            trial.begin()
    print(f"{killed} kills within {longest:.1f} s, seed {seed}, {trial.round} folders: {len(faults)} faults")
    print("\n".join(faults[:40]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
