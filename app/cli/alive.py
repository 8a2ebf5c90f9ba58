"""`fairlane alive`: whether a node of this host works, for health checks."""

from __future__ import annotations

import socket

import click

from app import signs_of_life
from app.errors import Problem
from app.settings import load


@click.command()
@click.argument("name")
@click.option(
    "--within", default=30.0, show_default=True, type=click.FloatRange(min=signs_of_life.SECONDS), metavar="SECONDS"
)
def alive(name: str, within: float) -> None:
    """Say whether the node NAME (`analysis_default`, `beat`) of this host gave a sign of life; exit code 1 if not."""
    node = name if "@" in name else f"{name}@{socket.gethostname()}"
    home = load().home
    seconds = signs_of_life.age(home, node)
    if seconds is None:
        raise Problem(f"{node} does not run on this host, or runs with another home than FAIRLANE_HOME={str(home)!r}")
    if seconds > within:
        raise Problem(f"{node} gave its last sign of life {seconds:.0f} s ago")
    click.echo(f"{node} is alive")
