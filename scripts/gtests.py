"""Runs GoogleTest programs with many tests in one process, several processes at once, and writes one JUnit file.

    gtests.py --junit FILE [--jobs N] [--emulator COMMAND] PROGRAM...

A process is costly under an emulator or a sanitizer. A test that ends its process, or that takes too long, fails alone:
the tests behind it run in a new process. A test that fails after another one has failed is run again by itself, and
that result counts. ``ATOLL_TEST_FRESH=1`` gives each test a separate process.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

MOST_IN_A_PROCESS = 1 if os.environ.get("ATOLL_TEST_FRESH") == "1" else 48
LONGEST_TEST_S = 900.0
EVENT = re.compile(r"\[ {7}OK \]|\[  FAILED  \]|\[  SKIPPED \]|\[ RUN {6}\]")


@dataclass
class Result:
    """The outcome of one test."""

    name: str
    outcome: str  # passed, failed, skipped
    seconds: float = 0.0
    output: str = ""


@dataclass
class Batch:
    """Tests of one program that run in one process."""

    program: Path
    tests: list[str]
    results: dict[str, Result] = field(default_factory=dict)


class Runner:
    """Starts the processes and keeps the results in the order of the tests."""

    def __init__(self, emulator: list[str]) -> None:
        self.emulator = emulator

    def list_tests(self, program: Path) -> list[str]:
        """Return the full names of a program's tests."""
        listed = subprocess.run(
            [*self.emulator, str(program), "--gtest_list_tests"], capture_output=True, text=True, check=True
        ).stdout
        names, suite = [], ""
        for line in listed.splitlines():
            name = line.split("#")[0].rstrip()
            if line.startswith("  "):
                names.append(suite + name.strip())
            elif name.endswith("."):
                suite = name
        return [name for name in names if "DISABLED_" not in name]

    def run(self, batch: Batch) -> Batch:
        """Run all tests of a batch, in as many processes as crashes and failures require."""
        waiting = list(batch.tests)
        while waiting:
            found = self.process(batch.program, waiting)
            for result in found:
                batch.results[result.name] = result
            done = {result.name for result in found}
            waiting = [name for name in waiting if name not in done]
        self.repeat_followers(batch)
        return batch

    def repeat_followers(self, batch: Batch) -> None:
        """Run each failed test behind the first one again, so that a failure does not fail other tests."""
        failed = [name for name in batch.tests if batch.results[name].outcome == "failed"]
        for name in failed[1:]:
            batch.results[name] = self.process(batch.program, [name])[0]

    def process(self, program: Path, tests: list[str]) -> list[Result]:
        """Run tests in one process and return at least one result.

        If the process ended early, the last result is that of the test in which it ended.
        """
        environment = {"ATOLL_CHECK": "all", **os.environ}
        child = subprocess.Popen(
            [*self.emulator, str(program), f"--gtest_filter={':'.join(tests)}", "--gtest_color=no"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
            start_new_session=True,
        )
        assert child.stdout is not None
        results: list[Result] = []
        running, since, output = "", time.monotonic(), list[str]()
        clock = Clock(child)
        for line in child.stdout:
            event = EVENT.search(line)
            name = line[event.end() :].split(",")[0].split(" (")[0].strip() if event else ""
            if event and "RUN" in event.group() and name in tests:
                running, since, output = name, time.monotonic(), []
                clock.restart()
            elif event and name == running and running:
                outcome = {"O": "passed", "F": "failed", "S": "skipped"}[event.group().strip("[ ")[0]]
                output.append(line[: event.start()])
                results.append(Result(name, outcome, time.monotonic() - since, "".join(output)))
                running, output = "", []
            else:
                output.append(line)
        status = child.wait()
        late = clock.stop()
        if not running and not results:
            running = tests[0]
        if running:
            text = "".join(output[-400:])
            how = (
                f"ran longer than {LONGEST_TEST_S:.0f} s"
                if late
                else f"ended the process with status {status}"
            )
            results.append(Result(running, "failed", time.monotonic() - since, f"{text}\n{running} {how}."))
        elif status != 0 and results and all(result.outcome != "failed" for result in results):
            # Such as a leak, which a sanitizer reports at the end.
            last = results[-1]
            results[-1] = Result(
                last.name,
                "failed",
                last.seconds,
                "".join(output[-400:])
                + f"\nThe process of these {len(results)} tests ended with status {status}.",
            )
        return results


class Clock:
    """Ends a process whose test takes too long."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self.child = child
        self.late = False
        self.timer = self.start()

    def start(self) -> threading.Timer:
        timer = threading.Timer(LONGEST_TEST_S, self.end)
        timer.daemon = True
        timer.start()
        return timer

    def end(self) -> None:
        self.late = True
        os.killpg(self.child.pid, 9)

    def restart(self) -> None:
        self.timer.cancel()
        self.timer = self.start()

    def stop(self) -> bool:
        self.timer.cancel()
        return self.late


def write_junit(path: Path, results: list[tuple[str, Result]]) -> None:
    """Write the results as a JUnit file."""
    suite = ElementTree.Element("testsuite", name="gtests", tests=str(len(results)))
    for program, result in results:
        name = f"{program}.{result.name}"
        case = ElementTree.SubElement(
            suite, "testcase", name=name, classname=name, time=f"{result.seconds:.3f}"
        )
        text = re.sub(r"[^\t\n\x20-\ud7ff]", "?", result.output)[-20000:]
        if result.outcome == "failed":
            ElementTree.SubElement(case, "failure", message="failed").text = text
        elif result.outcome == "skipped":
            ElementTree.SubElement(case, "skipped", message=text.strip()[-400:] or "skipped")
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path, encoding="unicode", xml_declaration=True)


def main() -> int:
    """Run all tests of all programs; the status is 1 where one failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--junit", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--emulator", type=shlex.split, default=[])
    parser.add_argument("programs", type=Path, nargs="+")
    given = parser.parse_args()
    runner = Runner(given.emulator)
    batches = []
    for program in given.programs:
        tests = runner.list_tests(program.resolve())
        if not tests:
            print(f"{program} has no tests")
            return 1
        # Slow tests are neighbours, so each process takes every n-th one.
        count = -(-len(tests) // MOST_IN_A_PROCESS)
        batches += [Batch(program.resolve(), tests[at::count]) for at in range(count)]
    results: list[tuple[str, Result]] = []
    with ThreadPoolExecutor(given.jobs) as pool:
        for batch in pool.map(runner.run, batches):
            results += [
                (batch.program.name.removesuffix("_tests"), batch.results[name]) for name in batch.tests
            ]
    write_junit(given.junit, results)
    failed = [(program, result) for program, result in results if result.outcome == "failed"]
    for program, result in failed:
        print(f"FAILED {program}.{result.name}\n{result.output[-4000:]}")
    skipped = sum(result.outcome == "skipped" for _, result in results)
    print(f"{len(results) - len(failed) - skipped} passed, {len(failed)} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
