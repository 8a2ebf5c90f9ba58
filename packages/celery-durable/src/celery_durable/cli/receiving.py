"""`durable receive`: from another broker into the one of this app."""

import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Event
from typing import Any

import click
import psycopg2

from celery_durable.database import connect_arguments, direct
from celery_durable.receiving import Store, Summary
from celery_durable.receiving import receive as receive_from

from .session import durable_transport, sentences
from .source import open_source

#: Refused messages that are named at the end.
NAMED = 20


@click.command()
@click.argument("url")
@click.option("--queue", "queues", multiple=True, help="Of this queue; may be repeated.  Else of the app's queues.")
@click.option("--batch", type=click.IntRange(1, 1000), default=500, show_default=True, help="Messages in a commit.")
@click.option(
    "--wait", type=click.FloatRange(min=0), default=10, show_default=True,
    help="End when nothing came for so many seconds.",
)  # fmt: skip
@click.option("--follow", is_flag=True, help="Do not end by itself, and name what is refused when it is.")
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
    SIGTERM and Ctrl-C end it after the batch in hand.
    """
    transport = durable_transport(context.app)
    names = list(queues or context.app.amqp.queues)
    with sentences(), open_source(url, names, options, most=batch, unacked=unacked) as source:
        schema = transport.options.schema
        address = direct(transport.url, transport.options.direct_url)
        with closing(psycopg2.connect(**connect_arguments(address))) as connection, _signals() as ended:
            connection.set_session(isolation_level="READ COMMITTED")
            locks = transport.options.listen or transport.options.direct_url is not None
            store = Store(connection, {"schema": schema} if schema else None, locks=locks)
            summary = receive_from(
                source, store, wait_seconds=None if follow else wait, is_over=ended.is_set,
                report=_Refusals() if follow else None,
            )  # fmt: skip
    _tell(names, summary)


@contextmanager
def _signals() -> Iterator[Event]:
    """-> set by the first SIGTERM or SIGINT; the second one does what it does otherwise."""
    ended = Event()
    before: dict[int, Any] = {}

    def end(number: int, _: Any) -> None:
        ended.set()
        signal.signal(number, before[number])

    for number in map(int, (signal.SIGTERM, signal.SIGINT)):
        before[number] = signal.signal(number, end)
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Refusals:
    """Names what is refused, after each batch: a run that follows has no end at which it could."""

    def __init__(self) -> None:
        self._named = 0

    def __call__(self, summary: Summary) -> None:
        for one in summary.refused[self._named :]:
            click.echo(f"stays at the source: {_refused(*one)}", err=True)
        self._named = len(summary.refused)


def _refused(queue: str, task_id: str | None, why: str) -> str:
    return f"{task_id} of {queue} ({why})"


def _tell(names: list[str], summary: Summary) -> None:
    click.echo("received " + ", ".join(f"{summary.queues[name]} of {name}" for name in names))
    if summary.refused:
        lines = [_refused(*one) for one in summary.refused[:NAMED]]
        raise click.ClickException(f"{len(summary.refused)} stay at the source: {'; '.join(lines)}")
