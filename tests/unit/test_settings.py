"""Settings: defaults, durations, file twins, and faults that name themselves."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sqlalchemy.engine import make_url

from app.database import database_url
from app.domain.fairness import FairnessMode
from app.domain.plans import Tier
from app.domain.queues import ALL_QUEUES
from app.environment import strangers
from app.errors import BadSetting
from app.settings import Settings, load, secrets


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
    assert [settings.workers(queue) for queue in ALL_QUEUES] == [5, 3, 2, 3, 2, 1, 1]


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


@pytest.mark.proof
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
        "30s, 5m or 1h, or a number of seconds", "LEASE_SECONDS='x'",
    ):  # fmt: skip
        assert words in told


@pytest.mark.parametrize(
    ("hosts", "read"),
    [
        ("a:1,b:2", ("a,b", "1,2")), ("a,b:2", ("a,b", "5432,2")), ("[::1]:1,db-2.example", ("::1,db-2.example", "1,5432")),
    ],
)  # fmt: skip
def test_several_hosts_may_be_written_as_libpq_does(hosts: str, read: tuple[str, str]) -> None:
    settings = load({"DATABASE_URL": f"postgresql://ann:s%40,@{hosts}/d?target_session_attrs=read-write"})
    url = make_url(database_url(settings))
    assert (url.query["host"], url.query["port"]) == read
    assert (url.username, url.password, url.database) == ("ann", "s@,", "d")
    assert url.query["target_session_attrs"] == "read-write"


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


def test_a_model_needs_its_address_and_its_name_and_no_key() -> None:
    assert "LLM_API_KEY: needs LLM_BASE_URL" in refusal(LLM_API_KEY="sk-secret")
    assert "sk-secret" not in refusal(LLM_API_KEY="sk-secret")
    assert "LLM_MODEL: needs LLM_BASE_URL" in refusal(LLM_MODEL="small")
    assert "needs LLM_MODEL" in refusal(LLM_BASE_URL="https://models.example.org/v1")
    local = load({"LLM_BASE_URL": "http://127.0.0.1:11434/v1/", "LLM_MODEL": "small"})
    assert (local.llm_base_url, local.llm_api_key) == ("http://127.0.0.1:11434/v1", None)


def test_a_models_key_is_a_secret_and_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-secret-of-the-model\n")
    settings = load({"LLM_BASE_URL": "https://x.org", "LLM_MODEL": "m", "LLM_API_KEY_FILE": str(tmp_path / "key")})
    assert secrets(settings)["LLM_API_KEY"] == "sk-secret-of-the-model"
    assert "sk-secret" not in repr(settings)


@pytest.mark.parametrize("key", ["sk with spaces", "sk-line\nbreak", "schlüssel-äöü", "sk\x00"])
def test_a_models_key_that_is_no_header_is_refused_without_being_shown(key: str) -> None:
    told = refusal(LLM_BASE_URL="https://x.org", LLM_MODEL="m", LLM_API_KEY=key)
    assert "visible ASCII" in told and key not in told


def test_a_cap_on_cost_needs_prices() -> None:
    assert "LLM_INPUT_PRICE" in refusal(LLM_COST_PER_DAY="5", LLM_INPUT_PRICE="0.1")
    assert load({"LLM_COST_PER_DAY": "5", "LLM_INPUT_PRICE": "0.1", "LLM_OUTPUT_PRICE": "0.4"}).llm_cost_per_day == 5


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
    assert policy.slot_limits == {Tier.FREE: 2, Tier.PRO_PLUS: 9}
    assert policy.snooze == timedelta(minutes=1)
    assert policy.mode is FairnessMode.ENFORCE
    assert load({"FAIRNESS_MODE": "shadow"}).fairness.mode is FairnessMode.SHADOW
    assert load({"FAIRNESS_MODE": "shadow", "FAIRNESS_ENABLED": "false"}).fairness.mode is FairnessMode.OFF


def test_settings_cannot_be_changed_after_they_were_read() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        load({}).default_tier = Tier.PRO  # type: ignore[misc]


@pytest.mark.parametrize("field", sorted(Settings.model_fields))
def test_every_setting_may_come_from_a_file(field: str, tmp_path: Path) -> None:
    values = {
        "default_tier": "pro", "log_format": "json", "quota_mode": "off", "sign_up": "open", "fairness_mode": "shadow", "sandbox": "off",
        "secret_key": "s" * 16, **dict.fromkeys(("encryption_key", "encryption_keys", "metrics_token", "secret_key_predecessors"), "k" * 16), "local_repos_root": str(tmp_path), "allowed_git_hosts": "git.example.org",
        **dict.fromkeys(("database_url", "database_owner_url", "database_direct_url", "database_read_url"), "postgresql://ann:x@h:1/d"),
        **dict.fromkeys(("public_url", "fairlane_url", "llm_base_url", "github_oauth_url"), "https://fairlane.example.org"),
        "cells": "eu1=postgresql://ann:x@h:1/d", "directory_url": "postgresql://ann:x@h:1/d",
        "object_store_url": f"file://{tmp_path}",
        "session_idle_timeout": "1h", "smtp_url": "smtp://ann:x@mail.example.org", "mail_from": "fairlane@example.org",
        "llm_share_per_account": "0.5", "job_memory_mb": "512",
    }  # fmt: skip
    kind = str(Settings.model_fields[field].annotation)
    given_value = values.get(field) or (
        "false" if "bool" in kind else "20" if "int" in kind or "float" in kind else "7"
    )
    file = tmp_path / "value"
    file.write_text(f"{given_value}\n", encoding="utf-8")
    environ = {"LEASE_SECONDS": "60"} if field != "lease_seconds" else {}
    environ |= {"DATABASE_URL": "postgresql://h/d"} if field == "database_owner_url" else {}
    cells = {"CELLS": values["cells"], "DIRECTORY_URL": values["directory_url"], "DATABASE_URL": values["database_url"]}
    environ |= cells if field in {"cells", "directory_url"} else {}
    environ |= {"LLM_BASE_URL": "https://x.org", "LLM_MODEL": "m"} if "llm_" in field else {}
    environ |= {"LLM_INPUT_PRICE": "1", "LLM_OUTPUT_PRICE": "2"} if field == "llm_cost_per_day" else {}
    environ |= {"PUBLIC_URL": "https://fairlane.example.org"} if field == "smtp_url" else {}
    environ |= {"GITHUB_CLIENT_ID": "i", "GITHUB_CLIENT_SECRET": "s"} if "github_client" in field else {}
    environ.pop(field.upper(), None)
    by_name = load(environ | {field.upper(): given_value})
    by_file = load(environ | {f"{field.upper()}_FILE": str(file)})
    assert getattr(by_file, field) == getattr(by_name, field)
    assert by_file == by_name


def test_a_setting_that_is_given_twice_is_refused_unless_the_variable_is_empty(tmp_path: Path) -> None:
    file = tmp_path / "tier"
    file.write_text("pro\n", encoding="utf-8")
    told = refusal(DEFAULT_TIER="enterprise", DEFAULT_TIER_FILE=str(file), SECRET_KEY="hunter2", SECRET_KEY_FILE="/x")
    assert told == (
        "SECRET_KEY and SECRET_KEY_FILE='/x': expected only one of the two; "
        f"DEFAULT_TIER and DEFAULT_TIER_FILE={str(file)!r}: expected only one of the two"
    )
    assert load({"DEFAULT_TIER": "", "DEFAULT_TIER_FILE": str(file)}).default_tier is Tier.PRO


def test_a_file_that_is_missing_or_no_text_is_named(tmp_path: Path) -> None:
    missing, binary = tmp_path / "missing", tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    assert refusal(SECRET_KEY_FILE=str(missing)) == f"SECRET_KEY_FILE={str(missing)!r}: No such file or directory"
    assert refusal(SECRET_KEY_FILE=str(tmp_path)) == f"SECRET_KEY_FILE={str(tmp_path)!r}: Is a directory"
    assert refusal(SECRET_KEY_FILE=str(binary)).startswith(f"SECRET_KEY_FILE={str(binary)!r}: ")
    (empty := tmp_path / "empty").write_text(" \n", encoding="utf-8")
    assert refusal(SECRET_KEY_FILE=str(empty)) == f"SECRET_KEY_FILE={str(empty)!r}: the file is empty"


def test_secrets_are_shown_neither_in_settings_nor_in_faults(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("hunter2-in-a-file", encoding="utf-8")
    url = "postgresql://u:hunter2@h/d"
    given = {"SECRET_KEY": "hunter2" * 3, "FAIRLANE_TOKEN": "fl_hunter2", "DATABASE_URL": url}
    settings = load(given | {"DATABASE_OWNER_URL": url, "DATABASE_DIRECT_URL": url, "DATABASE_READ_URL": url})
    shown = f"{settings!r} {settings} {settings.model_dump()} {load({'SECRET_KEY_FILE': str(file)})!r}"
    assert "hunter2" not in shown + settings.model_dump_json()
    assert "hunter2" not in refusal(SECRET_KEY_FILE=str(file), DATABASE_URL=url, DEFAULT_TIER="gold")


@pytest.mark.parametrize("name", ["DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_DIRECT_URL", "DATABASE_READ_URL"])
@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:hunter2@h/d", "u:hunter2@h/d", "hunter2", "postgresql://u:hunter2@h:port/d", "http://u:hunter2@h/d",
        "postgresql://u:hunter2@h:99999/d", "postgresql://u:hunter2@h:0/d", "postgresql+psycopg://u:hunter2@h/d",
        "postgresql://u:hunter2@a:1,b:99999/d", "postgresql://u:hunter2@a:1,b:0/d", "postgresql://u:hunter2@a:1,b:x/d",
        "postgresql://u:hunter2@a,,b/d", "postgresql://u:hunter2@[::1/d", "postgresql://u:hun:ter2@h:hunter2/d",
    ],
)  # fmt: skip
def test_an_address_of_no_postgresql_is_refused_without_its_password(name: str, url: str) -> None:
    told = refusal(**({"DATABASE_URL": "postgresql://h/d"} | {name: url}))
    assert told.startswith(f"{name}=(not shown): ")
    assert "hunter2" not in told
    assert "postgresql://" in told or "1 to 65535" in told


@pytest.mark.parametrize(
    "url",
    [
        "postgres://ann:s%40@h:5433/d", "postgresql://ann:s%40@h:5433/d", "postgresql+psycopg2://ann:s%40@h:5433/d",
        "postgresql://h:5433/d?user=ann&password=s%40",
    ],
)  # fmt: skip
def test_an_address_may_be_written_in_any_way_that_postgresql_knows(url: str) -> None:
    settings = load({"DATABASE_URL": url})
    assert database_url(settings) == "postgresql+psycopg2://ann:s%40@h:5433/d"
    assert secrets(settings) == {"DATABASE_URL": "s@"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PUBLIC_URL", "fairlane.example.org"), ("PUBLIC_URL", "ftp://x.org"), ("PUBLIC_URL", "https://"),
        ("PUBLIC_URL", "https://x.org?a=b"), ("PUBLIC_URL", "https://x.org/#a"), ("PUBLIC_URL", "https://x.org:99999"),
        ("PUBLIC_URL", "https://x .org"), ("FAIRLANE_URL", "localhost:8000"), ("FAIRLANE_URL", "http://h:port"),
        ("ALLOWED_GIT_HOSTS", ","), ("ALLOWED_GIT_HOSTS", "https://github.com"), ("ALLOWED_GIT_HOSTS", "*.github.com"),
        ("ALLOWED_GIT_HOSTS", "github.com/acme"), ("ALLOWED_GIT_HOSTS", "git..org"), ("ALLOWED_GIT_HOSTS", "-x.org"),
        ("LEASE_SECONDS", "nan"), ("HEARTBEAT_SECONDS", "nan"), ("HEARTBEAT_SECONDS", "inf"),
        ("FAIRNESS_SNOOZE_DURATION", "nan"), ("FAIRNESS_SNOOZE_DURATION", "365d"), ("FAIRNESS_SNOOZE_JITTER", "2d"),
        ("RESERVATION_TTL", "1000d"), ("ANALYSIS_TIME_LIMIT", "25h"), ("SPEC_TIME_LIMIT", "0"), ("LLM_PARALLEL", "0"), ("LLM_TIMEOUT", "2h"),
        ("LLM_TOKENS_PER_DAY", "0"), ("LLM_COST_PER_DAY", "nan"), ("LLM_INPUT_PRICE", "-1"), ("LLM_BASE_URL", "ftp://x"),
        ("GIT_TIMEOUT", "0"), ("GIT_TIMEOUT", "300d"),
        ("RATE_LIMIT_PER_MINUTE", "9" * 12), ("WEB_CONCURRENCY", "10000"), ("QUEUE_LENDING", "sometimes"),
        ("LOCAL_REPOS_ROOT", "/nowhere/at/all"), ("LOCAL_REPOS_ROOT", __file__), ("FAIRLANE_HOME", __file__),
        ("FAIRLANE_HOME", f"{__file__}/below"),
    ],
)  # fmt: skip
def test_what_could_not_work_is_refused_at_once_with_its_name_and_value(name: str, value: str) -> None:
    assert refusal(**{name: value}).startswith(f"{name}={value!r}: ")


@pytest.mark.parametrize("name", ["PUBLIC_URL", "FAIRLANE_URL"])
def test_an_address_with_a_password_is_refused_without_showing_it(name: str) -> None:
    assert refusal(**{name: "https://ann:hunter2@x.org"}).startswith(f"{name}=(not shown): expected an address")


def test_a_secret_key_that_can_be_guessed_is_refused() -> None:
    assert refusal(SECRET_KEY="hunter2") == (
        "SECRET_KEY=(not shown): expected at least 16 characters, for instance from `openssl rand -base64 48`"
    )


def test_an_owner_without_an_application_is_refused() -> None:
    assert refusal(DATABASE_OWNER_URL="postgresql://h/d") == (
        "DATABASE_OWNER_URL: needs DATABASE_URL, which is for the application's role"
    )


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("FAIRNES_MODE", "FAIRNESS_MODE"), ("FAIRNESS_FREE_LIMITS", "FAIRNESS_FREE_LIMIT"),
        ("ANALYSER_QUEUE_DEFAULT_WORKERS", "ANALYZER_QUEUE_DEFAULT_WORKERS"), ("DATABASE_URI", "DATABASE_URL"),
        ("SPECGEN_QUEUE_PRIORITY_WORKER", "SPECGEN_QUEUE_PRIORITY_WORKERS"), ("QUOTA_MODUS", "QUOTA_MODE"),
        ("FAIRLANE_HOMEE", "FAIRLANE_HOME"), ("LOCAL_REPO_ROOT", "LOCAL_REPOS_ROOT"), ("SECRETKEY", "SECRET_KEY"),
        ("ALLOW_ANONYMUS", "ALLOW_ANONYMOUS"), ("SECRET_KEYS_FILE", "SECRET_KEY"), ("LLM_APIKEY", "LLM_API_KEY"),
        ("FAIRNESS_UNKNOWN", None), ("DATABASE_HOST", None),
    ],
)  # fmt: skip
def test_a_variable_that_looks_like_a_setting_and_is_none_is_told_with_the_nearest(name: str, near: str | None) -> None:
    [told] = strangers(Settings.model_fields, {name: "1", "PATH": "/bin"})
    assert told.startswith(f"{name} is not a setting")
    assert near is None or told.endswith(f"did you mean {near}?")
    assert load({name: "1"}) == load({})


def test_variables_of_others_and_of_our_own_tests_are_not_told_of() -> None:
    others = ("PATH", "HOME", "SECRET", "POSTGRES_PASSWORD", "CELERY_BROKER_URL", "PORT", "LANG", "KEY", "PUBLIC_IP")
    ours = ("FAIRLANE_TEST_RUN", "FAIRLANE_KILLS", "FAIRLANE_UP", "SECRET_KEY_FILE", "DEFAULT_TIER")
    assert strangers(Settings.model_fields, dict.fromkeys([*others, *ours], "1") | {"FAIRNES_MODE": ""}) == []


def test_one_key_and_several_are_two_ways_to_say_the_same() -> None:
    assert load({"ENCRYPTION_KEY": "k" * 16}).encryption_phrases == ("k" * 16,)
    assert load({"ENCRYPTION_KEYS": f"{'k' * 16}, {'o' * 16}"}).encryption_phrases == ("k" * 16, "o" * 16)
    with pytest.raises(BadSetting, match="ENCRYPTION_KEY and ENCRYPTION_KEYS: expected only one of the two"):
        load({"ENCRYPTION_KEY": "k" * 16, "ENCRYPTION_KEYS": "k" * 16})
    with pytest.raises(BadSetting, match=r"ENCRYPTION_KEY=.* at least 16"):
        load({"ENCRYPTION_KEY": "short"})
