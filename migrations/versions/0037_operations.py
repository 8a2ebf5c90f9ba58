"""Operations: the audit log, schedules, clocks, calls of models; and the functions of the service.

The last of what was folded (docs/adr/0066): a database that the migrations before the fold brought to 0037 is the same.
"""

from pathlib import Path

from alembic import op

revision = "0037"
down_revision = "0036.5"

HERE = Path(__file__).parent


def upgrade() -> None:
    for name in ("0037_operations.sql", "0037_functions.sql"):
        op.execute(HERE.joinpath(name).read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("""
        DROP TRIGGER api_tokens_revoke_below ON api_tokens;
        DROP TRIGGER job_events_tell_webhooks ON job_events;
        DROP FUNCTION rate_take, rate_spend, rate_charge, caller_look, caller_find, accept_look, wake_user,
            queue_parked_since, job_line, job_turns, carry_job(text, text, text, integer, integer, double precision),
            carry_job(text, text, text, integer, integer, double precision, text), api_tokens_revoke_below,
            webhooks_tell;
        DROP TABLE schema_support, model_circuits, model_days, host_clocks, reconciliations, schedule_leader,
            schedule_entries, schedule_runs, audit_log""")
