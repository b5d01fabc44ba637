"""Variables by which torch.distributed finds the PEs of `atoll run`: their values, and how they end."""

from __future__ import annotations

import sys

import pytest

NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
SHOW = "echo " + " ".join(f"${{{name}-}}/" for name in NAMES)


@pytest.fixture(autouse=True)
def unset(atoll) -> None:
    for name in NAMES:
        atoll.environment.pop(name, None)


def shown(result) -> list[list[str]]:
    """Return the variables of each PE, in the order of the lines."""
    assert result.returncode == 0, result.stderr
    return sorted(line.removesuffix("/").split("/ ") for line in result.stdout.splitlines())


def test_each_pe_has_its_rank_and_one_store(atoll) -> None:
    result = atoll("run", "-n", 3, "sh", "-c", SHOW)
    port = shown(result)[0][-1]
    assert int(port) > 0
    assert shown(result) == [[str(pe), "3", str(pe), "3", "127.0.0.1", port] for pe in range(3)]
    assert result.stderr == ""


LISTEN = """
import errno, os, socket
port = int(os.environ["MASTER_PORT"])
taken = socket.socket()
try:
    taken.bind(("127.0.0.1", port))
except OSError as error:
    print(errno.errorcode[error.errno])
for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
    store = socket.socket(family)
    store.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    store.bind((address, port))
    store.listen()
    try:  # a machine may lack the name localhost, or one of the addresses
        reached = socket.create_connection(("127.0.0.1", port))
    except OSError:
        reached = socket.create_connection(("::1", port))
    reached.close()
    store.close()
    print("listened")
"""


def test_the_port_is_reserved_for_the_store(atoll) -> None:
    result = atoll("run", "-n", 1, sys.executable, "-c", LISTEN)
    assert result.stdout.split() == ["EADDRINUSE", "listened", "listened"], result.stderr


def test_values_of_the_user_stay(atoll) -> None:
    ours = shown(atoll("run", "-n", 2, "sh", "-c", SHOW, env={"MASTER_PORT": "4711", "LOCAL_RANK": "5"}))
    assert ours == [[str(pe), "2", "5", "2", "127.0.0.1", "4711"] for pe in range(2)]
    named = atoll("run", "-n", 1, "-x", "MASTER_ADDR=there", "-x", "RANK=", "sh", "-c", SHOW)
    assert shown(named)[0][:5] == ["0", "1", "0", "1", "there"]
    theirs = atoll("run", "-n", 2, "sh", "-c", SHOW, env={"RANK": "7", "WORLD_SIZE": "8"})
    assert shown(theirs) == [["7", "8", "", "", "", ""]] * 2
    assert "PyTorch finds RANK=7 and WORLD_SIZE=8 in every PE" in theirs.stderr
    assert "unset it" in theirs.stderr


def test_a_job_within_a_pe_has_its_own(atoll) -> None:
    inner = f"\"$0\" run -n 2 sh -c '{SHOW}'"
    first = shown(
        atoll("run", "-n", 3, "sh", "-c", f"case $RANK in 1) {SHOW}; exec {inner};; esac", atoll.path)
    )
    (outer,) = [line for line in first if line[1] == "3"]
    jobs = [line for line in first if line[1] == "2"]
    assert [line[:5] for line in jobs] == [[str(pe), "2", str(pe), "2", "127.0.0.1"] for pe in range(2)]
    assert jobs[0][5] == jobs[1][5] != outer[5]


def test_a_pe_that_is_a_launcher_of_pytorch_keeps_its_values(atoll) -> None:
    script = f"export MASTER_PORT=4711 RANK=0; exec \"$0\" run -n 2 sh -c '{SHOW}'"
    result = atoll("run", "-n", 1, "sh", "-c", script, atoll.path)
    assert [line[0] + line[5] for line in shown(result)] == ["04711"] * 2
    assert "PyTorch finds RANK=0" in result.stderr


@pytest.mark.parametrize("more", ["", "LOCAL_RANK=0 "])
def test_a_process_that_a_pe_starts_is_a_job_of_one(atoll, more: str) -> None:
    script = f'exec env -u ATOLL_LAUNCHED {more}"$0" info --job'
    result = atoll("run", "-n", 2, "sh", "-c", script, atoll.path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count("started by single") == 2


AGENT = '#!/bin/sh\nexec sh -c "$2"\n'


def test_over_hosts_ranks_go_on_and_the_store_is_of_the_first(atoll, tmp_path) -> None:
    agent = tmp_path / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    command = ("run", "--hosts", "me@a:1,b:2", "--agent", agent, "sh", "-c", SHOW)
    result = atoll(*command)
    port = shown(result)[0][-1]
    assert 22000 <= int(port) < 32000
    assert shown(result) == [
        [rank, "3", local, here, "a", port]
        for rank, local, here in (("0", "0", "1"), ("1", "0", "2"), ("2", "1", "2"))
    ]
    named = shown(atoll(*command, env={"MASTER_ADDR": "there", "MASTER_PORT": "4711"}))
    assert [line[4:] for line in named] == [["there", "4711"]] * 3
