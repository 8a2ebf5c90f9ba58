"""The inventory engine: a Git object store in, a list of tests out.  Nothing is checked out and nothing is run."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

#: Another system has no Landlock, and none of the calls that start and end a child safely (ADR 0092).
LINUX_ONLY: Final = "testlist runs on Linux only: on macOS and Windows use a container, or WSL 2"

if TYPE_CHECKING:
    from testlist.engine import inventory
    from testlist.errors import InventoryError
    from testlist.git.default_branch import DefaultBranch, on_default_branch
    from testlist.git.fetch import Source, fetched, resolve
    from testlist.git.process import GitLimits
    from testlist.git.repository import Repository
    from testlist.model import Facts, FactsCache, FactsKey, FileInventory, Inventory, Test
    from testlist.progress import Checkpoint
    from testlist.sandbox.parsers import ParseLimits
    from testlist.version import PARSER_VERSION
else:
    #: Where these names come from.  Nothing is imported before it is asked for: parsing children import this package
    #: too, and half their start would be spent on what they do not use.
    HOMES: Final = {
        "engine": ("inventory",),
        "errors": ("InventoryError",),
        "git.default_branch": ("DefaultBranch", "on_default_branch"),
        "git.fetch": ("Source", "fetched", "resolve"),
        "git.process": ("GitLimits",),
        "model": ("Facts", "FactsCache", "FactsKey", "FileInventory", "Inventory", "Test"),
        "sandbox.parsers": ("ParseLimits",),
        "progress": ("Checkpoint",),
        "git.repository": ("Repository",),
        "version": ("PARSER_VERSION",),
    }

    def __getattr__(name: str) -> object:
        home = next((module for module, names in HOMES.items() if name in names), None)
        if home is None:
            raise AttributeError(name)
        if sys.platform != "linux":
            raise ImportError(LINUX_ONLY)
        found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
        return found


__all__ = [
    "PARSER_VERSION",
    "Checkpoint",
    "DefaultBranch",
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
    "on_default_branch",
    "resolve",
]
