"""The version stored with every result: same commit and same version means same inventory."""

import hashlib
from typing import Final

from testlist.languages import SYNTAXES

#: Raise it with every change of a rule that may change a row, its checks, or the shape of stored facts.
RULES_VERSION: Final = "2.6.0"

#: The parsing stack as pinned in pyproject.toml; a test compares it with what is installed.
PINS: Final = {
    "tree-sitter": "0.26.1",
    **{one.grammar.distribution: one.grammar.version for one in SYNTAXES.values() if one.grammar is not None},
}


def parser_version(rules: str, pins: dict[str, str]) -> str:
    """`2.0.0+3f2a9c1b`: the rules and a digest of the grammars they were written against."""
    lines = "\n".join(f"{name}=={version}" for name, version in sorted(pins.items()))
    return f"{rules}+{hashlib.sha256(lines.encode()).hexdigest()[:8]}"


PARSER_VERSION: Final = parser_version(RULES_VERSION, PINS)
