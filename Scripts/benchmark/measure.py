"""Running commands under the clock, and the loopback servers they talk to."""
import contextlib
import os
import pathlib
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time


class Failure(Exception):
    """A message for the user; ends the run."""


class Run:
    """The cost of one command and its children, without the servers."""

    def __init__(self, wall, to_bytes, cpu, memory, output):
        self.wall, self.cpu, self.memory, self.output = wall, cpu, memory, output
        self.to_bytes = to_bytes  # From the start of the process to the last byte on its stdout.

    def record(self):
        return {"wall": round(self.wall, 4), "cpu": round(self.cpu, 4), "memory": self.memory}


def run(command, folder=None, limit=300, synced=True):
    """Runs a command and fails if the command does. Syncs the file system first, for commands that write much."""
    if synced:
        os.sync()
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    timer = threading.Timer(limit, process.kill)
    timer.start()
    output = process.stdout.read()
    to_bytes = time.monotonic() - started
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - started
    timer.cancel()
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: exit {process.returncode} after {wall:.1f} s")
    memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Run(wall, to_bytes, usage.ru_utime + usage.ru_stime, memory, output)


def median(runs, what="wall"):
    return statistics.median(getattr(run, what) for run in runs)


def spread(runs):
    walls = [run.wall for run in runs]
    return f"{median(runs):.3f} s ({min(walls):.3f}–{max(walls):.3f})"


def in_turn(bench, section, contenders, rounds=None):
    """Runs functions that return a `Run` in turn, by name; the order alternates, so that a machine that becomes slower favours none.
    One that takes five times as long as Sleeve runs once. Returns the runs by name, and keeps them in the report."""
    runs = {name: [] for name in contenders}
    for number in range(rounds or bench.rounds):
        for name in contenders if number % 2 == 0 else reversed(contenders):
            if runs[name] and runs[name][0].wall > 5 * runs["sleeve"][0].wall:
                continue
            runs[name].append(contenders[name]())
            bench.report.keep(section, name, runs[name][-1])
        bench.note(f"  {section}: " + ", ".join(f"{name} {of[-1].wall:.3f} s" for name, of in runs.items()))
    return runs


def at_most(number):
    """The options that limit the number of transfers in flight."""
    return ["--per-host", str(number), "--parallel", str(number)]


def always(number):
    return ["--fixed", *at_most(number)]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port, process, name):
    for _ in range(200):
        if process.poll() is not None:
            raise Failure(f"{name} ended with {process.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        time.sleep(0.05)
    raise Failure(f"{name} does not listen on port {port}")


def stop(process):
    """Terminates a process, and kills it after five seconds."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
    if process.poll() is None:
        process.kill()
        process.wait()


class Nginx:
    """One worker serving a folder over HTTP/1.1, over HTTPS with HTTP/2, with HTTP/2 connections that end after 100 requests, and
    over HTTPS with HTTP/1.1. Its files are in a folder of its own.

    /release/ID/front-500 redirects as the Cover Art Archive does: to another host, and that to one of 40 storage hosts, all of them names of
    this machine (RFC 6761 section 6.3) on the port that the client used, so that a link carries them all."""

    CONFIGURATION = """
        {user}
        worker_processes 1;
        daemon off;
        pid {home}/nginx.pid;
        error_log {home}/error.log warn;
        worker_rlimit_nofile {files};
        events {{ worker_connections 2048; }}
        http {{
            access_log off;
            sendfile on;
            tcp_nopush on;
            tcp_nodelay on;
            keepalive_requests 10000000;
            keepalive_timeout 300s;
            ssl_protocols TLSv1.2 TLSv1.3;
            open_file_cache max={kept} inactive=600s;
            open_file_cache_valid 600s;
            types {{ image/jpeg jpg; }}
            map $http_host $outer_port {{ ~(?<given_port>:[0-9]+)$ $given_port; }}
            map $uri $storage {{ ~(?<host_number>[0-3][0-9])/front $host_number; ~(?<unit>[0-9])/front 1$unit; }}
            client_body_temp_path {home}/body;
            proxy_temp_path {home}/proxy;
            fastcgi_temp_path {home}/fastcgi;
            uwsgi_temp_path {home}/uwsgi;
            scgi_temp_path {home}/scgi;
            server {{
                listen 127.0.0.1:{port} backlog=1024;
                listen 127.0.0.1:{tls_port} ssl http2 backlog=1024;
                listen 127.0.0.1:{tls1_port} ssl backlog=1024;
                ssl_certificate {home}/certificate.pem;
                ssl_certificate_key {home}/key.pem;
                root {folder};
                location ~ ^/release/(?<id>[0-9a-f-]+)/front-500$ {{
                    return 307 https://archive.hosts.localhost$outer_port/download/$id/front-500;
                }}
                location ~ ^/download/[0-9a-f-]+-0*(?<number>[0-9]+)/front-500$ {{
                    return 302 https://ia$storage.hosts.localhost$outer_port/$number.jpg;
                }}
            }}
            server {{
                listen 127.0.0.1:{closing_port} ssl http2 backlog=1024;
                ssl_certificate {home}/certificate.pem;
                ssl_certificate_key {home}/key.pem;
                keepalive_requests 100;
                root {folder};
            }}
        }}
        """

    def __init__(self, home, folder):
        home = pathlib.Path(home)
        home.mkdir(parents=True, exist_ok=True)
        self.port, self.tls_port, self.tls1_port, self.closing_port = (free_port() for _ in range(4))
        self.certificate = home / "certificate.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
             "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:*.hosts.localhost", "-keyout", home / "key.pem", "-out", self.certificate],
            check=True, stderr=subprocess.DEVNULL)
        # Every cached file is an open descriptor; connections need descriptors too.
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        files = 32_768 if hard == resource.RLIM_INFINITY else min(hard, 32_768)
        (home / "nginx.conf").write_text(self.CONFIGURATION.format(
            home=home, folder=folder, port=self.port, tls_port=self.tls_port,
            tls1_port=self.tls1_port, closing_port=self.closing_port, files=files, kept=files * 3 // 4,
            user="user root;" if os.getuid() == 0 else ""))
        self.process = subprocess.Popen(
            ["nginx", "-p", home, "-e", home / "error.log", "-c", home / "nginx.conf"], stdin=subprocess.DEVNULL)
        try:
            wait_for_port(self.port, self.process, f"nginx ({home}/error.log)")
        except BaseException:
            self.close()
            raise

    url = property(lambda self: f"http://127.0.0.1:{self.port}")
    tls_url = property(lambda self: f"https://127.0.0.1:{self.tls_port}")

    def close(self):
        stop(self.process)


class Server:
    """A command that prints its address and serves until it is stopped."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            self.close()
            raise Failure(f"{' '.join(words)} did not start")

    def close(self):
        stop(self.process)
        self.process.stdout.close()


def origin(program, *options):
    """`sleeve origin`, on a free port."""
    return Server(program, "origin", "--port", "0", *options)


def need_space(folder, gigabytes):
    free = shutil.disk_usage(folder).free / 1e9
    if free < gigabytes:
        raise Failure(f"{gigabytes} GB are needed in {folder}, {free:.0f} GB are free")
