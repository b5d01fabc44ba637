"""The packages that atoll.compat offers."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Package:
    """Atoll's form of a package: the modules and names that its programs import."""

    name: str
    form: str
    """The end of the sentence "import NAME finds ..."."""
    modules: dict[str, str] = field(default_factory=dict)
    """A module's full name, and Atoll's module of the same contents."""
    values: dict[str, str] = field(default_factory=dict)
    """Names of the package itself: "module:name" of Atoll's, or a text."""
    refused: dict[str, str] = field(default_factory=dict)
    """Modules that Atoll has not, and the reason with the way round."""


PACKAGES = {
    package.name: package
    for package in (
        Package(
            "shmem4py",
            form="atoll.shmem, which has the names of shmem4py 1.0",
            modules={"shmem4py.shmem": "atoll.shmem"},
            values={"rc": "atoll:rc", "Rc": "atoll._rc:Rc", "__version__": "1.0.0"},
            refused={
                "shmem4py.api": "it is shmem4py's layer of C, and Atoll's calls need none. Use shmem4py.shmem, or build "
                "shmem4py itself on Atoll (docs/porting.md)."
            },
        ),
    )
}
