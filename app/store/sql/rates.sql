-- Rate limits: a bucket of tokens per key, which is refilled continuously.
--
-- Each function takes with one statement, since a new bucket has no row that could be locked: a look before the write
-- would let all its first requests pass.  A refused request spends nothing.  The commit does not wait for the disk: a
-- crash of the server may forget the last requests, which harms nobody.  When the clock goes back, no time passes for a
-- bucket until its next request, from which it is refilled again (docs/adr/0043).

-- Take `cost` tokens from a bucket that holds `per_minute` of them, if it has `needed`.
-- Returns: wait: 0, or the seconds until it has them.  remaining: whole tokens that are left, negative in debt.
-- Locks: the bucket's row.
CREATE OR REPLACE FUNCTION rate_charge(
    bucket text, per_minute double precision, cost double precision, needed double precision,
    OUT wait double precision, OUT remaining integer
) LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    level double precision;
    per_second double precision := per_minute / 60;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO rate_buckets AS b (key, tokens, refilled_at) VALUES (bucket, per_minute - cost, clock_timestamp())
    ON CONFLICT (key) DO UPDATE
       SET tokens = least(per_minute, b.tokens + per_second
                          * greatest(0, extract(epoch FROM clock_timestamp() - b.refilled_at))) - cost,
           refilled_at = clock_timestamp()
     WHERE least(per_minute, b.tokens + per_second
                 * greatest(0, extract(epoch FROM clock_timestamp() - b.refilled_at))) >= needed
    RETURNING b.tokens INTO level;
    wait := 0;
    IF NOT FOUND THEN
        -- else nothing would be refilled before the clock has caught up
        UPDATE rate_buckets b SET refilled_at = clock_timestamp()
         WHERE b.key = bucket AND b.refilled_at > clock_timestamp();
        SELECT least(per_minute, b.tokens + per_second
                     * greatest(0, extract(epoch FROM clock_timestamp() - b.refilled_at)))
          INTO level FROM rate_buckets b WHERE b.key = bucket;
        -- the bucket may have been refilled in the meantime, but nothing was taken
        wait := greatest(0.001, (needed - level) / per_second);
    END IF;
    remaining := floor(level);
END $$;
