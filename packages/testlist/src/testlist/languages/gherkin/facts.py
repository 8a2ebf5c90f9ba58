"""Facts of one feature file: its scenarios, with their tags and examples, read line by line as Cucumber reads them.

A file that Cucumber refuses is read as far as its lines make sense.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from testlist.languages.gherkin.shape import GherkinFacts, RuleFact, ScenarioFact, TableFact
from testlist.languages.gherkin.vocabulary import DEFAULT, Dialect, dialect, language_of_title
from testlist.model import Facts

LANGUAGE: Final = re.compile(r"#\s*+language\s*+:\s*+([a-zA-Z_-]++)\s*+$")
TAG: Final = re.compile(r"@([^@\s]++)")
REMARK: Final = re.compile(r"\s#")
#: what a text of several lines stands between; the last is behave's
FENCES: Final = ('"""', "```", "'''")


@dataclass(slots=True)
class Reading:
    """One file, as far as it is read.

    part: kind of the part that the line stands in, which is empty above the feature; stepped: the part has steps;
    fence: what ends the text that the line stands in; tags: of what comes next; last: the last line with content;
    header: the line was looked at that gives a table its columns.
    """

    dialect: Dialect = field(default_factory=lambda: dialect(DEFAULT))
    named: bool = False
    part: str = ""
    stepped: bool = False
    fence: str = ""
    tags: list[str] = field(default_factory=list)
    last: int = 0
    header: bool = False
    facts: GherkinFacts = field(default_factory=lambda: GherkinFacts(rules=[], scenarios=[]))

    def line(self, number: int, text: str, indent: int) -> None:
        """Take the next line.  text: without the white space in front of it, which is as long as the indent."""
        if self.fence:
            self.fence = "" if text.startswith(self.fence) else self.fence
            self.last = number
        elif text.startswith("#"):
            self.remark(text)
        elif text.startswith("@"):
            self.tags += TAG.findall(REMARK.split(text, maxsplit=1)[0])
        elif text and not self.title(number, text, indent):
            self.content(text)
            self.last = number

    def remark(self, text: str) -> None:
        """A comment; one above the feature may name the language."""
        found = None if self.part or self.named else LANGUAGE.match(text)
        if found is not None:
            self.dialect, self.named = dialect(found[1]), True

    def title(self, number: int, text: str, indent: int) -> bool:
        """Begin another part, if the line is the title of one."""
        if not self.part and not self.named and (language := language_of_title(text)):
            self.dialect = dialect(language) if self.dialect.title(text)[0] != "feature" else self.dialect
        if self.part in ("scenario", "background") and text.startswith(self.dialect.steps):
            return False
        kind, name = self.dialect.title(text)
        if not kind or not self.may_begin(kind):
            return False
        if kind != "examples":
            self.end()
        self.begin(kind, name, number, indent)
        self.part, self.stepped, self.last = kind, False, number
        return True

    def may_begin(self, kind: str) -> bool:
        """Whether a part of this kind may stand here; anything else is a line of a description."""
        if kind == "feature" or not self.part:
            return kind == "feature" and not self.part
        if kind == "background":
            return self.part in ("feature", "rule")
        return kind != "examples" or self.part in ("scenario", "examples")

    def begin(self, kind: str, name: str, number: int, indent: int) -> None:
        """Note a part, with the tags above it."""
        tags, self.tags = self.tags, []
        if kind == "feature":
            self.facts["feature"] = name
            if tags:
                self.facts["tags"] = tags
        elif kind == "rule":
            rule: RuleFact = {"name": name}
            self.facts["rules"].append({**rule, "tags": tags} if tags else rule)
        elif kind == "scenario":
            self.scenario(name, tags, number, indent)
        elif kind == "examples":
            table: TableFact = {"rows": 0}
            self.facts["scenarios"][-1].setdefault("tables", []).append({**table, "tags": tags} if tags else table)
            self.header = False

    def scenario(self, name: str, tags: list[str], number: int, indent: int) -> None:
        """Note a scenario."""
        fact: ScenarioFact = {"name": name, "line": number, "column": indent + 1, "end": number}
        if self.facts["rules"]:
            fact["rule"] = len(self.facts["rules"]) - 1
        if tags:
            fact["tags"] = tags
        self.facts["scenarios"].append(fact)

    def content(self, text: str) -> None:
        """A line of a part: a step, a row of a table, the beginning of a text, or a description."""
        if self.part == "examples":
            if text.startswith("|"):
                self.facts["scenarios"][-1]["tables"][-1]["rows"] += self.header
                self.header = True
        elif self.part in ("scenario", "background"):
            if self.stepped and text.startswith(FENCES):
                self.fence = text[:3]
            self.stepped = self.stepped or text.startswith(self.dialect.steps)

    def end(self) -> None:
        """The part that the last line stood in is over."""
        if self.part in ("scenario", "examples"):
            self.facts["scenarios"][-1]["end"] = self.last


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - every reader has it
    """Read one file: see shape.GherkinFacts."""
    reading = Reading()
    for number, line in enumerate(source.decode("utf-8", "replace").split("\n"), 1):
        bare = line.lstrip()
        reading.line(number, bare, len(line) - len(bare))
    reading.end()
    return {key: value for key, value in reading.facts.items() if value or key == "feature"}
