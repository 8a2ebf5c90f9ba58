"""The files the service keeps in FAIRLANE_HOME."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from app.settings import Settings


def secret_key(settings: Settings) -> str:
    """SECRET_KEY, or one made at first use and kept in the home directory, readable by its owner only."""
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value()
    return _kept(settings.home / "secret_key")


def _kept(path: Path) -> str:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # written aside and linked: of two processes that start at once, the second finds the first one's key, whole
    aside = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(secrets.token_urlsafe(32))
    try:
        os.link(aside, path)
    except FileExistsError:
        pass
    finally:
        aside.unlink()
    return path.read_text(encoding="utf-8")
