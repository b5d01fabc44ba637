"""A fresh Slurm on hosts of hosts.py: munge, slurmctld and a slurmd a host, without systemd."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from hosts import PATIENCE, Done, Hosts

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sinfo", "sbatch")


def why_not() -> str:
    missing = [
        name for name in PROGRAMS if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    ]
    return (
        f"Slurm is not installed: {', '.join(missing)} (apt-get install slurm-wlm munge)" if missing else ""
    )


class Slurm:
    def __init__(self, hosts: Hosts, folder: Path) -> None:
        self._hosts = hosts
        # Paths of sockets are short, and munge wants a folder that only root writes to.
        self._folder = Path(f"/run/{hosts.names[0]}-slurm")
        self._logs = folder
        self.environment = {"SLURM_CONF": str(self._folder / "slurm.conf")}
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        folder = self._folder
        for name in ("", "state", *(f"spool.n{i}" for i in range(self._hosts.count))):
            (folder / name).mkdir(mode=0o755)
        for i in range(self._hosts.count):
            (folder / f"tmp.n{i}").mkdir()
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        socket = folder / "munge.sock"
        nodes = "".join(
            f"NodeName=n{i} NodeAddr={self._hosts.address(i)} CPUs=4 State=UNKNOWN\n"
            for i in range(self._hosts.count)
        )
        (folder / "slurm.conf").write_text(f"""ClusterName=atolltest
SlurmctldHost=n0({self._hosts.address(0)})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={socket}
CredType=cred/munge
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdParameters=config_overrides
TmpFS={folder}/tmp.%n
{nodes}PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
""")
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        names = ("pid", "log", "seed")
        files = [f"--{name}-file={folder}/munge.{name}" for name in names]
        self._daemon(
            0, ["munged", "--foreground", "--force", f"--socket={socket}", f"--key-file={key}", *files]
        )
        self._until(socket.exists, "munged's socket")
        self._daemon(0, ["slurmctld", "-D", "-i"])
        for i in range(self._hosts.count):
            self._daemon(i, ["slurmd", "-D", "-N", f"n{i}"])
        self._until(self._all_idle, "the nodes to be idle")

    def _daemon(self, host: int, command: list[str]) -> None:
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        program = shutil.which(command[0], path=path) or command[0]
        self._hosts.start(host, [program, *command[1:]], {**self.environment, "PATH": path})

    def _all_idle(self) -> bool:
        done = self._hosts.run(0, ["sinfo", "-h", "-N", "-o", "%N %T"], self.environment, 10)
        return (
            done.status == 0
            and done.out.split("\n").count("") == 1
            and done.out.count(" idle") == self._hosts.count
        )

    def _until(self, true: object, what: str, seconds: float = PATIENCE) -> None:
        end = time.monotonic() + seconds
        while not true():  # type: ignore[operator]
            if time.monotonic() > end:
                logs = "".join(
                    f"--- {path.name}\n{path.read_text(errors='replace')[-1500:]}\n"
                    for path in self._folder.glob("*.log")
                )
                raise RuntimeError(f"waited {seconds} s for {what}\n{logs}")
            time.sleep(0.2)

    def srun(self, *arguments: str, seconds: float = PATIENCE, **environment: str) -> Done:
        return self._hosts.run(0, ["srun", *arguments], {**self.environment, **environment}, seconds)

    def sbatch(self, script: str, seconds: float = PATIENCE) -> Done:
        """Waits for the script's end."""
        path = self._logs / "job.sh"
        path.write_text(script)
        return self._hosts.run(0, ["sbatch", "--wait", str(path)], self.environment, seconds)

    def close(self) -> None:
        for each in self._hosts.started:
            each.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
