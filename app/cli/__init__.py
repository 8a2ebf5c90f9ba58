"""The command line: thin over services.  Exit codes: 0 done, 1 failed, 2 usage, 3 quota, 4 unreachable."""

from __future__ import annotations

import sys

import click

from app.cli import accounts, inventory, operate, submit, up
from app.errors import Problem


class _Commands(click.Group):
    """Tells a Problem in one line instead of a traceback."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except Problem as problem:
            click.echo(f"fairlane: {problem.detail}", err=True)
            sys.exit(1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="fairlane")
def main() -> None:
    """Fairlane: a fair job system on Celery and PostgreSQL, and the tests of any Git repository."""


for command in (
    up.up,
    operate.migrate,
    accounts.user,
    accounts.token,
    submit.submit,
    inventory.inventory,
    operate.queues,
    operate.pause,
    operate.resume,
    operate.config,
    operate.openapi,
):
    main.add_command(command)
