"""Path patterns of tenants' configuration, matched in time that no pattern can blow up.

`*` and `?` stay within a segment, `**` crosses them; `{a,b}`, `(a|b)`, `?(a|b)`,
`+(a|b)`, `@(a|b)` and `*(a|b)` are spelled out.
"""

import re
from collections.abc import Iterator
from fnmatch import translate
from functools import lru_cache
from typing import Final

#: spellings of one pattern; more are cut off
SPELLINGS: Final = 64
#: longest pattern that is read
LONGEST_PATTERN: Final = 1_024
#: longest path a regular expression is tried on
LONGEST: Final = 300
#: what may make a regular expression slow: a repeated group, or more than two open repetitions
SLOW: Final = re.compile(r"\)\s*[*+{]")
OPEN: Final = re.compile(r"(?<!\\)[*+]|\{\d+,\}")
GROUP: Final = re.compile(r"\{([^{}]*,[^{}]*)\}|([?+@*!]?)\(([^()]*)\)")

Segments = tuple[re.Pattern[str] | None, ...]


def match(path: str, pattern: str) -> bool:
    """Whether a whole path fits a pattern."""
    parts = path.split("/")
    # the last segment tells nearly always
    return any(
        (segments[-1] is None or segments[-1].match(parts[-1]) is not None) and _fits(parts, segments)
        for segments in compiled(pattern)
    )


@lru_cache(maxsize=4_096)
def compiled(pattern: str) -> tuple[Segments, ...]:
    """All spellings of a pattern, by segment; None stands for `**`.  One that is too long fits nothing."""
    if len(pattern) > LONGEST_PATTERN:
        return ()
    return tuple(tuple(map(_segment, spelling.split("/"))) for spelling in spellings(pattern.removeprefix("./")))


def spellings(pattern: str) -> list[str]:
    """Write alternatives out."""
    todo: list[str] = [pattern]
    done: list[str] = []
    while todo and len(todo) + len(done) <= SPELLINGS:
        text = todo.pop()
        group = GROUP.search(text)
        if group is None:
            done.append(text)
        else:
            todo += [text[: group.start()] + choice + text[group.end() :] for choice in _choices(group)]
    return done


def _choices(group: re.Match[str]) -> Iterator[str]:
    if group[1] is not None:
        yield from group[1].split(",")
    elif group[2] == "!":  # "anything but": read as anything, the files it drops are rare
        yield "*"
    else:
        yield from group[3].split("|")
        yield from [""] if group[2] in ("?", "*") else []


def _segment(text: str) -> re.Pattern[str] | None:
    # fnmatch writes stars as atomic groups, so a segment is matched without backtracking
    return None if text == "**" else re.compile(translate(text))


def _fits(parts: list[str], segments: Segments) -> bool:
    """Match segment by segment; with one `**` at most, there is only one part for each of the others."""
    crossing = segments.count(None)
    if crossing > 1:
        return _crosses(parts, segments)
    head = segments.index(None) if crossing else len(segments)
    tail = len(segments) - head - crossing
    if len(parts) < head + tail or (not crossing and len(parts) > head):
        return False
    fixed = filter(None, segments)
    return all(
        segment.match(part) for part, segment in zip(parts[:head] + parts[len(parts) - tail :], fixed, strict=True)
    )


def _crosses(parts: list[str], segments: Segments) -> bool:
    """`reached` holds how many parts each prefix of the pattern may have used up."""
    reached = {0}
    for segment in segments:
        if segment is None:
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {used + 1 for used in reached if used < len(parts) and segment.match(parts[used])}
        if not reached:
            return False
    return len(parts) in reached


def regex(pattern: str) -> re.Pattern[str] | None:
    """Compile a regular expression of a tenant; None for one that is broken or might take long."""
    if len(pattern) > LONGEST or SLOW.search(pattern) or len(OPEN.findall(pattern)) > 2:
        return None
    try:
        return re.compile(pattern)
    except re.error:
        return None
