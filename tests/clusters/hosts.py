"""Hosts on one machine: network namespaces on a bridge, each with a separate address and host name."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

PREFIX = "atollt"  # names of namespaces: PREFIX, the test process that made them, a number
NAMES = Path("/etc/netns")  # files that `ip netns exec` shows in /etc: there hosts know each other's names
# A bound in seconds for hangs only: the longest tests take a minute, and a slow or busy machine takes several times
# as long.
PATIENCE = 400.0
_made = 0


def why_not() -> str:
    """The reason why hosts cannot be made here; empty if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for program in ("ip", "unshare"):
        if not shutil.which(program):
            return f"there is no program `{program}` (iproute2, util-linux)"
    name = f"{PREFIX}{os.getpid()}x"
    made = _quietly("ip", "netns", "add", name)
    try:
        if made.returncode:
            return "this system does not let us make network namespaces: " + made.stderr.strip()[:200]
        runs = _quietly("ip", "netns", "exec", name, "unshare", "-u", "hostname", "probe")
        bridge = _quietly("ip", "-n", name, "link", "add", "br0", "type", "bridge")
        for step in (runs, bridge):
            if step.returncode:
                return "namespaces lack what hosts need: " + step.stderr.strip()[:200]
        return ""
    finally:
        _quietly("ip", "netns", "del", name)


def _quietly(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


def sweep() -> None:
    """Removes the remains of test processes that were killed."""
    for line in _quietly("ip", "netns", "list").stdout.splitlines():
        name = line.split()[0] if line.split() else ""
        found = re.fullmatch(PREFIX + r"(\d+)x\w*", name)
        if found and not Path(f"/proc/{found[1]}").exists():
            _remove(name)


def _remove(name: str) -> None:
    for _ in range(40):
        pids = _quietly("ip", "netns", "pids", name).stdout.split()
        if not pids:
            break
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.05)
    _quietly("ip", "netns", "del", name)
    shutil.rmtree(NAMES / name, ignore_errors=True)


@dataclass
class Done:
    status: int
    out: str
    err: str
    seconds: float

    @property
    def text(self) -> str:
        return f"status {self.status} after {self.seconds:.1f} s\n--- out\n{self.out}\n--- err\n{self.err}"


class Started:
    """A process in a separate session, with its output in files, so that nothing waits for a reader."""

    def __init__(
        self, command: list[str], folder: Path, env: dict[str, str] | None, stdin: str | None
    ) -> None:
        global _made
        _made += 1
        self.began = time.monotonic()
        self._paths = [folder / f"{_made}.{kind}" for kind in ("out", "err")]
        files: list[IO[Any]] = [path.open("w") for path in self._paths]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=files[0],
            stderr=files[1],
            env={**os.environ, **(env or {})},
            start_new_session=True,
            text=True,
        )
        for file in files:
            file.close()
        if stdin is not None and self.process.stdin:
            self.process.stdin.write(stdin)
            self.process.stdin.close()

    def out(self) -> str:
        return self._paths[0].read_text(errors="replace")

    def err(self) -> str:
        return self._paths[1].read_text(errors="replace")

    def wait_for(self, text: str, seconds: float = PATIENCE) -> None:
        end = time.monotonic() + seconds
        while True:
            is_last_look = self.process.poll() is not None or time.monotonic() > end
            if text in self.out() + self.err():
                return
            if is_last_look:
                raise AssertionError(f"'{text}' was not printed\n{self.wait(1).text}")
            time.sleep(0.02)

    def wait_until_stopped(self, seconds: float = PATIENCE) -> None:
        """Waits until a signal has stopped it: a signal that continues it would be lost before."""
        end = time.monotonic() + seconds
        status = Path(f"/proc/{self.process.pid}/stat")
        while status.read_text().rpartition(")")[2].split()[0] != "T":
            assert self.process.poll() is None and time.monotonic() < end, self.wait(1).text
            time.sleep(0.02)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def wait(self, seconds: float = PATIENCE) -> Done:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
            return Done(124, self.out(), self.err() + "\n(it took too long and was killed)", seconds)
        self.kill()  # processes left in its session
        return Done(self.process.returncode, self.out(), self.err(), time.monotonic() - self.began)


def rubbish(address: str, port: int, times: int, seed: int) -> list[str]:
    """A command that connects `times` times, sends random bytes each time, and prints how often it succeeded."""
    program = f"""
import random, socket, time
random.seed({seed})
said = 0
end = time.monotonic() + {PATIENCE}
while said < {times} and time.monotonic() < end:
    try:
        with socket.create_connection(("{address}", {port}), timeout=1) as s:
            prefix = random.choice([b"", b"ATOLL/1\\n", b"ATOLL/1\\n\\x20\\0\\0\\0H", b"ATOLL/1\\n\\xff\\xff\\xff\\xffH", b"ATOLL/1\\n\\2\\0\\0\\0X"])
            s.sendall(prefix + random.randbytes(random.randrange(300)))
            said += 1
    except OSError:
        time.sleep(0.02)
print(said)
"""
    return ["python3", "-c", program]


