"""The version stored with every result: same commit and same version means same inventory."""

import hashlib
from typing import Final

#: Raise it with every change of a rule that may change a row or the shape of stored facts.
RULES_VERSION: Final = "2.4.0"

#: The parsing stack as pinned in pyproject.toml; a test compares it with what is installed.
PINS: Final = {
    "tree-sitter": "0.26.1",
    "tree-sitter-c-sharp": "0.23.5",
    "tree-sitter-cpp": "0.23.4",
    "tree-sitter-go": "0.25.0",
    "tree-sitter-java": "0.23.5",
    "tree-sitter-javascript": "0.25.0",
    "tree-sitter-kotlin": "1.1.0",
    "tree-sitter-php": "0.25.1",
    "tree-sitter-python": "0.25.0",
    "tree-sitter-ruby": "0.23.1",
    "tree-sitter-rust": "0.24.2",
    "tree-sitter-swift": "0.7.4",
    "tree-sitter-typescript": "0.23.2",
}


def parser_version(rules: str, pins: dict[str, str]) -> str:
    """`2.0.0+3f2a9c1b`: the rules and a digest of the grammars they were written against."""
    lines = "\n".join(f"{name}=={version}" for name, version in sorted(pins.items()))
    return f"{rules}+{hashlib.sha256(lines.encode()).hexdigest()[:8]}"


PARSER_VERSION: Final = parser_version(RULES_VERSION, PINS)
