"""Conditions of `#[cfg(...)]`: kept small in facts, and decided once the manifests are known.

A condition is `["feature", name]` of Cargo, `["flag", name]` of the compiler, `["not", one]`, `["all", ...]`,
`["any", ...]`, or None for what only a build knows, such as the platform.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.languages.rust.facts_tokens import is_name, name_of
from testlist.languages.rust.shape import Attribute, Condition, Tokens

JOINING: Final = frozenset({"all", "any", "not"})
#: words that the compiler sets by itself; other words are flags, which somebody must have given it
PLATFORM: Final = frozenset(
    {"unix", "windows", "test", "debug_assertions", "proc_macro", "overflow_checks", "ub_checks", "true", "false"}
)
#: how autocfg begins the names of flags
PROBED: Final = ("has_", "rustc_")
#: conditions inside conditions that are read
DEPTH: Final = 8


@dataclass(frozen=True, slots=True)
class Switches:
    """Features of one package.  possible: anything in the repository turns them on.  given: always on.

    flags: those that build scripts may give the compiler.  Flags of a command line are for builds of another kind,
    which take the place of the usual one.
    """

    possible: Collection[str] | None = None  # None: any
    given: Collection[str] = ()
    flags: Collection[str] | None = None  # None: any

    def decide(self, condition: Condition) -> bool | None:
        """Whether a condition holds; None where that depends."""
        if not condition:
            return None
        kind, parts = condition[0], condition[1:]
        if kind == "feature":
            return self.has(parts[0])
        if kind == "flag":
            possible = self.flags is None or parts[0] in self.flags or parts[0].startswith(PROBED)
            return None if possible else False
        known = [self.decide(part) for part in parts]
        if kind == "not":
            return None if known[0] is None else not known[0]
        decisive = kind == "any"  # one of these settles it
        if decisive in known:
            return decisive
        return None if None in known else not decisive

    def has(self, feature: str) -> bool | None:
        """Whether a feature is on; None where that depends on how cargo is called."""
        if self.possible is not None and feature not in self.possible:
            return False
        return True if feature in self.given else None

    def never(self, condition: Condition) -> bool:
        """Whether what stands under a condition is never built."""
        return self.decide(condition) is False


def of(attributes: Sequence[Attribute]) -> Condition:
    """What all the `cfg` among attributes say of features and flags; None if they say nothing."""
    found = [condition for path, given in attributes if path == "cfg" for condition in _group(given, DEPTH)]
    said = [condition for condition in found if condition is not None]
    return ["all", *said] if len(said) > 1 else said[0] if said else None


def _group(tokens: Tokens, depth: int) -> list[Condition]:
    """Conditions in parentheses, between commas."""
    group = tokens[0][1:] if tokens and isinstance(tokens[0], list) and depth else []
    parts: list[Tokens] = [[]]
    for piece in group:
        if piece == ",":
            parts.append([])
        else:
            parts[-1].append(piece)
    return [_condition(part, depth) for part in parts if part]


def _condition(part: Tokens, depth: int) -> Condition:
    """One condition; None also for a group that says nothing of features and flags."""
    words = [name_of(piece) for piece in part if isinstance(piece, str)]
    if words[:2] == ["feature", "="] and len(words) > 2 and words[2].startswith('"'):
        return ["feature", words[2][1:]]
    if len(words) == 1 and words[0] in JOINING and len(part) > 1:
        inner = _group(part[1:], depth - 1)
        return [words[0], *inner] if any(one is not None for one in inner) else None
    if len(part) == 1 and is_name(part[0]) and words[0] not in PLATFORM:
        return ["flag", words[0]]
    return None