@dataclass
class Hosts:
    """`count` hosts n0, n1, ... with addresses 10.77.0.1, .2, ... that reach each other and nothing else."""

    count: int
    folder: Path
    names: list[str] = field(default_factory=list)
    started: list[Started] = field(default_factory=list)

    def __post_init__(self) -> None:
        global _made
        _made += 1
        self._base = f"{PREFIX}{os.getpid()}x{_made}"
        self._switch = self._base + "s"
        try:
            self._make()
        except BaseException:
            self.close()
            raise

    def _ip(self, *arguments: str) -> None:
        done = _quietly("ip", *arguments)
        if done.returncode:
            raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")

    def _make(self) -> None:
        self._ip("netns", "add", self._switch)
        self._ip("-n", self._switch, "link", "add", "br0", "type", "bridge")
        self._ip("-n", self._switch, "link", "set", "br0", "up")
        known = "".join(f"{self.address(i)} n{i}\n" for i in range(self.count))
        for i in range(self.count):
            name = f"{self._base}h{i}"
            self._ip("netns", "add", name)
            self.names.append(name)
            (NAMES / name).mkdir(parents=True, exist_ok=True)
            (NAMES / name / "hosts").write_text("127.0.0.1 localhost\n" + known)
            self._ip(
                "-n",
                self._switch,
                "link",
                "add",
                f"p{i}",
                "type",
                "veth",
                "peer",
                "name",
                "eth0",
                "netns",
                name,
            )
            self._ip("-n", self._switch, "link", "set", f"p{i}", "master", "br0", "up")
            self._ip("-n", name, "addr", "add", f"{self.address(i)}/24", "dev", "eth0")
            self._ip("-n", name, "link", "set", "lo", "up")
            self._ip("-n", name, "link", "set", "eth0", "up")

    def address(self, host: int) -> str:
        return f"10.77.0.{host + 1}"

    def _inside(self, host: int, command: list[str]) -> list[str]:
        enter = ["ip", "netns", "exec", self.names[host], "unshare", "-u", "sh", "-c"]
        return [*enter, 'hostname "$0"; exec "$@"', f"n{host}", *command]

    def start(
        self, host: int, command: list[str], env: dict[str, str] | None = None, stdin: str | None = None
    ) -> Started:
        started = Started(self._inside(host, command), self.folder, env, stdin)
        self.started.append(started)
        return started

    def run(
        self, host: int, command: list[str], env: dict[str, str] | None = None, seconds: float = PATIENCE
    ) -> Done:
        return self.start(host, command, env).wait(seconds)

    def torchrun(
        self, places: list[int], command: list[str], env: dict[str, str] | None = None, port: int = 29500
    ) -> list[Started]:
        """One process for each entry of `places`, a host, with the variables that torchrun sets."""
        started = []
        for rank, host in enumerate(places):
            variables = {
                "RANK": str(rank),
                "WORLD_SIZE": str(len(places)),
                "LOCAL_RANK": str(places[:rank].count(host)),
                "MASTER_ADDR": self.address(places[0]),
                "MASTER_PORT": str(port),
            }
            started.append(self.start(host, command, {**variables, **(env or {})}))
        return started

    def agent(self) -> str:
        """A program in place of ssh, for launchers: NAME COMMAND...; the names are n0, n1, ..."""
        path = self.folder / "agent.sh"
        lines = [
            "#!/bin/sh",
            "# What ssh would do.",
            'while [ "${1#-}" != "$1" ]; do shift; done',
            "name=$1",
            "shift",
        ]
        cases = "".join(
            f"  {'|'.join((f'n{i}', self.address(i)))}) ns={name}; host=n{i} ;;\n"
            for i, name in enumerate(self.names)
        )
        lines.append(f'case "$name" in\n{cases}  *) echo "no such host: $name" >&2; exit 255 ;;\nesac')
        lines.append(
            'exec ip netns exec "$ns" unshare -u sh -c \'hostname "$0"; exec sh -c "$*"\' "$host" "$@"'
        )
        path.write_text("\n".join(lines) + "\n")
        path.chmod(0o755)
        return str(path)

    def rename(self, host: int, device: str) -> None:
        """Renames the host's network device, by default eth0."""
        for change in (["down"], ["name", device]):
            self._ip("-n", self.names[host], "link", "set", "eth0", *change)
        self._ip("-n", self.names[host], "link", "set", device, "up")

    def cut(self, host: int) -> None:
        """Disconnects the host from the network."""
        self._ip("-n", self._switch, "link", "set", f"p{host}", "down")

    def lose(self, host: int, percent: int) -> None:
        """Drops packets on their way to the host."""
        rules = (
            "table inet loss {\nchain input {\ntype filter hook input priority 0; policy accept;\n"
            f"iifname eth0 numgen random mod 100 < {percent} counter drop\n}}\n}}\n"
        )
        done = self.run(host, ["nft", rules])
        if done.status:
            raise RuntimeError(f"nft: {done.err}")

    def limit(self, host: int, rate: str) -> None:
        self._ip_tc(
            host,
            "qdisc",
            "add",
            "dev",
            "eth0",
            "root",
            "tbf",
            "rate",
            rate,
            "burst",
            "64kb",
            "latency",
            "50ms",
        )

    def _ip_tc(self, host: int, *arguments: str) -> None:
        done = self.run(host, ["tc", *arguments])
        if done.status:
            raise RuntimeError(f"tc: {done.err}")

    def empty_within(self, seconds: float = PATIENCE) -> bool:
        """True once no process is left on any host: agents must notice that their launcher is gone."""
        end = time.monotonic() + seconds
        while any(_quietly("ip", "netns", "pids", name).stdout.split() for name in self.names):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def close(self) -> None:
        for each in self.started:
            each.kill()
        for name in [*self.names, self._switch]:
            _remove(name)
