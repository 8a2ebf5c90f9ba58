"""`durable receive`: from another broker into the one of this app."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import click
import psycopg2
from kombu import Connection

from celery_durable.database import connect_arguments, direct
from celery_durable.receiving import Source, Store, Summary
from celery_durable.receiving import receive as receive_from
from celery_durable.receiving.kombu_source import KombuSource
from celery_durable.transport import Transport

from .session import durable_transport, sentences


@click.command()
@click.argument("url")
@click.option("--queue", "queues", multiple=True, help="Of this queue; may be repeated.  Else of the app's queues.")
@click.option("--batch", type=click.IntRange(1, 1000), default=500, show_default=True, help="Messages in a commit.")
@click.option("--wait", type=float, default=10, show_default=True, help="End when nothing came for so many seconds.")
@click.option("--follow", is_flag=True, help="Do not end by itself.")
@click.option("--unacked", is_flag=True, help="Of Redis, also what workers reserved: none of them may run any more.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="A transport option of the source.")
@click.pass_obj
def receive(
    context: Any,
    url: str,
    queues: tuple[str, ...],
    options: tuple[str, ...],
    *,
    batch: int,
    wait: float,
    follow: bool,
    unacked: bool,
) -> None:
    """Receive what waits on another broker, at URL: redis://…, amqp://…, or any other of kombu's.

    Each message is acknowledged there after its commit here; a run that was interrupted is simply started again.
    """
    transport = durable_transport(context.app)
    names = list(queues or context.app.amqp.queues)
    with sentences(), _source(url, names, options, most=batch, unacked=unacked) as source:
        schema = transport.options.schema
        address = direct(transport.url, transport.options.direct_url)
        with closing(psycopg2.connect(**connect_arguments(address))) as connection:
            connection.set_session(isolation_level="READ COMMITTED")
            store = Store(connection, {"schema": schema} if schema else None)
            summary = receive_from(source, store, wait_seconds=None if follow else wait)
    _tell(names, summary)


@contextmanager
def _source(url: str, queues: list[str], options: tuple[str, ...], *, most: int, unacked: bool) -> Iterator[Source]:
    """The source at a URL.  Raises: click.ClickException for what goes wrong there."""
    try:
        with Connection(url, transport_options=dict(map(_option, options))) as connection:
            if isinstance(connection.transport, Transport):
                raise click.ClickException("the source is a durable broker itself; give the URL of another one")
            is_redis = connection.transport.driver_type == "redis"
            if unacked and not is_redis:
                raise click.UsageError("--unacked is for Redis; other brokers give back what their workers leave")
            try:
                yield _redis(connection, queues, most, unacked) if is_redis else KombuSource(connection, queues, most)
            except (*connection.connection_errors, *connection.channel_errors) as error:
                if isinstance(error, psycopg2.Error):
                    raise
                raise click.ClickException(f"the source {connection.as_uri()} failed: {error}") from error
    except (ImportError, KeyError) as error:
        raise click.ClickException(f"the source cannot be used: {error.args[0]}") from error


def _redis(connection: Connection, queues: list[str], most: int, unacked: bool) -> Source:
    from celery_durable.receiving.redis_source import RedisSource  # noqa: PLC0415  needs the package redis

    return RedisSource(connection, queues, most, unacked=unacked)


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"--option {text}: expected NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _tell(names: list[str], summary: Summary) -> None:
    click.echo("received " + ", ".join(f"{summary.queues[name]} of {name}" for name in names))
    if summary.refused:
        lines = [f"{task_id} of {queue} ({why})" for queue, task_id, why in summary.refused[:20]]
        raise click.ClickException(f"{len(summary.refused)} stay at the source: {'; '.join(lines)}")
