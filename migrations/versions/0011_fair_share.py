"""Fair share: groups that are woken one by one keep their place, users' run times, and why a job waits.

The broker's functions go with 0004, which makes all of the present ones.
"""

from importlib import import_module
from pathlib import Path

from alembic import op

BROKER_FUNCTIONS = Path(__file__).parents[1].joinpath("broker_functions.sql").read_text(encoding="utf-8")

revision = "0011"
down_revision = "0010"

SETTINGS = "SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off"

UPGRADE = """
ALTER TABLE kombu_group ADD COLUMN rank bigint;
DROP FUNCTION IF EXISTS kombu_message_park(text, text, double precision);
DROP FUNCTION IF EXISTS kombu_message_wake(integer, text, integer);
DROP FUNCTION IF EXISTS kombu_message_publish(text, text, text, text, text, double precision, integer, text);
DROP INDEX kombu_message_snoozed;

ALTER TABLE users ADD COLUMN run_seconds double precision, ADD COLUMN run_deviation double precision;
COMMENT ON COLUMN users.run_seconds IS 'moving mean of how long the user''s jobs held a slot; null before the first';
COMMENT ON COLUMN users.run_deviation IS 'moving mean of its absolute error';

DROP FUNCTION analysis_line;
"""

# The user's oldest waiting job of a service, on whichever of its queues it is: a change of tier leaves jobs on two.
WAKE = f"""
CREATE FUNCTION wake_user(who text, service text, most integer, step integer) RETURNS SETOF uuid
LANGUAGE plpgsql {SETTINGS} AS $$
DECLARE
    one record;
    woken text;
    left_over integer := most;
BEGIN
    FOR one IN
        SELECT q.id FROM kombu_queue q, LATERAL (
            SELECT least(
                (SELECT m.id FROM kombu_message m WHERE m.queue_id = q.id AND m.delay_reason = 'parked'
                    AND coalesce(m.user_id, '') = who ORDER BY m.id LIMIT 1),
                (SELECT m.id FROM kombu_message m WHERE m.queue_id = q.id AND m.delay_reason = 'snooze'
                    AND coalesce(m.user_id, '') = who ORDER BY m.id LIMIT 1)) AS id) AS oldest
         WHERE starts_with(q.name, service || '_')
           AND (oldest.id IS NOT NULL OR EXISTS (SELECT FROM kombu_group g WHERE g.queue_id = q.id AND g.name = who))
         ORDER BY oldest.id
    LOOP
        -- with none left over this only forgets a group of which nothing waits
        FOR woken IN SELECT * FROM kombu_message_wake(one.id, who, left_over, step) LOOP
            left_over := left_over - 1;
            RETURN NEXT woken::uuid;
        END LOOP;
    END LOOP;
END $$"""

# Where a job stands.  One that is parked or snoozed waits behind the user's own only; `own` counts those, and `ahead`
# is the same.  One that is ready: `ahead` counts all that are ranked before it.  The row comparisons are of the index's
# columns: with a plain one of ids the planner takes the primary key, and reads all that is older.
LINE = f"""
CREATE FUNCTION analysis_line(
    job text, most integer,
    OUT paused boolean, OUT held boolean, OUT oldest timestamptz, OUT ahead bigint, OUT own bigint, OUT workers bigint,
    OUT taken bigint, OUT run_seconds double precision, OUT run_deviation double precision
) LANGUAGE plpgsql STABLE {SETTINGS} AS $$
DECLARE
    me record;
BEGIN
    SELECT m.id, m.queue_id, m.user_id, m.rank, coalesce(m.visible_at, m.enqueued_at) AS ready_at,
           q.paused_at IS NOT NULL AS paused, coalesce(m.delay_reason IN ('parked', 'snooze'), false) AS held,
           split_part(q.name, '_', 1) AS service
      INTO me FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id WHERE m.task_id = job;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    paused := me.paused;
    held := me.held;
    taken := (SELECT count(*) FROM execution_slots s
               WHERE s.user_id = me.user_id::uuid AND s.service = me.service
                 AND EXISTS (SELECT FROM kombu_message m
                              WHERE m.task_id = s.job_id::text AND m.lease_token = s.lease_token));
    IF held THEN
        oldest := me.ready_at;
        SELECT count(*) INTO own FROM (
            SELECT FROM kombu_message m
             WHERE m.queue_id = me.queue_id AND m.delay_reason = 'parked' AND coalesce(m.user_id, '') = me.user_id
               AND (m.delay_reason, coalesce(m.user_id, ''), m.id) < ('parked', me.user_id, me.id)
             LIMIT most) AS parked;
        own := own + (SELECT count(*) FROM kombu_message m
                       WHERE m.queue_id = me.queue_id AND m.delay_reason = 'snooze'
                         AND coalesce(m.user_id, '') = me.user_id
                         AND (m.delay_reason, coalesce(m.user_id, ''), m.id) < ('snooze', me.user_id, me.id))
                   + (SELECT count(*) FROM (
                         SELECT FROM kombu_message m
                          WHERE m.queue_id = me.queue_id AND coalesce(m.user_id, '') = me.user_id AND m.visible
                            AND m.rank IS NOT NULL LIMIT most) AS ready);
        own := least(own, most);
        ahead := own;
    ELSE
        SELECT coalesce(min(f.ready_at), me.ready_at), count(*), count(*) FILTER (WHERE f.user_id = me.user_id)
          INTO oldest, ahead, own
          FROM (SELECT m.user_id, coalesce(m.visible_at, m.enqueued_at) AS ready_at FROM kombu_message m
                 WHERE m.queue_id = me.queue_id AND m.visible AND (m.rank, m.id) < (me.rank, me.id)
                 ORDER BY m.rank, m.id LIMIT most) AS f;
    END IF;
    workers := (SELECT count(*) FROM kombu_message m WHERE m.queue_id = me.queue_id AND m.started_at IS NOT NULL);
    SELECT avg(r.seconds), coalesce(stddev_samp(r.seconds), 0) INTO run_seconds, run_deviation
      FROM (SELECT extract(epoch FROM a.completed_at - a.started_at) AS seconds FROM analyses a
             WHERE a.status = 'completed' ORDER BY a.completed_at DESC LIMIT 50) AS r;
END $$"""


def vacuum(share: str) -> str:
    """Vacuum when so much of a table is dead; all of the settings, as they are told in the order they were made."""
    return "".join(
        f"""ALTER TABLE {table} RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold,
                autovacuum_analyze_scale_factor, autovacuum_vacuum_cost_delay);
            ALTER TABLE {table} SET (
                autovacuum_vacuum_scale_factor = {share}, autovacuum_vacuum_threshold = 1000,
                autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0);"""
        for table in ("kombu_message", "kombu_broadcast")
    )


def upgrade() -> None:
    op.execute(UPGRADE + vacuum("0.1"))
    for function in (BROKER_FUNCTIONS, WAKE, LINE):
        op.execute(function)


def downgrade() -> None:
    before = import_module("migrations.versions.0009_accept_functions")
    op.execute("""
        DROP FUNCTION wake_user, analysis_line;
        ALTER TABLE users DROP COLUMN run_seconds, DROP COLUMN run_deviation;
        CREATE INDEX kombu_message_snoozed ON kombu_message (user_id, id) WHERE delay_reason = 'snooze';
        ALTER TABLE kombu_group DROP COLUMN rank""")
    op.execute(vacuum("0.02"))
    op.execute(before.LINE)
