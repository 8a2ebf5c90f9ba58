"""The real application on a real database; only Git's answer to a ref is made up here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from service_harness.application import POLICY, SETTINGS, Web, resolve
from sqlalchemy import text

from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork
from app.web import create_app
from app.web.core.wiring import WebWiring
from tests.hashes import cheap_hashes  # noqa: F401  a fixture
from tests.web.apps import APPS, Apps


@contextmanager
def lending(apps: Apps, uow: UnitOfWork) -> Iterator[Callable[..., Web]]:
    """As make_web, from a collection of applications."""
    with ExitStack() as stack:
        yield lambda **settings: Web(stack.enter_context(apps.lent(wired_for_tests(uow, **settings))), uow)
        for thread in threading.enumerate():
            if thread.name in {"live", "mail"}:  # it would read while the tables are emptied
                thread.join(30)
                assert not thread.is_alive(), "a test left a stream open, or a mail on its way"


@pytest.fixture
def make_web(uow: UnitOfWork) -> Iterator[Callable[..., Web]]:
    """make_web(ALLOW_…) -> the application under other settings."""
    with lending(APPS, uow) as make:
        yield make


@pytest.fixture
def web(make_web: Callable[..., Web]) -> Web:
    return make_web()


@pytest.fixture
def make_own_web(uow: UnitOfWork) -> Callable[..., Web]:
    """As make_web, but no other test gets the application: it may be changed."""
    return lambda **settings: Web(create_app(wired_for_tests(uow, **settings)), uow)


@pytest.fixture
def operator(web: Web) -> dict[str, str]:
    """The header of an operator's token."""
    return web.token(web.user(is_operator=True).user_id, "operator")


@pytest.fixture
def boss(web: Web) -> Account:
    """An operator who is signed in."""
    account = web.user(is_operator=True)
    web.sign_in(account)
    return account


def rows(web: Web, query: str, **given: Any) -> list[Any]:
    """What a query finds."""
    with web.uow.begin() as tx:
        return list(tx.run(text(query), **given).all())


def wired_for_tests(uow: UnitOfWork, **settings: Any) -> WebWiring:
    return WebWiring(SETTINGS.model_copy(update=settings), uow, POLICY, resolve, "a secret of this test")
