"""Repositories on this machine that are small and cost a careless reader gigabytes or hours."""

import hashlib
import struct
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from testlist_harness import forge
from testlist_harness.repositories import git

#: bytes that an object of 1.6 MB grows to
HUGE = 1500 << 20
FALSE = "11" * 20
TEST = b"def test_a(): pass\n"
Bomb = Callable[[Path], None]


def zeros(prefix: bytes, count: int) -> bytes:
    """What zlib makes of a prefix and so many megabytes of zeros, made in no time."""
    head = zlib.compressobj(9)
    data = head.compress(prefix) + head.flush(zlib.Z_FULL_FLUSH)
    raw = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = raw.compress(bytes(1 << 20)) + raw.flush(zlib.Z_FULL_FLUSH)
    low, high = zlib.adler32(prefix) & 0xFFFF, zlib.adler32(prefix) >> 16
    check = ((high + low * (count << 20)) % 65521) << 16 | low
    return data + block * count + zlib.compressobj(9, zlib.DEFLATED, -15).flush() + struct.pack(">I", check)


def loose_bomb(store: Path, kind: str, said: int, name: str = FALSE) -> str:
    path = store / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(zeros(f"{kind} {said}\0".encode(), HUGE >> 20))
    return name


def packed_bomb(kind: int, said: int) -> bytes:
    head = forge.entry(kind, said, b"")[: -len(zlib.compress(b"", 9))]
    return head + zeros(b"", HUGE >> 20)


def store(repo: Path) -> Path:
    return repo / ".git" / "objects"


def head(repo: Path, object_id: str) -> None:
    (repo / ".git" / "HEAD").write_text(f"{object_id}\n")


def tag(repo: Path, object_id: str) -> None:
    (repo / ".git" / "refs" / "heads" / "main").write_text(f"{object_id}\n")


def rooted(repo: Path, tree_id: str) -> None:
    head(repo, forge.loose(store(repo), "commit", forge.commit(tree_id)))


def holding(repo: Path, *rows: tuple[str, str, str]) -> None:
    rooted(repo, forge.loose(store(repo), "tree", forge.tree(rows)))


def test_file(blob: str) -> tuple[str, str, str]:
    return ("100644", "test_a.py", blob)


def pack_of(repo: Path, *entries: tuple[str, bytes]) -> None:
    forge.pack(store(repo), entries)


def nested(repo: Path, depth: int, width: int, innermost: str, mode: str = "40000") -> None:
    for level in range(depth):
        below = "40000" if level else mode
        rows = [(below, f"{n:02}", innermost) for n in range(width)]
        innermost = forge.loose(store(repo), "tree", forge.tree(rows))
    rooted(repo, innermost)


def tags_of_tags(repo: Path) -> None:
    target, kind = git(repo, "rev-parse", "HEAD"), "commit"
    for number in range(2_000):
        content = f"object {target}\ntype {kind}\ntag a{number}\ntagger a <a> 1 +0000\n\nx\n".encode()
        target, kind = forge.loose(store(repo), "tag", content), "tag"
    tag(repo, target)


