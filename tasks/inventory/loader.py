"""Facts of files: from the cache where they are known, else read from git and parsed in children."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tasks.inventory.model import Facts, FactsCache, FactsKey
from tasks.inventory.parsers import Job, Parsers
from tasks.inventory.pulse import Pulse
from tasks.inventory.repository import Refusal, Repository

#: outcomes that the blob alone decides; a timeout or a killed child may be the machine's fault
LASTING: Final = frozenset({"too_large", "binary", "unreadable"})
STORED_AT_ONCE: Final = 256


@dataclass(slots=True)
class Loader:
    """Reads files of one repository.  known: everything read in this run."""

    repository: Repository
    parsers: Parsers
    cache: FactsCache | None
    pulse: Pulse
    known: dict[FactsKey, Facts] = field(default_factory=dict)
    fresh: dict[FactsKey, Facts] = field(default_factory=dict)

    def load(self, wanted: Mapping[str, FactsKey]) -> dict[str, Facts]:
        """Facts by path; {"skipped": code} for a file that could not be read.  wanted: path -> key."""
        missing = sorted(set(wanted.values()) - self.known.keys())
        if missing and self.cache is not None:
            self.known |= self.cache.load(missing)
        missing = [key for key in missing if key not in self.known]
        self.pulse.at("fetching", 0, len(missing))
        for done, (key, facts) in enumerate(self._read(missing), 1):
            self.known[key] = facts
            self._keep(key, facts)
            self.pulse.at("parsing", done, len(missing))
        self.flush()
        return {path: self.known[key] for path, key in wanted.items()}

    def flush(self) -> None:
        """Hand new facts to the cache."""
        if self.fresh and self.cache is not None:
            self.cache.store(self.fresh)
        self.fresh = {}

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
