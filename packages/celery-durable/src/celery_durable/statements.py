"""Every statement of the broker.  Each one is one round trip and, outside a caller's transaction, one commit.

Only the database's clock decides.  The statements of the hot path are functions: `sql/`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from .envelope import COLUMNS
from .names import fill
from .options import Options, read_options

#: Of many messages: arrays, but for the payloads, which are JSON without line breaks: a line for each.
_ARRAYS = {name: f"%({name})s::{kind}[]" for name, kind in COLUMNS.items()} | {
    "payload": "string_to_array(%(payloads)s, E'\\n')"
}
#: Those of `durable_publish_many`, which knows what it notifies of, and parks nobody.
ALIKE = [name for name in COLUMNS if name not in ("hint", "most_ready")]

#: A ready or delayed message: the values of `Letter.to_publish`, without names, which take 8 µs.  NULL back: a
#: conflict, or an unknown queue.
PUBLISH = f"""
    SELECT {{schema}}durable_publish({", ".join(["%s"] * len(COLUMNS))})"""

#: Many, one after the other in one round trip.  -> the places, from 1 on, of those that were not stored.
PUBLISH_EACH = f"""
    SELECT tried.place
      FROM (SELECT given.place, {{schema}}durable_publish({", ".join(f"given.{name}" for name in COLUMNS)}) AS id
              FROM (SELECT * FROM unnest({", ".join(_ARRAYS.values())})
                           WITH ORDINALITY AS g ({", ".join(COLUMNS)}, place)
                     ORDER BY place) AS given OFFSET 0) AS tried
     WHERE tried.id IS NULL"""

#: Many at once, given in the same way.  -> the same.
PUBLISH_MANY = f"""
    SELECT {{schema}}durable_publish_many({", ".join(_ARRAYS[name] for name in ALIKE)}, %(may_conflict)s)"""

#: Why nothing was stored: the message in the way, if there is one.
#: -> (its task id, whether it is leased, whether it is the same task on the same queue)
IN_THE_WAY = """
    SELECT task_id, is_leased, is_same
      FROM {schema}durable_in_the_way(%(queue)s, %(task_id)s, %(unique_key)s)"""

#: A retry in place.  It is fenced: without the lease nothing happens, and it returns NULL.
RETRY = """
    SELECT {schema}durable_retry(
        %(task_id)s, %(lease_token)s::uuid, %(queue)s, %(payload)s, %(delay)s, %(snooze)s, %(park)s, %(seconds)s,
        %(hint)s, %(priority)s)"""
#: The same under whatever lease the task has, of the message that is in the way: what it replaces has ended.
REPLACE = """
    SELECT {schema}durable_retry(
        task_id, lease_token, %(queue)s, %(payload)s, %(delay)s, %(snooze)s, %(park)s, %(seconds)s, %(hint)s,
        %(priority)s)
      FROM (SELECT m.task_id, l.token AS lease_token FROM {schema}durable_message AS m
              JOIN {schema}durable_lease AS l ON l.id = m.id
              LEFT JOIN {schema}durable_queue AS q ON q.id = m.queue_id AND q.name = %(queue)s
             WHERE m.task_id = %(task_id)s
               AND (q.id IS NOT NULL OR m.unique_key = %(unique_key)s)
             ORDER BY q.id LIMIT 1) AS found"""

PARK = "SELECT {schema}durable_park(%(queue)s, %(group)s, %(seconds)s, %(task_id)s)"
WAKE = """
    SELECT {schema}durable_wake(id, %(group)s, %(most)s) FROM {schema}durable_queue WHERE name = %(queue)s"""

ADD_QUEUE = "SELECT {schema}durable_queue_add(%(queue)s)"
HAS_QUEUE = "SELECT 1 WHERE {schema}durable_queue_exists(%(queue)s)"
NOTIFY = "SELECT pg_notify('{channel}', %(hint)s)"

#: The caller sorts: RETURNING keeps no order.  Columns are named, so that a prepared claim survives an added column.
_CLAIM = "{schema}durable_claim(%(queue)s, %(count)s, %(owner)s, %(lease)s, %(floor)s, %(sleep)s)"
_CLAIMED = "message_id, token, body, deliveries, retries, snoozes, losses, place"
CLAIM = f"SELECT {_CLAIMED} FROM {_CLAIM}"

#: How deliveries ended: tokens are unique, so two lists need no pairing.  -> the ids that are locked, or NULL
_SETTLE = """{schema}durable_settle(
        %(done)s::bigint[], %(done_tokens)s::uuid[], %(others)s::bigint[], %(tokens)s::uuid[], %(hows)s::text[],
        %(careful)s)"""
SETTLE = f"SELECT {_SETTLE}"
#: Both in this order, in one round trip and one commit.  If nothing was claimed, one row with only the locked ids.
SETTLE_AND_CLAIM = f"SELECT settled, {_CLAIMED} FROM {_SETTLE} AS settled LEFT JOIN LATERAL {_CLAIM} AS claimed ON true"

#: Sent before a claim now and then: below the floor the index is full of entries that are dead but not yet removed.
#: What is ready stays above it: a node may have read a turn of a later time (priority.sql).
RAISE_FLOOR = """
    UPDATE {schema}durable_queue AS q SET rank_floor = least(%(raised)s, (
        SELECT r.rank FROM {schema}durable_ready AS r
         WHERE r.queue_id = q.id AND r.rank >= q.rank_floor ORDER BY r.rank LIMIT 1))
     WHERE id IN (
        SELECT id FROM {schema}durable_queue
         WHERE name = %(queue)s AND rank_floor < %(raised)s FOR NO KEY UPDATE SKIP LOCKED)"""

#: Before a claim that settles nothing.  If the server crashes within the next second, the message is ready
#: again, as if its worker had died; and any later commit of that worker first makes the claim durable.
SOON_DURABLE = "SET LOCAL synchronous_commit = off"

#: `begun`: those whose code runs; marked here, because the row is written anyway.  Locks: rows, skipping locked ones.
#: -> (id, whether it was renewed) of those whose lease is valid
RENEW = """
    WITH mine AS MATERIALIZED (
        SELECT id FROM {schema}durable_lease WHERE id = ANY (%(ids)s) AND token = ANY (%(tokens)s::uuid[])),
    free AS MATERIALIZED (
        SELECT id FROM {schema}durable_lease WHERE id = ANY (%(ids)s) AND token = ANY (%(tokens)s::uuid[])
           FOR NO KEY UPDATE SKIP LOCKED),
    kept AS (
        UPDATE {schema}durable_lease SET
               until = clock_timestamp() + make_interval(secs => %(lease)s),
               started_at = CASE WHEN id = ANY (%(begun)s::bigint[]) THEN coalesce(started_at, clock_timestamp())
                                 ELSE started_at END
         WHERE id IN (SELECT id FROM free) RETURNING id)
    SELECT id, id IN (SELECT id FROM kept) FROM mine"""

#: The node has a new session.  What is under its lock and it does not know belongs to a claim whose answer was lost,
#: and is given back.  `known`: tokens of the messages that it holds or has still to settle.  Locks: the rows, skipping
#: locked ones.  -> how many
RECALL = """
    WITH unknown AS MATERIALIZED (
        SELECT id, token FROM {schema}durable_lease
         WHERE node = %(owner)s AND until > clock_timestamp()
           AND NOT token = ANY (%(known)s::uuid[]) FOR NO KEY UPDATE SKIP LOCKED),
    given AS MATERIALIZED (
        SELECT {schema}durable_give_back(array_agg(id), array_agg(token), 'returned') FROM unknown)
    SELECT (SELECT count(*) FROM unknown) FROM given"""

#: Hand leases back on an orderly stop.
HAND_BACK = "SELECT {schema}durable_give_back(%(ids)s::bigint[], %(tokens)s::uuid[], 'returned')"

#: The task begins, in a delivery of a message that has come back before.
BEGIN = """
    UPDATE {schema}durable_lease AS l SET started_at = clock_timestamp()
      FROM {schema}durable_message AS m
     WHERE m.task_id = %(task_id)s AND l.id = m.id AND l.token = %(token)s::uuid AND l.started_at IS NULL"""

#: For the application, on the message of its running task: see messages.py.
FENCE = "SELECT 1 FROM {schema}broker_fence(%(task_id)s, %(lease_token)s::uuid)"
START = "SELECT {schema}broker_start(%(task_id)s, %(lease_token)s::uuid)"
DELETE = "SELECT {schema}broker_finish(%(task_id)s, %(lease_token)s::uuid)"

#: Name a node, in each of its sessions.  The lock shows whether it is alive; the row only says which lock to check.
#: First the lock, then the row: who judges the node holds the lock meanwhile, and then has said it is in doubt, or has
#: taken its name away.  The time-outs limit a session's wait for locked rows and for a hung server (async_database.py).
#: The session that this one follows may have ended without a word to the server, which would keep its lock for hours,
#: and the node would live on after its death: `before`, its backend, is ended if it holds that lock still.
NAME = """
    SET lock_timeout = '2s'; SET statement_timeout = '10s';
    SELECT pg_advisory_lock_shared(%(owner)s);
    SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE pid = %(before)s AND locktype = 'advisory' AND objsubid = 1 AND granted
       AND classid::bigint = %(owner)s >> 32 AND objid::bigint = %(owner)s & 4294967295;
    INSERT INTO {schema}kombu_node (lock, name, poll_seconds, spare_queues)
    SELECT %(owner)s, %(name)s, %(poll)s, CAST(%(spare)s AS jsonb)
     WHERE NOT EXISTS (SELECT FROM {schema}kombu_node WHERE lock = %(owner)s AND suspected_at IS NULL)
    ON CONFLICT (lock) DO UPDATE SET suspected_at = NULL"""
JOIN = f'{NAME}; LISTEN "{{channel}}"'
LEAVE = "SELECT {schema}durable_leave(%(owner)s)"

JUDGE = "SELECT others, doubted, ago FROM {schema}durable_judge(%(owner)s, %(settled)s, %(after)s)"
#: -> as the function, whether the node still has its name, and how many nodes read all of its queues
POLL = """
    SELECT ready, due, others, clock, EXISTS (SELECT FROM {schema}kombu_node WHERE lock = %(owner)s),
           (SELECT count(*) FROM {schema}kombu_node AS n WHERE n.queues @> %(queues)s::text[])
      FROM {schema}durable_poll(%(queues)s, %(owner)s, %(settled)s, %(since)s, %(prefetch)s)"""

#: The node polls less often among many, or again as often as alone.
NOTE_PAUSE = "UPDATE {schema}kombu_node SET poll_seconds = %(poll)s WHERE lock = %(owner)s"

REHEARSE = "SELECT {schema}durable_rehearse()"

SIZE = "SELECT {schema}durable_queue_size(%(queue)s)"

#: Waiting messages only: a running message is settled by the node that runs it.
PURGE = "SELECT {schema}durable_purge(%(queue)s)"

#: Of tasks that nobody runs: ready, or waiting for whatever, skipping what is just being claimed.  -> their ids
REVOKE = "SELECT {schema}durable_revoke(%(task_ids)s::text[])"

#: Letters with these ids, of a queue and for a reason; NULL: any.  The driver writes the values into the text, so
#: the planner sees which of these conditions do not apply.
_CHOSEN = """(%(queue)s::text IS NULL OR queue = %(queue)s) AND (%(reason)s::text IS NULL OR reason = %(reason)s)
       AND (%(ids)s::bigint[] IS NULL OR id = ANY (%(ids)s::bigint[]))"""
LIST_DEAD = f"""
    SELECT id, queue, task_id, user_id, unique_key, reason, delivery_count, lost_count, enqueued_at, died_at,
           octet_length(payload), CASE WHEN %(whole)s THEN payload ELSE left(payload, %(cut)s) END
      FROM {{schema}}kombu_dead_letter WHERE {_CHOSEN} AND (%(before)s::bigint IS NULL OR id < %(before)s)
     ORDER BY id DESC LIMIT %(most)s"""
NEXT_DEAD = f"""
    SELECT id FROM {{schema}}kombu_dead_letter WHERE {_CHOSEN} AND id > %(after)s ORDER BY id LIMIT {{batch}}"""
REDRIVE = "SELECT letter, outcome FROM {schema}durable_redrive(%(ids)s::bigint[])"
DROP_DEAD = """
    DELETE FROM {schema}kombu_dead_letter WHERE id IN (
        SELECT id FROM {schema}kombu_dead_letter WHERE id = ANY (%(ids)s::bigint[]) ORDER BY id FOR UPDATE SKIP LOCKED)
    RETURNING id"""

#: The oldest only are looked at: their ids are the lowest.  -> how many were older than `days`
EXPIRE_DEAD = """
    WITH gone AS (
        DELETE FROM {schema}kombu_dead_letter WHERE id IN (
            SELECT id FROM (
                SELECT id, died_at FROM {schema}kombu_dead_letter ORDER BY id LIMIT {batch} FOR UPDATE SKIP LOCKED
            ) AS oldest WHERE died_at < clock_timestamp() - make_interval(secs => %(days)s * 86400))
        RETURNING 1)
    SELECT count(*) FROM gone"""

FACTS = "SELECT * FROM {schema}durable_facts()"
GROUPS = "SELECT * FROM {schema}durable_groups(%(queue)s, %(group)s, %(most)s)"


#: What a node's session prepares: a claim that is parsed and planned again takes 0.16 ms instead of 0.12.
PREPARED = ("claim", "settle_and_claim")
_PARAMETER = re.compile(r"%\((\w+)\)s((?:::\w+(?:\[\])?)?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """The statements above, with the names of the tables in them; those of PREPARED only in a session that joined."""

    publish: str = PUBLISH
    publish_each: str = PUBLISH_EACH
    publish_many: str = PUBLISH_MANY
    in_the_way: str = IN_THE_WAY
    retry: str = RETRY
    replace: str = REPLACE
    park: str = PARK
    wake: str = WAKE
    add_queue: str = ADD_QUEUE
    has_queue: str = HAS_QUEUE
    notify: str = NOTIFY
    claim: str = CLAIM
    raise_floor: str = RAISE_FLOOR
    soon_durable: str = SOON_DURABLE
    settle: str = SETTLE
    settle_and_claim: str = SETTLE_AND_CLAIM
    renew: str = RENEW
    recall: str = RECALL
    hand_back: str = HAND_BACK
    begin: str = BEGIN
    fence: str = FENCE
    start: str = START
    delete: str = DELETE
    name: str = NAME
    join: str = JOIN
    leave: str = LEAVE
    judge: str = JUDGE
    rehearse: str = REHEARSE
    poll: str = POLL
    note_pause: str = NOTE_PAUSE
    size: str = SIZE
    purge: str = PURGE
    revoke: str = REVOKE
    list_dead: str = LIST_DEAD
    next_dead: str = NEXT_DEAD
    redrive: str = REDRIVE
    drop_dead: str = DROP_DEAD
    expire_dead: str = EXPIRE_DEAD
    facts: str = FACTS
    groups: str = GROUPS


def statements(options: Options) -> Statements:
    """Fill in the names, which were checked with the options."""
    texts = {field.name: fill(str(field.default), options) for field in fields(Statements)}
    if options.listen:  # the node has its own session
        for name in PREPARED:
            prepare, texts[name] = prepared(name, texts[name])
            texts["join"] = f"{texts['join']}; {prepare}"
    return Statements(**texts)


def prepared(name: str, statement: str) -> tuple[str, str]:
    """-> (PREPARE …, EXECUTE …); the server infers the types of parameters without a cast."""
    given = list(dict.fromkeys(_PARAMETER.findall(statement)))
    text = _PARAMETER.sub(lambda found: f"${given.index(found.groups()) + 1}{found[2]}", statement)
    values = ", ".join(f"%({parameter})s{cast}" for parameter, cast in given)
    return f"PREPARE durable_{name} AS {text}", f"EXECUTE durable_{name} ({values})"


def cached_statements(options: Mapping[str, Any] | None) -> Statements:
    """The statements for `broker_transport_options`.  Raises BadOption."""
    return _statements(frozenset((options or {}).items()))


@lru_cache(maxsize=8)
def _statements(options: frozenset[tuple[str, Any]]) -> Statements:
    return statements(read_options(dict(options)))
