"""The inventory engine: a Git object store in, a list of tests out.  Nothing is checked out and nothing is run."""

from collections.abc import Sequence

from tasks.inventory.errors import InventoryError
from tasks.inventory.git import Source, fetched, resolve
from tasks.inventory.gitprocess import GitLimits
from tasks.inventory.interface import Framework
from tasks.inventory.model import Checkpoint, Facts, FactsCache, FactsKey, FileInventory, Inventory, Test, silent
from tasks.inventory.parsers import ParseLimits
from tasks.inventory.repository import Repository
from tasks.inventory.version import PARSER_VERSION

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


def inventory(
    repo: Repository,
    *,
    cache: FactsCache | None = None,
    checkpoint: Checkpoint = silent,
    limits: ParseLimits | None = None,
    frameworks: Sequence[Framework] | None = None,
) -> Inventory:
    """List every test of a commit.  A file that cannot be read is listed with the reason, and harms no other.

    Raises: InventoryError for the repository as a whole; whatever the checkpoint raises.
    """
    # imported here because parsing children import this package too, and half their start would be spent on it
    from tasks.inventory.engine import run  # noqa: PLC0415

    return run(repo, cache=cache, checkpoint=checkpoint, limits=limits, frameworks=frameworks)
