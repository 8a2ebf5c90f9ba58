"""Limits of starts in Django: a model to read them, and a page of the admin to look at them."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from durable_harness.django_process import Shop
from durable_harness.postgres import PostgresServer


@pytest.fixture(scope="module")
def shop(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with ExitStack() as stack:
        shop = Shop.made(server, tmp_path_factory.mktemp("shop_limits"), stack)
        shop.does("""
            from django.core.management import call_command
            call_command("migrate", verbosity=0)
            from django.contrib.auth.models import User
            from django.test.utils import setup_test_environment
            setup_test_environment()
            User.objects.create_superuser("root")
        """)
        shop.broker.declare("main")
        shop.broker.query("SELECT broker_limit('main', '30/m', 'shop.bill', burst => 3)")
        shop.broker.query("SELECT broker_limit('main', '2/s', per_tenant => true)")
        yield shop


def test_a_limit_is_read_and_not_written_by_its_model(shop: Shop) -> None:
    found = shop.does("""
        from celery_durable.contrib.django.models import BrokerLimit
        from django.db import NotSupportedError
        rows = BrokerLimit.objects.select_related("queue").order_by("id")
        answer = [[one.queue.name, one.task, one.tenant, one.per_tenant, one.rate, one.burst, one.waiting] for one in rows]
        for act in (rows[0].save, rows[0].delete, rows.delete):
            try:
                act()
            except NotSupportedError:
                answer.append("refused")
    """)
    assert found == [
        ["main", "shop.bill", None, False, 0.5, 3, 0],
        ["main", None, None, True, 2.0, 1, 0],
        "refused", "refused", "refused",
    ]  # fmt: skip


def test_the_admin_shows_limits_and_changes_none(shop: Shop) -> None:
    found = shop.does("""
        from django.contrib.auth.models import User
        from django.test import Client
        from celery_durable.contrib.django.models import BrokerLimit
        client = Client()
        client.force_login(User.objects.get(username="root"))
        page, row = "/admin/celery_durable/brokerlimit/", BrokerLimit.objects.order_by("id").first().id
        shown = client.get(page)
        answer = ["shop.bill" in shown.content.decode()]
        for one in (page, f"{page}?per_tenant__exact=1", f"{page}{row}/change/", f"{page}add/", f"{page}{row}/delete/"):
            answer.append(client.get(one).status_code)
    """)
    assert found == [True, 200, 200, 200, 403, 403]
