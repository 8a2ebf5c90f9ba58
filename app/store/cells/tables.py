"""Which tables move with an account, and how; tests/contract/test_moving.py: none that leads to a user is missing."""

from __future__ import annotations

#: Rows of the account alone, in the order in which they are deleted; they are inserted the other way round.
OWN = (
    "webhook_deliveries", "webhooks", "spec_shares", "idempotency_keys", "sign_in_links", "sessions", "api_tokens",
    "one_time_secrets", "github_links", "passkeys", "passwords", "bookmarks", "model_shares", "quota_reservations",
    "spec_words", "usage_events", "user_subscriptions", "users",
)  # fmt: skip
#: Rows of jobs, which are copied while the account works and get their user with the move.
OF_JOBS = ("analysis_requests", "spec_documents", "spec_features", "spec_requests")
#: Rows that are made anew: sums by a trigger, and slots by the next start.
MADE_ANEW = ("execution_slots", "usage_sums")
#: What jobs have that no account has.
CONTENTS = ("codebases", "analyses", "branch_commits", "file_inventories", "job_events")
#: What operators did with the account is copied; the trigger on users takes the name out of what stays.
NOTED = ("audit_log",)

ALL = (*OWN, *OF_JOBS, *CONTENTS, *NOTED)