def number(value: int) -> bytes:
    """A size within a delta."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def copies(base: int, result: int) -> bytes:
    """A delta that makes much of little: it copies its base again and again.  base: at most 64 KiB."""
    copy = b"\xb0" + struct.pack("<H", base & 0xFFFF)
    return number(base) + number(result) + copy * (result // base)


def grown(repo: Path, kind: int) -> None:
    """A delta whose result is huge."""
    base = bytes(1 << 15)
    first, delta = forge.entry(kind, len(base), base), copies(1 << 15, HUGE)
    second = forge.entry(6, len(delta), delta, base=len(first))
    pack_of(repo, ("22" * 20, first), (FALSE, second))


def shrunk(repo: Path) -> None:
    """A small file whose base is huge."""
    base = packed_bomb(3, HUGE)
    delta = number(HUGE) + number(len(TEST)) + bytes([len(TEST)]) + TEST
    pack_of(repo, ("22" * 20, base), (FALSE, forge.entry(6, len(delta), delta, base=len(base))))
    holding(repo, test_file(FALSE))


def chain(repo: Path, length: int, files: int) -> None:
    """Small files, each at the end of a long chain of deltas of its own that copy 900 KB."""
    size = 900_000
    copy = number(size) + number(size) + b"\xf0" + struct.pack("<I", size)[:3]
    base = forge.entry(3, size, b"#" * size)
    link = cache(lambda back: forge.entry(6, len(copy), copy, base=back))
    entries, rows = [("22" * 20, base)], []
    place = len(base)
    for n in range(files):
        back = place
        for step in range(length):
            entry = link(back)
            entries.append((hashlib.sha1(b"%d %d" % (n, step)).hexdigest(), entry))
            place, back = place + len(entry), len(entry)
        content = b"def test_%04d(): pass\n" % n
        delta = number(size) + number(len(content)) + bytes([len(content)]) + content
        entry = forge.entry(6, len(delta), delta, base=back)
        entries.append((forge.identity("blob", content), entry))
        rows.append(("100644", f"test_{n:04}.py", entries[-1][0]))
        place += len(entry)
    pack_of(repo, *entries)
    holding(repo, *rows)


def circle(repo: Path) -> None:
    """Two deltas, each the base of the other."""
    ids, delta = ("22" * 20, "33" * 20), number(19) + number(19) + b"\x90\x13"

    def by_name(base: str) -> bytes:
        packed = forge.entry(7, len(delta), delta)
        cut = len(packed) - len(zlib.compress(delta, 9))
        return packed[:cut] + bytes.fromhex(base) + packed[cut:]

    pack_of(repo, (ids[0], by_name(ids[1])), (ids[1], by_name(ids[0])))
    holding(repo, test_file(ids[0]))


def sparse(path: Path, size: int, begin: bytes = b"") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(begin)
        file.truncate(size)


def packed_references(repo: Path) -> None:
    (repo / ".git" / "refs" / "heads" / "main").unlink()
    with (repo / ".git" / "packed-refs").open("wb") as file:
        for _ in range(140):
            file.write((b"%s refs/tags/some-name-of-a-tag\n" % (b"1" * 40)) * 14_500)


def many_references(repo: Path) -> None:
    for n in range(20_000):
        (repo / ".git" / "refs" / "heads" / f"b{n}").write_text("ref: refs/heads/main\n")


def many_packs(repo: Path) -> None:
    for n in range(2_000):
        pack_of(repo, (hashlib.sha1(b"%d" % n).hexdigest(), forge.entry(3, 5, b"%05d" % n)))
    holding(repo, *(("100644", f"test_{n:05}.py", hashlib.sha1(b"a%d" % n).hexdigest()) for n in range(20_000)))


def huge_index(repo: Path) -> None:
    """The index of a pack that claims a hundred million objects."""
    count = 100_000_000
    begin = b"\xfftOc" + struct.pack(">I", 2) + struct.pack(">256I", *[count] * 256)
    sparse(store(repo) / "pack" / "pack-1.idx", len(begin) + count * 28 + 40, begin)
    sparse(store(repo) / "pack" / "pack-1.pack", 1 << 20, b"PACK" + struct.pack(">II", 2, count))
    holding(repo, test_file("0011" * 10))


def disordered_index(repo: Path) -> None:
    pack_of(repo, (FALSE, forge.entry(3, len(TEST), TEST)))
    path = next((store(repo) / "pack").glob("*.idx"))
    path.write_bytes(path.read_bytes()[:8] + b"\xff" * 1024 + path.read_bytes()[1032:])
    holding(repo, test_file(FALSE))


def alternates(repo: Path) -> None:
    before = store(repo)
    for n in range(100):
        (repo / f"s{n}" / "info").mkdir(parents=True)
        (before / "info").mkdir(exist_ok=True)
        (before / "info" / "alternates").write_text(f"{repo}/s{n}\n")
        before = repo / f"s{n}"


def links(repo: Path) -> None:
    """Folders that lead up again, two at a time."""
    for name in ("aa", "ab"):
        path = store(repo) / name
        if not path.exists():
            path.symlink_to("..")


def rows_of(count: int, mode: str) -> bytes:
    return b"".join(b"%s %07d\0" % (mode.encode(), n) + b"1" * 20 for n in range(count))


def configuration(repo: Path) -> None:
    (repo / ".git" / "config").write_text("[include]\n\tpath = config\n" * 100_000)


EMPTY = forge.identity("tree", b"")

#: name -> (what is done to an honest repository, whether it belongs into every run, what is expected)
BOMBS: dict[str, tuple[Bomb, bool, str]] = {
    "a commit": (lambda r: head(r, loose_bomb(store(r), "commit", HUGE)), True, "repository_too_large"),
    "a commit that says it is small": (lambda r: head(r, loose_bomb(store(r), "commit", 200)), True, "commit_not_found"),
    "a tag": (lambda r: tag(r, loose_bomb(store(r), "tag", HUGE)), False, "repository_too_large"),
    "a tag that says it is small": (lambda r: tag(r, loose_bomb(store(r), "tag", 200)), False, "commit_not_found"),
    "a folder": (lambda r: rooted(r, loose_bomb(store(r), "tree", HUGE)), False, "repository_too_large"),
    "a folder that says it is small": (lambda r: rooted(r, loose_bomb(store(r), "tree", 200)), True, "repository_damaged"),
    "a file": (lambda r: holding(r, test_file(loose_bomb(store(r), "blob", HUGE))), True, "too_large"),
    "a file that says it is small": (lambda r: holding(r, test_file(loose_bomb(store(r), "blob", 200))), True, "missing"),
    "a negative size": (lambda r: head(r, loose_bomb(store(r), "commit", -1)), False, "commit_not_found"),
    "a packed commit": (lambda r: (pack_of(r, (FALSE, packed_bomb(1, HUGE))), head(r, FALSE))[1], True, "repository_too_large"),
    "a packed commit that says it is small": (
        lambda r: (pack_of(r, (FALSE, packed_bomb(1, 200))), head(r, FALSE))[1], False, "commit_not_found"),
    "a packed folder": (lambda r: (pack_of(r, (FALSE, packed_bomb(2, HUGE))), rooted(r, FALSE))[1], False, "repository_too_large"),
    "a packed file": (lambda r: (pack_of(r, (FALSE, packed_bomb(3, HUGE))), holding(r, test_file(FALSE)))[1], False, "too_large"),
    "a packed file that says it is small": (
        lambda r: (pack_of(r, (FALSE, packed_bomb(3, 200))), holding(r, test_file(FALSE)))[1], False, "missing"),
    "a packed file of 2^60 bytes": (
        lambda r: (pack_of(r, (FALSE, packed_bomb(3, 1 << 60))), holding(r, test_file(FALSE)))[1], False, "missing too_large"),
    "a delta that grows into a commit": (lambda r: (grown(r, 1), head(r, FALSE))[1], True, "repository_too_large"),
    "a delta that grows into a folder": (lambda r: (grown(r, 2), rooted(r, FALSE))[1], False, "repository_too_large"),
    "a delta that grows into a file": (lambda r: (grown(r, 3), holding(r, test_file(FALSE)))[1], False, "too_large"),
    "a small delta of something huge": (shrunk, True, "too_large"),
    "a chain of 4,000 deltas": (lambda r: chain(r, 4_000, 1), False, "completed"),
    "40 such chains": (lambda r: chain(r, 4_000, 40), False, "completed repository_too_complex"),
    "deltas in a circle": (circle, True, "repository_too_large missing"),
    "10,000 folders in each other": (lambda r: nested(r, 10_000, 1, EMPTY), False, "repository_too_large"),
    "60 folders in each other": (lambda r: nested(r, 60, 1, EMPTY), True, "repository_too_large"),
    "10^20 files": (lambda r: nested(r, 10, 100, forge.loose(store(r), "blob", TEST), "100644"), True, "repository_too_large"),
    "10^20 empty folders": (lambda r: nested(r, 10, 100, forge.loose(store(r), "tree", b"")), True, "repository_too_large"),
    "10^20 links": (lambda r: nested(r, 10, 100, FALSE, "120000"), False, "repository_too_large"),
    "a folder of 700,000 rows": (
        lambda r: rooted(r, forge.loose(store(r), "tree", rows_of(700_000, "100644"))), False, "repository_too_large"),
    "a folder of 300,000 repositories": (
        lambda r: rooted(r, forge.loose(store(r), "tree", rows_of(300_000, "160000"))), False, "repository_too_large"),
    "a name of 4 MB": (lambda r: holding(r, ("100644", "a" * (4 << 20), FALSE)), False, "repository_too_large"),
    "a folder without an end": (
        lambda r: rooted(r, forge.loose(store(r), "tree", rows_of(9, "100644")[:-3])), False, "repository_damaged"),
    "2,000 tags of tags": (tags_of_tags, True, "repository_too_complex"),
    "references in a circle": (
        lambda r: (r / ".git" / "refs" / "heads" / "main").write_text("ref: refs/heads/main\n") and None, True, "repository_damaged"),
    "a HEAD of 4 GB": (lambda r: sparse(r / ".git" / "HEAD", 4 << 30), True, "repository_too_large"),
    "130 MB of packed references": (packed_references, False, "repository_too_large"),
    "packed references in one line of 100 MB": (
        lambda r: (sparse(r / ".git" / "packed-refs", 100 << 20), (r / ".git" / "refs" / "heads" / "main").unlink())[1],
        False, "repository_damaged"),
    "20,000 references": (many_references, False, "completed"),
    "a configuration that includes itself": (configuration, True, "completed"),
    "a configuration of 4 GB": (lambda r: sparse(r / ".git" / "config", 4 << 30), True, "completed"),
    "an index of 4 GB": (lambda r: sparse(r / ".git" / "index", 4 << 30, b"DIRC\0\0\0\2\xff\xff\xff\xff"), True, "completed"),
    "2,000 packs and 20,000 missing files": (many_packs, False, "completed missing repository_too_complex"),
    "an index of 100 million packed objects": (huge_index, False, "repository_too_large"),
    "an index of a pack in disorder": (disordered_index, False, "missing"),
    "a multi-pack index of 4 GB": (
        lambda r: sparse(store(r) / "pack" / "multi-pack-index", 4 << 30, b"MIDX\1\1\4\0\0\0\0\1"), False, "completed repository_too_large"),
    "a list of commits of 4 GB": (
        lambda r: sparse(store(r) / "info" / "commit-graph", 4 << 30, b"CGPH\1\1\4\0"), False, "completed"),
    "100 alternates of alternates": (alternates, True, "repository_too_complex"),
    "alternates of 1 MB": (
        lambda r: ((store(r) / "info").mkdir(exist_ok=True), (store(r) / "info" / "alternates").write_text("x\n" * 500_000))[0],
        True, "repository_too_large"),
    "folders that lead up again": (links, False, "repository_too_large repository_damaged"),
}  # fmt: skip
