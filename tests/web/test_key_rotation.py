"""SECRET_KEY is replaced while people work: what its predecessors signed is accepted until they are removed."""

from __future__ import annotations

from pydantic import SecretStr
from service_harness.application import POLICY, SETTINGS, Web, resolve

from app.store.core.unit_of_work import UnitOfWork
from app.web import create_app
from app.web.core.context import EXTENSION
from app.web.core.wiring import WebWiring

FIRST, SECOND, THIRD = "the first key of all", "the second key of all", "the third key of all"


def under(uow: UnitOfWork, key: str, *earlier: str, before: Web | None = None) -> Web:
    """The service with this key, visited by the browser that visited it before."""
    predecessors = SecretStr(",".join(one.replace(" ", "_") for one in earlier)) if earlier else None
    settings = SETTINGS.model_copy(update={"secret_key_predecessors": predecessors})
    web = Web(create_app(WebWiring(settings, uow, POLICY, resolve, key.replace(" ", "_"))), uow)
    if before is not None:
        cookie = before.client.get_cookie("fairlane")
        assert cookie is not None
        web.client.set_cookie("fairlane", cookie.value)
    return web


def is_signed_in(web: Web) -> bool:
    return web.client.get("/account").status_code == 200


def test_a_session_lives_through_rotations_until_its_key_is_removed(uow: UnitOfWork) -> None:
    first = under(uow, FIRST)
    first.sign_in(first.user())
    second = under(uow, SECOND, FIRST, before=first)
    assert is_signed_in(second)
    assert is_signed_in(under(uow, THIRD, SECOND, FIRST, before=first))
    assert not is_signed_in(under(uow, THIRD, SECOND, before=first))
    assert not is_signed_in(under(uow, SECOND, before=first))
    # what the browser is sent is signed with the newest key
    assert second.post("/language", "/account", language="ko", to="/account").status_code == 303
    second.client.post("/sign-out")
    second.sign_in(second.user())
    assert is_signed_in(under(uow, SECOND, before=second))


def test_a_visitor_keeps_their_jobs_and_quota_until_the_key_is_removed(uow: UnitOfWork) -> None:
    web = under(uow, FIRST)
    job = web.submit("shop")
    assert job.status_code == 202

    def held(web: Web) -> list[str]:
        return [item["job_id"] for item in web.client.get("/api/v1/usage/reservations").json["items"]]

    assert held(web) == [job.json["id"]]
    assert held(under(uow, SECOND, FIRST)) == held(under(uow, THIRD, SECOND, FIRST)) == [job.json["id"]]
    assert held(under(uow, THIRD, SECOND)) == []


def test_secrets_of_webhooks_are_read_with_a_predecessor(uow: UnitOfWork) -> None:
    old, new = under(uow, FIRST).app, under(uow, SECOND, FIRST).app
    rings = [app.extensions[EXTENSION].keyring for app in (old, new)]
    row = under(uow, FIRST).user().user_id
    assert rings[1].open(rings[0].seal(b"secret", row), row) == b"secret"


def test_nobody_is_signed_out_between_two_webs_if_both_know_the_new_key_before_one_signs_with_it(
    uow: UnitOfWork,
) -> None:
    old = under(uow, FIRST, SECOND, FIRST)
    old.sign_in(old.user())
    new = under(uow, SECOND, FIRST, before=old)
    new.client.get("/account/confirm?next=/account")  # writes into the session, so the cookie has a new signature
    assert is_signed_in(under(uow, FIRST, SECOND, FIRST, before=new))
    assert not is_signed_in(under(uow, FIRST, before=new))  # without the first step
