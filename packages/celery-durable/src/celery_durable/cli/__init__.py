"""The command `celery -A APP durable …`: Celery finds it by the entry point group `celery.commands`.

It needs click, which Celery brings along; nothing else of the package imports it.
"""

import click

from . import acting, limiting, receiving, showing

__all__ = ["durable"]


@click.group()
def durable() -> None:
    """Look at and operate the PostgreSQL broker of this app."""


for _command in (
    acting.upgrade, showing.facts, showing.dead, acting.redrive, acting.drop, acting.pause, acting.resume, acting.move,
    limiting.limit, limiting.unlimit, limiting.show_limits, receiving.receive,
):  # fmt: skip
    durable.add_command(_command)
