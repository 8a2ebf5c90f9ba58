"""Expressions of tags: `not @a and (@b or @c)`, and the older forms `~@a`, `@b,@c` and `@b&&~@c`."""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Final

#: longest text that is evaluated, for each scenario of a repository
LONGEST: Final = 1_000
TOKEN: Final = re.compile(r"\(|\)|&&|,|~|[^\s()&,~]++")
#: operator -> how tightly it binds; a list of alternatives binds more tightly than anything but `not`
BINDS: Final = {"or": 1, "and": 2, ",": 3, "not": 4}
SAME: Final = {"&&": "and", "~": "not", "-": "not"}
TWO: Final[dict[str, Callable[[bool, bool], bool]]] = {
    "or": lambda left, right: left or right,
    "and": lambda left, right: left and right,
    ",": lambda left, right: left or right,
}


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression, its operands before their operators.  names: of tags, without `@`."""

    steps: tuple[str, ...]
    names: frozenset[str]

    def holds(self, tags: Collection[str]) -> bool:
        """Whether a scenario with these tags is run."""
        values: list[bool] = []
        for step in self.steps:
            if step in TWO:
                right = values.pop()
                values.append(TWO[step](values.pop(), right))
            elif step == "not":
                values.append(not values.pop())
            else:
                values.append(step[1:] in tags)
        return values[-1]


def expression(texts: Iterable[str]) -> Expression | None:
    """What several texts say together; None if they say nothing that is understood."""
    whole = " and ".join(f"({text})" for text in texts)
    steps = _steps(whole) if len(whole) <= LONGEST else None
    names = frozenset(step[1:] for step in steps or () if step.startswith("@"))
    return Expression(tuple(steps), names) if steps and "*" not in whole else None


def _steps(text: str) -> list[str] | None:
    """The steps in which a text is evaluated; None for one that is broken."""
    done: list[str] = []
    waiting: list[str] = []
    behind_value = False
    for word in _words(text):
        starts = word in ("(", "not") or word.startswith("@")
        if starts and behind_value:  # side by side, all have to hold
            _unwind(done, waiting, BINDS["and"])
            waiting.append("and")
        elif not starts and not behind_value:
            return None
        if word in ("(", "not"):
            waiting.append(word)
        elif word == ")":
            _unwind(done, waiting, 0)
            if not waiting:
                return None
            waiting.pop()
        elif word in BINDS:
            _unwind(done, waiting, BINDS[word])
            waiting.append(word)
        else:
            done.append(word)
        behind_value = word == ")" or word.startswith("@")
    _unwind(done, waiting, 0)
    return None if waiting or not behind_value else done


def _words(text: str) -> Iterable[str]:
    for found in TOKEN.findall(text):
        word = SAME.get(found, found)
        if word in BINDS or word in "()":
            yield word
        elif word.startswith("-"):
            yield from ("not", f"@{word[1:].lstrip('@')}")
        else:
            yield f"@{word.lstrip('@')}"


def _unwind(done: list[str], waiting: list[str], binds: int) -> None:
    """Apply operators that bind at least as tightly."""
    while waiting and waiting[-1] != "(" and BINDS[waiting[-1]] >= binds:
        done.append(waiting.pop())
