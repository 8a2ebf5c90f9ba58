"""A user with a thousand jobs, and behind them twenty with five each: their wait, and whether the machine works."""

from collections.abc import Mapping

from durable_bench.peers import PeersUnavailable

from app.domain.summaries import percentile
from bench.accept.database import database
from bench.fairness.loops import ORDERS, TABLE, execute, loops, publish, query
from bench.fairness.peers import PEERS, Peer, flood, most_at_once, waits_and_rate
from bench.fairness.scenes.figures import Figures
from bench.fairness.service import Service, service, wait_for

FLOOD, OTHERS, EACH, MILLISECONDS, PROCESSES = 1_000, 20, 5, 50, 4
LIMITS = (1, 2, 3)
BEST = "fewest running first"

#: Waits of the twenty users from the first start of anybody, and ends of all jobs a second until their last one.
OURS = """
    WITH few AS (SELECT r.job_id FROM analysis_requests r JOIN users u ON u.id = r.user_id WHERE u.email LIKE 'few%'),
         span AS (SELECT min(at) FILTER (WHERE event = 'started') AS began,
                         max(at) FILTER (WHERE event = 'completed' AND job_id IN (SELECT * FROM few)) AS ended
                    FROM job_events)
    SELECT (SELECT array_agg(extract(epoch FROM at - span.began)::float8) FROM job_events
             WHERE event = 'started' AND job_id IN (SELECT * FROM few)),
           (SELECT count(*) FROM job_events WHERE event = 'completed' AND at <= span.ended)
               / extract(epoch FROM span.ended - span.began)::float8
      FROM span"""
RAW = """
    WITH span AS (SELECT min(started_at) AS began, max(ended_at) FILTER (WHERE user_id LIKE 'few%') AS ended
                    FROM loop_jobs)
    SELECT (SELECT array_agg(extract(epoch FROM started_at - span.began)::float8) FROM loop_jobs
             WHERE user_id LIKE 'few%'),
           (SELECT count(*) FROM loop_jobs WHERE ended_at <= span.ended)
               / extract(epoch FROM span.ended - span.began)::float8
      FROM span"""
#: Of the twenty users' jobs, those that have not ended.
LEFT = "SELECT count(*) FROM loop_jobs WHERE user_id LIKE 'few%' AND state <> 'done'"


def measure(_: Mapping[str, int]) -> Figures:
    """p95 of the wait of the twenty, and jobs a second meanwhile."""
    figures: Figures = {}
    for order in ORDERS:
        figures |= _raw(order)
    for limit in LIMITS:
        with service(limit) as ours:
            found = _ours(ours, f"limit {limit}")
        figures |= found
        for what in ("p95 wait s", "jobs/s"):
            figures[f"limit {limit}, {what} / {BEST}"] = found[f"limit {limit}, {what}"] / figures[f"{BEST}, {what}"]
        for peer in PEERS:
            figures |= _beside(peer, limit)
    return figures


def _beside(peer: Peer, limit: int) -> Figures:
    few = [f"few{number:02}" for number in range(OTHERS)]
    jobs = [("hog", FLOOD), *((user, 1) for _ in range(EACH) for user in few)]
    try:
        runs = flood(peer, jobs, limit, MILLISECONDS, few)
    except PeersUnavailable as error:
        print(f"  without {peer.name}: {error}", flush=True)
        return {}
    name = f"{peer.name}, limit {limit}"
    return {**_figures(name, *waits_and_rate(runs, few)), f"{name}, most at once": max(most_at_once(runs).values())}


def _ours(ours: Service, name: str) -> Figures:
    hog = ours.user("hog")
    few = [ours.user(f"few{number}") for number in range(OTHERS)]
    for _ in range(FLOOD):
        ours.submit(hog, MILLISECONDS)
    jobs = [ours.submit(user_id, MILLISECONDS) for _ in range(EACH) for user_id in few]
    done = "SELECT count(*) FROM job_events WHERE event = 'completed' AND job_id = ANY(:jobs)"
    with ours.node(PROCESSES):
        wait_for(lambda: ours.value(done, jobs=jobs) == OTHERS * EACH)
    [(waits, rate)] = ours.rows(OURS)
    return {**_figures(name, waits, rate), f"{name}, snoozes": ours.count("snoozed")}


def _raw(order: str) -> Figures:
    with database() as (url, _):
        execute(url, TABLE)
        publish(url, "a hog", MILLISECONDS / 1000, FLOOD)
        for _ in range(EACH):
            for number in range(OTHERS):
                publish(url, f"few{number:02}", MILLISECONDS / 1000, 1)
        with loops(url, order, PROCESSES):
            wait_for(lambda: query(url, LEFT) == [(0,)])
        [(waits, rate)] = query(url, RAW)
    return _figures(order, waits, rate)


def _figures(name: str, waits: list[float], rate: float) -> Figures:
    return {
        f"{name}, median wait s": percentile(waits, 0.5),
        f"{name}, p95 wait s": percentile(waits, 0.95),
        f"{name}, jobs/s": rate,
    }
