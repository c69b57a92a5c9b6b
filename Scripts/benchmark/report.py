"""Measured figures, as a table and as JSON."""
import contextlib
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time

from measure import spread


def first_line(*command):
    """The first line a command prints to stdout or stderr."""
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20)
        return result.stdout.strip().splitlines()[0] if result.stdout.strip() else ""
    except (OSError, subprocess.TimeoutExpired):
        return "missing"


def commit(root):
    """The commit of a checkout, and whether it has changes. Empty outside of one."""
    git = ["git", "-C", str(root)]
    if subprocess.run([*git, "rev-parse"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        return ""
    changed = first_line(*git, "status", "--porcelain", "--untracked-files=no")
    return first_line(*git, "rev-parse", "--short", "HEAD") + (" with changes" if changed else "")


def machine(folder, root, sleeve):
    if sys.platform == "darwin":
        cpu, memory = first_line("sysctl", "-n", "machdep.cpu.brand_string"), int(first_line("sysctl", "-n", "hw.memsize"))
        files = ""
    else:
        text = open("/proc/cpuinfo").read()
        name = re.search(r"^(?:model name|Model)\s*: (.*)$", text, re.MULTILINE)
        cpu = (name.group(1) if name else platform.machine()) + (" with SHA extensions" if "sha_ni" in text else "")
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        files = first_line("stat", "-f", "-c", "%T", str(folder))
    # An executable given with --sleeve may be of any commit.
    origin = commit(root) if root in sleeve.parents else str(sleeve)
    return {
        "processor": cpu,
        "cores": os.cpu_count(),
        "memory": f"{memory / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "files": files,
        "load before": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "sleeve": f"{first_line(str(sleeve), '--version')} {origin}".strip(),
        "python": platform.python_version(),
        "nginx": first_line("nginx", "-v").removeprefix("nginx version: "),
        "curl": " ".join(first_line("curl", "--version").split()[:2]),
        "aria2c": first_line("aria2c", "--version").removeprefix("aria2 version "),
        "wget2": first_line("wget2", "--version").split(" - ")[0],
    }


def committed(folder, processor):
    """The figures of the newest runs of this kind of machine that are committed, by name."""
    figures = {}
    for file in sorted(folder.glob("????-??-??-*.md")):
        text = file.read_text()
        if f"processor: {processor};" not in text:
            continue
        for line in text.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            with contextlib.suppress(ValueError, IndexError):
                figures[cells[0]] = float(cells[1].split()[0].replace(",", ""))
    return figures


class Report:
    """Rows in the order of measurement."""

    # A ratio that is worse than the committed one by more than this is red: less is noise.
    TOLERANCE = 0.05

    def __init__(self, facts, figures):
        self.facts, self.figures, self.rows, self.runs = facts, figures, [], {}

    def keep(self, section, name, run):
        self.runs.setdefault(section, {}).setdefault(name, []).append(run.record())

    def row(self, what, measured, unit="", note="", floor=None, better=None):
        """A figure. A ratio says with `better` whether "less" or "more" is better: only ratios have lights.
        `floor`: what a program reaches that does nothing but what cannot be left out."""
        last = self.figures.get(what)
        light = ""
        if better and last and measured is not None:
            worse = measured / last if better == "less" else last / measured
            light = "RED" if worse > 1 + self.TOLERANCE else "better" if worse < 1 - self.TOLERANCE else "as before"
        self.rows.append({"what": what, "measured": measured, "unit": unit, "floor": floor, "last": last, "light": light, "note": note})

    def ratio(self, what, runs, rival, name="sleeve", kind="wall", floor="floor"):
        """The median of a contender's time over a rival's, round by round, beside the floor's."""
        def over(one):
            return statistics.median(getattr(a, kind) / getattr(b, kind) for a, b in zip(runs[one], runs[rival]))
        note = f"{spread(runs[name])} / {spread(runs[rival])}" if kind == "wall" else ""
        self.row(what, over(name), note=note, floor=over(floor) if floor in runs else None, better="less")

    def skip(self, what, why):
        self.row(what, None, note=f"skipped: {why}")

    @property
    def red(self):
        return [row["what"] for row in self.rows if row["light"] == "RED"]

    def cells(self):
        def number(value, unit=""):
            if value is None:
                return ""
            digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 3 if abs(value) < 1 else 2
            return f"{value:,.{digits}f}{' ' + unit if unit else ''}"

        return [("what", "measured", "floor", "committed", "light", "note")] + [
            (row["what"], number(row["measured"], row["unit"]), number(row["floor"]), number(row["last"]), row["light"], row["note"])
            for row in self.rows]

    def text(self):
        cells = self.cells()
        widths = [max(len(row[column]) for row in cells) for column in range(5)]
        lines = [f"{name:<12} {value}" for name, value in self.facts.items() if value]
        for row in cells:
            columns = [f"{row[0]:<{widths[0]}}", *(f"{row[column]:>{widths[column]}}" for column in range(1, 5)), row[5]]
            lines.append("  ".join(columns).rstrip())
        return "\n".join(lines)

    def markdown(self):
        cells = self.cells()
        lines = ["| " + " | ".join(cells[0]) + " |", "|---|--:|--:|--:|---|---|"]
        lines += ["| " + " | ".join(row) + " |" for row in cells[1:]]
        facts = "; ".join(f"{name}: {value}" for name, value in self.facts.items() if value)
        return "\n".join(lines) + f"\n\nMeasured on: {facts}.\n"

    def write(self, folder):
        (folder / "results.md").write_text(self.markdown())
        text = json.dumps({"machine": self.facts, "rows": self.rows, "runs": self.runs}, indent=1, ensure_ascii=False) + "\n"
        (folder / "results.json").write_text(text)
        (folder / "runs").mkdir(exist_ok=True)
        (folder / "runs" / f"{time.strftime('%Y-%m-%dT%H%M%S')}.json").write_text(text)
