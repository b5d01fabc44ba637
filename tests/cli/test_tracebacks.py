"""An error is shown once, however many PEs it stops."""

from __future__ import annotations

import os
import re
import select
import subprocess

import pytest

TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "program.py", line 3, in <module>\n'
    "    raise ValueError\n"
    "ValueError: {}\n"
)


def failing(text: str, more: str = "") -> str:
    """Return a program whose PEs all print the text to stderr; PE 0 fails once all have.

    PE 0 writes to the streams of all, since the launcher collects tracebacks for a second only.
    """
    return (
        f"text = {text!r}\n{more}"
        "pe.hello()\n"
        "pe.put(f'process {pe.number}', str(os.getpid()).encode())\n"
        "pe.put(f'text {pe.number}', text.encode())\n"
        "pe.fence()\n"
        "all_pes = range(pe.count if pe.number == 0 else 0)\n"
        "streams = [os.open(f'/proc/{int(pe.get(f\"process {i}\"))}/fd/2', os.O_WRONLY) for i in all_pes]\n"
        "texts = [pe.get(f'text {i}') for i in all_pes]\n"
        "for stream, its in zip(streams, texts):\n"
        "    for byte in its: os.write(stream, bytes([byte]))\n"
        "    os.close(stream)\n"
        "pe.fence()\n"
        "if pe.number == 0: sys.exit(1)\n"
        "pe.wait_for_abort()\n"
    )


def test_the_same_traceback_is_shown_once(atoll, program):
    result = atoll("run", "-n", 4, program(failing(TRACEBACK.format("why"))))
    assert result.returncode == 1
    shown, last = result.stderr.split("atoll run: ")
    assert shown == "PE 0-3:\n" + TRACEBACK.format("why")
    assert last.startswith("PE 0 exited with status 1")


SYNTAX_ERROR = '  File "program.py", line 3\n    x = = 3\n        ^\nSyntaxError: invalid syntax\n'


def test_the_same_syntax_error_is_shown_once(atoll, program):
    result = atoll("run", "-n", 4, program(failing(SYNTAX_ERROR)))
    shown, _ = result.stderr.split("atoll run: ")
    assert shown == "PE 0-3:\n" + SYNTAX_ERROR


def test_the_frames_of_a_dump_stay_below_their_heading(atoll, program):
    dump = (
        "Current thread 0x1 (most recent call first):\n"
        + '  File "program.py", line 3 in main\n'
        + "Segmentation fault\n"
    )
    own = "text = text if pe.number == 1 else ''\n"
    result = atoll("run", "-n", 2, program(failing(dump, own)))
    assert dump in result.stderr


def test_a_pe_that_ended_while_it_printed_counts_with_the_others(atoll, program):
    more = "text = text[:text.index('ValueError: ')] if pe.number == 1 else text\n"
    result = atoll("run", "-n", 3, program(failing(TRACEBACK.format("why"), more)))
    shown, _ = result.stderr.split("atoll run: ")
    assert shown == "PE 0-2:\n" + TRACEBACK.format("why")


def test_with_labels(atoll, program):
    result = atoll("run", "-n", 4, "--label", program(failing(TRACEBACK.format("why"))))
    shown, _ = result.stderr.split("atoll run: ")
    expected = "PE 0-3:\n" + TRACEBACK.format("why")
    assert shown == "".join(f"[0-3] {line}\n" for line in expected.splitlines())


def test_different_ones_are_all_shown(atoll, program):
    more = "text = text.replace('why', 'why ' + str(pe.number % 2))\n"
    result = atoll("run", "-n", 4, program(failing(TRACEBACK.format("why"), more)))
    shown, _ = result.stderr.split("atoll run: ")
    blocks = ["PE 0,2:\n" + TRACEBACK.format("why 0"), "PE 1,3:\n" + TRACEBACK.format("why 1")]
    assert shown in ("".join(blocks), "".join(reversed(blocks)))


@pytest.mark.parametrize(("n", "label", "heading"), [(2, [], "PE 1:\n"), (2, ["--label"], ""), (1, [], "")])
def test_one_of_one_pe_names_it_among_others(atoll, program, n, label, heading):
    text, own = TRACEBACK.format("why") + "behind\n", f"text = text if pe.number == {n - 1} else ''\n"
    result = atoll("run", "-n", n, *label, program(failing("before\n" + text, own)))
    shown, _ = result.stderr.split("atoll run: ")
    expected = f"before\n{heading}{text}"
    assert shown == "".join(f"[1] {line}\n" if label else f"{line}\n" for line in expected.splitlines())


def test_causes_and_words_behind_belong_to_it(atoll, program):
    for link in (
        "\nThe above exception was the direct cause of the following exception:\n\n",
        "\nDuring handling of the above exception, another exception occurred:\n\n",
    ):
        text = TRACEBACK.format("cause") + link + TRACEBACK.format("effect\nin two lines")
        result = atoll("run", "-n", 2, program(failing(text)))
        shown, _ = result.stderr.split("atoll run: ")
        assert shown == "PE 0,1:\n" + text


