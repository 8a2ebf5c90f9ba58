"""Facts of files: from the cache where they are known, else read from git and parsed in children."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from testlist.git.objects import Refusal
from testlist.git.repository import Repository
from testlist.model import Facts, FactsCache, FactsKey
from testlist.progress import Progress
from testlist.sandbox.parsers import Job, Parsers

#: Outcomes that the blob's content alone decides.  A timeout or a killed child may be the machine's fault, and what was
#: too large to be read was not hashed either: a repository may give any size to the id of another tenant's file.
LASTING: Final = frozenset({"binary", "unreadable"})
STORED_AT_ONCE: Final = 256
#: Facts that are loaded before their texts are shared; the service asks its database this often.
AT_ONCE: Final = 2_000
#: files of a commit from which on shared texts are worth a fifth of the time that a second run takes
MANY: Final = 5_000


class Words(dict[Any, Any]):
    """Texts and numbers of facts, each once: two thirds of the texts are also in other files, as names of keys are.

    Lists of texts as well: imports, modifiers and marks.  Nobody changes facts.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lists: dict[tuple[str, ...], list[str]] = {}

    def __missing__(self, one: Any) -> Any:
        self[one] = one
        return one

    def share(self, facts: Facts) -> Facts:
        """Share the facts of texts and numbers that are here."""
        return {self[key]: self._shared(value) for key, value in facts.items()}

    def _shared(self, value: Any) -> Any:
        if type(value) is str or type(value) is int:
            return self[value]
        if type(value) is list:
            found = [self[one] if type(one) is str else self._shared(one) for one in value]
            return self.lists.setdefault(tuple(found), found) if all(type(one) is str for one in found) else found
        return self.share(value) if type(value) is dict else value


@dataclass(slots=True)
class Loader:
    """Reads files of one repository.  known: what was read and is not forgotten."""

    repository: Repository
    parsers: Parsers
    cache: FactsCache | None
    progress: Progress
    known: dict[FactsKey, Facts] = field(default_factory=dict)
    fresh: dict[FactsKey, Facts] = field(default_factory=dict)
    words: Words = field(default_factory=Words)
    is_final: bool = True  # whether each file, configuration too, was read or never will be
    is_same_again: bool = True  # the same, but for files that this repository gives another size than may be read
    done: int = 0  # files since the count began
    total: int | None = None  # of them, as far as is known; None before the count begins

    def expect(self, keys: Collection[FactsKey]) -> None:
        """Begin to count how far the run is: most of its files are among these.

        What they lead to is counted as it is read: the share that is done never falls.
        """
        self.total = len(keys)
        self.progress.at("fetching", 0, self.total)

    def read(self, blobs: Mapping[str, str], languages: Mapping[str, str]) -> dict[str, Facts]:
        """Facts by path; {"skipped": code} for a file that could not be read.

        blobs: path -> blob id, at least of those files; languages: path -> language or format of each file to be read.
        """
        wanted = {path: FactsKey(blobs[path], language) for path, language in languages.items()}
        self._count(self._recall(wanted.values()))
        for key, facts in self._read(sorted(set(wanted.values()) - self.known.keys())):
            self.known[key] = self.share(facts)
            self._keep(key, facts)
            self._count(1)
        self.flush()
        return {path: self.known[key] for path, key in wanted.items()}

    def known_of(self, blobs: Mapping[str, str], languages: Mapping[str, str]) -> dict[str, Facts]:
        """Facts by path as far as the cache has them, of blobs that need not be in the repository."""
        wanted = {path: FactsKey(blobs[path], language) for path, language in languages.items()}
        self._recall(wanted.values())
        return {path: self.known[key] for path, key in wanted.items() if key in self.known}

    def share(self, facts: Facts) -> Facts:
        """The facts, with texts that are shared if there are many files."""
        return self.words.share(facts) if (self.total or 0) > MANY else facts

    def forget(self) -> None:
        """Let go of what was read; it is read again if somebody asks for it."""
        self.known = {}
        self.forget_words()

    def forget_words(self) -> None:
        """Let go of what makes texts one, when a language is read."""
        self.words = Words()

    def flush(self) -> None:
        """Hand new facts to the cache."""
        if self.fresh and self.cache is not None:
            self.cache.store(self.fresh)
        self.fresh = {}

    def _recall(self, keys: Iterable[FactsKey]) -> int:
        """Take what is not known yet from the cache; returns how much that was."""
        missing, before = sorted(set(keys) - self.known.keys()), len(self.known)
        if self.cache is not None:
            for batch in (missing[start : start + AT_ONCE] for start in range(0, len(missing), AT_ONCE)):
                self.known |= {key: self.share(facts) for key, facts in self.cache.load(batch).items()}
        return len(self.known) - before

    def _count(self, files: int) -> None:
        if self.total is None or not files:
            self.progress.beat()
            return
        self.done += files
        self.total = max(self.total, self.done)
        self.progress.at("parsing", self.done, self.total)

    def _keep(self, key: FactsKey, facts: Facts) -> None:
        if "skipped" not in facts or facts["skipped"] in LASTING:
            self.fresh[key] = facts
        else:
            self.is_final = False
            # the next run of this repository refuses it again, whatever size another one gives to its id
            self.is_same_again &= facts["skipped"] == Refusal.TOO_LARGE
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
