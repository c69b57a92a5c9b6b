#!/usr/bin/env python3
"""Has the command fetch covers from a server that does what a server can do wrong, and kills it. What it has kept must be right.

  Tests/Programs/Hostile/run.py --sleeve FILE [--seconds N] [--seed S] [--covers N] [--only N,M…] [--unseen-doubles] [--shared-ends] [--keep]

It prints the seed of each scenario. A seed gives the same answers again; when they arrive, the machine decides.
"""
import argparse, asyncio, collections, json, logging, os, pathlib, random, shutil, sys, tempfile, time

import plans, server

#: The longest that a run of the command may take, in seconds.
LIMIT = 60


class Fault(Exception):
    """A promise was not kept."""


class Stage:
    """A cache, a server, and what the cache has to hold."""

    def __init__(self, options, seed):
        self.options = options
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sleeve-hostile-"))
        self.scenario = plans.Scenario(seed, options.covers, options.unseen_doubles, options.shared_ends)
        self.server = server.Server(self.scenario, self.folder)
        self.numbers = options.only or range(options.covers)
        #: The digests that the reports have named, by URL, and the whole covers that the cache has had.
        (self.acknowledged, self.held) = ({}, {})

    async def prepare(self):
        # A connection that has ended is what this server is about.
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        await self.server.start()
        self.urls = {self.server.url(number): number for number in self.numbers}
        # Some URLs twice: their requests join.
        lines = list(self.urls) + [url for url, number in self.urls.items() if number % 10 == 7]
        random.Random(self.scenario.seed).shuffle(lines)
        (self.folder / "list.txt").write_text("\n".join(lines))
        self.count = len(lines)

    async def command(self, *words, kill_after=None):
        """Runs the command. - Returns: its exit code and its stdout; -9 if it was killed."""
        environment = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "SLEEVE_CACHE": str(self.folder / "cache")}
        environment |= {name: value for name, value in os.environ.items() if name.startswith("SWIFT_")}
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(self.options.sleeve, *words, env=environment, stdout=pipe, stderr=pipe, cwd=self.folder)
        try:
            output, errors = await asyncio.wait_for(process.communicate(), kill_after or LIMIT)
        except asyncio.TimeoutError:
            process.kill()
            await process.wait()
            if kill_after is None:
                raise Fault(f"`sleeve {words[0]}` took longer than {LIMIT} s")
            return -9, ""
        if process.returncode not in (0, 3):
            raise Fault(f"`sleeve {' '.join(words)}` exited with {process.returncode}:\n{errors.decode()[-30_000:]}")
        return process.returncode, output.decode()

    async def fetch(self, *words, kill_after=None):
        """Runs prefetch or refresh, then checks its report and the cache."""
        report = self.folder / "report.jsonl"
        report.unlink(missing_ok=True)
        words = [*words, "--report", str(report), "--cacert", self.server.certificate, "--timeout", "2", "--quiet"]
        start = time.monotonic()
        code, _ = await self.command(*words, kill_after=kill_after)
        text = report.read_text() if report.exists() else ""
        lines = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
        outcomes = collections.Counter(line["outcome"] for line in lines)
        if self.options.verbose:
            print(f"  {words[0]}: exit {code} after {time.monotonic() - start:.1f} s, {dict(outcomes)}, {self.server.requests} requests", flush=True)
            if self.options.verbose > 1:
                print(*sorted(f"    {line['url']} {line['outcome']} {line.get('error', '')}" for line in lines), sep="\n")
        if code >= 0 and words[0] == "prefetch" and len(lines) < self.count:
            raise Fault(f"of {self.count} covers the report has {len(lines)} lines")
        for line in lines:
            if line["outcome"] in ("downloaded", "revalidated", "fresh", "joined"):
                self.acknowledged[line["url"]] = line["digest"]
        await self.check(is_killed=code < 0)
        return {line["url"]: line for line in lines}

    def file(self, digest):
        return self.folder / "cache/covers" / digest[:2] / digest

    def identify(self, digest):
        """Whose bytes a file has."""
        data = self.file(digest).read_bytes()
        owners = [f"{number + other} in version {version}" for number in self.numbers for version in range(3) for other in (0, 500_000)
                  if data[:60] == plans.picture(number + other, version)[:60]]
        return f"{digest}: {len(data)} bytes, those of {owners}"

    async def check(self, is_killed):
        if is_killed and not (self.folder / "cache/index.sqlite3").exists():
            return
        _, listing = await self.command("cache", "list", "--json")
        found = {line["url"]: line["digest"] for line in map(json.loads, listing.splitlines())}
        placeholder, doubted = plans.digest(plans.PLACEHOLDER), self.server.doubted()
        for url, digest in found.items():
            number = self.urls[url]
            if digest not in self.server.allowed(number):
                raise Fault(f"{url} has the wrong bytes, {self.identify(digest)}")
            data = self.file(digest).read_bytes()
            if plans.digest(data) != digest:
                raise Fault(f"{url} has a file of other bytes than {digest}")
            # A PNG without the checksum of its last chunk is whole to those who show it.
            is_whole = b"IEND" in data[-12:]
            if self.held.get(url) and not is_whole and number not in doubted:
                raise Fault(f"{url} had a whole picture and has a cut one, {digest}")
            self.held[url] = is_whole
        shared = collections.Counter(self.acknowledged.values())
        for url, digest in self.acknowledged.items():
            # One picture in place of three covers is a placeholder, and they are put back: redirects may lead to one.
            if self.urls[url] in doubted or shared[digest] >= 3:
                continue
            # A newer one may have been stored, and the line that says so not been written.
            if url not in found or found[url] != digest and not is_killed and digest != placeholder:
                raise Fault(f"{url} is lost: {digest} was reported, there is {found.get(url)}")
        self.acknowledged |= found
        code, text = await self.command("cache", "verify")
        if code:
            raise Fault(f"verify exited with {code}: {text}")

    def require(self, lines, numbers, phase):
        """Every one of these covers has the bytes of this phase."""
        wrong = [f"{url}: {lines.get(url)}" for url, number in self.urls.items() if number in numbers
                 and self.acknowledged.get(url) != plans.digest(plans.picture(number, self.scenario.version(number, phase)))]
        if wrong:
            raise Fault(f"{len(wrong)} covers that are owed have not arrived:\n" + "\n".join(wrong[:9]))

    async def run(self):
        rng = random.Random(f"{self.scenario.seed} kills")
        mild = {number for number in self.numbers if self.scenario.is_mild(number)}
        await self.fetch("prefetch", "list.txt", kill_after=rng.uniform(0.1, 1.5))
        self.require(await self.fetch("prefetch", "list.txt"), mild, 0)
        for phase in (1, 2):
            self.server.phase = phase
            if phase == 2:
                await self.fetch("refresh", "--all", kill_after=rng.uniform(0.1, 1.5))
            self.require(await self.fetch("refresh", "--all"), mild, phase)
            await self.fetch("prefetch", "list.txt")
        # In the end the server is well, and everything arrives that is not there.
        self.server.is_calm = True
        await self.fetch("prefetch", "list.txt", "--retry-missing")
        if missing := [url for url in self.urls if url not in self.acknowledged]:
            raise Fault(f"{len(missing)} covers did not arrive from a server that is well: {missing[:9]}")


