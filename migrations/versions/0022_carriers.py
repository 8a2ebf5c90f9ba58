"""Jobs that several users asked for: how long one would wait in a user's line, and its move into that line."""

from alembic import op

revision = "0022"
down_revision = "0021"

SETTINGS = "SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off"

# How many runs a job waits for before its own, in the line of one user: first for jobs of that user, as many at a time
# as there are slots (null: no limit), then for everybody's on the queue, as many at a time as its workers run now.
# Infinite on a paused queue, and where nobody waits for it (null: the schedule).  Nothing is counted beyond `most`.
# A job that is not in that line is counted where it would be: inside the line by its age, as a wake takes the oldest
# first, and on the queue where the user's next one would stand.
TURNS = f"""
CREATE FUNCTION job_turns(job text, who text, queue_name text, slots integer, step integer, most integer)
RETURNS double precision
LANGUAGE plpgsql STABLE {SETTINGS} AS $$
DECLARE
    me record;
    which record;
    standing boolean;
    place bigint;
    own bigint;
    ahead bigint;
    workers bigint;
BEGIN
    SELECT m.id, m.queue_id, m.user_id, m.rank, m.visible INTO me FROM kombu_message m WHERE m.task_id = job;
    SELECT q.id, q.paused_at IS NOT NULL AS paused INTO which FROM kombu_queue q WHERE q.name = queue_name;
    IF me.id IS NULL OR who IS NULL OR which.id IS NULL OR which.paused THEN
        RETURN 'infinity';
    END IF;
    standing := coalesce(me.user_id = who, false) AND me.visible AND me.queue_id = which.id;
    IF standing THEN
        place := me.rank;
    ELSE
        place := greatest(kombu_message_rank(which.id, who, step),
                          (SELECT g.rank FROM kombu_group g WHERE g.queue_id = which.id AND g.name = who));
    END IF;
    ahead := (SELECT count(*) FROM (
                 SELECT FROM kombu_message m
                  WHERE m.queue_id = which.id AND m.visible AND (m.rank, m.id) < (place, me.id) AND m.id <> me.id
                  LIMIT most) AS before);
    workers := (SELECT count(*) FROM kombu_message m WHERE m.queue_id = which.id AND m.started_at IS NOT NULL);
    IF slots IS NULL THEN
        RETURN ahead / greatest(1, workers)::double precision;
    END IF;
    own := (SELECT count(*) FROM execution_slots s
             WHERE s.user_id = who::uuid AND s.service = split_part(queue_name, '_', 1)
               AND EXISTS (SELECT FROM kombu_message m
                            WHERE m.task_id = s.job_id::text AND m.lease_token = s.lease_token))
         + (SELECT count(*) FROM (
               SELECT FROM kombu_message m
                WHERE m.queue_id = which.id AND coalesce(m.user_id, '') = who AND m.visible AND m.rank IS NOT NULL
                  AND m.id <> me.id AND (NOT standing OR (m.rank, m.id) < (place, me.id)) LIMIT most) AS ready);
    IF NOT standing THEN
        own := own
             + (SELECT count(*) FROM (
                   SELECT FROM kombu_message m
                    WHERE m.queue_id = which.id AND m.delay_reason = 'parked' AND coalesce(m.user_id, '') = who
                      AND (m.delay_reason, coalesce(m.user_id, ''), m.id) < ('parked', who, me.id)
                    LIMIT most) AS parked)
             + (SELECT count(*) FROM (
                   SELECT FROM kombu_message m
                    WHERE m.queue_id = which.id AND m.delay_reason = 'snooze' AND coalesce(m.user_id, '') = who
                      AND (m.delay_reason, coalesce(m.user_id, ''), m.id) < ('snooze', who, me.id)
                    LIMIT most) AS snoozed);
    END IF;
    RETURN own / greatest(1, slots) + ahead / greatest(1, workers)::double precision;
END $$"""

# Put a job that no worker holds into the line of a user (null: the schedule's): ready there, or parked as an accept
# would park it.  A retry keeps its time.  -> what it was before: 'ready' or what delayed it; null: a worker holds it,
# or it is gone.  The slot of a worker that died under the job is dropped: it belongs to the user who is left.
CARRY = f"""
CREATE FUNCTION carry_job(
    job text, who text, queue_name text, most_ready integer, step integer, probe double precision, channel text
) RETURNS text
LANGUAGE plpgsql {SETTINGS} AS $$
DECLARE
    me record;
    which integer := (SELECT id FROM kombu_queue WHERE name = queue_name);
    reason text;
BEGIN
    SELECT m.id, coalesce(m.delay_reason, 'ready') AS was INTO me FROM kombu_message m
     WHERE m.task_id = job AND m.lease_token IS NULL
       AND (m.visible AND m.rank IS NOT NULL OR m.delay_reason IS NOT NULL)
       FOR NO KEY UPDATE;
    IF me.id IS NULL OR which IS NULL THEN
        RETURN NULL;
    END IF;
    IF me.was IN ('retry', 'eta') THEN
        reason := me.was;
    ELSIF who IS NOT NULL THEN
        PERFORM FROM kombu_group WHERE queue_id = which AND name = who FOR KEY SHARE SKIP LOCKED;
        reason := CASE WHEN FOUND THEN 'parked' END;
        IF reason IS NULL AND most_ready <= (
            SELECT count(*) FROM (
                SELECT FROM kombu_message WHERE queue_id = which AND coalesce(user_id, '') = who AND visible
                   AND rank IS NOT NULL LIMIT most_ready) AS ready) THEN
            reason := 'parked';
            INSERT INTO kombu_group (queue_id, name, probe_at, probe_seconds, rank)
            VALUES (which, who, clock_timestamp() + make_interval(secs => probe), probe,
                    kombu_message_rank(which, who, step))
            ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    UPDATE kombu_message
       SET queue_id = which, user_id = who, rank_step = step, delay_reason = reason, visible = reason IS NULL,
           visible_at = CASE WHEN reason IS NULL THEN clock_timestamp() WHEN reason <> 'parked' THEN visible_at END,
           rank = CASE WHEN reason IS NULL THEN kombu_message_rank(which, who, step) END
     WHERE id = me.id;
    DELETE FROM execution_slots WHERE job_id = job::uuid;
    IF reason IS DISTINCT FROM 'parked' THEN
        PERFORM pg_notify(channel, queue_name);
    END IF;
    RETURN me.was;
END $$"""


# Of the user in whose line the job waits, if that was ever somebody else than who pays: the newest one counts.
CARRIED = "ALTER TABLE analysis_requests ADD COLUMN carried_at timestamptz"


def upgrade() -> None:
    op.execute(CARRIED)
    op.execute(TURNS)
    op.execute(CARRY)


def downgrade() -> None:
    op.execute("DROP FUNCTION job_turns, carry_job; ALTER TABLE analysis_requests DROP COLUMN carried_at")
