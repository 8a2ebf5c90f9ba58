"""Convert a request from ASGI to the environ of WSGI."""

from __future__ import annotations

import sys
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

Scope = dict[str, Any]

#: `Proxy` would become HTTP_PROXY, which HTTP clients read as their setting.
_NEVER = frozenset({b"proxy"})
_OWN_KEYS = {b"content-type": "CONTENT_TYPE", b"content-length": "CONTENT_LENGTH"}


def environ(scope: Scope) -> dict[str, Any]:
    """All but the body.  SCRIPT_NAME is empty whatever a client sends."""
    server, client = scope["server"] or ("localhost", 80), scope["client"] or ("", 0)
    made: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": _path(scope),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "REMOTE_PORT": str(client[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    _add_headers(made, scope["headers"])
    return made


def with_body(environ: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Add the whole body to a request's environment."""
    return environ | {"wsgi.input": BytesIO(body)}


def content_length(scope: Scope) -> int | None:
    """The announced length; gunicorn has refused anything but a number."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value)
    return None


def _path(scope: Scope) -> str:
    raw: bytes = scope["raw_path"]
    return unquote_to_bytes(raw.partition(b"?")[0]).decode("latin-1")


def _add_headers(made: dict[str, Any], headers: list[tuple[bytes, bytes]]) -> None:
    for name, value in headers:
        # an underscore would collide with the hyphen's name: a proxy neither sets nor removes `X_Forwarded_For`
        if b"_" in name or name in _NEVER:
            continue
        key = _OWN_KEYS.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")
        text = value.decode("latin-1")
        if key in made:
            text = f"{made[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{text}"
        made[key] = text
