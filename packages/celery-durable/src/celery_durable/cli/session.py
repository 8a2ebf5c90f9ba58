"""A command's session with the broker of the app, and its errors as one sentence each."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import click
import psycopg2

from celery_durable.addresses import reason
from celery_durable.database import UNDEFINED, connect_arguments, direct
from celery_durable.errors import (
    AlreadyReceived,
    BadOption,
    NewerSchema,
    OlderSchema,
    OwnTables,
    UnknownQueue,
    Unsafe,
)
from celery_durable.transport import Transport

#: What a person can mend, who is shown the sentence and no traceback.
EXPECTED = (psycopg2.Error, AlreadyReceived, BadOption, NewerSchema, OlderSchema, OwnTables, Unsafe, UnknownQueue)


class BrokerSession(NamedTuple):
    """A psycopg2 connection in a transaction; options: of the functions of this package, with the tables' schema."""

    connection: Any
    options: Mapping[str, Any] | None


@contextmanager
def session(app: Any) -> Iterator[BrokerSession]:
    """Run the block in one transaction on the app's broker; it commits at the end.

    The address is that of the workers' own sessions: `direct_url`, if the broker URL leads to a pooler.
    Raises: click.ClickException, with one sentence, for a broker of another kind and for each of EXPECTED.
    """
    with sentences():
        transport = durable_transport(app)
        address = direct(transport.url, transport.options.direct_url)
        schema = transport.options.schema
        with closing(psycopg2.connect(**connect_arguments(address))) as connection, connection:
            connection.set_session(isolation_level="READ COMMITTED")
            yield BrokerSession(connection, {"schema": schema} if schema else None)


@contextmanager
def sentences() -> Iterator[None]:
    """Raise click.ClickException for each of EXPECTED."""
    try:
        yield
    except UNDEFINED as error:
        raise click.ClickException(
            f"the broker's tables are missing or too old ({sentence(error)}): run `celery -A APP durable upgrade`"
        ) from error
    except EXPECTED as error:
        raise click.ClickException(sentence(error)) from error


def durable_transport(app: Any) -> Transport:
    """The transport of the app's broker, without a session.  Raises: click.ClickException for another broker."""
    try:
        connection = app.connection_for_write()
        transport = connection.transport if issubclass(connection.get_transport_cls(), Transport) else None
    except Exception as error:  # of whatever transport, and of settings of any kind
        why = reason(error, app.conf.broker_write_url)
        raise click.ClickException(f"the broker of this app cannot be used: {why}") from error
    if transport is None:
        raise click.ClickException(
            f"the broker of this app is {connection.as_uri()}, not durable://…; name the app: `celery -A APP durable`"
        )
    return transport


def sentence(error: Exception) -> str:
    """The first line of an error, and its notes."""
    return "; ".join([str(error).strip().partition("\n")[0], *getattr(error, "__notes__", ())])
