"""The last inventory of a repository, from what is stored of it."""

import zlib
from collections.abc import Mapping

from testlist import Inventory
from testlist.packing import unpacked_inventory

from app.store.analyses.last_inventories import LastInventory


def earlier_of(last: LastInventory | None) -> tuple[Inventory | None, Mapping[str, bytes]]:
    """The inventory, and by path the digests of its files as they are stored; None and nothing if it does not fit."""
    if last is None:
        return None, {}
    try:
        earlier = unpacked_inventory(last.content, "")
    except (ValueError, TypeError, KeyError, zlib.error):  # of a release that packed them otherwise
        return None, {}
    if len(earlier.files) != len(last.digests):
        return None, {}
    return earlier, {file.path: digest for file, digest in zip(earlier.files, last.digests, strict=True)}
