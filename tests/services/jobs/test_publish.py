"""What a unit of work publishes with, beside Celery's own way of sending the same."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from celery import Celery
from celery.app.trace import build_tracer
from celery.signals import before_task_publish
from sqlalchemy import text

from app.adapters.publishing import publisher
from app.store.core.unit_of_work import AlreadyQueuedError, JobMessage
from tests.conftest import World

ROW = text("SELECT user_id, unique_key, rank_step, payload FROM kombu_message WHERE task_id = :id")


@contextmanager
def listening() -> Iterator[list[str]]:
    """The ids of tasks whose publishing was told, with a header added to each as a tracer does."""
    told: list[str] = []

    def listen(headers: dict[str, str], **_: object) -> None:
        told.append(headers["id"])
        headers["traceparent"] = "00-1"

    before_task_publish.connect(listen)
    yield told
    before_task_publish.disconnect(listen)


def published(world: World, key: str) -> tuple[UUID, list[object], dict[str, object]]:
    """Its id, its columns and its headers."""
    job_id, user_id = uuid4(), UUID(int=1)
    with world.uow.begin() as tx:
        tx.publish(
            JobMessage(
                job_id, "tasks.analysis.analyse", "analysis_priority", {"name": "é"}, user_id, key, 50, most_ready=4
            )
        )
        [*columns, payload] = tx.run(ROW, id=str(job_id)).one()
    columns[1] = columns[1].removesuffix(key)
    message = json.loads(payload)
    body, headers = json.loads(message["body"]), message["headers"]
    for name in ("id", "root_id", "origin", "unique_key"):
        headers.pop(name)
    return job_id, [*columns, body], headers


def test_a_job_is_the_message_that_celery_would_send(world: World) -> None:
    with listening() as told:
        by_celery, columns, headers = published(world, "one")
        assert told == [str(by_celery)]
        assert headers.pop("traceparent") == "00-1"
    assert published(world, "two")[1:] == (columns, headers)


def test_a_job_that_a_task_publishes_is_that_task_s_child_and_no_other_job_is(world: World) -> None:
    celery = Celery("parents", set_as_current=False, broker="memory://")
    uow = replace(world, uow=replace(world.uow, publisher=publisher(celery)))
    told = []

    @celery.task(name="parent")
    def parent() -> None:
        told.append(published(uow, f"by {len(told)}")[2]["parent_id"])

    for task_id in ("first", "second"):
        build_tracer("parent", celery.tasks["parent"], app=celery)(task_id, (), {}, {"id": task_id, "is_eager": False})
    assert told == ["first", "second"]
    assert published(uow, "alone")[2]["parent_id"] is None


def test_a_second_job_of_a_key_names_the_first(world: World) -> None:
    first, _, _ = published(world, "one")
    with pytest.raises(AlreadyQueuedError) as caught:
        published(world, "one")
    assert caught.value.job_id == first
