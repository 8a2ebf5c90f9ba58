"""Every statement of the broker.  Each one is one round trip and, outside a caller's transaction, one commit.

Only the database's clock decides.  `clock_timestamp()` is volatile, so a comparison wraps it in a sub-select: planned
once, it can then bound an index scan.
"""

from dataclasses import dataclass, fields

from .options import Options

#: Rows promoted or handed back by one statement; the rest follows at once in the next.
BATCH = 500

#: A ready or delayed message.  `delay`: seconds, NULL for none.  No row back: a conflict, or an unknown queue.
PUBLISH = """
    INSERT INTO {message} (visible, visible_at, delay_reason, payload, queue_id, task_id, user_id, unique_key)
    SELECT %(delay)s IS NULL, clock_timestamp() + make_interval(secs => %(delay)s),
           CASE WHEN %(delay)s IS NOT NULL THEN 'eta' END,
           %(payload)s, id, %(task_id)s, %(user_id)s, %(unique_key)s
      FROM {queue} WHERE name = %(queue)s
    ON CONFLICT DO NOTHING RETURNING id, pg_notify('{channel}', %(hint)s)"""

#: Why PUBLISH put nothing: the message in the way, if there is one (the task itself first).
IN_THE_WAY = """
    SELECT task_id, lease_token IS NOT NULL FROM {message} WHERE task_id = %(task_id)s OR unique_key = %(unique_key)s
     ORDER BY task_id IS NOT DISTINCT FROM %(task_id)s DESC LIMIT 1"""

#: A retry in place.  Locks: the row.  Fenced: without the lease nothing happens at all.
RETRY = """
    UPDATE {message} SET
           visible = %(delay)s IS NULL, visible_at = clock_timestamp() + make_interval(secs => %(delay)s),
           delay_reason = CASE WHEN %(delay)s IS NULL THEN NULL WHEN %(snooze)s THEN 'snooze' ELSE 'retry' END,
           payload = %(payload)s, queue_id = coalesce((SELECT id FROM {queue} WHERE name = %(queue)s), queue_id),
           lease_token = NULL, lease_owner = NULL, started_at = NULL,
           retry_count = retry_count + (NOT %(snooze)s)::int, snooze_count = snooze_count + %(snooze)s::int
     WHERE task_id = %(task_id)s AND lease_token = %(lease_token)s::uuid
    RETURNING id, pg_notify('{channel}', %(hint)s)"""

ADD_QUEUE = "INSERT INTO {queue} (name) VALUES (%(queue)s) ON CONFLICT DO NOTHING"
HAS_QUEUE = "SELECT 1 FROM {queue} WHERE name = %(queue)s"
NOTIFY = "SELECT pg_notify('{channel}', %(hint)s)"

#: Lease up to `count` ready messages of one queue, oldest first; none of a paused or unknown queue.
#: Locks: those rows, skipping what another node is claiming; not what somebody holds FOR KEY SHARE, to keep it from
#: being deleted.  The caller sorts: RETURNING keeps no order.
#: The order names the queue although it is one queue, and BETWEEN keeps the planner from seeing that: only the index of
#: ready messages can then give the order.  With `=` it may walk the primary key and filter (45 ms a claim behind
#: 300,000 delayed messages, instead of 0.2), with `= ANY` it sorts (84 messages/s at 500,000 waiting).
CLAIM = """
    UPDATE {message} SET visible = false, delay_reason = NULL, started_at = NULL,
           visible_at = clock_timestamp() + make_interval(secs => %(lease)s),
           lease_token = gen_random_uuid(), lease_owner = %(owner)s, delivery_count = delivery_count + 1
     WHERE id = ANY (ARRAY(
           SELECT id FROM {message}
            WHERE queue_id BETWEEN (SELECT id FROM {queue} WHERE name = %(queue)s AND paused_at IS NULL)
                               AND (SELECT id FROM {queue} WHERE name = %(queue)s) AND visible
            ORDER BY queue_id, id LIMIT %(count)s FOR NO KEY UPDATE SKIP LOCKED))
    RETURNING id, lease_token::text, payload, delivery_count, retry_count, snooze_count, lost_count"""

#: Before a claim that carries no acknowledgements.  Should the server crash in the next second the message is ready
#: again, as if its worker had died; and any commit of that worker makes the claim durable before itself.
SOON_DURABLE = "SET LOCAL synchronous_commit = off"

#: Tokens are unique, so the two lists need no pairing.  A row that is gone or leased anew stays as it is.
ACK = "DELETE FROM {message} WHERE id = ANY (%(ids)s) AND lease_token = ANY (%(tokens)s::uuid[])"

RENEW = """
    UPDATE {message} SET visible_at = clock_timestamp() + make_interval(secs => %(lease)s)
     WHERE id = ANY (%(ids)s) AND lease_token = ANY (%(tokens)s::uuid[]) RETURNING id"""

#: As RENEW, after the node has a new session and so a new lock.
ADOPT = """
    UPDATE {message} SET visible_at = clock_timestamp() + make_interval(secs => %(lease)s), lease_owner = %(owner)s
     WHERE id = ANY (%(ids)s) AND lease_token = ANY (%(tokens)s::uuid[]) RETURNING id"""

#: Hand leases back.  `charge`: the worker died, so a delivery that had started counts as lost.
RELEASE = """
    WITH released AS (
        UPDATE {message} SET
               visible = true, visible_at = clock_timestamp(),
               lease_token = NULL, lease_owner = NULL, started_at = NULL,
               lost_count = lost_count + (%(charge)s AND started_at IS NOT NULL)::int
         WHERE id = ANY (%(ids)s) AND lease_token = ANY (%(tokens)s::uuid[]) RETURNING queue_id
    )
    SELECT pg_notify('{channel}', name) FROM {queue} WHERE id IN (SELECT queue_id FROM released)"""

