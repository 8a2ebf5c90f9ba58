"""The object store that the settings name."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from app import home
from app.adapters.object_bucket import ObjectBucket
from app.adapters.object_folder import ObjectFolder
from app.adapters.verified_objects import VerifiedObjects
from app.domain.objects import Objects
from app.errors import BadSetting
from app.setting_types import object_place
from app.settings import Settings

FOLDER = "objects"


def objects_of(settings: Settings) -> Objects | None:
    """The store at `address_of`; None: everything is in the database.  Raises: BadSetting."""
    address = address_of(settings)
    if address is None:
        return None
    place = object_place(address)
    if isinstance(place, Path):
        return VerifiedObjects(ObjectFolder(place))
    if find_spec("obstore") is None:
        raise BadSetting("OBJECT_STORE_URL: s3:// needs the package obstore; install fairlane[s3]")
    return VerifiedObjects(ObjectBucket(place))


def address_of(settings: Settings) -> str | None:
    """OBJECT_STORE_URL; without it that of a folder of the home, where the database is in the home as well.

    Otherwise none: hosts that share a database share nothing else, so each would not find what the others have stored.
    Raises: BadSetting.
    """
    if settings.object_store_url is not None or settings.database_url is not None:
        return settings.object_store_url
    folder = home.folder(settings) / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder.as_uri()
