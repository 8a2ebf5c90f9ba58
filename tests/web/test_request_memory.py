"""Nothing of a request waits for the collector of garbage once it was answered.

The web's collector comes after some 50,000 objects, whatever they hold.  A page left 120 to 260 objects in cycles, with
the request, its body and all that was shown; the memory of a process rose by 10 to 30 MiB until the collector came.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from flask import Request
from jinja2 import DictLoader
from jinja2.runtime import Context
from service_harness.application import Web
from service_harness.inventories import a_test, file
from werkzeug.test import EnvironBuilder

from app.exchanges import Exchange
from app.server.answer import HttpAnswer

FORM = "application/x-www-form-urlencoded"
#: Of a page whose macro calls itself, the emptied context stays.
KINDS = (Request, Exchange)
#: What Werkzeug leaves of each look-up of an address: a function that knows itself, and its variables.
LEFT = 8


@contextmanager
def no_collections() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def ask(web: Web, path: str, method: str = "GET", body: str | None = None) -> int:
    """Ask like the server does, without a client that remembers what it asked."""
    made = EnvironBuilder(path=path, method=method, data=body, content_type=FORM if body else None)
    made.environ_base = {"REMOTE_ADDR": "127.0.0.1"}
    answer = HttpAnswer(web.app, made.get_environ())
    more = answer.begin()[1]
    while more:
        more = answer.piece()[1]
    return answer.status


@pytest.mark.parametrize(
    ("path", "sent", "status"),
    [
        ("/", (), 200),
        ("/explore", (), 200),
        ("/analyses/{id}", (), 200),
        ("/analyses/{id}?view=tree", (), 200),
        ("/api/v1/analyses/{id}", (), 200),
        ("/api/v1/analyses/{id}/events", (), 200),
        ("/docs/api", (), 200),
        ("/nowhere", (), 404),
        ("/nowhere", ("POST", "body=" + "x" * 900_000), 404),
        ("/api/v1/nowhere", (), 404),
        ("/analyses", ("POST", "body=" + "x" * 900_000), 400),
    ],
)
def test_a_request_that_was_answered_is_gone_without_a_collection(
    web: Web, path: str, sent: tuple[str, str], status: int
) -> None:
    job_id = web.submit("shop").json["id"]
    web.completed(job_id, [file("a_test.py", a_test("test_a"), a_test("test_b", line=5))])
    path = path.replace("{id}", job_id)
    assert ask(web, path, *sent) == status
    with no_collections():
        before = [sum(isinstance(one, kind) for one in gc.get_objects()) for kind in KINDS]
        for _ in range(5):
            ask(web, path, *sent)
        after = [sum(isinstance(one, kind) for one in gc.get_objects()) for kind in KINDS]
    assert after == before


def test_a_page_leaves_no_more_objects_than_any_answer(web: Web) -> None:
    job_id = web.submit("shop").json["id"]
    web.completed(job_id, [file("a_test.py", a_test("test_a"))])
    for path in ("/", f"/analyses/{job_id}", f"/analyses/{job_id}/timeline", "/nowhere"):
        ask(web, path)
        with no_collections():
            for _ in range(10):
                ask(web, path)
            left = gc.collect()
        assert left <= 10 * LEFT, path


def test_a_part_that_a_page_kept_for_all_pages_is_not_emptied(web: Web) -> None:
    template = web.app.jinja_env.from_string("{% import 'parts.html' as parts %}{{ parts is defined }}")
    kept = web.app.jinja_env.get_template("parts.html")
    assert template.render() == template.render() == "True"
    assert kept.module is kept.module
    assert [name for name in vars(kept.module) if not name.startswith("_")]


def test_what_a_kept_part_imports_with_its_context_is_not_emptied(web: Web) -> None:
    files = {
        "page": "{% import 'kept' as kept %}{{ kept.say() }}",
        "kept": "{% import 'inner' as inner with context %}{% macro say() %}{{ inner.say() }}{% endmacro %}",
        "inner": "{% macro say() %}{{ url_for('home') if word else '' }}{% endmacro %}",
    }
    env = web.app.jinja_env.overlay(loader=DictLoader(files))
    env.globals = {**env.globals, "word": "a", "url_for": lambda name: name}
    assert [env.get_template("page").render() for _ in range(3)] == ["home"] * 3


def test_a_page_inside_a_page_lets_go_of_its_own_only(web: Web) -> None:
    env = web.app.jinja_env
    inner = env.from_string("{% macro twice() %}{{ word }}{{ word }}{% endmacro %}{{ twice() }}")
    outer = env.from_string("{% macro once() %}{{ word }}{% endmacro %}{{ show() }}{{ once() }}{{ word }}")
    with no_collections():
        before = sum(isinstance(one, Context) for one in gc.get_objects())
        assert outer.render(word="a", show=lambda: inner.render(word="b")) == "bbaa"
        assert sum(isinstance(one, Context) for one in gc.get_objects()) == before
