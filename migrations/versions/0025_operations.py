"""Operations: the audit log, schedules, clocks, calls of models; and the functions of the service.

The last of what was folded (docs/adr/0051): a database that the migrations before the fold brought to 0025 is the same.
"""

from pathlib import Path

from alembic import op

revision = "0025"
down_revision = "0000.4"

HERE = Path(__file__).parent


def upgrade() -> None:
    for name in ("0025_operations.sql", "0025_functions.sql"):
        op.execute(HERE.joinpath(name).read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("""
        DROP TRIGGER api_tokens_revoke_below ON api_tokens;
        DROP FUNCTION rate_take, rate_spend, caller_look, accept_look, wake_user, analysis_line, job_line,
            job_turns, carry_job, api_tokens_revoke_below;
        DROP TABLE schema_support, model_circuits, model_days, host_clocks, reconciliations, schedule_runs,
            audit_log""")
