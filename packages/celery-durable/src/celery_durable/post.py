"""Letters into the table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kombu.exceptions import OperationalError

from .database import Row
from .envelope import Letter
from .errors import DuplicateKey, LeaseTokenMissing
from .names import PROBE_SECONDS
from .statements import Statements

#: (statement, parameters) -> rows
Run = Callable[[str, Mapping[str, Any]], list[Row]]
#: The first meets an unknown queue, the second a message that goes just then; a fifth has not been seen.
ATTEMPTS = 5
#: In one INSERT.
LETTERS = 1000


def put(run: Run, sql: Statements, post: Letter) -> None:
    """Store one message, once: insert it, or update the leased row it retries.

    The same task id again: nothing changes.  A lease token that is no longer valid (a zombie's retry): nothing at all.
    Locks: the message row it retries; waits for an uncommitted holder of the same task id or unique key.
    Raises DuplicateKey, LeaseTokenMissing, and whatever `run` raises.
    """
    parameters = post.parameters()
    if post.lease_token:
        seconds = post.delay or PROBE_SECONDS  # its countdown, if it says one
        given = {**parameters, "group": post.user_id or "", "seconds": seconds}
        run(sql.retry_parked if post.park else sql.retry, given)
        return None
    for _ in range(ATTEMPTS):
        if run(sql.publish, parameters)[0][0] is not None:
            return None
        if found := run(sql.in_the_way, parameters):
            task_id, token = found[0]
            if not (post.replaces and token and task_id == post.task_id):
                return _met(post, task_id, token)
            # What it replaces has ended, and its acknowledgement is on the way: that is void then, or was quicker.
            if run(sql.retry, {**parameters, "lease_token": token}):
                return None
            continue
        # An unknown queue; or the message in the way has gone meanwhile, and then the name is there already.
        run(sql.add_queue, parameters)
    raise OperationalError(f"message {post.task_id} could not be stored: its unique key changes hands too fast")


def _met(post: Letter, task_id: str | None, token: str | None) -> None:
    if task_id is None or task_id != post.task_id:
        raise DuplicateKey(str(post.unique_key), task_id)
    if token and post.is_retry:
        raise LeaseTokenMissing(post.task_id)


def put_many(run: Run, sql: Statements, posts: Sequence[Letter]) -> None:
    """As `put` for each, in their order.  Those without a task id, with a bound, and retries go one by one."""
    many = [post.parameters() for post in posts if post.task_id and not post.lease_token and post.most_ready is None]
    stored: set[str] = set()
    for start in range(0, len(many), LETTERS):
        part = many[start : start + LETTERS]
        columns = {name: [row[name] for row in part] for name in part[0]}
        stored.update(row[0] for row in run(sql.publish_many, columns))
    for post in posts:
        if post.task_id not in stored:  # a conflict, or an unknown queue
            put(run, sql, post)
