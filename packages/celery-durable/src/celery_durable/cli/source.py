"""The source of `durable receive`: another broker at a URL, and its errors as one sentence each."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import psycopg2
from kombu import Connection

from celery_durable.addresses import reason
from celery_durable.receiving import Source
from celery_durable.receiving.kombu_source import KombuSource
from celery_durable.transport import Transport

from .session import sentence


@contextmanager
def open_source(url: str, queues: list[str], options: tuple[str, ...], *, most: int, unacked: bool) -> Iterator[Source]:
    """The source at a URL.  Raises: click.ClickException for what goes wrong there."""
    with _connection(url, options) as connection:
        is_redis = connection.transport.driver_type == "redis"
        if unacked and not is_redis:
            raise click.UsageError("--unacked is for Redis; other brokers give back what their workers leave")
        try:
            try:
                source = (
                    _redis(connection, queues, most, unacked) if is_redis else KombuSource(connection, queues, most)
                )
            except (ValueError, TypeError) as error:  # of an option
                raise _unusable(url, error) from error
            yield source
        except (*connection.connection_errors, *connection.channel_errors) as error:
            if isinstance(error, psycopg2.Error):
                raise
            raise click.ClickException(f"the source {connection.as_uri()} failed: {sentence(error)}") from error


@contextmanager
def _connection(url: str, options: tuple[str, ...]) -> Iterator[Connection]:
    given = dict(map(_option, options))
    try:
        connection = Connection(url, transport_options=given)
        is_durable = isinstance(connection.transport, Transport)
    except Exception as error:  # of whatever transport
        raise _unusable(url, error) from error
    if is_durable:
        raise click.ClickException("the source is a durable broker itself; give the URL of another one")
    with connection:
        yield connection


def _unusable(url: str, error: Exception) -> click.ClickException:
    return click.ClickException(f"the source cannot be used: {reason(error, url)}")


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
