"""A user whose jobs take ten times as long as another's, both with plenty: the share of the machine of each."""

from collections.abc import Mapping

from bench.accept.database import database
from bench.fairness.loops import ORDERS, TABLE, execute, loops, publish, query
from bench.fairness.scenes.figures import Figures
from bench.fairness.service import service, wait_for

LONG, SHORT, JOBS, PROCESSES, LIMIT = 300, 30, 600, 2, 3
#: Short jobs that end before it is over: long enough for the measured times to count.
SHORT_ENDED = 200

SHARE = """
    SELECT sum(extract(epoch FROM a.completed_at - a.started_at)) FILTER (WHERE u.email LIKE 'long%')
         / sum(extract(epoch FROM a.completed_at - a.started_at))
      FROM analyses a JOIN analysis_requests r ON r.job_id = a.id JOIN users u ON u.id = r.user_id
     WHERE a.status = 'completed'"""


def measure(_: Mapping[str, int]) -> Figures:
    """The share of processor seconds of the user with the long jobs; 0.5 is fair."""
    figures: Figures = {f"raw {order}, share of the long jobs": _raw(order) for order in ORDERS}
    with service(LIMIT) as ours:
        users = {ours.user("long"): LONG, ours.user("short"): SHORT}
        for _ in range(JOBS):
            for user_id, milliseconds in users.items():
                ours.submit(user_id, milliseconds)
        ended = """SELECT count(*) FROM job_events e JOIN analysis_requests r USING (job_id)
                     JOIN users u ON u.id = r.user_id WHERE e.event = 'completed' AND u.email LIKE 'short%'"""
        with ours.node(PROCESSES):
            wait_for(lambda: ours.value(ended) >= SHORT_ENDED)
        return figures | {"ours, share of the long jobs": float(ours.value(SHARE))}


def _raw(order: str) -> float:
    with database() as (url, _):
        execute(url, TABLE)
        for _ in range(JOBS):
            publish(url, "long", LONG / 1000, 1)
            publish(url, "short", SHORT / 1000, 1)
        ended = "SELECT count(*) FROM loop_jobs WHERE state = 'done' AND user_id = 'short'"
        with loops(url, order, PROCESSES):
            wait_for(lambda: query(url, ended)[0][0] >= SHORT_ENDED)
        [[share]] = query(
            url,
            """SELECT (sum(extract(epoch FROM ended_at - started_at)) FILTER (WHERE user_id = 'long')
                          / sum(extract(epoch FROM ended_at - started_at)))::float8
                      FROM loop_jobs WHERE state = 'done'""",
        )
    return float(share)
