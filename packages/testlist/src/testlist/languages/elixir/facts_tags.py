"""What tags say of a test: `@tag` of the next one, `@describetag` and `@moduletag` of those that follow."""

from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from testlist.languages.elixir.facts_calls import ATOMS, STEPS, arguments, pairs
from testlist.languages.elixir.shape import TestFact
from testlist.languages.elixir.vocabulary import SKIP, TAGS
from testlist.sandbox.syntax import named, text

SET: Final = "set"
UNSET: Final = "unset"
COMPUTED: Final = "computed"
#: tags of one test that are kept
MOST: Final = 50


@dataclass(slots=True)
class Tags:
    """Tags that wait for tests of one module, by what they are for: name -> whether they are set."""

    waiting: dict[str, dict[str, str]] = field(default_factory=lambda: {target: {} for target in TAGS.values()})

    def read(self, node: Node, *, when: bool) -> bool:
        """Take a tag; False for any other attribute.  when: a condition decides on it."""
        name = text(node.child_by_field_name("target"))
        if name not in TAGS:
            return False
        for tag, value in said(arguments(node)):
            self.waiting[TAGS[name]][tag] = COMPUTED if when and value == SET else value
        return True

    def leave(self) -> None:
        """A group ends, and what was said for it."""
        self.waiting["describe"] = {}

    def apply(self, fact: TestFact) -> None:
        """Write down what is said of a test; its own tags are used up."""
        tags = {**self.waiting["module"], **self.waiting["describe"], **self.waiting["test"]}
        self.waiting["test"] = {}
        if tags.get(SKIP) == SET:
            fact["status"] = "skipped"
        elif tags.get(SKIP) == COMPUTED:
            fact["when"] = True
        if names := sorted(tag for tag, value in tags.items() if value != UNSET and tag != SKIP)[:MOST]:
            fact["tags"] = names


def said(values: list[Node]) -> list[tuple[str, str]]:
    """Tags with whether they are set."""
    found: list[tuple[str, str]] = []
    for value in values:
        if value.type in ATOMS:
            found.append((text(value)[1:], SET))
        elif value.type in ("keywords", "list"):
            found += [(name, meaning(name, one)) for name, one in pairs([value])]
        elif SKIP in text(value):
            found.append((SKIP, COMPUTED))
    return found


def meaning(name: str, value: Node) -> str:
    """Whether a value sets a tag.  A test is skipped by `true` and by a text, and by nothing else."""
    if value.type == "nil" or (name == SKIP and (text(value) == "false" or value.type in ATOMS)):
        return UNSET
    if name != SKIP or value.type in ("string", "sigil") or text(value) == "true":
        return SET
    return COMPUTED


def atoms(node: Node | None, steps: int = STEPS) -> list[str]:
    """Tags that a list names, alone or with a value."""
    found: list[str] = []
    for one in named(node):
        if one.type in ATOMS:
            found.append(text(one)[1:])
        elif one.type == "keywords":
            found += [name for name, _ in pairs([one])]
        elif one.type in ("list", "binary_operator") and steps:
            found += atoms(one, steps - 1)
    return found
