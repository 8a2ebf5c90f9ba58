"""Style sheets, scripts and pictures: their addresses, and for how long browsers keep them.

A process reads them once: they are few and small, and as whole answers they can be compressed (compression.py).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flask import Flask, Response, abort, request, url_for

#: An address with a digest names one content for ever.
FOR_EVER = "public, max-age=31536000, immutable"
FOLDER = Path(__file__).parents[1] / "static"
ENDPOINT = "static"
#: A host's own table may name others.
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Static:
    """A static file.  digest: the beginning of a hash of its content."""

    content: bytes
    media_type: str
    digest: str


def init(app: Flask) -> None:
    """Serve the static files.  The application is made without Flask's own folder."""
    app.add_url_rule("/static/<path:filename>", ENDPOINT, _show)


def asset(name: str) -> str:
    """The URL of a static file, which changes whenever the file does."""
    return url_for(ENDPOINT, filename=name, v=digest(name))


def digest(name: str) -> str:
    """A digest of the file's content."""
    return _files()[name].digest


def _show(filename: str) -> Response:
    file = _files().get(filename)
    if file is None:
        abort(404)
    response = Response(file.content, mimetype=file.media_type)
    response.set_etag(file.digest)
    # with the digest of another release, this content is not what the address names
    is_named = request.args.get("v") == file.digest
    response.headers["Cache-Control"] = FOR_EVER if is_named else "no-cache"
    response.make_conditional(request)
    return response


@cache
def _files() -> dict[str, Static]:
    paths = {path.relative_to(FOLDER).as_posix(): path for path in FOLDER.rglob("*") if path.is_file()}
    return {name: _read(path) for name, path in paths.items()}


def _read(path: Path) -> Static:
    content = path.read_bytes()
    return Static(content, MEDIA_TYPES[path.suffix], hashlib.sha256(content).hexdigest()[:12])
