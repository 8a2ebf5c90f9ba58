"""Where the parts of a repository on this machine are.  All of them have to resolve below its root.

Git follows a `.git` file, `commondir`, alternates and links of every kind wherever they lead.  So they are followed
here first, each time a repository is opened, and git is then given the object folders alone: it reads neither the
repository's configuration nor its references (`refs`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from testlist.errors import InventoryError
from testlist.git.containment import content, damaged, resolved, survey

#: bytes of a file that holds one path
POINTER: Final = 8_192
#: bytes of a list of alternates, and how many object folders there may be in all
ALTERNATES, STORES = 65_536, 64
NOT_A_REPOSITORY: Final = "This directory is not a Git repository."


@dataclass(frozen=True, slots=True)
class Layout:
    """Parts of one repository, resolved.  stores: object folders, the repository's own first."""

    root: Path
    head: Path  # the folder of HEAD; of a linked work tree not the one of the references
    common: Path
    stores: tuple[Path, ...]

    @property
    def excludes(self) -> list[Path]:
        """The file of what only this clone ignores, if there is one."""
        own = self.common / "info" / "exclude"
        return [own] if own.is_file() else []


def layout(path: Path, root: Path | None = None) -> Layout:
    """Find and check the parts.  root: None lets them lie anywhere on this machine.

    Raises: InventoryError repository_not_found, repository_outside_root, repository_damaged, repository_too_large.
    """
    root = Path("/") if root is None else root
    place = resolved(path, root)
    if place is None or not place.is_dir():
        raise InventoryError("repository_not_found", "There is no such directory.")
    head = _git_folder(place, root)
    common = _common_folder(head, root)
    own = _folder(common / "objects", root)
    if own is None or not (_is_link(head / "HEAD", root) or content(head / "HEAD", root, POINTER)):
        raise InventoryError("repository_not_found", NOT_A_REPOSITORY)
    stores = _stores(own, root)
    references = _folder(common / "refs", root)
    for folder in (*stores, *([references] if references else [])):
        survey(folder, root)
    for part in (head / "HEAD", common / "packed-refs"):
        resolved(part, root)
    return Layout(root, head, common, stores)


def _git_folder(place: Path, root: Path) -> Path:
    """`.git` of a work tree, where a `.git` file points, or the place itself."""
    dot_git = place / ".git"
    found = resolved(dot_git, root)
    if found is None:
        return place
    if found.is_dir():
        return found
    pointer = content(found, root, POINTER) or b""
    if not pointer.startswith(b"gitdir: "):
        raise InventoryError("repository_not_found", NOT_A_REPOSITORY)
    return _pointed(pointer.removeprefix(b"gitdir: "), place, root)


def _common_folder(head: Path, root: Path) -> Path:
    pointer = content(head / "commondir", root, POINTER)
    return head if pointer is None else _pointed(pointer, head, root)


def _pointed(pointer: bytes, base: Path, root: Path) -> Path:
    """The folder a file of one path names."""
    text = _text(pointer.rstrip(b"\r\n"))
    found = _folder(base / text, root) if text else None
    if found is None:
        raise InventoryError("repository_not_found", "The repository points at a folder that does not exist.")
    return found


def _is_link(path: Path, root: Path) -> bool:
    """Whether it is a link; the oldest form of a HEAD is one, to a branch that need not exist yet."""
    resolved(path, root)
    return path.is_symlink()


def _folder(path: Path, root: Path) -> Path | None:
    found = resolved(path, root)
    return found if found is not None and found.is_dir() else None


def _stores(own: Path, root: Path) -> tuple[Path, ...]:
    """The object folder and its alternates, theirs too."""
    stores, seen = [own], 0
    while seen < len(stores):
        store, seen = stores[seen], seen + 1
        listed = content(store / "info" / "alternates", root, ALTERNATES) or b""
        for line in listed.split(b"\n"):
            if not line or line.startswith(b"#"):
                continue
            # git would read a quoted line, or one with a NUL, in its own way
            if line.startswith(b'"') or b"\0" in line:
                raise damaged("its list of alternates cannot be read")
            found = _folder(store / _text(line), root)
            if found is not None and found not in stores:
                stores.append(found)
            if len(stores) > STORES:
                raise InventoryError("repository_too_complex", "The repository has too many alternates.")
    return tuple(stores)


def _text(raw: bytes) -> str:
    if b"\0" in raw or b"\n" in raw:
        raise damaged("a path in it cannot be read")
    return raw.decode("utf-8", "surrogateescape")
