"""Where a Git host shows a line of a commit."""

from __future__ import annotations

from urllib.parse import quote

_LINES = {
    "github.com": "https://github.com/{repository}/blob/{commit}/{path}#L{line}",
    "gitlab.com": "https://gitlab.com/{repository}/-/blob/{commit}/{path}#L{line}",
    "bitbucket.org": "https://bitbucket.org/{repository}/src/{commit}/{path}#lines-{line}",
    "codeberg.org": "https://codeberg.org/{repository}/src/commit/{commit}/{path}#L{line}",
}


def line_link(host: str, repository: str, commit: str, path: str, line: int) -> str | None:
    """The address of a line, in ASCII only; None for an unknown host.  repository: OWNER/NAME."""
    form = _LINES.get(host)
    if form is None:
        return None
    # a path in Git need not be text; the link of such a path is broken, but must not break the page
    return form.format(
        repository=quote(repository, errors="replace"), commit=commit, path=quote(path, errors="replace"), line=line
    )