async def scenario(options, seed, names):
    stage = Stage(options, seed)
    try:
        await stage.prepare()
        await stage.run()
    except Fault as fault:
        print(f"seed {seed}: the cache is in {stage.folder}")
        numbers = set().union(*(stage.server.led(number) for url, number in stage.urls.items() if url in str(fault)))
        for connection, texts in stage.server.history(numbers).items() if len(numbers) < 9 else []:
            print(f"  connection {connection}: {'; '.join(texts)}")
        options.keep = True
        raise
    finally:
        names += stage.server.names
        if not options.keep:
            shutil.rmtree(stage.folder)
    return stage.server.requests


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sleeve", required=True, type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=0, help="start scenarios for this long; one at least")
    parser.add_argument("--seed", default=os.environ.get("SLEEVE_HOSTILE_SEED"), help="of the first scenario (default: the time)")
    parser.add_argument("--covers", type=int, default=240)
    parser.add_argument("--only", type=lambda text: [int(part) for part in text.split(",")], help="the numbers of covers, to find what is wrong with them")
    parser.add_argument("--unseen-doubles", action="store_true", help="also answers that nobody asked for and that come when the next request is on its way")
    parser.add_argument("--shared-ends", action="store_true", help="also connections of HTTP/2 that end while they carry other requests")
    parser.add_argument("--keep", action="store_true", help="keep the caches")
    parser.add_argument("--verbose", "-v", action="count", default=0)
    options = parser.parse_args()
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    names, requests, scenarios, start = collections.Counter(), 0, 0, time.monotonic()
    seed = options.seed or str(int(time.time()))
    while scenarios == 0 or time.monotonic() - start < options.seconds:
        name = seed if scenarios == 0 else f"{seed}.{scenarios}"
        print(f"seed {name}", flush=True)
        try:
            requests += asyncio.run(scenario(options, name, names))
        except Fault as fault:
            sys.exit(f"fault with seed {name}: {fault}")
        scenarios += 1
    print(f"right: {scenarios} scenarios, {requests} requests in {time.monotonic() - start:.0f} s; " + ", ".join(f"{n} {c}" for n, c in names.most_common()))


if __name__ == "__main__":
    main()
