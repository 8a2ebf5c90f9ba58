"""A repository on this machine: from a name to a commit, and its objects opened for reading in place."""

from pathlib import Path
from typing import Final

from testlist.errors import InventoryError
from testlist.git.errors import meaning
from testlist.git.layout import Layout, layout
from testlist.git.objects import HASHES, Header, Objects
from testlist.git.process import GitLimits, GitProcess, environment
from testlist.git.refs import OBJECT_ID, TAG, branch, lookup
from testlist.git.revisions import SHORT, Revision
from testlist.progress import Progress

#: Folders that git takes for a repository without anything in it, one for each kind of id: no configuration of
#: anybody's, no references.  Objects come from elsewhere.
NOWHERE: Final = Path(__file__).with_name("nowhere")
#: tags that tag tags
TAGS: Final = 16


def opened(place: Layout, example: str, limits: GitLimits, progress: Progress) -> Objects:
    """The objects of a repository.  example: an id of it."""
    directory = NOWHERE / HASHES.get(len(example), "sha1")
    return Objects(directory, limits, progress, store=place.stores[0], reads=place.stores)


def resolve_local(
    path: Path, root: Path | None, wanted: Revision, limits: GitLimits, progress: Progress
) -> tuple[str, str]:
    """Resolve a revision of a repository on this machine, like `git.resolve`."""
    place, ref = layout(path, root), wanted.name
    whole = OBJECT_ID.fullmatch(ref)
    found = None if whole else lookup(place, ref)
    if found is not None and found.object_id is None:
        raise InventoryError("repository_empty", "The repository has no commits.")
    name = branch(place) if ref == "HEAD" else ref
    head = found or (None if whole else lookup(place, "HEAD"))
    with opened(place, (head and head.object_id) or ref, limits, progress) as objects:
        try:
            commit = commit_of(objects, ((found and found.object_id) or ref) + wanted.steps)
        except InventoryError as error:
            raise _unknown(wanted) if error.code == "commit_not_found" and not whole else error from None
    return commit, f"{ref}{wanted.steps}" if wanted.steps else name


def merge_base(path: Path, root: Path | None, ids: tuple[str, str], limits: GitLimits, progress: Progress) -> str:
    """The newest commit that both commits come from.  Raises: InventoryError commit_not_found without one."""
    place, directory = layout(path, root), NOWHERE / HASHES.get(len(ids[0]), "sha1")
    env = environment(()) | {"GIT_DIR": str(directory), "GIT_OBJECT_DIRECTORY": str(place.stores[0])}
    git = GitProcess(["merge-base", *ids], env, limits, progress, directory, reads=place.stores)
    answer = git.run().decode("ascii", "replace").strip()
    if git.exit_code == 0 and OBJECT_ID.fullmatch(answer):
        return answer
    if git.exit_code == 1:
        raise InventoryError("commit_not_found", "The two commits have no common ancestor.")
    raise meaning(git.errors, git.exit_code)


def _unknown(wanted: Revision) -> InventoryError:
    written = f"{wanted.name}{wanted.steps}"
    if SHORT.fullmatch(wanted.name):
        text = f"The repository has no branch or tag {written!r}, and not exactly one commit whose id begins so."
    else:
        text = f"The repository has no branch, tag or commit {written!r}."
    return InventoryError("commit_not_found", text)


def commit_of(objects: Objects, name: str) -> str:
    """The commit that an id, or its beginning, or a tag means, each perhaps with steps to an ancestor.

    Raises: InventoryError commit_not_found.
    """
    for _ in range(TAGS):
        header = objects.headers([name]).get(name)
        content = _content(objects, header) if header is not None else None
        if header is None or content is None:
            raise InventoryError("commit_not_found", "The repository has no such commit.")
        if header.kind == "commit":
            return header.object_id
        target = TAG.match(content)
        if target is None:
            raise InventoryError("commit_not_found", "The repository has no such commit.")
        name = target[1].decode("ascii")
    raise InventoryError("repository_too_complex", "The repository has a tag of tags of tags.")


def _content(objects: Objects, header: Header) -> bytes | None:
    """Content of a commit or tag."""
    return objects.one(header, objects.limits.message_bytes) if header.kind in ("commit", "tag") else None
