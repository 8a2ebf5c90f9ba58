"""Configuration that says which runner a repository has, and which tags a run leaves out."""

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from testlist.languages.gherkin.vocabulary_runners import (
    BEHAVE,
    CONFIGURES,
    CUCUMBER_JVM,
    FAMILIES,
    PACKAGES,
    PYTEST_BDD,
)

PROFILES: Final = "gherkin-profiles"
#: file -> its format.  What other languages read as well has the same format there.
FORMATS: Final = {
    **dict.fromkeys(("behave.ini", ".behaverc", "setup.cfg", "tox.ini", "pytest.ini"), "ini"),
    **dict.fromkeys(("cucumber.js", "cucumber.cjs", "cucumber.mjs"), "javascript-config"),
    **dict.fromkeys(("cucumber.yml", "cucumber.yaml", "behat.yml", "behat.yaml"), PROFILES),
    **dict.fromkeys(("behat.yml.dist", "behat.dist.yml", "behat.yaml.dist", "behat.dist.yaml"), PROFILES),
    **dict.fromkeys(("junit-platform.properties", "cucumber.properties"), PROFILES),
    **dict.fromkeys(("cucumber.json", "composer.json"), "json"),
    **dict.fromkeys(("Directory.Build.props", "Directory.Build.targets", "packages.config"), "msbuild"),
    "package.json": "package.json",
    "pyproject.toml": "toml",
}
#: keys of manifests with packages by their names
REQUIRED: Final = ("dependencies", "devDependencies", "require", "require-dev")
#: what follows the name of a package in a list of requirements
BEYOND: Final = re.compile(r"[\s\[<>=~!;]")
#: options with an expression of tags, on a command line
TAGS: Final = frozenset({"--tags", "-t"})
#: sections in which pytest-bdd is told where its feature files are
BASED: Final = (("pytest", "bdd_features_base_dir"), ("tool:pytest", "bdd_features_base_dir"))


def config_language(path: str) -> str | None:
    """Format of a file that says something of feature files; None for any other file."""
    name = path.rpartition("/")[2]
    if name.startswith("requirements") and name.endswith(".txt"):
        return "words"
    return "msbuild" if name.endswith(".csproj") else FORMATS.get(name)


def announced(data: Any) -> set[str]:
    """The runners that a manifest asks for."""
    found = {runner for name in _packages(data) for runner in [_runner(name.lower())] if runner}
    if isinstance(data, dict) and any(key in _table(data.get(section)) for section, key in BASED):
        found.add(PYTEST_BDD)
    return found


def _runner(name: str) -> str | None:
    bare = BEYOND.split(name, maxsplit=1)[0]
    return PACKAGES.get(bare) or next((runner for start, runner in FAMILIES.items() if bare.startswith(start)), None)


def _packages(data: Any) -> Iterator[str]:
    """Names of packages and of projects, in whatever form a manifest was read."""
    if isinstance(data, list):
        yield from (one for one in data if isinstance(one, str))
    elif isinstance(data, dict):
        for key in REQUIRED:
            yield from _table(data.get(key))
        for key in ("packages", "speaks_of"):
            yield from _packages(data.get(key))
        yield from (one.rpartition("/")[2] for one in _packages(data.get("projects")))


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def left_out(name: str, data: Any) -> tuple[str, list[str]]:
    """The runner that a file configures, and the expressions of tags that its runs have by themselves."""
    if name.endswith(".properties"):
        return CUCUMBER_JVM, _texts(_table(data).get("tags"))
    if name in CONFIGURES and FORMATS.get(name) != "ini":
        profile = _table(data).get("default", data)
        return CONFIGURES[name], _texts(_table(profile).get("tags")) or list(_options(profile))
    own = _table(_table(data).get("behave"))
    return BEHAVE, _texts(own.get("tags")) or _texts(own.get("default_tags"))


def _texts(value: Any) -> list[str]:
    """A text by its lines, or those of a list; all of these have to hold."""
    found = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return [line for one in found if isinstance(one, str) for line in one.split("\n") if line.strip()]


def _options(profile: Any) -> Iterator[str]:
    """Expressions of a profile that is written as a command line."""
    words = [word for text in _texts(profile) for word in words_of(text)]
    for option, value in pairwise(words):
        if option in TAGS:
            yield value
    yield from (word.partition("=")[2] for word in words if word.startswith("--tags="))


def words_of(text: str) -> list[str]:
    """The words of a command line."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
