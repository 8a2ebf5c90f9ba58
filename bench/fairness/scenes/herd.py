"""Two thousand jobs that were snoozed at once come back: how late they are taken."""

from collections.abc import Mapping

from sqlalchemy import text

from bench.fairness.scenes.figures import Figures
from bench.fairness.service import Service, service, wait_for
from bench.service import percentile

HERD, ALONE, PROCESSES, MILLISECONDS = 2_000, 100, 8, 1
#: Everything that waits becomes due in `seconds` seconds and evenly over a jitter, as a snooze would have it.
SNOOZE = """
    UPDATE kombu_message m
       SET visible = false, delay_reason = 'snooze', rank = NULL,
           visible_at = clock_timestamp() + make_interval(secs => :seconds + :jitter * n.place / :number)
      FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM kombu_message) AS n WHERE n.id = m.id"""
DUE = "CREATE TABLE due AS SELECT task_id::uuid AS job_id, visible_at FROM kombu_message"
LATE = """
    SELECT extract(epoch FROM e.at - d.visible_at) FROM due d JOIN job_events e USING (job_id)
     WHERE e.event = 'started'"""


def measure(_: Mapping[str, int]) -> Figures:
    """p50 and p99 of the time from due to started: of single jobs a tenth of a second apart, and of a herd."""
    figures: Figures = {}
    for name, number, jitter in (("alone", ALONE, 10.0), ("herd", HERD, 10.0)):
        with service(1) as ours:
            late = _late(ours, number, jitter)
        figures[f"{name}, due to start, p50 ms"] = percentile(late, 0.5) * 1000
        figures[f"{name}, due to start, p99 ms"] = percentile(late, 0.99) * 1000
    return figures | {
        "herd / alone, p99": figures["herd, due to start, p99 ms"] / figures["alone, due to start, p99 ms"]
    }


def _late(ours: Service, number: int, jitter: float) -> list[float]:
    for place in range(number):
        ours.submit(ours.user(f"u{place}"), MILLISECONDS)
    with ours.uow.begin() as tx:
        tx.run(text(SNOOZE), seconds=8.0, jitter=jitter, number=number)
        tx.run(text(DUE))
    with ours.node(PROCESSES):
        wait_for(lambda: ours.count("completed") == number)
    return [float(seconds) for (seconds,) in ours.rows(LATE)]
