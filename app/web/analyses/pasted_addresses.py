"""Turn the text that people paste for a repository into an address that the API reads (app/domain/repositories.py).

Only forms whose meaning is clear are rewritten; whatever else is pasted is left for the API's own refusal.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from app.errors import InvalidInput, Message

#: A command that somebody copied: its last words are the address, and perhaps a folder.
_COMMAND = re.compile(
    r"(?:\$ )?(?:git clone|gh repo clone|glab repo clone|git remote add \S+)\s+(?:-\S+\s+)*(\S+)(?:\s+\S+)?"
)
_SCHEME = re.compile(r"(?:git\+)?(?:https?|ssh|git)://(?:git@)?", re.IGNORECASE)
_PORT = re.compile(r"^([^/:]+):(?:22|80|443|9418)(?=/)")
_SHA = re.compile(r"[0-9a-fA-F]{40}")
#: Words before the name of a branch, a tag or a commit, on pages that show something of it.
_OF_REF = (
    ("releases", "tag"), ("src", "branch"), ("src", "tag"), ("src", "commit"), ("raw", "branch"),
    ("raw", "refs", "heads"), ("raw",), ("blame",), ("commits",), ("edit",), ("src",),
)  # fmt: skip
#: Pages of the repository as a whole.
_OF_ALL = frozenset({
    "issues", "pulls", "actions", "projects", "wiki", "security", "pulse", "graphs", "network", "releases", "tags",
    "branches", "branch", "discussions", "settings", "stargazers", "watchers", "forks", "packages", "activity",
    "merge_requests", "commits", "src", "pipelines", "jobs", "milestones", "labels", "downloads", "pull-requests",
})  # fmt: skip
_PULL = Message("This is a pull request. Paste the address of its branch or of its last commit instead.")
_MERGE = Message("This is a merge request. Paste the address of its branch or of its last commit instead.")
_OF_CHANGE = {"pull": _PULL, "merge_requests": _MERGE, "pull-requests": _PULL}


def plain_address(text: str, hosts: Collection[str]) -> str:
    """The address in one of the documented forms, if its meaning is clear, otherwise as it was.

    Raises: InvalidInput for the page of a change, which has no commit of its own.
    """
    text = text.strip().strip("<>`'\"“”").strip()
    if command := _COMMAND.fullmatch(text):
        text = command[1].strip("'\"")
    bare = _PORT.sub(r"\1", _SCHEME.sub("", text))
    host, _, rest = bare.partition("/")
    host = host.lower().removeprefix("www.")
    if host not in hosts or "@" in host:
        return text
    path = re.split(r"[?#]", rest, maxsplit=1)[0].strip("/")
    return f"https://{host}/{_page(path.split('/'))}"


def _page(parts: list[str]) -> str:
    """The path of an address, with a page that the API does not know turned into one that it knows."""
    where, page = parts[:2], [part for part in parts[2:] if part != "-"]
    kind = page[0] if page else ""
    if kind in _OF_CHANGE and page[1:2] and page[1].isdigit():
        message = _OF_CHANGE[kind]
        raise InvalidInput(message, errors=[{"pointer": "/repository", "detail": message}])
    for words in _OF_REF:
        if tuple(page[: len(words)]) == words and page[len(words) :]:
            ref = page[len(words)]
            return "/".join([*where, "commit" if _SHA.fullmatch(ref) else "blob", ref])
    return "/".join(where if kind in _OF_ALL else parts)
