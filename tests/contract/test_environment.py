"""Every variable of the contract is a setting, or is named here as one of a later release."""

import pytest

from app.domain.plans import Tier
from app.domain.queues import ALL_QUEUES
from app.settings import Settings

CONTRACT = [
    "DATABASE_URL",
    "FAIRLANE_HOME",
    "SECRET_KEY",
    "DEFAULT_TIER",
    "ALLOW_ANONYMOUS",
    "ALLOWED_GIT_HOSTS",
    "LOCAL_REPOS_ROOT",
    "FAIRNESS_ENABLED",
    "FAIRNESS_MODE",
    "FAIRNESS_SNOOZE_DURATION",
    "FAIRNESS_SNOOZE_JITTER",
    "FAIRNESS_FREE_LIMIT",
    "FAIRNESS_PRO_LIMIT",
    "FAIRNESS_PRO_PLUS_LIMIT",
    "FAIRNESS_ENTERPRISE_LIMIT",
    "QUOTA_MODE",
    "RESERVATION_TTL",
    "ANALYZER_QUEUE_PRIORITY_WORKERS",
    "ANALYZER_QUEUE_DEFAULT_WORKERS",
    "ANALYZER_QUEUE_SCHEDULED_WORKERS",
    "SPECGEN_QUEUE_PRIORITY_WORKERS",
    "SPECGEN_QUEUE_DEFAULT_WORKERS",
    "SPECGEN_QUEUE_SCHEDULED_WORKERS",
    "LEASE_SECONDS",
    "HEARTBEAT_SECONDS",
    "ANALYSIS_TIME_LIMIT",
    "SPEC_TIME_LIMIT",
    "LLM_BASE_URL",
    "LLM_API_KEY",
    "LLM_MODEL",
    "WEB_CONCURRENCY",
    "LOG_FORMAT",
    "FAIRLANE_URL",
    "FAIRLANE_TOKEN",
    "ENCRYPTION_KEY",
    "ENCRYPTION_KEYS",
]


@pytest.mark.parametrize("name", CONTRACT)
def test_a_variable_of_the_contract_is_a_setting(name: str) -> None:
    assert name.lower() in Settings.model_fields


@pytest.mark.parametrize("tier", list(Tier))
def test_every_tier_has_its_override(tier: Tier) -> None:
    assert f"fairness_{tier}_limit" in Settings.model_fields


@pytest.mark.parametrize("queue", ALL_QUEUES)
def test_every_queue_has_its_number_of_workers(queue: str) -> None:
    assert Settings().workers(queue) >= 1
