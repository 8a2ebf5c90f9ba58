"""Specifications: jobs of the second service, their documents, the words that are kept, and links that share them."""

from alembic import op

revision = "0023"
down_revision = "0022"

SETTINGS = "SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off"

UPGRADE = """
-- users first, as in every step: whoever holds another table then waits for nobody here.
-- The mean time of a user's recent jobs decides the user's share of a queue; the two services differ in it.
ALTER TABLE users ADD COLUMN spec_run_seconds double precision, ADD COLUMN spec_run_deviation double precision;

-- The default is stable: rows that are there, and those of a release that knows one service, are analyses.
ALTER TABLE analysis_requests ADD COLUMN service text NOT NULL DEFAULT 'analysis'
    CHECK (service IN ('analysis', 'specview'));
COMMENT ON COLUMN analysis_requests.service IS
    'whose job was asked for; a specification is one of an analysis, and has its repository and commit';

-- What was asked for, beyond what every job has.  It goes with its accept record.
CREATE TABLE spec_requests (
    job_id uuid PRIMARY KEY,
    user_id uuid REFERENCES users ON DELETE SET NULL,
    analysis_id uuid NOT NULL,
    language text NOT NULL,
    mode text NOT NULL CHECK (mode IN ('initial', 'regenerate_cached', 'regenerate_fresh'))
);
CREATE INDEX spec_requests_user ON spec_requests (user_id, analysis_id);

-- Only workers write here.  The analysis may be pruned before the document: nothing refers to it.
CREATE TABLE spec_documents (
    id uuid PRIMARY KEY,
    user_id uuid REFERENCES users ON DELETE SET NULL,
    codebase_id uuid NOT NULL REFERENCES codebases,
    commit_sha text NOT NULL,
    analysis_id uuid NOT NULL,
    language text NOT NULL,
    mode text NOT NULL,
    generator text NOT NULL,
    version integer,
    status analysis_status NOT NULL,
    attempt integer NOT NULL,
    started_at timestamptz NOT NULL,
    completed_at timestamptz,
    error_code text,
    error_message text,
    error_retryable boolean,
    progress jsonb,
    summary jsonb,
    units integer,
    draft uuid,
    CONSTRAINT spec_documents_ended CHECK ((status = 'running') = (completed_at IS NULL)),
    CONSTRAINT spec_documents_failed_says_why CHECK ((status = 'failed') <= (error_code IS NOT NULL)),
    CONSTRAINT spec_documents_completed_whole CHECK (
        (status = 'completed') = (version IS NOT NULL AND summary IS NOT NULL AND units IS NOT NULL))
) WITH (fillfactor = 80);  -- room for the progress updates to stay on their page
COMMENT ON COLUMN spec_documents.units IS 'behaviours that this document has paid for, as its usage event says';
COMMENT ON COLUMN spec_documents.draft IS 'the lease whose features these are; those of another wrote too late';
CREATE UNIQUE INDEX spec_documents_version ON spec_documents (user_id, analysis_id, language, version);
CREATE INDEX spec_documents_codebase ON spec_documents (codebase_id, user_id, completed_at DESC);

-- In the order in which they are read.  behaviours: an array of objects, see app/store/spec_documents.py.
CREATE TABLE spec_features (
    document_id uuid NOT NULL REFERENCES spec_documents ON DELETE CASCADE,
    draft uuid NOT NULL,
    position integer NOT NULL,
    domain text NOT NULL,
    feature text NOT NULL,
    total integer NOT NULL,
    behaviours jsonb NOT NULL,
    PRIMARY KEY (document_id, draft, position)
);

-- Places and sentences that a generator has found, by repository; of a private one by user too.
CREATE TABLE spec_words (
    key bytea PRIMARY KEY,
    codebase_id uuid NOT NULL REFERENCES codebases ON DELETE CASCADE,
    user_id uuid REFERENCES users ON DELETE CASCADE,
    words jsonb NOT NULL,
    is_paid boolean NOT NULL,
    used_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 90);
COMMENT ON COLUMN spec_words.is_paid IS
    'whether a document was billed with it; what a job that failed has left is paid by the next one that uses it';
CREATE INDEX spec_words_codebase ON spec_words (codebase_id);
CREATE INDEX spec_words_user ON spec_words (user_id) WHERE user_id IS NOT NULL;

CREATE TABLE spec_shares (
    secret_hash bytea PRIMARY KEY,
    document_id uuid NOT NULL UNIQUE REFERENCES spec_documents ON DELETE CASCADE,
    created_at timestamptz NOT NULL
);

CREATE INDEX spec_documents_completed_at ON spec_documents (completed_at DESC) WHERE status = 'completed';

-- How jobs of both services ended.  units: what a completed one is billed, where somebody pays.
CREATE VIEW job_records AS
SELECT id, 'analysis' AS service, status, started_at, completed_at, least(total_tests, 1) AS units FROM analyses
UNION ALL
SELECT id, 'specview', status, started_at, completed_at, units FROM spec_documents;
"""

