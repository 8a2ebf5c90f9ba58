"""The facts of many files as one object: a line for each, compressed together."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from app.domain.inventories import Facts

#: (blob_id, language)
FactsKey = tuple[str, str]

#: Facts from which on they are an object; fewer are rows.  A later commit has one or two new files, of 4 kB each, and
#: an object for each of them would have to be read by itself.
WORTH_AN_OBJECT: Final = 64
#: Of compression: a quarter of the JSON, and as fast as a disk.
LEVEL: Final = 1


def packed(facts: Mapping[FactsKey, Facts], parser_version: str) -> bytes:
    """The facts as bytes, in the order of their keys.  Equal facts of two parser versions differ."""
    lines = [parser_version]
    lines += [f"{key[0]}\t{key[1]}\t{json.dumps(facts[key], separators=(',', ':'))}" for key in sorted(facts)]
    return zlib.compress("\n".join(lines).encode(), LEVEL)


def unpacked(content: bytes, wanted: Collection[FactsKey]) -> Iterator[tuple[FactsKey, Facts]]:
    """The facts of these keys, as far as the object has them; the other lines are not read."""
    for line in zlib.decompress(content).decode().split("\n")[1:]:
        blob_id, language, facts = line.split("\t", 2)
        if (blob_id, language) in wanted:
            yield (blob_id, language), json.loads(facts)
