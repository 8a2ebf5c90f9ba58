"""Facts of one Elixir file: its modules with what they use, and the calls in their bodies that declare tests."""

import re
from typing import Final

from testlist.languages.elixir.facts_found import Place
from testlist.languages.elixir.facts_modules import Walk
from testlist.languages.elixir.facts_tags import Tags
from testlist.languages.elixir.shape import ElixirFacts
from testlist.model import Facts
from testlist.sandbox.syntax import parse

#: what a file has that says anything of tests
MARKER: Final = re.compile(
    rb"\b(?:use|test|property|feature|doctest(?:_file)?|defmacro|Code\.\w++|ExUnit\.\w++)[ \t(]"
    rb"|\btest_(?:paths|pattern):"
)
PATHS: Final = re.compile(rb"\btest_paths:[ \t]*+\[([^\]\n]{0,2000})\]")
PATTERN: Final = re.compile(rb"\btest_pattern:[ \t]*+\"([^\"\n#]{1,200})\"")
TEXT: Final = re.compile(rb"\"([^\"\n#]{1,200})\"")


def extract(source: bytes, language: str) -> Facts:
    """Read one file: see shape.ElixirFacts."""
    if not MARKER.search(source):
        return {}
    walk = Walk()
    walk.below(parse(source, language), Place(Tags()))
    facts: ElixirFacts = {
        "modules": list(walk.modules.values()),
        "tests": walk.tests,
        "calls": sorted(walk.calls),
        "requires": walk.requires,
        "excludes": walk.excludes,
        **project(source),
    }
    return {key: value for key, value in facts.items() if value}


def project(source: bytes) -> ElixirFacts:
    """What a project file says of the places of tests; texts only."""
    found: ElixirFacts = {}
    if (paths := PATHS.search(source)) is not None:
        found["paths"] = [one.decode("utf-8", "replace") for one in TEXT.findall(paths[1])]
    if (pattern := PATTERN.search(source)) is not None:
        found["pattern"] = pattern[1].decode("utf-8", "replace")
    return found
