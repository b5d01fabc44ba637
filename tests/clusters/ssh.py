"""OpenSSH between hosts of hosts.py: an sshd a host, and an `ssh` that knows them and has a key."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from hosts import PATIENCE, Hosts

SSHD = "/usr/sbin/sshd"


def why_not() -> str:
    missing = [name for name in (SSHD, "ssh", "ssh-keygen") if not shutil.which(name)]
    return f"OpenSSH is not installed: {', '.join(missing)} (openssh-server)" if missing else ""


def start_servers(hosts: Hosts, folder: Path) -> dict[str, str]:
    """The environment in which `ssh n1` works from any of the hosts."""
    folder.mkdir()
    for name in ("host", "user"):
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(key, check=True, timeout=PATIENCE)
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    (folder / "sshd_config").write_text(f"""Port 22
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
MaxStartups 100
""")
    (folder / "ssh_config").write_text(f"""Host *
  IdentityFile {folder}/user
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
""")
    program = folder / "ssh"
    program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
    program.chmod(0o755)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}"}
    for host in range(hosts.count):
        hosts.start(host, [SSHD, "-D", "-e", "-f", str(folder / "sshd_config")])
    end = time.monotonic() + PATIENCE
    for host in range(hosts.count):
        while (done := hosts.run(0, ["ssh", f"n{host}", "hostname"], environment, 20)).out != f"n{host}\n":
            if time.monotonic() > end:
                raise RuntimeError(f"sshd of n{host} does not serve\n{done.text}")
            time.sleep(0.1)
    return environment