BURY = """
    WITH gone AS (
        DELETE FROM {message} WHERE id = ANY (%(ids)s) AND lease_token = ANY (%(tokens)s::uuid[]) RETURNING *
    )
    INSERT INTO {dead_letter} (queue, task_id, user_id, payload, reason, delivery_count, lost_count, enqueued_at)
    SELECT (SELECT name FROM {queue} WHERE id = queue_id), task_id, user_id, payload, %(reason)s,
           delivery_count, lost_count, enqueued_at FROM gone"""

#: The look of an idle node: promote what is due, give back what dead nodes held, and say what comes next.
#: Locks: the promoted rows, skipping locked ones; while it runs, each dead node's advisory lock, shared.
#: -> (queues with ready messages, seconds until the next is due or NULL, does another node hold leases)
#: `settled` is false just after a reconnect: when the server went away every node lost its lock, so nobody may be
#: judged dead before all had time to come back.  Queue by queue and owner by owner, so that each step reads one ordered
#: index: as a condition over several it becomes a scan of the table when statistics are old (220 ms, now 0.7 ms, with
#: 500,000 waiting).
POLL = """
    WITH RECURSIVE clock AS MATERIALIZED (SELECT clock_timestamp() AS at),
    mine AS MATERIALIZED (SELECT id, name, paused_at FROM {queue} WHERE name = ANY (%(queues)s)),
    holders AS (
        (SELECT lease_owner FROM {message} WHERE lease_owner IS NOT NULL ORDER BY lease_owner LIMIT 1)
        UNION ALL
        SELECT (SELECT lease_owner FROM {message} WHERE lease_owner > holders.lease_owner
                 ORDER BY lease_owner LIMIT 1) FROM holders WHERE lease_owner IS NOT NULL),
    owners AS MATERIALIZED (
        SELECT lease_owner FROM holders WHERE lease_owner IS NOT NULL AND lease_owner IS DISTINCT FROM %(owner)s),
    dead AS MATERIALIZED (
        SELECT lease_owner FROM owners WHERE %(settled)s AND pg_try_advisory_xact_lock_shared(lease_owner)),
    due AS (
        SELECT late.id FROM mine, LATERAL (
            SELECT id FROM {message}
             WHERE queue_id = mine.id AND NOT visible AND visible_at <= (SELECT at FROM clock)
               AND (lease_token IS NULL OR %(settled)s)
             ORDER BY visible_at LIMIT {batch} FOR NO KEY UPDATE SKIP LOCKED) AS late),
    orphaned AS (
        SELECT id FROM {message} WHERE lease_owner = ANY (ARRAY(SELECT lease_owner FROM dead))
         LIMIT {batch} FOR NO KEY UPDATE SKIP LOCKED),
    promoted AS (
        UPDATE {message} SET visible = true, visible_at = clock_timestamp(), delay_reason = NULL,
               lost_count = lost_count + (started_at IS NOT NULL)::int,
               lease_token = NULL, lease_owner = NULL, started_at = NULL
         WHERE id = ANY (ARRAY(SELECT id FROM due UNION SELECT id FROM orphaned)) RETURNING queue_id),
    woken AS MATERIALIZED (
        SELECT name, pg_notify('{channel}', name) FROM {queue} WHERE id IN (SELECT queue_id FROM promoted))
    SELECT ARRAY(SELECT name FROM woken WHERE name = ANY (%(queues)s) UNION
                 SELECT name FROM mine WHERE paused_at IS NULL
                    AND (SELECT true FROM {message} WHERE queue_id BETWEEN mine.id AND mine.id AND visible
                          ORDER BY queue_id, id LIMIT 1)),
           CASE WHEN (SELECT count(*) FROM promoted) >= {batch} THEN 0
                ELSE (SELECT extract(epoch FROM min(next.visible_at) - (SELECT at FROM clock))::float8 FROM mine,
                             LATERAL (SELECT visible_at FROM {message}
                                       WHERE queue_id = mine.id AND NOT visible AND visible_at > (SELECT at FROM clock)
                                       ORDER BY visible_at LIMIT 1) AS next) END,
           EXISTS (SELECT FROM owners)"""

SIZE = """
    SELECT count(*) FROM {message} WHERE queue_id = (SELECT id FROM {queue} WHERE name = %(queue)s) AND visible"""

#: Waiting messages only: what runs is settled by the one who runs it.
PURGE = """
    WITH gone AS (
        DELETE FROM {message} WHERE queue_id = (SELECT id FROM {queue} WHERE name = %(queue)s) AND lease_token IS NULL
        RETURNING 1)
    SELECT count(*) FROM gone"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """The statements above, with the names of the tables in them."""

    publish: str = PUBLISH
    in_the_way: str = IN_THE_WAY
    retry: str = RETRY
    add_queue: str = ADD_QUEUE
    has_queue: str = HAS_QUEUE
    notify: str = NOTIFY
    claim: str = CLAIM
    soon_durable: str = SOON_DURABLE
    ack: str = ACK
    renew: str = RENEW
    adopt: str = ADOPT
    release: str = RELEASE
    bury: str = BURY
    poll: str = POLL
    size: str = SIZE
    purge: str = PURGE


def statements(options: Options) -> Statements:
    """Fill in the names; they were checked with the options."""
    names = {
        "message": options.message_tablename,
        "queue": options.queue_tablename,
        "dead_letter": options.dead_letter_tablename,
        "channel": options.channel,
        "batch": BATCH,
    }
    return Statements(**{field.name: str(field.default).format(**names) for field in fields(Statements)})
