"""Addresses of this service for other places than its pages."""

from __future__ import annotations

from flask import request

from app.web.core.context import wired


def absolute(path: str) -> str:
    """Make a link absolute by PUBLIC_URL, or else by the host of the request, which trusted_hosts.py has checked."""
    return (wired().settings.public_url or request.host_url.rstrip("/")) + path


def secret_link(path: str) -> str:
    """Make a secret link absolute by PUBLIC_URL; without it, keep the path alone.

    Never with the host of the request: whoever asks for a link chooses that host, and another person opens the link.
    """
    return (wired().settings.public_url or "") + path
