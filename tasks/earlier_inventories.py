"""The last inventory of a repository, as it is stored and as the engine takes it."""

from collections.abc import Mapping
from typing import Final

from testlist import Inventory
from testlist.packing import packed_inventory, unpacked_inventory

from app.store.analyses.last_inventories import LastInventory

#: Of the rows and checks of a file as they are stored (`file_rows`), and of this form: raised with each change of them,
#: as files that are taken over keep what was rendered before.
FORM: Final = b"3"


def last_of(found: Inventory) -> bytes | None:
    """What is stored for the next analysis; None if it would not help."""
    content = None if found.basis is None else packed_inventory(found)
    return None if content is None else FORM + content


def earlier_of(last: LastInventory | None) -> tuple[Inventory | None, Mapping[str, bytes]]:
    """The inventory, and by path the digests of its files as they are stored; None and nothing if it does not fit."""
    if last is None or last.content[:1] != FORM:
        return None, {}
    try:
        earlier = unpacked_inventory(last.content[1:], "")
    except Exception:  # noqa: BLE001 - of a release that packed them otherwise
        return None, {}
    if len(earlier.files) != len(last.digests):
        return None, {}
    return earlier, {file.path: digest for file, digest in zip(earlier.files, last.digests, strict=True)}
