"""Settings: defaults, durations, file twins, and faults that name themselves."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.domain.fairness import Mode
from app.domain.plans import Tier
from app.domain.queues import ALL_QUEUES
from app.errors import BadSetting
from app.settings import Settings, load


def refusal(**environ: str) -> str:
    with pytest.raises(BadSetting) as refused:
        load(environ)
    return refused.value.detail


def test_defaults_are_those_of_the_rules() -> None:
    settings = load({})
    assert settings.default_tier is Tier.FREE
    assert settings.fairness_snooze_duration == timedelta(seconds=30)
    assert settings.fairness_snooze_jitter == timedelta(seconds=10)
    assert settings.reservation_ttl == timedelta(hours=1)
    assert settings.analysis_time_limit == timedelta(minutes=20)
    assert (settings.lease_seconds, settings.heartbeat_seconds) == (15, 3)
    assert settings.allowed_git_hosts == ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org")
    assert settings.home == Path("~/.local/share/fairlane").expanduser()
    assert settings.quota_mode == "enforce"
    assert settings.database_url is None


def test_worker_slots_are_5_3_2_and_3_2_1() -> None:
    settings = load({})
    assert [settings.workers(queue) for queue in ALL_QUEUES] == [5, 3, 2, 3, 2, 1]


def test_worker_slots_come_from_the_environment() -> None:
    settings = load({"ANALYZER_QUEUE_DEFAULT_WORKERS": "7", "SPECGEN_QUEUE_SCHEDULED_WORKERS": "4"})
    assert settings.workers("analysis_default") == 7
    assert settings.workers("specview_scheduled") == 4


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("30s", timedelta(seconds=30)), ("5m", timedelta(minutes=5)), ("1h", timedelta(hours=1)),
        ("2d", timedelta(days=2)), ("90", timedelta(seconds=90)), ("1.5h", timedelta(minutes=90)),
        (" 30s ", timedelta(seconds=30)), ("0.25", timedelta(milliseconds=250)),
    ],
)  # fmt: skip
def test_durations_have_a_unit_or_are_seconds(text: str, duration: timedelta) -> None:
    assert load({"RESERVATION_TTL": text}).reservation_ttl == duration


@pytest.mark.parametrize(
    "text",
    ["-1", "-5m", "0", "0s", "soon", "1w", "1h30m", "PT1H", "1 h", "1e3", "h", "nan", "inf", "9" * 30, "9" * 400],
)
def test_a_duration_that_is_none_is_refused_with_its_name(text: str) -> None:
    assert refusal(RESERVATION_TTL=text).startswith(f"RESERVATION_TTL={text!r}: ")


@given(st.text().filter(lambda text: "\x00" not in text))
def test_any_text_is_either_a_duration_or_a_refusal(text: str) -> None:
    try:
        settings = load({"FAIRNESS_SNOOZE_DURATION": text})
    except BadSetting:
        return
    assert settings.fairness_snooze_duration >= timedelta(0)


def test_zero_jitter_is_legal() -> None:
    assert load({"FAIRNESS_SNOOZE_JITTER": "0"}).fairness.jitter == timedelta(0)


def test_every_fault_is_named_at_once_with_its_value_and_what_is_allowed() -> None:
    told = refusal(
        DEFAULT_TIER="gold", WEB_CONCURRENCY="0", LOG_FORMAT="xml", RESERVATION_TTL="soon", LEASE_SECONDS="x"
    )
    for words in (
        "DEFAULT_TIER='gold'", "'free', 'pro', 'pro_plus' or 'enterprise'", "WEB_CONCURRENCY='0'",
        "greater than or equal to 1", "LOG_FORMAT='xml'", "'text' or 'json'", "RESERVATION_TTL='soon'",
        "30s, 5m, 1h or a number of seconds", "LEASE_SECONDS='x'",
    ):  # fmt: skip
        assert words in told


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FAIRNESS_FREE_LIMIT", "0"), ("FAIRNESS_PRO_LIMIT", "-1"), ("FAIRNESS_ENTERPRISE_LIMIT", "many"),
        ("FAIRNESS_MODE", "loose"), ("FAIRNESS_ENABLED", "perhaps"), ("QUOTA_MODE", "on"), ("ALLOW_ANONYMOUS", "2"),
        ("ANALYZER_QUEUE_PRIORITY_WORKERS", "0"), ("HEARTBEAT_SECONDS", "0"), ("LEASE_SECONDS", "inf"),
        ("WEB_CONCURRENCY", "1.5"), ("ANALYSIS_TIME_LIMIT", "0"), ("RATE_LIMIT_PER_MINUTE", "0"),
    ],
)  # fmt: skip
def test_a_value_that_is_not_allowed_is_refused_with_its_name(name: str, value: str) -> None:
    assert refusal(**{name: value}).startswith(f"{name}={value!r}: ")


def test_a_lease_must_outlive_three_heartbeats() -> None:
    assert "at most a third of LEASE_SECONDS=8" in refusal(LEASE_SECONDS="8", HEARTBEAT_SECONDS="3")
    assert load({"LEASE_SECONDS": "9", "HEARTBEAT_SECONDS": "3"}).lease_seconds == 9


def test_an_empty_variable_is_one_that_is_not_set() -> None:
    assert load({"DEFAULT_TIER": "", "RESERVATION_TTL": ""}) == load({})


def test_variables_of_others_are_left_alone() -> None:
    assert load({"PATH": "/bin", "POSTGRES_PASSWORD": "x", "FAIRNESS_UNKNOWN": "1"}) == load({})


def test_hosts_are_a_list_by_comma_or_space_in_any_case() -> None:
    assert load({"ALLOWED_GIT_HOSTS": "GitHub.com, git.example.org  x.org"}).allowed_git_hosts == (
        "github.com", "git.example.org", "x.org",
    )  # fmt: skip


def test_fairness_settings_become_one_policy() -> None:
    policy = load(
        {"FAIRNESS_FREE_LIMIT": "2", "FAIRNESS_PRO_PLUS_LIMIT": "9", "FAIRNESS_SNOOZE_DURATION": "1m"}
    ).fairness
    assert policy.overrides == {Tier.FREE: 2, Tier.PRO_PLUS: 9}
    assert policy.snooze == timedelta(minutes=1)
    assert policy.mode is Mode.ENFORCE
    assert load({"FAIRNESS_MODE": "shadow"}).fairness.mode is Mode.SHADOW
    assert load({"FAIRNESS_MODE": "shadow", "FAIRNESS_ENABLED": "false"}).fairness.mode is Mode.OFF


def test_settings_cannot_be_changed_after_they_were_read() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        load({}).default_tier = Tier.PRO  # type: ignore[misc]


@pytest.mark.parametrize("field", sorted(Settings.model_fields))
def test_every_setting_may_come_from_a_file(field: str, tmp_path: Path) -> None:
    values = {"default_tier": "pro", "log_format": "json", "quota_mode": "off", "fairness_mode": "shadow"}
    kind = str(Settings.model_fields[field].annotation)
    given_value = values.get(field) or (
        "false" if "bool" in kind else "20" if "int" in kind or "float" in kind else "7"
    )
    file = tmp_path / "value"
    file.write_text(f"{given_value}\n", encoding="utf-8")
    environ = {"LEASE_SECONDS": "60"} if field != "lease_seconds" else {}
    by_name = load(environ | {field.upper(): given_value})
    by_file = load(environ | {f"{field.upper()}_FILE": str(file)})
    assert getattr(by_file, field) == getattr(by_name, field)
    assert by_file == by_name


def test_the_variable_itself_wins_over_its_file_unless_it_is_empty(tmp_path: Path) -> None:
    file = tmp_path / "tier"
    file.write_text("pro\n", encoding="utf-8")
    assert load({"DEFAULT_TIER": "enterprise", "DEFAULT_TIER_FILE": str(file)}).default_tier is Tier.ENTERPRISE
    assert load({"DEFAULT_TIER": "", "DEFAULT_TIER_FILE": str(file)}).default_tier is Tier.PRO


def test_a_file_that_is_missing_or_no_text_is_named(tmp_path: Path) -> None:
    missing, binary = tmp_path / "missing", tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    assert refusal(SECRET_KEY_FILE=str(missing)) == f"SECRET_KEY_FILE={str(missing)!r}: No such file or directory"
    assert refusal(SECRET_KEY_FILE=str(tmp_path)) == f"SECRET_KEY_FILE={str(tmp_path)!r}: Is a directory"
    assert refusal(SECRET_KEY_FILE=str(binary)).startswith(f"SECRET_KEY_FILE={str(binary)!r}: ")


def test_secrets_are_shown_neither_in_settings_nor_in_faults(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("hunter2-in-a-file", encoding="utf-8")
    settings = load({"SECRET_KEY": "hunter2", "FAIRLANE_TOKEN": "fl_hunter2"})
    assert "hunter2" not in f"{settings!r} {settings} {load({'SECRET_KEY_FILE': str(file)})!r}"
    told = refusal(SECRET_KEY_FILE=str(file), DATABASE_URL="postgresql://u:hunter2@h/d", DEFAULT_TIER="gold")
    assert "hunter2" not in told
