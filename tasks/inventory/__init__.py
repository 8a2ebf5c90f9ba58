"""The inventory engine: a Git object store in, a list of tests out.  Nothing is checked out and nothing is run."""

from .engine import inventory
from .errors import InventoryError
from .git import Source, fetched, resolve
from .gitprocess import GitLimits
from .model import Checkpoint, Facts, FactsCache, FactsKey, FileInventory, Inventory, Test
from .parsers import ParseLimits
from .repository import Repository
from .version import PARSER_VERSION

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
