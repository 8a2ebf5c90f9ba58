"""Where a form or a link may send a browser afterwards: only to a path of this service."""

from __future__ import annotations

import re
from urllib.parse import unquote

#: Browsers read `//host` and `/\\host` as the address of another site, and Werkzeug writes `////host` as `//host`.
_LOCAL = re.compile(r"/(?![/\\])")
_DOTS = {".", ".."}


def local_path(given: str) -> str:
    """The given path with its query, if it leads to a page of this service; `/` for everything else.

    The path is judged as written and as decoded, because a proxy may decode it.  It has no `.` and `..`, which browsers
    resolve: `/..//host` becomes `//host`.
    """
    path = given.partition("?")[0].partition("#")[0]
    ways = (path, unquote(path))
    return given if given.isprintable() and all(map(_is_local, ways)) else "/"


def _is_local(path: str) -> bool:
    is_plain = "\\" not in path and path.isprintable() and not _DOTS & {*path.split("/")}
    return _LOCAL.match(path) is not None and is_plain
