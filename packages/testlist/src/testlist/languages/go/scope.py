"""What the frameworks of Go share: which files the go tool takes, and what decides whether it builds them."""

from typing import Final

from testlist.languages.go.config_modules import MANIFEST
from testlist.languages.go.shape import GoFacts

#: what a file of tests is called, and folders and beginnings of names that the go tool leaves out
FILES: Final = "_test.go"
IGNORED: Final = frozenset({"testdata", "vendor"})
HIDDEN: Final = ("_", ".")
#: systems and processors that the end of a file's name confines it to
PLATFORMS: Final = frozenset(
    {"aix", "android", "darwin", "dragonfly", "freebsd", "illumos", "ios", "js", "linux", "netbsd", "openbsd", "plan9",
     "solaris", "wasip1", "windows", "386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle",
     "ppc64", "ppc64le", "riscv64", "s390x", "wasm"}
)  # fmt: skip


def is_left_out(path: str) -> bool:
    """Whether the go tool leaves a file out."""
    parts = path.split("/")
    return any(part.startswith(HIDDEN) for part in parts) or not IGNORED.isdisjoint(parts)


def is_test_file(path: str) -> bool:
    """`_test.go`, outside folders and files the go tool leaves out."""
    return path.endswith(FILES) and not is_left_out(path)


def is_constrained(path: str, facts: GoFacts) -> bool:
    """Whether a constraint, in the file or in its name, decides if a file is built."""
    _, underscore, last = path.removesuffix(".go").removesuffix("_test").rpartition("/")[2].rpartition("_")
    return "constrained" in facts or (underscore != "" and last in PLATFORMS)


def config_language(path: str) -> str | None:
    """The files that give modules their paths."""
    return MANIFEST if path.rpartition("/")[2] == MANIFEST else None
