"""Facts of files: from the cache where they are known, else read from git and parsed in children."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from testlist.git.objects import Refusal
from testlist.git.repository import Repository
from testlist.model import Facts, FactsCache, FactsKey
from testlist.progress import Progress
from testlist.sandbox.parsers import Job, Parsers

#: Outcomes that the blob's content alone decides.  A timeout or a killed child may be the machine's fault, and what was
#: too large to be read was not hashed either: a repository may give any size to the id of another tenant's file.
LASTING: Final = frozenset({"binary", "unreadable"})
STORED_AT_ONCE: Final = 256


@dataclass(slots=True)
class Loader:
    """Reads files of one repository.  known: everything read in this run."""

    repository: Repository
    parsers: Parsers
    cache: FactsCache | None
    progress: Progress
    known: dict[FactsKey, Facts] = field(default_factory=dict)
    fresh: dict[FactsKey, Facts] = field(default_factory=dict)
    done: int = 0  # files since the count began
    total: int | None = None  # of them, as far as is known; None before the count begins

    def load(self, wanted: Mapping[str, FactsKey], *, counted: bool = False) -> dict[str, Facts]:
        """Facts by path; {"skipped": code} for a file that could not be read.  wanted: path -> key.

        counted: most files of the run are among these, so here begins the count of how far it is.  What they lead to
        is counted as it is read: the share that is done never falls.
        """
        missing = sorted(set(wanted.values()) - self.known.keys())
        if missing and self.cache is not None:
            self.known |= self.cache.load(missing)
        missing = [key for key in missing if key not in self.known]
        if counted:
            self.total = len(missing)
            self.progress.at("fetching", 0, self.total)
        for key, facts in self._read(missing):
            self.known[key] = facts
            self._keep(key, facts)
            self._count()
        self.flush()
        return {path: self.known[key] for path, key in wanted.items()}

    def flush(self) -> None:
        """Hand new facts to the cache."""
        if self.fresh and self.cache is not None:
            self.cache.store(self.fresh)
        self.fresh = {}

    def _count(self) -> None:
        if self.total is None:
            self.progress.beat()
            return
        self.done += 1
        self.total = max(self.total, self.done)
        self.progress.at("parsing", self.done, self.total)

    def _keep(self, key: FactsKey, facts: Facts) -> None:
        if "skipped" not in facts or facts["skipped"] in LASTING:
            self.fresh[key] = facts
        if len(self.fresh) >= STORED_AT_ONCE:
            self.flush()

    def _read(self, keys: list[FactsKey]) -> Iterator[tuple[FactsKey, Facts]]:
        if not keys:
            return
        refused: dict[FactsKey, Facts] = {}
        for text, facts in self.parsers.parse(self._jobs(keys, refused)):
            blob_id, _, language = text.partition(" ")
            yield FactsKey(blob_id, language), facts
        yield from refused.items()

    def _jobs(self, keys: list[FactsKey], refused: dict[FactsKey, Facts]) -> Iterator[Job]:
        languages: dict[str, list[str]] = {}
        for key in keys:
            languages.setdefault(key.blob_id, []).append(key.language)
        for blob_id, content in self.repository.read(languages):
            for language in languages[blob_id]:
                if isinstance(content, Refusal):
                    refused[FactsKey(blob_id, language)] = {"skipped": content.value}
                else:
                    yield Job(f"{blob_id} {language}", language, content)
