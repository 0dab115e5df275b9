"""Parts of a check that may be cut off: each runs as a process of its own with a limit, and what is finished
is remembered, so that the same command goes on from there."""

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

LEAST_SECONDS = 5  # a part is not begun with less
SKIPPED = 77  # exit status


@dataclass
class Part:
    """One process. `output`: the file that its standard output is stored in, if it succeeds. `needs`: parts
    that must have succeeded. `skip`: why it need not run here. A part that ends with 77, or an optional one
    that fails, is skipped."""

    name: str
    command: list
    limit: float = 120
    needs: tuple = ()
    output: str = ""
    environment: dict = field(default_factory=dict)
    skip: str = ""
    optional: bool = False


class Parts:
    """The parts of one run and of those before it, in a folder of reports."""

    def __init__(self, folder, about, fresh=False, say=print):
        """@param about  what results are of (device, sources): others are forgotten"""
        self.folder, self.about, self.say = Path(folder), about, say
        self.folder.mkdir(parents=True, exist_ok=True)
        self.state = self.folder / "parts.json"
        self.done = {}
        if self.state.is_file() and not fresh:
            known = json.loads(self.state.read_text())
            if known["about"] == about:
                self.done = known["parts"]
            else:
                say("device or sources are others than those of the last run: beginning anew")

    def save(self):
        fresh = self.state.with_suffix(".new")
        fresh.write_text(json.dumps({"about": self.about, "parts": self.done}, indent=1) + "\n")
        fresh.replace(self.state)

    def status(self, name):
        return self.done.get(name, {}).get("status", "")

    def is_finished(self, name):
        return self.status(name) in ("ok", "skipped")

    def note(self, part, status, seconds=0.0, why=""):
        stamp = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
        self.done[part.name] = {"status": status, "seconds": round(seconds, 1), "at": stamp, "why": why}
        self.save()
        self.say(f"{part.name:<28}{status:<10}{seconds:8.1f} s{'  ' + why if why else ''}")

    def run(self, parts, budget):
        """Runs the parts that are not finished, for at most so many seconds. Returns the numbers of those
        that passed, failed, were skipped, and are left."""
        deadline = time.monotonic() + budget
        for part in parts:
            if self.is_finished(part.name):
                stamp = self.done[part.name]["at"]
                self.say(f"{part.name:<28}{self.status(part.name)} before, {stamp}")
                continue
            self.done.pop(part.name, None)
            if part.skip:
                self.note(part, "skipped", why=part.skip)
                continue
            missing = [name for name in part.needs if self.status(name) != "ok"]
            if missing:
                self.say(f"{part.name:<28}left: it needs {', '.join(missing)}")
                continue
            left = deadline - time.monotonic()
            if left < LEAST_SECONDS:
                self.say(f"{part.name:<28}left: the time is up")
                continue
            self.run_one(part, min(part.limit, left), left < part.limit)
        self.save()
        statuses = [self.status(part.name) for part in parts]
        return {
            "passed": statuses.count("ok"),
            "failed": statuses.count("failed"),
            "skipped": statuses.count("skipped"),
            "left": statuses.count("") + statuses.count("cut off"),
        }

    def run_one(self, part, limit, is_cut):
        """@param is_cut  the limit is what is left of the whole time: running into it is no failure"""
        log, started = self.folder / f"{part.name}.log", time.monotonic()
        output = self.folder / part.output if part.output else None
        with open(log, "wb") as errors:
            out = open(output.with_suffix(".new"), "wb") if output else errors
            try:
                process = subprocess.Popen(
                    [str(word) for word in part.command],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=errors,
                    env={**os.environ, **part.environment},
                    start_new_session=True,
                )
                status, why = wait(process, limit)
            except OSError as error:
                status, why = 127, str(error)
            finally:
                if output:
                    out.close()
        seconds = time.monotonic() - started
        if status is None:
            self.note(part, "cut off" if is_cut else "failed", seconds, f"after {limit:.0f} s")
        elif status == 0:
            if output:
                output.with_suffix(".new").replace(output)
            self.note(part, "ok", seconds)
        elif part.optional or status == SKIPPED:
            self.note(part, "skipped", seconds, f"it ended with {status}, see {log.name}")
        else:
            self.note(part, "failed", seconds, why or f"it ended with {status}, see {log.name}")


def wait(process, limit):
    """(exit status, "") or (None, ""): it was ended at the limit, with all that it started."""
    try:
        return process.wait(timeout=limit), ""
    except subprocess.TimeoutExpired:
        end(process)
        return None, ""
    except KeyboardInterrupt:
        end(process)
        raise


def end(process):
    """Ends a process and all that it started."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
