"""Git hosts that answer with little and cost a careless client gigabytes or hours."""

import gzip
from collections.abc import Callable, Iterator

from testlist_harness import forge
from testlist_harness.bombs import FALSE, HUGE, TEST, copies, packed_bomb, zeros
from testlist_harness.packhost import Answers

BLOB = forge.identity("blob", TEST)
TREE = forge.tree([("100644", "test_a.py", BLOB)])
COMMIT = forge.commit(forge.identity("tree", TREE))
HEAD = forge.identity("commit", COMMIT)
HONEST = (forge.entry(1, len(COMMIT), COMMIT), forge.entry(2, len(TREE), TREE))
FILE = forge.entry(3, len(TEST), TEST)


def with_commit(*entries: bytes, count: int | None = None) -> Answers:
    return Answers(HEAD, forge.packed([*HONEST, *entries], count), forge.packed([FILE]))


def with_blobs(*entries: bytes, count: int | None = None) -> Answers:
    return Answers(HEAD, forge.packed(HONEST), forge.packed(entries, count))


def grown(kind: int) -> list[bytes]:
    first, delta = forge.entry(kind, 1 << 15, bytes(1 << 15)), copies(1 << 15, HUGE)
    return [first, forge.entry(6, len(delta), delta, base=len(first))]


def long_stream() -> bytes:
    """A blob of 40 GB."""
    return forge.entry(3, 40 << 30, b"")[:-8] + zeros(b"", 40 << 10)


def endless() -> Iterator[bytes]:
    for n in range(3_000_000):
        yield b"%s refs/heads/HEAD-%d\n" % (FALSE.encode(), n)


def alike() -> Iterator[bytes]:
    for _ in range(400_000):
        yield b"%s refs/tags/x/refs/heads/main\n" % FALSE.encode()


#: name -> (what the host answers, whether it belongs into every run, what is expected)
FETCHED: dict[str, tuple[Callable[[], Answers], bool, str]] = {
    "an honest host": (lambda: with_blobs(FILE), True, "completed"),
    "a fetched commit": (lambda: Answers(FALSE, forge.packed([packed_bomb(1, HUGE)])), True, "repository_too_large"),
    "a fetched commit beside the one": (lambda: with_commit(packed_bomb(1, HUGE)), False, "repository_too_large"),
    "a fetched folder": (lambda: with_commit(packed_bomb(2, HUGE)), False, "repository_too_large"),
    "a fetched tag": (lambda: with_commit(packed_bomb(4, HUGE)), False, "repository_too_large"),
    "a fetched delta that grows": (lambda: with_commit(*grown(2)), True, "repository_too_large repository_damaged"),
    "a fetched file": (lambda: with_blobs(packed_bomb(3, HUGE)), False, "repository_too_complex too_large missing"),
    "a fetched file of 40 GB": (lambda: with_blobs(long_stream()), False, "repository_too_complex too_large"),
    "15 fetched files that nobody asked for": (
        lambda: with_commit(*(packed_bomb(3, HUGE) for _ in range(15))), False, "repository_too_complex repository_too_large"),
    "a fetched file that is a delta": (lambda: with_blobs(*grown(3)), False, "too_large"),
    "a fetched object that says it is small": (lambda: with_commit(packed_bomb(1, 200)), True, "repository_damaged"),
    "a fetched pack of 4 billion objects": (
        lambda: with_commit(count=4_000_000_000), True, "repository_too_large repository_damaged"),
    "compressed references": (
        lambda: Answers(HEAD, b"", squeeze=gzip.compress(bytes(HUGE), 1)), False, "repository_too_large repository_too_complex"),
    "3,000,000 references": (
        lambda: Answers(HEAD, forge.packed(HONEST), forge.packed([FILE]), references=endless), False,
        "completed repository_too_large repository_too_complex"),
    "400,000 references of one name": (
        lambda: Answers(HEAD, forge.packed(HONEST), forge.packed([FILE]), references=alike), False,
        "completed repository_too_large repository_too_complex"),
}  # fmt: skip
