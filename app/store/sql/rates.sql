-- Rate limits: a bucket of tokens per key, which is refilled continuously.
--
-- Each function takes with one statement, since a new bucket has no row that could be locked: a look before the write
-- would let all its first requests pass.  A refused request spends nothing.  The commit does not wait for the disk: a
-- crash of the server may forget the last requests, which harms nobody.

-- Take one token from a bucket that holds `per_minute` of them.
-- Returns 0, or the seconds until a token is there.
-- Locks: the bucket's row.
CREATE OR REPLACE FUNCTION rate_take(bucket text, per_minute double precision) RETURNS double precision
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO rate_buckets AS b (key, tokens, refilled_at) VALUES (bucket, per_minute - 1, clock_timestamp())
    ON CONFLICT (key) DO UPDATE
       SET tokens = least(per_minute, b.tokens
                          + per_minute / 60 * extract(epoch FROM clock_timestamp() - b.refilled_at)) - 1,
           refilled_at = clock_timestamp()
     WHERE least(per_minute, b.tokens + per_minute / 60 * extract(epoch FROM clock_timestamp() - b.refilled_at)) >= 1;
    IF FOUND THEN
        RETURN 0;
    END IF;
    -- the bucket may have been refilled in the meantime, but nothing was taken
    RETURN (
        SELECT greatest(0.001, (1 - least(per_minute, b.tokens + per_minute / 60
                                          * extract(epoch FROM clock_timestamp() - b.refilled_at))) * 60 / per_minute)
          FROM rate_buckets b WHERE b.key = bucket);
END $$;

-- Take `cost` more tokens for a request whose first token was taken before its body was read.  A bucket that is full
-- but for that token gives any cost, as a debt: the cost of a request is never forgiven.
-- Returns: as rate_take.
-- Locks: the bucket's row.
CREATE OR REPLACE FUNCTION rate_spend(bucket text, per_minute double precision, cost double precision)
RETURNS double precision
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO rate_buckets AS b (key, tokens, refilled_at) VALUES (bucket, per_minute - cost, clock_timestamp())
    ON CONFLICT (key) DO UPDATE
       SET tokens = least(per_minute, b.tokens
                          + per_minute / 60 * extract(epoch FROM clock_timestamp() - b.refilled_at)) - cost,
           refilled_at = clock_timestamp()
     WHERE least(per_minute, b.tokens + per_minute / 60 * extract(epoch FROM clock_timestamp() - b.refilled_at))
           >= least(cost, per_minute - 1);
    IF FOUND THEN
        RETURN 0;
    END IF;
    -- the bucket may have been refilled in the meantime, but nothing was taken
    RETURN (
        SELECT greatest(0.001, (least(cost, per_minute - 1)
                                - least(per_minute, b.tokens + per_minute / 60
                                        * extract(epoch FROM clock_timestamp() - b.refilled_at))) * 60 / per_minute)
          FROM rate_buckets b WHERE b.key = bucket);
END $$;
