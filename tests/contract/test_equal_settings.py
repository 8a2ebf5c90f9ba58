"""Each setting must be the same on all hosts, or is named as one that may differ."""

from __future__ import annotations

from app.equal_settings import MAY_BE_UNSET, MAY_DIFFER
from app.settings import Settings

#: Those that hosts must share, by hand: a new setting belongs here or to MAY_DIFFER, after a thought.
MUST_BE_EQUAL = {
    "secret_key", "secret_key_predecessors", "encryption_key", "encryption_keys", "default_tier", "allow_anonymous",
    "sign_up", "sign_ups_per_day", "session_idle_timeout", "smtp_url", "mail_from", "github_client_id",
    "github_client_secret", "github_oauth_url", "allowed_git_hosts", "public_url", "fairness_enabled", "fairness_mode",
    "fairness_free_limit", "fairness_pro_limit", "fairness_pro_plus_limit", "fairness_enterprise_limit",
    "fairness_snooze_duration", "fairness_snooze_jitter", "quota_mode", "reservation_ttl", "maintenance_time_limit",
    "lease_seconds", "heartbeat_seconds", "analysis_time_limit", "spec_time_limit", "llm_base_url", "llm_api_key",
    "llm_model", "llm_timeout", "llm_requests_per_minute", "llm_tokens_per_spec", "llm_tokens_per_day",
    "llm_cost_per_day", "llm_share_per_account", "llm_input_price", "llm_output_price", "rate_limit_per_minute",
    "read_limit_per_minute", "webhook_ports", "webhook_loopback", "max_tests",
    "max_checked_tests", "object_store_url",
}  # fmt: skip


def test_each_setting_is_of_one_kind() -> None:
    assert set(Settings.model_fields) == MUST_BE_EQUAL | MAY_DIFFER
    assert set() == MUST_BE_EQUAL & MAY_DIFFER
    assert set(MAY_BE_UNSET) <= MUST_BE_EQUAL
