"""The command line, thin over services.

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 quota, 4 unreachable, 5 refused.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from logging import WARNING
from pathlib import Path

import click

from app import json_lines
from app.environment import strangers
from app.errors import Problem, Unavailable
from app.processes import keep_private
from app.settings import Settings
from app.version import VERSION

UNREACHABLE = 4

#: Command -> its module, which is loaded on demand: `fairlane inventory` needs no SQLAlchemy (0.5 s of import).
COMMANDS = {
    "up": "up",
    "migrate": "migrate",
    "user": "accounts",
    "tier": "tiers",
    "token": "tokens",
    "keys": "keys",
    "cell": "cells",
    "submit": "submit",
    "url": "submit",
    "inventory": "inventory",
    "queues": "operate",
    "pause": "operate",
    "resume": "operate",
    "nodes": "nodes",
    "drain": "nodes",
    "undrain": "nodes",
    "read-only": "read_only",
    "dead": "dead",
    "schedule": "schedule",
    "audit": "audit",
    "bills": "bills",
    "doctor": "doctor",
    "backup": "backup",
    "restore": "backup",
    "sweep": "audit",
    "alive": "alive",
    "prune": "audit",
    "fairness": "fairness",
    "simulate": "fairness",
    "config": "operate",
    "openapi": "operate",
}


class _Commands(click.Group):
    """Loads its commands late, and prints a Problem as one line instead of a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"app.cli.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def invoke(self, ctx: click.Context) -> object:
        if json_lines.are_wanted():
            import_module("app.logs").configure("json", level=WARNING)
        for said in strangers(Settings.model_fields):
            _say("unknown_setting", said)
        try:
            return super().invoke(ctx)
        except Problem as problem:
            _say("refused", problem.detail)
            sys.exit(UNREACHABLE if isinstance(problem, Unavailable) else 1)
        except Exception as error:
            # Imported only now: most commands need no database, and importing its errors takes half a second.
            if (said := import_module("app.cli.refusals").sentence(error)) is None:
                raise
            _say("refused", said)
            sys.exit(UNREACHABLE)


def _say(event: str, said: str) -> None:
    """One line on stderr, in the form of the log."""
    if json_lines.are_wanted():
        line = json_lines.json_line(event, level="warning", logger=__name__, said=said)
        click.echo(line, nl=False, err=True)
    else:
        click.echo(f"fairlane: {said}", err=True)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="fairlane")
def main() -> None:
    """Fairlane: a fair job system on Celery and PostgreSQL, and the tests of any Git repository."""
    keep_private()
    if sys.stdin is None:  # it was closed; a command that reads it finds nothing, and no socket gets its descriptor
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - as long as the process lives
