#!/usr/bin/env python3
"""sacad and beets, from PyPI, on the same ordinary world and services as `run.py --sleeve`: `rivals.py [--seed N] [--count N] [--only NAME]`.

They are installed below .build/rivals. Their requests to the services go to the ones on this computer; all else they ask for is refused.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import judge
import services
import world

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../.build/rivals")
# Read by Python before the program: sends each request of aiohttp and requests to the services of this computer.
REDIRECT = '''
import os
HOSTS = {"api.deezer.com": "deezer", "itunes.apple.com": "itunes", "coverartarchive.org": "caa", "musicbrainz.org": "musicbrainz"}
def here(url):
    url = str(url)
    host, _, path = url.partition("://")[2].partition("/")
    if host.startswith("127.0.0.1:"): return url
    return f"{os.environ['SERVICES']}/{HOSTS.get(host, 'elsewhere')}/{path}"
try:
    import aiohttp, requests.adapters, yarl
except ImportError:  # the pip of the virtual environment
    pass
else:
    ask = aiohttp.ClientSession._request
    aiohttp.ClientSession._request = lambda self, method, url, **more: ask(self, method, yarl.URL(here(url), encoded=True), **more)
    send = requests.adapters.HTTPAdapter.send
    def sent(self, request, *more, **options):
        request.url = here(request.url)
        return send(self, request, *more, **options)
    requests.adapters.HTTPAdapter.send = sent
'''
BEETS = """
directory: {home}/library
library: {home}/library.db
plugins: musicbrainz fetchart
import: {{copy: no, write: no, quiet: yes, quiet_fallback: asis}}
fetchart: {{auto: yes, cautious: no}}
"""


def install():
    if not os.path.exists(f"{TOP}/venv/bin/beet"):
        subprocess.run([sys.executable, "-m", "venv", f"{TOP}/venv"], check=True)
        subprocess.run([f"{TOP}/venv/bin/pip", "install", "--quiet", "sacad", "beets", "requests"], check=True)


def run(name, seed, count):
    with tempfile.TemporaryDirectory(prefix="sleeve-rival-") as home:
        made = world.make(f"{home}/world", "ordinary", seed, count)
        music = f"{home}/world/music"
        service = services.Services(made["releases"])
        os.makedirs(f"{home}/patch")
        with open(f"{home}/patch/sitecustomize.py", "w") as file: file.write(REDIRECT)
        with open(f"{home}/config.yaml", "w") as file: file.write(BEETS.format(home=home))
        commands = {
            "sacad": ["sacad_r", "-s", "deezer", "itunes", "--", music, "600", "cover.jpg"],
            "beets": ["beet", "-c", f"{home}/config.yaml", "import", "-q", music],
        }
        environment = {"PATH": os.environ["PATH"], "HOME": home, "PYTHONPATH": f"{home}/patch", "SERVICES": service.url, "LANG": "C.UTF-8", "BEETSDIR": home}
        command = [f"{TOP}/venv/bin/{commands[name][0]}", *commands[name][1:]]
        start = time.monotonic()
        with open(f"{TOP}/{name}.log", "w") as log:
            status = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, timeout=7_200).returncode
        seconds = time.monotonic() - start
        verdicts = judge.judge(made, music)
    print(f"{name}: exit {status}, {seconds:.0f} s, {sum(service.counts.values())} requests: {dict(service.counts)}, refused: {dict(service.refused)}")
    print("\n".join(judge.table(verdicts, byKind=False) + judge.wrong(verdicts)), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int)
    parser.add_argument("--only", choices=["sacad", "beets"])
    asked = parser.parse_args()
    install()
    for name in [asked.only] if asked.only else ["sacad", "beets"]: run(name, asked.seed, asked.count)
