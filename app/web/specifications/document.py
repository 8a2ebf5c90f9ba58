"""A specification with what says where it comes from: its repository, commit, version and generator."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.domain.specification import Specification, Subject
from app.web.line_links import line_link


@dataclass(frozen=True, slots=True)
class Source:
    """The commit that was read.  url: of the repository, for a person; ref: a branch or tag, if one was named."""

    host: str
    owner: str
    name: str
    url: str
    commit: str
    ref: str | None = None

    @property
    def title(self) -> str:
        """The repository as people name it."""
        return self.name if self.is_local else f"{self.owner}/{self.name}"

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this machine, so that there is no page of it."""
        return self.host == "local"

    def link(self, subject: Subject) -> str | None:
        """Where the host shows the test; None for a host that is not known."""
        return line_link(self.host, f"{self.owner}/{self.name}", self.commit, subject.file, subject.line)


@dataclass(frozen=True, slots=True)
class Document:
    """One version of a specification.  generator: its name; generated_at: when it was completed."""

    specification: Specification
    source: Source
    version: int
    generator: str
    generated_at: datetime
