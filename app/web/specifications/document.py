"""A specification with its origin: repository, commit, version and generator."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.domain.specification import Specification, Subject
from app.web.results.links import line_link


@dataclass(frozen=True, slots=True)
class Source:
    """The commit that was read.  url: of the repository, for a person; ref: a branch or tag, if one was given."""

    host: str
    owner: str
    name: str
    url: str
    commit: str
    ref: str | None = None

    @property
    def title(self) -> str:
        """The repository's usual name."""
        return self.name if self.is_local else f"{self.owner}/{self.name}"

    @property
    def is_local(self) -> bool:
        """Whether the source is a local folder, which has no page."""
        return self.host == "local"

    def link(self, subject: Subject) -> str | None:
        """The address at which the host shows the test; None for an unknown host."""
        return line_link(self.host, f"{self.owner}/{self.name}", self.commit, subject.file, subject.line)


@dataclass(frozen=True, slots=True)
class Document:
    """One version of a specification.  generator: its name; generated_at: when it was completed."""

    specification: Specification
    source: Source
    version: int
    generator: str
    generated_at: datetime
