"""Waits and tests for words on this PE, which other PEs update.

The same names are in `atoll` itself. Completion of `atoll.` leaves out the rare ones.
"""

from . import (
    test,
    test_all,
    test_all_vector,
    test_any,
    test_any_vector,
    test_some,
    test_some_vector,
    wait_until,
    wait_until_all,
    wait_until_all_vector,
    wait_until_any,
    wait_until_any_vector,
    wait_until_some,
    wait_until_some_vector,
)

__all__ = [
    "test",
    "test_all",
    "test_all_vector",
    "test_any",
    "test_any_vector",
    "test_some",
    "test_some_vector",
    "wait_until",
    "wait_until_all",
    "wait_until_all_vector",
    "wait_until_any",
    "wait_until_any_vector",
    "wait_until_some",
    "wait_until_some_vector",
]
