"""The inventory engine: a Git object store in, a list of tests out.  Nothing is checked out and nothing is run."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tasks.inventory.engine import inventory
    from tasks.inventory.errors import InventoryError
    from tasks.inventory.git import Source, fetched, resolve
    from tasks.inventory.gitprocess import GitLimits
    from tasks.inventory.model import Facts, FactsCache, FactsKey, FileInventory, Inventory, Test
    from tasks.inventory.parsers import ParseLimits
    from tasks.inventory.pulse import Checkpoint
    from tasks.inventory.repository import Repository
    from tasks.inventory.version import PARSER_VERSION
else:
    #: Where these names come from.  Nothing is imported before it is asked for: parsing children import this package
    #: too, and half their start would be spent on what they do not use.
    HOMES: Final = {
        "engine": ("inventory",),
        "errors": ("InventoryError",),
        "git": ("Source", "fetched", "resolve"),
        "gitprocess": ("GitLimits",),
        "model": ("Facts", "FactsCache", "FactsKey", "FileInventory", "Inventory", "Test"),
        "parsers": ("ParseLimits",),
        "pulse": ("Checkpoint",),
        "repository": ("Repository",),
        "version": ("PARSER_VERSION",),
    }

    def __getattr__(name: str) -> object:
        home = next((module for module, names in HOMES.items() if name in names), None)
        if home is None:
            raise AttributeError(name)
        found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
        return found


__all__ = [
    "PARSER_VERSION",
    "Checkpoint",
    "Facts",
    "FactsCache",
    "FactsKey",
    "FileInventory",
    "GitLimits",
    "Inventory",
    "InventoryError",
    "ParseLimits",
    "Repository",
    "Source",
    "Test",
    "fetched",
    "inventory",
    "resolve",
]
