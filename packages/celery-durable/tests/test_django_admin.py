"""The admin of Django: queues are paused and resumed, dead letters redriven and dropped, by who may."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from durable_harness.django_process import Shop
from durable_harness.postgres import PostgresServer

LOOK = """
from django.contrib.auth.models import Permission, User
from django.test import Client
client = Client()
client.force_login(User.objects.get(username=WHO))
def act(page, action, *ids):
    path = f"/admin/celery_durable/{page}/"
    answer = client.post(path, {"action": action, "_selected_action": ids}, follow=True)
    return answer.status_code, [str(one) for one in answer.context["messages"]]
"""
LETTERS = """
    INSERT INTO kombu_dead_letter (queue, task_id, payload, reason)
    SELECT 'main', task_id, '{}', 'lost' FROM unnest(ARRAY['one', 'two', 'three']) AS task_id RETURNING id"""


@pytest.fixture(scope="module")
def shop(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with ExitStack() as stack:
        shop = Shop.made(server, tmp_path_factory.mktemp("shop_admin"), stack)
        shop.does("""
            from django.core.management import call_command
            call_command("migrate", verbosity=0)
            from django.contrib.auth.models import Permission, User
            from django.test.utils import setup_test_environment
            setup_test_environment()
            User.objects.create_superuser("root")
            viewer = User.objects.create_user("viewer", is_staff=True)
            viewer.user_permissions.set(Permission.objects.filter(codename__startswith="view_broker"))
        """)
        yield shop


@pytest.fixture
def letters(shop: Shop) -> list[int]:
    shop.broker.declare("main", "other")
    shop.broker.query("DELETE FROM broker_message; DELETE FROM broker_dead_letter")
    shop.broker.query("SELECT broker_resume(name) FROM broker_queue")
    return [letter for (letter,) in shop.broker.query(LETTERS)]


def does(shop: Shop, program: str, who: str = "root") -> Any:
    return shop.does(f"WHO = {who!r}\n{LOOK}\n{program}")


@pytest.mark.proof
@pytest.mark.usefixtures("letters")
def test_a_queue_is_paused_and_resumed(shop: Shop) -> None:
    paused = "SELECT name FROM broker_queue WHERE paused_at IS NOT NULL"
    assert does(shop, "answer = act('brokerfacts', 'pause', 'main')") == [200, ["paused: main"]]
    assert shop.broker.query(paused) == [("main",)]
    assert does(shop, "answer = act('brokerfacts', 'resume', 'main', 'other')") == [200, ["resumed: main, other"]]
    assert shop.broker.query(paused) == []


@pytest.mark.proof
def test_dead_letters_are_redriven_and_dropped(shop: Shop, letters: list[int]) -> None:
    first, second, third = letters
    shop.broker.query("UPDATE kombu_dead_letter SET queue = 'gone' WHERE id = %s RETURNING 1", second)
    assert does(shop, f"answer = act('brokerdeadletter', 'redrive', {first}, {second})") == [
        200, ["redriven: 1", f"{second} stays dead: no queue"]
    ]  # fmt: skip
    assert shop.broker.query("SELECT task_id FROM broker_message") == [("one",)]
    assert does(shop, f"answer = act('brokerdeadletter', 'drop', {third})") == [200, ["dropped: 1"]]
    assert shop.broker.query("SELECT id FROM broker_dead_letter") == [(second,)]


def test_who_may_only_look_sees_everything_and_changes_nothing(shop: Shop, letters: list[int]) -> None:
    shown = does(
        shop,
        f"""
answer = []
for page, row in (("brokerfacts", "main"), ("brokerdeadletter", {letters[0]})):
    path = f"/admin/celery_durable/{{page}}/"
    answer.append([client.get(one).status_code for one in (path, f"{{path}}{{row}}/change/", f"{{path}}add/", f"{{path}}{{row}}/delete/")])
    for action in ("pause", "redrive", "drop", "delete_selected"):
        act(page, action, row)
answer.append(client.get("/admin/celery_durable/brokernode/").status_code)
""",
        "viewer",
    )
    assert shown == [[200, 200, 403, 403], [200, 200, 403, 403], 200]
    assert shop.broker.value("SELECT count(*) FROM broker_dead_letter") == 3
    assert shop.broker.query("SELECT name FROM broker_queue WHERE paused_at IS NOT NULL") == []
    assert shop.broker.left() == 0
