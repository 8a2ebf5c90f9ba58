"""The commands by which a repository is tested: which features of crates they turn on, and where they work."""

import re
from typing import Final

from testlist.model import Facts

#: files with the commands by which a repository is tested
NAMES: Final = frozenset({"Makefile", "GNUmakefile", "justfile", "Justfile", ".gitlab-ci.yml", "Makefile.toml"})
WORKFLOWS: Final = ".github/workflows/"
FOLDERS: Final = frozenset({"ci", ".ci", "scripts"})
#: lines that start another task than tests
ELSEWHERE: Final = re.compile(r"\b(?:clippy|doc|rustdoc|check|build|publish|install|deny|udeps)\b")
TESTING: Final = re.compile(r"\b(?:test|nextest|hack|tarpaulin|llvm-cov|miri|mvnw?|gradlew?)\b")
ALL: Final = re.compile(r"--(?:all-features|each-feature|feature-powerset)\b")
NAMED: Final = re.compile(r"""(?P<option>--features|\s-F)(?:[ =]|["']?\s*+,\s*+)(?:["'\\]++([^"'\\\n]*+)|(\S++))""")
#: a list of features as it stands; anything else is computed
LISTED: Final = re.compile(r"[\w./ ,-]+")
#: folders that commands work in
PLACED: Final = re.compile(
    r"""(--manifest-path[ =]|\b(?:cd|pushd|working-directory:)\s)\s*+["']?([^\s"';&|)]++)""", re.ASCII
)
#: the same as Maven and Gradle have it
POINTED: Final = re.compile(r"""\s(?:-f|--file|-p|--project-dir)[ =]["']?([^\s"';&|)]++)""", re.ASCII)
JVM: Final = re.compile(r"\b(?:mvnw?|gradlew?)\b")
#: files that stand for the folder they lie in
MANIFESTS: Final = re.compile(r"(?:Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?)$")
LONGEST: Final = 2_000
#: folders of one file that are kept
MOST: Final = 500


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one file of commands: {"data": {...}}.

    all: every feature is switched on.  named: those a command names.  bare: a command leaves the defaults off.
    places: folders that commands work in, "*" for any.
    """
    named: set[str] = set()
    places: set[str] = set()
    everything = bare = False
    for line in source.decode(errors="replace").splitlines():
        given = line[:LONGEST]
        if given.lstrip().startswith("#") or (ELSEWHERE.search(given) and not TESTING.search(given)):
            continue
        places.update(_place(*one) for one in PLACED.findall(given))
        if JVM.search(given):
            places.update(_place("-f", one) for one in POINTED.findall(given))
        bare = bare or "--no-default-features" in given
        everything = everything or ALL.search(given) is not None
        for option, *values in NAMED.findall(given):
            if option != "--features" and "cargo" not in given:
                continue
            listed = "".join(values)
            everything = everything or not LISTED.fullmatch(listed)
            named |= set(re.split(r"[\s,]+", listed))
    kept = sorted(places - {""})[:MOST]
    return {"data": {"all": everything, "named": sorted(named - {""}), "bare": bare, "places": kept}}


def _place(option: str, written: str) -> str:
    """A folder as a command writes it, or that of a manifest.

    A computed one may be any; but shells enter such folders for all kinds of reasons, which says nothing.
    """
    if any(mark in written for mark in "$*{"):
        return "" if option[0] in "cp" else "*"
    return "/".join(part for part in MANIFESTS.sub("", written).split("/") if part not in ("", ".", ".."))


def is_command_file(path: str) -> bool:
    """Whether a file may hold the commands that test a repository."""
    *folders, name = path.split("/")
    if name.endswith((".yml", ".yaml")):
        return path.startswith(WORKFLOWS) or name in NAMES
    return name in NAMES or (name.endswith(".sh") and folders[:1] != [] and folders[0] in FOLDERS)
