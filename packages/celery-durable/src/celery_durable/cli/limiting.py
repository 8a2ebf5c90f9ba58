"""The commands of `durable` for limits of how often messages start."""

from typing import Any

import click

from celery_durable import limits

from .session import session
from .showing import JSON, show

COLUMNS = ("queue", "task", "tenant", "per_tenant", "rate", "burst", "waiting")


def _scoped(command: Any) -> Any:
    """Add what says of what the limit is: a queue, and a task or a tenant of it."""
    for decorate in (
        click.pass_obj,
        click.option("--per-tenant", is_flag=True, help="Of each tenant by itself."),
        click.option("--tenant", help="Of this tenant only; '' for the messages without one."),
        click.option("--task", help="Of the task of this name only."),
    ):
        command = decorate(command)
    return command


@click.command()
@click.argument("queue")
@click.argument("rate")
@click.option("--burst", type=click.IntRange(1, 10_000), default=1, show_default=True, help="So many start at once.")
@_scoped
def limit(
    context: Any, queue: str, rate: str, *, task: str | None, tenant: str | None, per_tenant: bool, burst: int
) -> None:
    """Let messages of QUEUE start at RATE: 10/s, 100/m, 5/h, or a number in a second.  Over all workers together."""
    scope: dict[str, Any] = {"task": task, "tenant": tenant, "per_tenant": per_tenant}
    with session(context.app) as (connection, options):
        limits.limit(connection, queue, rate, burst=burst, options=options, **scope)
    click.echo(f"limited {_named(queue, **scope)} to {rate}")


@click.command()
@click.argument("queue")
@_scoped
def unlimit(context: Any, queue: str, *, task: str | None, tenant: str | None, per_tenant: bool) -> None:
    """Remove a limit of QUEUE.  The exit code is 1 if there is none."""
    scope: dict[str, Any] = {"task": task, "tenant": tenant, "per_tenant": per_tenant}
    with session(context.app) as (connection, options):
        found = limits.unlimit(connection, queue, options=options, **scope)
    if not found:
        raise click.ClickException(f"there is no limit of {_named(queue, **scope)}")
    click.echo(f"removed the limit of {_named(queue, **scope)}")


@click.command(name="limits")
@click.argument("queue", required=False)
@JSON
@click.pass_obj
def show_limits(context: Any, queue: str | None, *, as_json: bool) -> None:
    """Show the limits of all queues, or of one QUEUE, and how many messages wait for each."""
    with session(context.app) as (connection, options):
        rows = limits.list_limits(connection, queue, options=options)
    show(rows, COLUMNS, as_json=as_json)


def _named(queue: str, *, task: Any, tenant: Any, per_tenant: Any) -> str:
    return queue + "".join(
        f", {word}"
        for word in (
            task and f"task {task}", "messages without a tenant" if tenant == "" else tenant and f"tenant {tenant}",
            per_tenant and "each tenant",
        )
        if word
    )  # fmt: skip
