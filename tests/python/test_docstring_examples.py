"""The examples in docstrings run, and print what the docstrings show."""

from __future__ import annotations

import doctest
import re

import atoll
from jobs import Job


def test_examples_of_calls_in_a_job(job: Job) -> None:
    for n in 2, 3:
        done = job("docstring_examples.py", n)
        counts = [int(count) for count in re.findall(r"examples: (\d+)", done.stdout)]
        assert len(counts) == n and min(counts) > 8, done.stdout


def test_the_example_of_launch() -> None:
    test = doctest.DocTestParser().get_doctest(
        atoll.launch.__doc__ or "", {"atoll": atoll}, "launch", None, None
    )
    assert test.examples and not any(example.options for example in test.examples)
    assert doctest.DocTestRunner().run(test).failed == 0
