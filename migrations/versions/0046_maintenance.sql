-- Work on the whole database, which takes minutes or hours, has a queue and processes of its own.
INSERT INTO kombu_queue (name) VALUES ('maintenance') ON CONFLICT (name) DO NOTHING;

-- The days whose jobs have all ended and are billed as they ended, which the reconciliation reads no more.
CREATE TABLE reconciled_days (
    day date PRIMARY KEY,
    jobs bigint NOT NULL,
    events bigint NOT NULL,
    bills bigint NOT NULL,
    amount bigint NOT NULL,
    read_at timestamptz NOT NULL
);
COMMENT ON COLUMN reconciled_days.day IS 'of UTC; jobs count by when they were accepted';
COMMENT ON COLUMN reconciled_days.bills IS 'usage events of the day, which are never deleted; amount: their units';
