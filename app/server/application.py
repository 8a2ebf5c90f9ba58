"""The application that gunicorn loads: Flask behind the bridge."""

from __future__ import annotations

from apiflask import APIFlask

from app.server.bridge import Bridge
from app.web import create_app


def create() -> Bridge:
    """Build it in the worker, after the fork."""
    return bridged(create_app())


def bridged(app: APIFlask) -> Bridge:
    """Serve an existing application."""
    return Bridge(app, longest_body=int(app.config["MAX_CONTENT_LENGTH"]))
