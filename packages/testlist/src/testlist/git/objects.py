"""Objects of one repository: their sizes are asked first, and what they hold is hashed before anybody sees it.

git believes what an object file or the index of a pack says of itself.  Whoever can write such files could otherwise
put any content under any id, and results are shared by id.
"""

import hashlib
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from signal import SIGKILL
from typing import Final, NamedTuple, Self

from testlist.errors import InventoryError
from testlist.git.containment import damaged
from testlist.git.conversation import Conversation
from testlist.git.errors import meaning
from testlist.git.process import GitLimits, environment
from testlist.progress import Progress

#: bytes of the line before an object's content
LINE: Final = 512
#: objects that make git stumble before a repository counts as damaged as a whole; each costs a new process
STUMBLES: Final = 64
#: digits of an id -> the hash it is made by
HASHES: Final = {40: "sha1", 64: "sha256"}


class Refusal(StrEnum):
    """Why an object has no content for us."""

    TOO_LARGE = "too_large"
    MISSING = "missing"  #: not here, not readable, or not what its id says


class Header(NamedTuple):
    """What an object says of itself.  kind: commit, tree, blob or tag; size: in bytes."""

    object_id: str
    kind: str
    size: int


class OutOfStepError(Exception):
    """git's answer is not that to our question."""


@dataclass(slots=True)
class Objects:
    """Reads objects by two processes.  Use as a context manager.

    directory: of the repository; store: its object folder, where that is elsewhere; reads: all that are elsewhere.
    """

    directory: Path
    limits: GitLimits = field(default_factory=GitLimits)
    progress: Progress = field(default_factory=Progress)
    store: Path | None = None
    reads: Sequence[Path] = ()
    stumbles: int = 0
    checks: Conversation = field(init=False)
    contents: Conversation = field(init=False)

    def __post_init__(self) -> None:
        env = environment(()) | {"GIT_DIR": str(self.directory)}
        if self.store is not None:
            env["GIT_OBJECT_DIRECTORY"] = str(self.store)
        check = ["cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)"]
        self.checks = Conversation(check, env, self.limits, self.progress, self.directory, self.reads)
        self.contents = Conversation(
            ["cat-file", "--batch"], env, self.limits, self.progress, self.directory, self.reads
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.checks.close()
        self.contents.close()

    def headers(self, names: Collection[str]) -> dict[str, Header]:
        """What those that are here say of themselves.  names: ids, also short ones.  Raises: InventoryError."""
        found: dict[str, Header] = {}
        answers = 0
        # the answers come first: a zip that ends with the names would leave git before it has told that it is done
        for line, name in zip(self.checks.ask(list(names), _line), names, strict=False):
            answers += 1
            words = line.decode("ascii", "replace").split(" ")
            if len(words) == 3 and words[2].isdecimal():
                found[name] = Header(words[0], words[1], int(words[2]))
        if answers < len(names):
            raise self._failure(self.checks)
        return found

    def read(self, headers: Iterable[Header]) -> Iterator[tuple[str, bytes | Refusal]]:
        """Yield (id, content) in the given order; a refusal where there is none, or not that of the id."""
        left = deque(headers)

        def take(buffer: bytearray) -> bytes | Refusal | None:
            return _content(buffer, left[0])

        while left:
            with suppress(OutOfStepError):
                answers: Iterator[bytes | Refusal] = self.contents.ask([one.object_id for one in left], take)
                for content in answers:
                    yield left.popleft().object_id, content
            if left:
                yield left[0].object_id, self._stumbled()
                left.popleft()

    def one(self, header: Header, limit: int) -> bytes | None:
        """Content of one object; None if it is missing.  Raises: InventoryError repository_too_large."""
        content = Refusal.TOO_LARGE if header.size > limit else next(iter(dict(self.read([header])).values()))
        if content is Refusal.TOO_LARGE:
            raise InventoryError("repository_too_large", f"The repository has a {header.kind} larger than the limit.")
        return None if isinstance(content, Refusal) else content

    def _stumbled(self) -> Refusal:
        """Why git gave no answer, or a wrong one.  Raises: InventoryError when that happens too often."""
        failure = self._failure(self.contents)
        self.stumbles += 1
        if failure.retryable or failure.code == "repository_too_complex" or self.stumbles > STUMBLES:
            raise failure
        return Refusal.TOO_LARGE if failure.code == "repository_too_large" else Refusal.MISSING

    def _failure(self, conversation: Conversation) -> InventoryError:
        failure = meaning(conversation.errors, conversation.exit_code)
        if failure.code in ("repository_too_large", "repository_too_complex"):
            return failure
        if conversation.exit_code == -SIGKILL and not conversation.errors:
            return failure
        return damaged("git cannot read its objects")


def hashed(kind: str, content: bytes, object_id: str) -> bool:
    """Whether the content is that of the id."""
    name = HASHES.get(len(object_id))
    if name is None:
        return False
    digest = hashlib.new(name, f"{kind} {len(content)}\0".encode(), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest() == object_id


def _line(buffer: bytearray) -> bytes | None:
    end = buffer.find(b"\n")
    if end < 0:
        return None
    line = bytes(buffer[:end])
    del buffer[: end + 1]
    return line


def _content(buffer: bytearray, header: Header) -> bytes | Refusal | None:
    """Take one answer of `cat-file --batch`.  Raises: OutOfStepError if it is not the one that is due."""
    end = buffer.find(b"\n", 0, LINE)
    if end < 0:
        if len(buffer) > LINE:
            raise OutOfStepError
        return None
    line = bytes(buffer[:end]).decode("ascii", "replace")
    if line == f"{header.object_id} missing":
        del buffer[: end + 1]
        return Refusal.MISSING
    stop = end + 1 + header.size
    if line != f"{header.object_id} {header.kind} {header.size}":
        raise OutOfStepError
    if len(buffer) <= stop:
        return None
    content = bytes(memoryview(buffer)[end + 1 : stop])
    # an object that lies about itself may do so about its length: nothing after it can be trusted to begin there
    if buffer[stop : stop + 1] != b"\n" or not hashed(header.kind, content, header.object_id):
        raise OutOfStepError
    del buffer[: stop + 1]
    return content
