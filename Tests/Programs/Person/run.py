#!/usr/bin/env python3
"""Plays a person and the fills of many nights, and judges each change by what the person has said and what was written before.

  Tests/Programs/Person/run.py --sleeve FILE [--seed S] [--nights N] [--seeds COUNT] [--known KIND,…] [--shrink SECONDS] [--history FILE]

The person adds albums, namesakes among them, edits tags, renames, removes and puts pictures, accepts, refuses, allows and takes back; fills and undos are
killed between two writes. A seed gives the same steps again. What fails is shrunk to the shortest history that still fails so.
"""
import argparse, collections, json, os, subprocess, sys, tempfile, time

import game, nights
from model import Fault

HERE = os.path.dirname(os.path.abspath(__file__))


def play(options, seed, steps, length=0):
    """Plays steps, or, without, as many nights as `length` says. - Returns: the steps that meant something, the fault and the game."""
    played, fault, one = [], None, game.Game(options, seed)
    try:
        source = steps if steps is not None else nights.steps(one, length)
        for step in source:
            if options.verbose: print(f"    {json.dumps(step)}", flush=True)
            played.append(step)
            if getattr(one, step["do"])(**{name: value for name, value in step.items() if name != "do"}) is False: played.pop()
    except Fault as found:
        fault = found
    finally:
        one.close()
    return played, fault, one


def shrink(options, seed, steps, fault):
    """The shortest history that still ends with a fault of this kind, within the time."""
    end, is_same = time.monotonic() + options.shrink, lambda found: found is not None and found.kind == fault.kind
    def fails(fewer):
        played, found, _ = play(options, seed, fewer)
        return (played, found) if is_same(found) else None
    # First those alone that concern the album of the fault, then halves, then single steps.
    size = max(len(steps) // 2, 1)
    if fault.album is not None:
        numbers = {one.number for one in options.world.albums if (one.artist, one.title) == (fault.album.artist, fault.album.title)}
        folders = {step["number"] for step in steps if step["do"] == "add" and step["album"] in numbers} | {
            step["folder"] for step in steps if step["do"] == "reuse" and step["album"] in numbers}
        def concerns(step):
            if step["do"] == "add": return step["number"] in folders
            return step.get("folder") in folders | {None} and step.get("album") in numbers | {None} or step["do"] == "reuse" and step["folder"] in folders
        result = fails([step for step in steps if concerns(step)])
        if result: (steps, fault) = result
    while time.monotonic() < end:
        at, is_shorter = 0, False
        while at < len(steps) and time.monotonic() < end:
            result = fails(steps[:at] + steps[at + size:])
            if result: (steps, fault), is_shorter = result, True
            else: at += size
        if size == 1 and not is_shorter: break
        size = max(size // 2, 1)
    return steps, fault


def compiled(folder):
    """`disk.c`, which kills a process between two of its writes; None without a compiler."""
    source, library = os.path.join(HERE, "../SleeveStage/Disk/disk.c"), f"{folder}/disk.so"
    for compiler in ("clang", "cc"):
        try:
            if subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source], capture_output=True).returncode == 0: return library
        except FileNotFoundError: continue
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sleeve", required=True, type=os.path.abspath)
    parser.add_argument("--seed", default=None, help="of the first history (default: the time)")
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--nights", type=int, default=100)
    parser.add_argument("--known", type=lambda text: tuple(filter(None, text.split(","))), default=(), help="kinds of faults that end no history; each is counted")
    parser.add_argument("--shrink", type=float, default=0, help="seconds to look for a shorter history")
    parser.add_argument("--history", help="a file of steps, a line each, to play instead of a seed's; its first line is the seed")
    parser.add_argument("--on", action="store_true", help="go on to the next seed after a fault")
    parser.add_argument("--keep", action="store_true", help="keep the folders")
    parser.add_argument("--verbose", "-v", action="count", default=0)
    options = parser.parse_args()
    seed = options.seed or str(int(time.time()))
    faults = 0
    with tempfile.TemporaryDirectory(prefix="sleeve-person-") as folder:
        options.disk = compiled(folder)
        steps = None
        if options.history:
            with open(options.history) as file: seed, *steps = [json.loads(line) for line in file if line.strip()]
        for number in range(options.seeds):
            name = seed if number == 0 else f"{int(seed) + number}" if seed.isdigit() else f"{seed}.{number}"
            start = time.monotonic()
            played, fault, one = play(options, name, steps, options.nights)
            kinds = collections.Counter(text.split(":")[0] for text in one.model.faults)
            known = "; known: " + ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())) if kinds else ""
            print(f"seed {name}: {len(played)} steps, {one.commands} commands in {time.monotonic() - start:.0f} s{known}: {fault or 'right'}", flush=True)
            if fault is None: continue
            faults += 1
            if options.shrink:
                options.world, options.verbose = one.world, 0
                played, fault = shrink(options, name, played, fault)
            print("\n".join([json.dumps(name), *map(json.dumps, played if options.shrink or options.keep else [])]))
            print(f"fault with seed {name}: {fault}", flush=True)
            if not options.on: break
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
