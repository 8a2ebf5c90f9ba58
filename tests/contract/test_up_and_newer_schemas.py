"""`fairlane up` of an earlier release starts on a newer schema that still serves it (docs/adr/0044)."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli import up
from app.cli.listen_address import ListenAddress
from app.errors import BadSetting
from app.settings import Settings
from tests.conftest import World


def prepared(url: str, folder: Path) -> up._Entry:
    settings = Settings(fairlane_home=folder, local_repos_root=folder)
    return up._prepare(settings, up._Addresses(url, url), ListenAddress("127.0.0.1", 9))


def test_up_starts_on_a_newer_schema_that_serves_this_release(world: World, database_url: str, tmp_path: Path) -> None:
    world.rows("UPDATE alembic_version SET version_num = '9998' RETURNING 1")
    assert "/sign-in?token=" in prepared(database_url, tmp_path).link
    assert world.value("SELECT version_num FROM alembic_version") == "9998"


def test_up_refuses_a_newer_schema_that_no_longer_serves_it(world: World, database_url: str, tmp_path: Path) -> None:
    world.rows("UPDATE alembic_version SET version_num = '9998' RETURNING 1")
    world.rows("UPDATE schema_support SET version = '99.1.0', oldest_version = '99.0.0' RETURNING 1")
    told = "too old for the schema of 99.1.0; the oldest that works is 99.0.0"
    with pytest.raises(BadSetting, match=told):
        prepared(database_url, tmp_path)
