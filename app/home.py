"""The files that the service keeps in FAIRLANE_HOME."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from app.errors import BadSetting
from app.settings import Settings


def folder(settings: Settings) -> Path:
    """FAIRLANE_HOME, created at first use.  Raises: BadSetting.

    For root, others may enter the folder but not list it, because the embedded PostgreSQL runs as another user below
    it.
    """
    try:
        settings.home.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise BadSetting(f"FAIRLANE_HOME={str(settings.home)!r}: {error.strerror}") from error
    return settings.home


def secret_key(settings: Settings) -> str:
    """SECRET_KEY, or one that is generated at first use and kept in the home, readable by its owner only."""
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value()
    return _kept(folder(settings) / "secret_key")


def existing_key(settings: Settings) -> str | None:
    """The secret key, if there is one already; none is generated."""
    return settings.secret_key.get_secret_value() if settings.secret_key is not None else kept_key(settings)


def sealing_phrases(settings: Settings, secret: str) -> list[str]:
    """Phrases from which keys for stored secrets are derived, the newest first.  secret: the key of secret_key."""
    return [*settings.encryption_phrases, secret, *settings.earlier_secret_keys]


def kept_key(settings: Settings) -> str | None:
    """The key in the home; None if there is none, or if we may not read it."""
    try:
        return (settings.home / "secret_key").read_text(encoding="utf-8")
    except OSError:
        return None


def _kept(path: Path) -> str:
    if not path.exists():
        # written to a temporary file and linked: if two processes start at once, the second finds the first one's whole
        # key
        aside = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(32))
        try:
            os.link(aside, path)
        except FileExistsError:
            pass
        finally:
            aside.unlink()
    return path.read_text(encoding="utf-8")
