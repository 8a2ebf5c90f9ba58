ALTER TABLE job_events ADD COLUMN written_by xid8;  -- older events: unknown, and never counted
ALTER TABLE job_events ALTER COLUMN written_by SET DEFAULT pg_current_xact_id();
CREATE TABLE event_totals (
    name text NOT NULL,
    service text NOT NULL,
    tier text NOT NULL,
    code text NOT NULL,
    bucket smallint NOT NULL,
    events bigint NOT NULL,
    seconds double precision NOT NULL,
    PRIMARY KEY (name, service, tier, code, bucket)
) WITH (fillfactor = 50);  -- every row is updated every few seconds
COMMENT ON COLUMN event_totals.bucket IS
    'of events that took time: how many bounds of app/services/operations/count_events.py are below it; otherwise 0';
CREATE TABLE event_totals_position (
    counted_to bigint NOT NULL,
    seen pg_snapshot NOT NULL,
    settled_to bigint NOT NULL,
    mark_to bigint NOT NULL,
    marked_at timestamptz NOT NULL,
    marked_before xid8 NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE event_totals_position IS
    'one row: the events that `seen` shows are counted up to the id counted_to, and all up to settled_to';
COMMENT ON COLUMN event_totals_position.mark_to IS
    'settled_to once every transaction before marked_before has ended';
INSERT INTO event_totals_position
SELECT last, pg_current_snapshot(), last, last, clock_timestamp(), pg_current_xact_id()
  FROM (SELECT coalesce(max(id), 0) AS last FROM job_events) e;
