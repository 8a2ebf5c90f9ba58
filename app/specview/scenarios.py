"""Names in parts: `given … when … then …`, Method_State_Result, and Method_Case_Case."""

from __future__ import annotations

import re

from app.specview import phrases
from app.specview.labels import segmented
from app.specview.predicates import predicate
from app.specview.titles import Title
from app.specview.words import split_identifier

_STEPS = ("given", "when", "then")


def scenario(title: Title) -> str | None:
    """The parts as one sentence; nothing where the name has none, or where one of them cannot be read."""
    if not title.identifier:
        return None
    return _steps(list(title.words)) or _method(title.text) or segmented(title.text)


def _steps(words: list[str]) -> str | None:
    if words[:1] not in (["given"], ["when"]) or "then" not in words:
        return None
    parts: list[list[str]] = []
    for word in words:
        if word in _STEPS[len(parts) and _STEPS.index(parts[-1][0]) + 1 :]:
            parts.append([word])
        else:
            parts[-1].append(word)
    steps = [_step(part) for part in parts]
    return ", ".join(step for step in steps if step) if all(steps) else None


def _step(part: list[str]) -> str | None:
    if len(part) < 2:
        return None
    if part[0] == "then":
        return _outcome(part[1:])
    read = phrases.condition(part, 0) if part[0] == "when" else phrases.complement(["with", *part[1:]], 0)
    if read is None or read.end != len(part):
        return None
    return read.text if part[0] == "when" else f"given{read.text.removeprefix('with')}"


def _outcome(words: list[str]) -> str | None:
    clause = phrases.clause(words, 0)
    if clause and clause.end == len(words):
        return clause.text
    read = predicate(words, identifier=True)
    rest = read and phrases.verb_phrase([read.base, *read.rest], 0, read.base)
    return f"it {read.verb} {rest.text.partition(' ')[2]}".strip() if read and rest else None


def _method(text: str) -> str | None:
    """`Add_EmptyString_ReturnsZero`: what the method does, with the state as a note."""
    parts = text.split("_")
    if len(parts) != 3 or text.islower() or not all(re.fullmatch(r"[A-Za-z][A-Za-z0-9]*[a-z]", part) for part in parts):
        return None
    outcome = _outcome(split_identifier(parts[2]))
    if outcome is None or not outcome.startswith("it "):
        return None
    state = split_identifier(parts[1])
    return f"`{parts[0]}` {outcome.removeprefix('it ')} ({' '.join(state)})"
