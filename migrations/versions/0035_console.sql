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
