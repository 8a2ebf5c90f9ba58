CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    facts jsonb NOT NULL DEFAULT '{}'
);

CREATE TABLE schedule_runs (
    name text NOT NULL,
    slot_at timestamptz NOT NULL,
    sent_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (name, slot_at)
);

CREATE TABLE reconciliations (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ran_at timestamptz NOT NULL,
    since timestamptz NOT NULL,
    jobs bigint NOT NULL,
    events bigint NOT NULL,
    differences jsonb NOT NULL
);
COMMENT ON COLUMN reconciliations.differences IS 'a row per user and period whose two sides are not equal';

CREATE TABLE host_clocks (
    host text NOT NULL,
    program text NOT NULL,
    ahead_seconds double precision NOT NULL,
    measured_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (host, program)
);
COMMENT ON COLUMN host_clocks.ahead_seconds IS 'of the database; negative: behind';

-- What beat sends: the leader writes the first columns, operators the last four.
CREATE TABLE schedule_entries (
    name text PRIMARY KEY,
    task text NOT NULL,
    queue text NOT NULL,
    every interval NOT NULL CHECK (every > interval '0'),
    starts_at interval NOT NULL,
    own_every interval CHECK (own_every > interval '0'),
    is_enabled boolean NOT NULL DEFAULT true,
    changed_at timestamptz,
    asked_at timestamptz
);
COMMENT ON COLUMN schedule_entries.starts_at IS 'offset of the slots from midnight, UTC';
COMMENT ON COLUMN schedule_entries.own_every IS 'the interval that an operator set instead of every';
COMMENT ON COLUMN schedule_entries.asked_at IS 'when an operator last had it run at once';

CREATE TABLE schedule_leader (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    name text NOT NULL,
    since timestamptz NOT NULL
);
COMMENT ON TABLE schedule_leader IS 'the beat that last took the lead, HOST:PID; it leads as long as its lock is held';

-- Calls of language models.  The rows are few and each is written by every call: they stay on one page with room to
-- update in place.
CREATE TABLE model_days (
    day date PRIMARY KEY,
    calls bigint NOT NULL DEFAULT 0,
    input_tokens bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    cost numeric NOT NULL DEFAULT 0
) WITH (fillfactor = 20);
COMMENT ON COLUMN model_days.day IS 'of UTC, by the clock of the database';
COMMENT ON COLUMN model_days.cost IS 'calls under way, and those that never came back, count with their estimate';
CREATE TABLE model_circuits (
    endpoint text PRIMARY KEY,
    failures integer NOT NULL DEFAULT 0,
    opened_at timestamptz,
    probe uuid,
    probing_until timestamptz,
    held_until timestamptz,
    asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK (opened_at IS NOT NULL OR probe IS NULL),
    CHECK ((probe IS NULL) = (probing_until IS NULL))
) WITH (fillfactor = 20);
COMMENT ON COLUMN model_circuits.opened_at IS 'null while the circuit is closed';
COMMENT ON COLUMN model_circuits.probe IS 'the one call of all processes that tries whether the endpoint works again';

-- The oldest revision whose release works on this schema.  A migration that contracts raises it.
CREATE TABLE schema_support (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    oldest text NOT NULL
);
INSERT INTO schema_support (oldest) VALUES ('0025');
