"""What the commands of a body say of skipping, and where the body ends, line by line."""

import re
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from testlist.languages.bats.facts_headings import Heading, heading

ALWAYS, MAYBE = "always", "maybe"
#: commands that skip: Bats' own, and by its name a function that decides whether to
SKIP: Final = re.compile(r"skip(?=[\s;]|$)")
DECIDES: Final = re.compile(r"skip_\w|skip[A-Z]\w")
#: the same behind something that decides whether it is called
BEHIND: Final = re.compile(r"(?:[;&|({!]|\b(?:then|else|do)\b)[ \t]*+skip(?:[\s;}]|$|_\w|[A-Z]\w)")
TEXT: Final = re.compile(r"""<<(-?)[ \t]*+(["']?)(\w++)\2""")
#: the brace that ends a body in the line in which it begins
CLOSED: Final = re.compile(r"(?:^|[;\s])\}\s*+$")


@dataclass(slots=True)
class Lines:
    """The lines of a file.  places: of each text that stands alone in a line; headings: of tests, by their lines."""

    lines: Sequence[str]
    places: dict[str, list[int]] = field(default_factory=dict)
    headings: dict[int, Heading] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        for place, line in enumerate(self.lines):
            self.places.setdefault(line.lstrip("\t"), []).append(place)
            if (found := heading(line)) is not None:
                self.headings[place] = found
                self.starts.append(place)

    def end_of_text(self, place: int) -> int:
        """The line that ends the text which a line begins; the same line if it begins none.

        A heading in a text begins a test all the same, as the preprocessor knows no texts; it ends this one.
        """
        found = TEXT.search(self.lines[place]) if "<<" in self.lines[place] else None
        ends = self.places.get(found[3], []) if found else []
        following = bisect(ends, place)
        end = ends[following] if following < len(ends) else place
        return place if bisect(self.starts, end) > bisect(self.starts, place) else end


@dataclass(slots=True)
class Body:
    """A body as far as it is read.  indent: of the line with its heading; inner: of its first command."""

    indent: str
    skips: str = ""
    inner: str | None = None
    inside: bool = False

    def take(self, line: str) -> bool:
        """Take the next line; whether it ends the body."""
        bare = line.strip()
        if not bare or bare.startswith("#"):
            return False
        before = line[: len(line) - len(line.lstrip())]
        if bare[0] == "}" and before == self.indent:
            return True
        self.inner = before if self.inner is None else self.inner
        self.command(bare, is_outer=before == self.inner)
        return False

    def begun(self, rest: str) -> bool:
        """Take what follows the brace of the heading; whether that ends the body."""
        is_closed = CLOSED.search(rest) is not None
        bare = rest.strip()
        if bare and not bare.startswith(("#", "}")):
            self.command(bare, is_outer=True)
        return is_closed

    def command(self, text: str, *, is_outer: bool) -> None:
        """Note whether a command skips.  is_outer: it is called whatever the others do."""
        if is_outer and SKIP.match(text):
            self.skips = ALWAYS
        elif not self.skips and (SKIP.match(text) or DECIDES.match(text) or BEHIND.search(text)):
            self.skips = MAYBE
