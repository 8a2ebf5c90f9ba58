"""The one function that chooses a job's queue (docs/adr/0015)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.plans import EventType, Tier
from app.domain.queues import ALL_QUEUES, JOB_QUEUES, MAINTENANCE, Service, check_queue_names, lent_to, select_queue


@pytest.mark.parametrize(
    ("tier", "queue"),
    [
        (Tier.FREE, "analysis_default"),
        (Tier.PRO, "analysis_priority"),
        (Tier.PRO_PLUS, "analysis_priority"),
        (Tier.ENTERPRISE, "analysis_priority"),
        ("enterprise", "analysis_priority"),
        ("free", "analysis_default"),
        ("gold", "analysis_default"),
        ("PRO", "analysis_default"),
        ("", "analysis_default"),
        (None, "analysis_default"),
    ],
)
def test_paid_tiers_get_priority_and_whatever_is_unknown_gets_default(tier: Tier | str | None, queue: str) -> None:
    assert select_queue(Service.ANALYSIS, tier) == queue


@pytest.mark.parametrize("tier", [*Tier, None])
def test_scheduled_work_never_sits_beside_a_users_whatever_the_tier(tier: Tier | None) -> None:
    assert select_queue(Service.ANALYSIS, tier, scheduled=True) == "analysis_scheduled"
    assert select_queue(Service.SPECVIEW, tier, scheduled=True) == "specview_scheduled"


def test_the_spec_service_has_queues_of_its_own() -> None:
    assert select_queue(Service.SPECVIEW, Tier.PRO) == "specview_priority"
    assert select_queue(Service.SPECVIEW, None) == "specview_default"


def test_there_are_three_queues_for_each_of_two_services() -> None:
    assert JOB_QUEUES == (
        "analysis_priority", "analysis_default", "analysis_scheduled",
        "specview_priority", "specview_default", "specview_scheduled",
    )  # fmt: skip


def test_maintenance_has_a_queue_that_no_job_is_put_on_and_no_process_is_lent_to_or_from() -> None:
    assert (*JOB_QUEUES, MAINTENANCE) == ALL_QUEUES
    assert lent_to(MAINTENANCE) is None
    assert MAINTENANCE not in {lent_to(queue) for queue in JOB_QUEUES}


@given(st.sampled_from(Service), st.one_of(st.none(), st.text(), st.sampled_from(Tier)), st.booleans())
def test_whatever_the_tier_the_queue_exists(service: Service, tier: str | None, scheduled: bool) -> None:
    assert select_queue(service, tier, scheduled=scheduled) in JOB_QUEUES


@pytest.mark.parametrize("name", ["", "analysis priority", "analysis.default", "ä", "a;b", "a\n", "a:b"])
def test_a_queue_name_with_other_characters_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match="may hold only letters, digits"):
        check_queue_names(("analysis_default", name))


def test_our_own_queue_names_are_legal() -> None:
    check_queue_names()


def test_a_service_is_billed_as_its_own_event() -> None:
    assert Service.ANALYSIS.event_type is EventType.ANALYSIS
    assert Service.SPECVIEW.event_type is EventType.SPECVIEW
