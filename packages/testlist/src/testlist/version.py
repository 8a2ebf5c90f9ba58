"""The version stored with every result: same commit and same version means same inventory."""

import hashlib
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from testlist.languages import SYNTAXES

#: Raise it with every change of a rule that may change a row, its checks, or the shape of stored facts.
RULES_VERSION: Final = "2.8.0"

_GRAMMARS: Final = [syntax.grammar for syntax in SYNTAXES.values() if syntax.grammar is not None]
_CORE: Final = {"tree-sitter": "0.26.1"}  # 0.26.0 gives up a class of Java that this one reads
#: The parsing stacks that the rules are tested with (`make prove-grammars`); pyproject.toml has the ranges.
NEWEST: Final = {**_CORE, **{one.distribution: one.version for one in _GRAMMARS}}
OLDEST: Final = {**_CORE, **{one.distribution: one.oldest or one.version for one in _GRAMMARS}}


def installed(names: Collection[str]) -> dict[str, str]:
    """Versions of distributions, by what pip leaves beside them; "unknown" for one that it did not install.

    `importlib.metadata` says the same, and takes a tenth of the command's time.
    """
    found: dict[str, str] = {}
    for folder in sys.path:
        with suppress(OSError):
            for entry in Path(folder).iterdir():
                name, _, version = entry.stem.partition("-")
                if entry.suffix == ".dist-info" and (own := name.replace("_", "-").lower()) in names:
                    found.setdefault(own, version)
    return {name: found.get(name, "unknown") for name in names}


def parser_version(rules: str, stack: Mapping[str, str]) -> str:
    """`2.0.0+3f2a9c1b`: the rules and a digest of the grammars that they read with."""
    lines = "\n".join(f"{name}=={version}" for name, version in sorted(stack.items()))
    return f"{rules}+{hashlib.sha256(lines.encode()).hexdigest()[:8]}"


def untested(stack: Mapping[str, str]) -> list[str]:
    """What the rules were not tested with, as `tree-sitter-go 0.25.9`."""
    return [f"{name} {version}" for name, version in stack.items() if version not in (OLDEST[name], NEWEST[name])]


STACK: Final = installed(NEWEST)
PARSER_VERSION: Final = parser_version(RULES_VERSION, STACK)
