"""The output of PEs reaches the launcher's stdout and stderr in whole lines."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

# PE 0 prints half of a line, and the other half only once PE 1 has printed one.
HALVES = (
    "pe.hello()\n"
    "if pe.number == 0:\n"
    "    os.write(1, b'first half, ')\n"
    "    pe.put('begun', b'')\n"
    "    pe.get('printed')\n"
    "    os.write(1, b'second half\\n')\n"
    "else:\n"
    "    pe.get('begun')\n"
    "    os.write(STREAM, b'a line\\n')\n"
    "    pe.put('printed', b'')\n"
    "pe.fence()\n"
    "pe.finalize()\n"
)


@pytest.mark.parametrize("place", ["pipe", "file", "one pipe", "one file"])
def test_a_line_written_in_parts_stays_whole(atoll, program, tmp_path, place):
    path = program(HALVES.replace("STREAM", "2" if place.startswith("one") else "1"))
    with (tmp_path / "out").open("w+") as file:
        where = {"stdout": subprocess.PIPE if "pipe" in place else file}
        where["stderr"] = subprocess.STDOUT if place.startswith("one") else subprocess.PIPE
        result = atoll("run", "-n", 2, path, capture_output=False, **where)
        file.seek(0)
        printed = result.stdout if "pipe" in place else file.read()
    assert result.returncode == 0, result.stderr
    assert sorted(printed.splitlines()) == ["a line", "first half, second half"]


def test_lines_of_many_writes_are_never_torn(atoll, program):
    path = program(
        "line = (f'{pe.number}' * 99 + '\\n').encode()\n"
        "for _ in range(2000):\n"
        "    os.write(1, line[:37]); os.write(2, line[:5])\n"
        "    os.write(1, line[37:]); os.write(2, line[5:])\n"
    )
    result = atoll("run", "-n", 4, path)
    assert result.returncode == 0
    for printed in (result.stdout.splitlines(), result.stderr.splitlines()):
        assert len(printed) == 8000 and set(printed) == {str(pe) * 99 for pe in range(4)}


def test_long_lines_come_in_one_piece(atoll, program):
    path = program("sys.stdout.write(str(pe.number) * 3_000_000 + '\\n\\n' + 'end\\n')")
    result = atoll("run", "-n", 3, path)
    expected = [text for pe in "012" for text in (pe * 3_000_000, "", "end")]
    assert sorted(result.stdout.splitlines()) == sorted(expected)


def test_a_prompt_is_shown_before_it_is_answered(atoll, program):
    path = program("if pe.number == 0: print('got', input('name? '), flush=True)\n")
    job = atoll.start("run", "-n", 2, path, stdin=subprocess.PIPE)
    assert os.read(job.stdout.fileno(), 100) == b"name? "
    out, _ = job.communicate("Ada\n", timeout=60)
    assert (job.returncode, out) == (0, "got Ada\n")


def test_lines_of_others_do_not_wait_for_an_answer(atoll, program):
    path = program(
        "pe.hello()\n"
        "if pe.number == 0:\n"
        "    os.write(1, b'name? ')\n"
        "    sys.stdin.readline()\n"  # the prompt has been seen
        "    pe.put('asked', b'')\n"
        "    pe.say(sys.stdin.readline())\n"
        "else:\n"
        "    pe.get('asked')\n"
        "    pe.say('other')\n"
        "pe.finalize()\n"
    )
    job = atoll.start("run", "-n", 2, path, stdin=subprocess.PIPE)
    assert os.read(job.stdout.fileno(), 100) == b"name? "
    job.stdin.write("seen\n")
    job.stdin.flush()
    assert job.stdout.readline() == "\n"  # the launcher ends the prompt's line
    assert job.stdout.readline() == "other\n"
    out, _ = job.communicate("Ada", timeout=60)
    assert (job.returncode, out) == (0, "Ada\n")


@pytest.mark.parametrize(("n", "expected"), [(1, "x"), (2, "x\nx")])
def test_an_unfinished_last_line_is_not_lost(atoll, n, expected):
    assert atoll("run", "-n", n, "printf", "x").stdout == expected


def test_nothing_is_lost_when_a_pe_is_killed(atoll, program):
    path = program(
        "if pe.number == 0: time.sleep(1000)\n"
        "for i in range(500): os.write(1, b'line %d\\n' % i)\n"
        "os.write(1, b'unfinished')\nos.write(2, b'last words\\n')\nos.kill(os.getpid(), 9)\n"
    )
    result = atoll("run", "-n", 2, path)
    assert result.returncode == 137
    assert result.stdout == "".join(f"line {i}\n" for i in range(500)) + "unfinished"
    lines = result.stderr.splitlines()
    assert lines[0] == "last words" and lines[1].startswith("atoll run: PE 1 was killed"), lines


def test_a_slow_reader_loses_nothing(atoll, program):
    path = program("for i in range(100_000): print(i)\n")
    job = atoll.start("run", "-n", 2, path)
    first = os.read(job.stdout.fileno(), 10).decode()
    out, _ = job.communicate(timeout=60)
    assert (first + out).count("\n") == 200_000 and job.returncode == 0


def test_a_reader_that_goes_away_ends_the_pes(atoll):
    job = atoll.start("run", "-n", 2, "yes")
    os.read(job.stdout.fileno(), 10)
    job.stdout.close()
    job.stdout = None
    _, err = job.communicate(timeout=60)
    assert job.returncode == 128 + signal.SIGPIPE
    assert "was killed by SIGPIPE (its output has no reader)" in err


def test_raw_passes_bytes_at_once(atoll, program):
    path = program("if pe.number == 0: os.write(1, bytes(range(256))); sys.stdin.read()\n")
    job = atoll.start("run", "-n", 2, "--raw", path, stdin=subprocess.PIPE)
    assert os.read(job.stdout.fileno(), 1000) == bytes(range(256))
    job.communicate("", timeout=60)
    assert job.returncode == 0


@pytest.mark.parametrize("label", [[], ["--label"]])
def test_a_full_disk_fails_the_job(atoll, label):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        result = atoll(
            "run", "-n", 2, *label, "echo", "x", capture_output=False, stdout=full, stderr=subprocess.PIPE
        )
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "standard output cannot be written: No space left on device" in result.stderr


def test_a_limit_of_file_size_does_not_crash_the_launcher(atoll, tmp_path):
    command = 'ulimit -f 1024; "$0" run -n 2 sh -c "seq 200000" > out; exit $?'
    result = subprocess.run(
        ["bash", "-c", command, atoll.path], cwd=tmp_path, env=atoll.environment, capture_output=True,
        text=True, timeout=60,
    )  # fmt: skip
    assert result.returncode == 1
    assert "standard output cannot be written: File too large (ulimit -f)" in result.stderr
    assert (tmp_path / "out").stat().st_size == 1024 * 1024


@pytest.mark.parametrize("options", [["--label", "--raw"], ["--raw", "--output-dir", "x"]])
def test_ways_of_output_exclude_one_another(atoll, options):
    result = atoll("run", "-n", 2, *options, "true")
    assert result.returncode == 2 and "exclude one another" in result.stderr


def test_a_file_for_each_pe(atoll, tmp_path):
    folder = tmp_path / "made" / "here"
    result = atoll(
        "run", "-n", 2, "--output-dir", folder, "sh", "-c", "echo out $ATOLL_LAUNCHED; echo err >&2"
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert sorted(file.name for file in folder.iterdir()) == ["pe0.err", "pe0.out", "pe1.err", "pe1.out"]
    for pe in range(2):
        assert (folder / f"pe{pe}.out").read_text().startswith(f"out 1:{pe}:2:")
        assert (folder / f"pe{pe}.err").read_text() == "err\n"


def test_a_folder_that_cannot_be_made_is_named(atoll, tmp_path):
    (tmp_path / "file").touch()
    result = atoll("run", "-n", 2, "--output-dir", tmp_path / "file" / "x", "true")
    assert result.returncode == 2 and "cannot be made: Not a directory" in result.stderr


def test_a_line_is_never_within_another_on_a_terminal(start_on_terminal, program):
    terminal = start_on_terminal("run", "-n", 2, program(HALVES.replace("STREAM", "1")))
    assert terminal.end() == 0
    # A terminal shows an unfinished line after a silence, and ends it when another line has waited for its end.
    assert "a line" in terminal.seen.splitlines()
    assert terminal.seen.replace("\r\n", "").replace("a line", "") == "first half, second half"


def test_a_terminal_of_each_pe_follows_the_window(start_on_terminal, program):
    path = program(
        "def show(*_): pe.say(f'{pe.number} ' + ' '.join(map(str, os.get_terminal_size(1))))\n"
        "signal.signal(signal.SIGWINCH, show)\n"
        "signal.signal(signal.SIGTERM, lambda *_: os._exit(0))\n"
        "pe.say(f'{pe.number} ready')\n"
        "while True: time.sleep(0.1)\n"
    )
    terminal = start_on_terminal("run", "-n", 2, path)
    for pe in range(2):
        terminal.expect(f"{pe} ready")
    terminal.resize(20, 77)
    for pe in range(2):
        terminal.expect(f"{pe} 77 20")
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.end() == 0


def test_a_progress_bar_is_seen_on_a_terminal_while_it_goes_on(start_on_terminal, program):
    path = program(
        "if pe.number == 1: os.write(1, b'\\r 10%')\nelse: sys.stdin.readline(); os.write(1, b'done\\n')\n"
    )
    terminal = start_on_terminal("run", "-n", 2, path)
    terminal.expect("\r 10%")
    terminal.type("\n")
    terminal.expect("done")
    assert terminal.end() == 0
