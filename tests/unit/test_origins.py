"""Which ids of a request are kept, and which are made."""

from __future__ import annotations

import threading

import pytest

from app import origins
from app.origins import Origin

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{SPAN}-01"


def test_plain_ids_of_a_client_are_kept() -> None:
    origin = Origin.of_request("order-4711", VALID)
    assert origin == Origin("order-4711", VALID)
    assert (origin.trace_id, origin.is_new) == (TRACE, False)


@pytest.mark.parametrize("given", [None, "", "with space", "a" * 65, "ä", "a\nb", "a,b"])
def test_another_request_id_is_replaced(given: str | None) -> None:
    made = Origin.of_request(given, None).request_id
    assert made != given
    assert made is not None
    assert len(made) == 32


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01-more",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f" {VALID}",
        f"{VALID}\n",
        f"{VALID},{VALID}",
        f"00-{TRACE}-{SPAN}-0x",
    ],
)
def test_another_trace_is_replaced_by_a_new_one(given: str | None) -> None:
    first, second = Origin.of_request("one", given), Origin.of_request("two", given)
    assert first.is_new
    assert Origin.of_request("one", first.traceparent) == Origin("one", first.traceparent)
    assert len({TRACE, first.trace_id, second.trace_id}) == 3


def test_work_without_a_request_has_a_trace_only() -> None:
    origin = Origin.of_message(None, None)
    assert origin.request_id is None
    with origins.entered(origin):
        assert origins.add_to_line(None, "", {}) == {"trace_id": origin.trace_id}
    assert origins.add_to_line(None, "", {}) == {}


def test_a_thread_works_for_its_own_origin() -> None:
    seen = []
    with origins.entered(Origin("mine", VALID)):
        thread = threading.Thread(target=lambda: seen.append(origins.current()))
        thread.start()
        thread.join()
    assert seen == [None]
