"""Names of the package: deprecated ones, those of other libraries, and signatures of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import inspect


class ClassSignature:
    """The `__signature__` of a class of nanobind's: that of its `__init__`, without self.

    inspect finds it by itself from Python 3.11.4 on.
    """

    def __get__(self, instance: object, owner: type) -> inspect.Signature:
        import inspect

        found = inspect.signature(owner.__init__)  # type: ignore[misc]  # of a subclass its own
        return found.replace(parameters=list(found.parameters.values())[1:])
