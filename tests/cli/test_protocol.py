"""put, get and fence between PEs, through the launcher."""

from __future__ import annotations

import re

import pytest


@pytest.mark.parametrize("n", [1, 2, 3, 7, 32])
def test_every_pe_learns_every_value(atoll, program, n):
    path = program(
        "pe.hello()\npe.put(f'key{pe.number}', b'v' + bytes([pe.number]))\n"
        "assert all(pe.get(f'key{other}') == b'v' + bytes([other]) for other in range(pe.count))\n"
        "pe.fence()\npe.say('ok')\npe.finalize()\n"
    )
    result = atoll("run", "-n", n, path)
    assert (result.returncode, result.stderr, result.stdout) == (0, "", "ok\n" * n)


def test_get_waits_for_put(atoll, program):
    path = program(
        "pe.hello()\n"
        "if pe.number == 1:\n    pe.ask('late'); pe.put('asked', b'')\n    assert pe.answer() == b'value'\n"
        "else:\n    pe.get('asked'); pe.put('late', b'value')\n"
        "pe.fence()\npe.finalize()\n"
    )
    result = atoll("run", "-n", 2, path)
    assert (result.returncode, result.stderr) == (0, "")


def test_values_are_bytes_of_any_size(atoll, program):
    path = program(
        "pe.hello()\nvalue = bytes(range(256)) * 250\n"
        "if pe.number == 0: pe.put('empty', b''); pe.put('big', value)\n"
        "assert pe.get('big') == value and pe.get('empty') == b''\npe.fence()\npe.finalize()\n"
    )
    result = atoll("run", "-n", 2, path)
    assert (result.returncode, result.stderr) == (0, "")


def test_answers_that_a_pe_does_not_read_block_no_other(atoll, program):
    path = program(
        "pe.hello()\nvalue = b'x' * 60_000\n"
        "if pe.number == 0:\n"
        "    pe.put('big', value)\n"
        "    for _ in range(100): pe.ask('big')\n"  # 6 MB of answers, more than a socket holds
        "    pe.get_others = [pe.answer() for _ in range(100)]\n"
        "    assert all(answer == value for answer in pe.get_others)\n"
        "else:\n    assert pe.get('big') == value\n"
        "pe.fence()\npe.finalize()\n"
    )
    result = atoll("run", "-n", 3, path)
    assert (result.returncode, result.stderr) == (0, "")


def test_fences_separate(atoll, program):
    path = program(
        "pe.hello()\n"
        "for i in range(50):\n"
        "    pe.put(f'{i}.{pe.number}', b'')\n    pe.fence()\n"
        "    for other in range(pe.count): pe.get(f'{i}.{other}')\n"
        "pe.finalize()\n"
    )
    result = atoll("run", "-n", 4, path)
    assert (result.returncode, result.stderr) == (0, "")


def test_fence_goes_on_without_pes_that_left_normally(atoll, program):
    path = program("pe.hello()\npe.fence()\nif pe.number == 1: os._exit(0)\npe.fence()\npe.finalize()\n")
    result = atoll("run", "-n", 3, path)
    assert (result.returncode, result.stderr) == (0, "")


def test_unknown_packet_is_a_version_mismatch(atoll, program):
    path = program("pe.hello()\npe.launcher.send(b'?')\nwhile True: time.sleep(0.1)\n")
    result = atoll("run", "-n", 2, path)
    assert result.returncode == 1
    assert re.search(r"PE [01] speaks another protocol than this launcher", result.stderr)


def test_packet_that_is_too_long(atoll, program):
    path = program("pe.hello()\npe.put('big', b'x' * 100_000)\nwhile True: time.sleep(0.1)\n")
    result = atoll("run", "-n", 1, path)
    assert result.returncode == 1
    assert "more than the launcher takes" in result.stderr
