"""Measured figures, as a table and as JSON."""
import json
import os
import platform
import re
import subprocess
import sys
import time


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


class Report:
    """Rows in the order of measurement."""

    def __init__(self, facts):
        self.facts, self.rows, self.runs = facts, [], {}

    def keep(self, section, name, run):
        self.runs.setdefault(section, {}).setdefault(name, []).append(run.record())

    def row(self, what, measured, unit="", note=""):
        self.rows.append({"what": what, "measured": measured, "unit": unit, "note": note})

    def skip(self, what, why):
        self.row(what, None, note=f"skipped: {why}")

    def cells(self):
        def number(value, unit):
            if value is None:
                return ""
            digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 3 if abs(value) < 1 else 2
            return f"{value:,.{digits}f}{' ' + unit if unit else ''}"

        return [("what", "measured", "note")] + [(row["what"], number(row["measured"], row["unit"]), row["note"]) for row in self.rows]

    def text(self):
        cells = self.cells()
        widths = [max(len(row[column]) for row in cells) for column in range(2)]
        lines = [f"{name:<12} {value}" for name, value in self.facts.items() if value]
        return "\n".join(lines + [""] + [f"{what:<{widths[0]}}  {value:>{widths[1]}}  {note}".rstrip() for what, value, note in cells])

    def markdown(self):
        cells = self.cells()
        lines = ["| " + " | ".join(cells[0]) + " |", "|---|--:|---|"]
        lines += ["| " + " | ".join(row) + " |" for row in cells[1:]]
        facts = "; ".join(f"{name}: {value}" for name, value in self.facts.items() if value)
        return "\n".join(lines) + f"\n\nMeasured on: {facts}.\n"

    def write(self, folder):
        (folder / "results.md").write_text(self.markdown())
        text = json.dumps({"machine": self.facts, "rows": self.rows, "runs": self.runs}, indent=1, ensure_ascii=False) + "\n"
        (folder / "results.json").write_text(text)
        (folder / "runs").mkdir(exist_ok=True)
        (folder / "runs" / f"{time.strftime('%Y-%m-%dT%H%M%S')}.json").write_text(text)
