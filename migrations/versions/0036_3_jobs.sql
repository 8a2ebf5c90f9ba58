CREATE TYPE analysis_status AS ENUM ('running', 'completed', 'failed', 'cancelled');

CREATE TABLE codebases (
    id uuid PRIMARY KEY,
    host text NOT NULL,
    owner text NOT NULL,
    name text NOT NULL,
    external_id text,
    is_private boolean NOT NULL DEFAULT false,
    last_viewed_at timestamptz,
    checked_at timestamptz,
    created_at timestamptz NOT NULL,
    default_branch text
);
COMMENT ON COLUMN codebases.default_branch IS 'what HEAD was when somebody last asked for it';
CREATE UNIQUE INDEX codebases_address ON codebases (host, lower(owner), lower(name));
CREATE UNIQUE INDEX codebases_external_id ON codebases (host, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX codebases_viewed ON codebases (last_viewed_at) WHERE NOT is_private;

-- What was accepted, by whom, and who joined.  The first row of a job (role 'payer', or no user) is its accept record.
-- A joiner who leaves keeps a row, so that leaving twice is no error.  carried_at: when the job came into the line of
-- this user, if it ever was in another line than the payer's; the newest one counts.
CREATE TABLE analysis_requests (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id uuid NOT NULL,
    user_id uuid REFERENCES users ON DELETE SET NULL,
    role text NOT NULL CHECK (role IN ('payer', 'joined', 'cached', 'left')),
    codebase_id uuid NOT NULL REFERENCES codebases,
    commit_sha text NOT NULL,
    ref text,
    trigger text NOT NULL CHECK (trigger IN ('user', 'anonymous', 'scheduled')),
    queue text NOT NULL,
    tier plan_tier,
    requested_at timestamptz NOT NULL,
    retention_days integer,
    cancelled_at timestamptz,
    carried_at timestamptz,
    service text NOT NULL DEFAULT 'analysis' CHECK (service IN ('analysis', 'specview'))
);
COMMENT ON COLUMN analysis_requests.service IS
    'whose job was asked for; a specification is one of an analysis, and has its repository and commit';
CREATE UNIQUE INDEX analysis_requests_one_per_user ON analysis_requests (job_id, user_id) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX analysis_requests_accept ON analysis_requests (job_id) WHERE role = 'payer';
CREATE INDEX analysis_requests_history ON analysis_requests (user_id, id DESC);
CREATE INDEX analysis_requests_commit ON analysis_requests (codebase_id, commit_sha);
-- Here and below brin is for windows of time: a few pages, so that neither an accept nor a finish pays for them.
CREATE INDEX analysis_requests_when ON analysis_requests USING brin (requested_at);

-- Only workers write here.
CREATE TABLE analyses (
    id uuid PRIMARY KEY,
    codebase_id uuid NOT NULL REFERENCES codebases,
    commit_sha text NOT NULL,
    status analysis_status NOT NULL,
    parser_version text NOT NULL,
    attempt integer NOT NULL,
    started_at timestamptz NOT NULL,
    completed_at timestamptz,
    error_code text,
    error_message text,
    error_retryable boolean,
    total_tests integer,
    summary jsonb,
    progress jsonb,
    committed_at timestamptz,
    CONSTRAINT analyses_ended CHECK ((status = 'running') = (completed_at IS NULL)),
    CONSTRAINT analyses_failed_says_why CHECK ((status = 'failed') <= (error_code IS NOT NULL)),
    CONSTRAINT analyses_completed_counts CHECK ((status = 'completed') <= (total_tests IS NOT NULL))
) WITH (fillfactor = 80);  -- room for the progress updates to stay on their page
COMMENT ON COLUMN analyses.committed_at IS
    'when the commit was made, by its committer; the microseconds count its ancestors of the same second';
CREATE UNIQUE INDEX analyses_one_completed ON analyses (codebase_id, commit_sha, parser_version)
    WHERE status = 'completed';
-- only failed records pay for it
CREATE INDEX analyses_failed ON analyses (completed_at DESC) WHERE status = 'failed';
CREATE INDEX analyses_codebase ON analyses (codebase_id, completed_at DESC);
CREATE INDEX analyses_completed_at ON analyses (completed_at DESC) WHERE status = 'completed';
CREATE INDEX analyses_commit ON analyses (codebase_id, commit_sha, parser_version, started_at DESC);
CREATE INDEX analyses_commit_order ON analyses (codebase_id, coalesce(committed_at, completed_at) DESC)
    WHERE status = 'completed';

CREATE TABLE execution_slots (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    service text NOT NULL CHECK (service IN ('analysis', 'specview')),
    slot_no integer NOT NULL CHECK (slot_no > 0),
    job_id uuid NOT NULL UNIQUE,
    lease_token uuid NOT NULL,
    taken_at timestamptz NOT NULL,
    lease_expires_at timestamptz NOT NULL,
    slot_limit integer,
    PRIMARY KEY (user_id, service, slot_no)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
COMMENT ON COLUMN execution_slots.slot_limit IS 'the limit the slot was taken under; a plan may be lowered meanwhile';

CREATE TABLE quota_reservations (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    event_type usage_event_type NOT NULL,
    reserved_amount integer NOT NULL CHECK (reserved_amount > 0),
    job_id uuid NOT NULL UNIQUE,
    accepted_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX quota_reservations_sum ON quota_reservations (user_id, event_type) INCLUDE (reserved_amount);
CREATE INDEX quota_reservations_expiry ON quota_reservations (expires_at);

CREATE TABLE usage_events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id uuid REFERENCES users ON DELETE SET NULL,
    event_type usage_event_type NOT NULL,
    quota_amount integer NOT NULL CHECK (quota_amount > 0),
    job_id uuid NOT NULL UNIQUE,
    resource_id uuid NOT NULL,
    accepted_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    forgotten_at timestamptz
);
COMMENT ON COLUMN usage_events.accepted_at IS 'decides the billing period; created_at is when the job completed';
COMMENT ON COLUMN usage_events.forgotten_at IS
    'when the payer''s history row expired or the account was deleted; nothing is left to compare the bill with';
CREATE INDEX usage_events_sum ON usage_events (user_id, event_type, accepted_at) INCLUDE (quota_amount);
CREATE INDEX usage_events_when ON usage_events USING brin (accepted_at);

CREATE TABLE idempotency_keys (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    key text NOT NULL CHECK (length(key) <= 255),
    fingerprint bytea NOT NULL,
    status integer NOT NULL,
    body jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE job_events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    event text NOT NULL,
    facts jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX job_events_job ON job_events (job_id, id);
CREATE INDEX job_events_when ON job_events USING brin (at);
-- events so rare that no job pays for the index
CREATE INDEX job_events_rare ON job_events (event, job_id)
    WHERE event IN ('payer_came_back', 'reservation_orphaned');
-- only snoozes pay for it
CREATE INDEX job_events_snoozed ON job_events (at) WHERE event = 'snoozed';
