"""The two look-ups of an accept as functions: one message each, and plans that are kept."""

from alembic import op

revision = "0009"
down_revision = "0008"

# A kept plan may have been made when a table was empty, so nothing but the indexes is offered to the planner.
SETTINGS = "SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off"

# Each statement of a volatile function sees what was committed before it began: the answer stored under a key is looked
# for after the claim, the plan and the commit's jobs after the lock on the user.  The commit's jobs are one statement:
# a job is then either still running or ended, and never neither.
LOOK = f"""
CREATE FUNCTION accept_look(
    who uuid, idempotency_key text, git_host text, git_owner text, git_name text, commit_id text, job_key text,
    parser text,
    OUT claimed boolean, OUT fingerprint bytea, OUT answer_status integer, OUT answer_body jsonb,
    OUT user_id uuid, OUT kind text, OUT email text, OUT is_operator boolean, OUT anchor_at timestamptz,
    OUT tier plan_tier, OUT concurrent_jobs integer, OUT analyses_per_period integer, OUT spec_units_per_period integer,
    OUT retention_days integer,
    OUT codebase_id uuid, OUT host text, OUT owner text, OUT name text, OUT is_private boolean,
    OUT last_viewed_at timestamptz, OUT running uuid, OUT completed uuid, OUT failed uuid
) LANGUAGE plpgsql {SETTINGS} AS $$
#variable_conflict use_column
BEGIN
    IF idempotency_key IS NOT NULL THEN
        -- a twin that is being answered holds this lock until its commit; its client is told so, and need not wait
        claimed := pg_try_advisory_xact_lock(hashtextextended(who || ' ' || idempotency_key, 0));
        IF NOT claimed THEN
            RETURN;
        END IF;
        SELECT k.fingerprint, k.status, k.body INTO fingerprint, answer_status, answer_body
          FROM idempotency_keys k WHERE k.user_id = who AND k.key = idempotency_key;
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    PERFORM FROM users u WHERE u.id = who FOR UPDATE;
    SELECT u.id, u.kind, u.email, u.is_operator, coalesce(s.anchor_at, u.created_at), p.tier, p.concurrent_jobs,
           p.analyses_per_period, p.spec_units_per_period, p.retention_days
      INTO user_id, kind, email, is_operator, anchor_at, tier, concurrent_jobs, analyses_per_period,
           spec_units_per_period, retention_days
      FROM users u
      LEFT JOIN user_subscriptions s ON s.user_id = u.id AND s.status = 'active'
      JOIN subscription_plans p ON p.tier = coalesce(s.tier, 'free')
     WHERE u.id = who;
    SELECT c.id, c.host, c.owner, c.name, c.is_private, c.last_viewed_at,
           (SELECT m.task_id::uuid FROM kombu_message m WHERE m.unique_key = job_key),
           (SELECT a.id FROM analyses a
             WHERE a.codebase_id = c.id AND a.commit_sha = commit_id AND a.parser_version = parser
               AND a.status = 'completed'),
           (SELECT CASE WHEN a.status = 'failed' THEN a.id END FROM analyses a
             WHERE a.codebase_id = c.id AND a.commit_sha = commit_id AND a.parser_version = parser
             ORDER BY a.started_at DESC LIMIT 1)
      INTO codebase_id, host, owner, name, is_private, last_viewed_at, running, completed, failed
      FROM codebases c
     WHERE c.host = git_host AND lower(c.owner) = lower(git_owner) AND lower(c.name) = lower(git_name);
END $$"""

LINE = f"""
CREATE FUNCTION analysis_line(
    job text, most integer,
    OUT paused boolean, OUT oldest timestamptz, OUT ahead bigint, OUT own bigint, OUT workers bigint,
    OUT run_seconds double precision[]
) LANGUAGE plpgsql STABLE {SETTINGS} AS $$
DECLARE
    me record;
BEGIN
    SELECT m.id, m.queue_id, m.user_id, m.rank, coalesce(m.visible_at, m.enqueued_at) AS ready_at,
           q.paused_at IS NOT NULL AS paused
      INTO me FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id WHERE m.task_id = job;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT me.paused, coalesce(min(f.ready_at), me.ready_at), count(*), count(*) FILTER (WHERE f.user_id = me.user_id)
      INTO paused, oldest, ahead, own
      FROM (SELECT m.user_id, coalesce(m.visible_at, m.enqueued_at) AS ready_at FROM kombu_message m
             WHERE m.queue_id = me.queue_id AND m.visible AND (m.rank, m.id) < (me.rank, me.id)
             ORDER BY m.rank, m.id LIMIT most) AS f;
    workers := (SELECT count(*) FROM kombu_message m WHERE m.queue_id = me.queue_id AND m.started_at IS NOT NULL);
    run_seconds := (SELECT percentile_cont(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY r.seconds)
                      FROM (SELECT extract(epoch FROM a.completed_at - a.started_at) AS seconds FROM analyses a
                             WHERE a.status = 'completed' ORDER BY a.completed_at DESC LIMIT 50) AS r);
END $$"""


def upgrade() -> None:
    op.execute(LOOK)
    op.execute(LINE)


def downgrade() -> None:
    op.execute("DROP FUNCTION accept_look, analysis_line")