# `analysis_line` of 0011, which stays for the release before, for both services.  Where a job stands.  One that is
# parked or snoozed waits behind the user's own only; `own` counts those, and `ahead` is the same.  One that is ready:
# `ahead` counts all that are ranked before it.  The row comparisons are of the index's columns: with a plain one of ids
# the planner takes the primary key, and reads all that is older.  `worker_free`: a node that sleeps has a process to
# spare; asked for the first in line only.  `completed`: by this parser, where a commit is given.  Here all of it is
# planned once for each session: in statements of the application the planner took 0.15 ms of every accept.
LINE = f"""
CREATE FUNCTION job_line(
    job text, most integer, codebase uuid, commit_id text, parser text,
    OUT paused boolean, OUT held boolean, OUT oldest timestamptz, OUT ahead bigint, OUT own bigint, OUT workers bigint,
    OUT taken bigint, OUT run_seconds double precision, OUT run_deviation double precision, OUT worker_free boolean,
    OUT completed uuid
) LANGUAGE plpgsql {SETTINGS} AS $$
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
        worker_free := ahead = 0 AND kombu_message_wanted(me.queue_id);
    END IF;
    workers := (SELECT count(*) FROM kombu_message m WHERE m.queue_id = me.queue_id AND m.started_at IS NOT NULL);
    IF me.service = 'specview' THEN
        SELECT avg(r.seconds), coalesce(stddev_samp(r.seconds), 0) INTO run_seconds, run_deviation
          FROM (SELECT extract(epoch FROM d.completed_at - d.started_at) AS seconds FROM spec_documents d
                 WHERE d.status = 'completed' ORDER BY d.completed_at DESC LIMIT 50) AS r;
    ELSE
        SELECT avg(r.seconds), coalesce(stddev_samp(r.seconds), 0) INTO run_seconds, run_deviation
          FROM (SELECT extract(epoch FROM a.completed_at - a.started_at) AS seconds FROM analyses a
                 WHERE a.status = 'completed' ORDER BY a.completed_at DESC LIMIT 50) AS r;
    END IF;
    IF codebase IS NOT NULL THEN
        completed := (SELECT a.id FROM analyses a
                       WHERE a.codebase_id = codebase AND a.commit_sha = commit_id AND a.parser_version = parser
                         AND a.status = 'completed');
    END IF;
END $$"""

DOWNGRADE = """
DROP FUNCTION job_line;
DELETE FROM analysis_requests WHERE service <> 'analysis';
DROP VIEW job_records;
DROP TABLE spec_shares, spec_words, spec_features, spec_documents, spec_requests;
ALTER TABLE analysis_requests DROP COLUMN service;
ALTER TABLE users DROP COLUMN spec_run_seconds, DROP COLUMN spec_run_deviation;
"""


def upgrade() -> None:
    op.execute(UPGRADE)
    op.execute(LINE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
