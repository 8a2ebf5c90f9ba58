"""Object stores that lie: any content below any id, in files and in packs, with any size."""

import hashlib
import struct
import zlib
from collections import Counter
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path

Hash = str  # sha1 or sha256


def identity(kind: str, content: bytes, hash_name: Hash = "sha1") -> str:
    """The true id."""
    return hashlib.new(hash_name, f"{kind} {len(content)}\0".encode() + content).hexdigest()


def loose(store: Path, kind: str, content: bytes, *, name: str | None = None, size: int | None = None) -> str:
    """Write an object file; name: its id, if not the true one; size: what it says of itself."""
    object_id = name or identity(kind, content)
    path = store / object_id[:2] / object_id[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    said = len(content) if size is None else size
    path.write_bytes(zlib.compress(f"{kind} {said}\0".encode() + content, 1))
    return object_id


def stream(store: Path, kind: str, size: int, pieces: Iterable[bytes], name: str) -> None:
    """As loose, for content that is too long to be held."""
    path = store / name[:2] / name[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    packer = zlib.compressobj(9)
    with path.open("wb") as file:
        file.write(packer.compress(f"{kind} {size}\0".encode()))
        for piece in pieces:
            file.write(packer.compress(piece))
        file.write(packer.flush())


def tree(rows: Iterable[tuple[str, str, str]]) -> bytes:
    """Content of a folder.  rows: mode, name, id."""
    return b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(object_id) for mode, name, object_id in rows)


def commit(tree_id: str, message: str = "x") -> bytes:
    who = "a <a@example.org> 1700000000 +0000"
    return f"tree {tree_id}\nauthor {who}\ncommitter {who}\n\n{message}\n".encode()


def entry(kind: int, size: int, data: bytes, *, base: int | None = None) -> bytes:
    """One entry of a pack.  kind: 1 commit, 2 tree, 3 blob, 4 tag, 6 delta; base: how far back a delta's base is."""
    head, rest = (kind << 4) | (size & 15), size >> 4
    out = bytearray()
    while rest:
        out.append(head | 0x80)
        head, rest = rest & 0x7F, rest >> 7
    out.append(head)
    if base is not None:
        back = [base & 0x7F]
        while base := base >> 7:
            base -= 1
            back.append(0x80 | (base & 0x7F))
        out += bytes(reversed(back))
    return bytes(out) + zlib.compress(data, 9)


def packed(entries: Iterable[bytes], count: int | None = None) -> bytes:
    """A whole pack.  count: how many objects it says it has."""
    listed = list(entries)
    body = b"PACK" + struct.pack(">II", 2, len(listed) if count is None else count) + b"".join(listed)
    return body + hashlib.sha1(body).digest()


def pack(store: Path, entries: Iterable[tuple[str, bytes]]) -> Path:
    """Write a pack and an index for it.  entries: id that the index shall say, what `entry` made."""
    listed, places, place = list(entries), [], 12
    body = packed(data for _, data in listed)
    end = body[-20:]
    for name, data in listed:
        places.append((bytes.fromhex(name), zlib.crc32(data), place))
        place += len(data)
    places.sort()
    firsts = Counter(name[0] for name, _, _ in places)
    fan = list(accumulate(firsts[first] for first in range(256)))
    index = b"\xfftOc" + struct.pack(">I", 2) + struct.pack(">256I", *fan)
    index += b"".join(name for name, _, _ in places)
    index += b"".join(struct.pack(">I", crc) for _, crc, _ in places)
    index += b"".join(struct.pack(">I", place) for _, _, place in places) + end
    folder = store / "pack"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"pack-{end.hex()}.pack"
    path.write_bytes(body)
    path.with_suffix(".idx").write_bytes(index + hashlib.sha1(index).digest())
    return path
