"""The local repositories that `fairlane up` serves."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import click

from app import home, local_repositories, sample
from app.settings import Settings

#: How many are named at the start and on the page.
MOST = 5


@dataclass(frozen=True, slots=True)
class Root:
    """The folder, and the repositories in it that can be submitted."""

    folder: Path
    addresses: list[str]


def root_of(settings: Settings, path: Path | None) -> Root:
    """The given folder, or else LOCAL_REPOS_ROOT, or else a folder of the home with a sample in it.

    path: a repository stands for the folder that contains it.
    """
    if path is not None and local_repositories.is_repository(path := path.absolute()):
        return Root(path.parent, [f"local:{path.name}"])
    folder = path or settings.local_repos_root
    if folder is None:
        folder = local_repositories.home_root(home.folder(settings))
        _make_sample(folder)
    return Root(folder, local_repositories.addresses(folder, MOST))


def _make_sample(folder: Path) -> None:
    try:
        sample.make(folder)
    except (OSError, subprocess.CalledProcessError) as error:  # the service works without the sample
        said = error.stderr if isinstance(error, subprocess.CalledProcessError) else error
        click.echo(f"no sample repository: {said}", err=True)