def test_words_that_differ_behind_it_are_all_shown(atoll, program):
    more = "text += f'PE {pe.number} was here\\n'\n"
    result = atoll("run", "-n", 2, program(failing(TRACEBACK.format("why"), more)))
    shown, _ = result.stderr.split("atoll run: ")
    assert shown.startswith("PE 0,1:\n" + TRACEBACK.format("why"))
    assert sorted(shown.splitlines()[-2:]) == ["PE 0 was here", "PE 1 was here"]


def test_places_where_others_stopped_are_one_line(atoll, program):
    more = "text = f'PE {pe.number} stopped at program.py:7, in <module>\\n' if pe.number else ''\n"
    result = atoll("run", "-n", 4, program(failing("", more)))
    shown, _ = result.stderr.split("atoll run: ")
    assert shown == "PE 1-3 stopped at program.py:7, in <module>\n"


def test_a_traceback_of_a_program_that_goes_on_is_shown(atoll, program):
    path = program(
        f"os.write(2, {TRACEBACK.format('logged')!r}.encode())\n"
        "if pe.number == 0: sys.stdin.read()\n"
        "else: os.close(2); time.sleep(1000)\n"
    )
    job = atoll.start("run", "-n", 2, path)
    lines = [job.stderr.readline() for _ in range(5)]
    assert "".join(lines) == "PE 0,1:\n" + TRACEBACK.format("logged") or lines[0] in ("PE 0:\n", "PE 1:\n")
    job.terminate()


def test_an_exception_reported_by_abort_is_not_repeated(atoll, program):
    path = program(
        "pe.hello()\npe.fence()\n"
        f"os.write(2, {TRACEBACK.format('why')!r}.encode()) if pe.number == 1 and len(sys.argv) == 1 else None\n"
        "if pe.number == 1: pe.abort(1, 'PE 1 ended by an uncaught exception: ValueError: why')\n"
        "print(pe.wait_for_abort())\n"
    )
    result = atoll("run", "-n", 2, path)
    assert result.stderr.count("ValueError: why") == 1
    said = r"atoll run: PE 1 ended by an uncaught exception \d+\.\d\d s after the start"
    assert re.fullmatch(said, result.stderr.splitlines()[-1])
    assert "ValueError: why" in result.stdout  # a waiting PE gets the whole text
    silent = atoll("run", "-n", 2, path, "silent")
    assert re.fullmatch(said + ": ValueError: why\n", silent.stderr)


@pytest.mark.parametrize("options", [["-n", 1], ["-n", 1, "--raw"], ["-n", 1, "--label"]])
def test_the_exception_of_a_single_pe_is_shown_once(atoll, program, options):
    path = program(
        f"pe.hello()\npe.fence()\nos.write(2, {TRACEBACK.format('why')!r}.encode())\n"
        "pe.abort(1, 'PE 0 ended by an uncaught exception: ValueError: why')\n"
        "pe.wait_for_abort()\n"
    )
    result = atoll("run", *options, path)
    assert result.stderr.count("ValueError: why") == 1, result.stderr
    said = r"atoll run: PE 0 ended by an uncaught exception \d+\.\d\d s after the start"
    assert re.fullmatch(said, result.stderr.splitlines()[-1])


@pytest.mark.parametrize("label", [[], ["--label"]])
def test_a_traceback_may_break_off_anywhere(atoll, program, label):
    text = TRACEBACK.format("why")
    for end in (text.index("\n") + 8, text.index("raise") + 2, text.index("why")):
        path = program(f"if pe.number == 1: os.write(2, {text[:end]!r}.encode()); sys.exit(1)\n")
        result = atoll("run", "-n", 2, *label, path)
        shown, last = result.stderr.split("atoll run: ")
        heading = [] if label or end < text.index("\n") else ["PE 1:"]
        lines = [*heading, *text[:end].splitlines()]
        assert shown.splitlines() == [f"[1] {line}" if label else line for line in lines]
        assert last.startswith("PE 1 exited with status 1")


@pytest.mark.parametrize("text", ["T", "Trace", "P", "PE 0 "])
def test_a_prompt_that_begins_like_a_traceback_is_shown(atoll, program, text):
    path = program(f"if pe.number == 0: os.write(2, {text!r}.encode()); sys.stdin.readline()\n")
    job = atoll.start("run", "-n", 2, path, stdin=subprocess.PIPE)
    readable, _, _ = select.select([job.stderr], [], [], 60)
    assert readable and os.read(job.stderr.fileno(), 100) == text.encode()
    job.communicate("\n", timeout=60)
    assert job.returncode == 0
