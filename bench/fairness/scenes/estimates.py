"""What was promised with the accept and what became of it: starts inside of the interval that was told."""

import time
from collections.abc import Mapping
from random import Random

from app.domain.plans import Tier
from bench.fairness.scenes.figures import Figures
from bench.fairness.service import service, wait_for

SECONDS, USERS, SEED = 150.0, 24, 11
DEFAULT_PROCESSES, PRIORITY_PROCESSES = 3, 2
#: Of a user's jobs, in the mean, drawn once for each; the single ones vary by a half.
SHORTEST, LONGEST = 150, 1_500
#: Jobs at work in the mean, if nobody waited: more than there are processes in the first half, fewer in the second.
LOADS = (6.0, 3.5)

TOLD = """
    SELECT count(*) AS told,
           count(*) FILTER (WHERE extract(epoch FROM s.at - a.at) BETWEEN (a.facts->'eta'->>0)::float8
                                                                      AND (a.facts->'eta'->>1)::float8) AS kept,
           count(*) FILTER (WHERE extract(epoch FROM s.at - a.at) < (a.facts->'eta'->>0)::float8) AS sooner,
           percentile_disc(0.5) WITHIN GROUP (
               ORDER BY (a.facts->'eta'->>1)::float8 - (a.facts->'eta'->>0)::float8) AS width,
           percentile_disc(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM s.at - a.at)::float8) AS waited
      FROM job_events s JOIN job_events a ON a.job_id = s.job_id AND a.event = 'accepted'
     WHERE s.event = 'started' AND jsonb_typeof(a.facts->'eta') = 'array'
       AND (a.facts->'eta'->>1)::float8 >= :least"""


def measure(_: Mapping[str, int]) -> Figures:
    """The share that was kept, of all estimates and of those that promised a wait of more than two seconds."""
    dice = Random(SEED)
    with service() as ours:
        tiers = (Tier.FREE, Tier.FREE, Tier.FREE, Tier.PRO)
        users = [(ours.user(f"u{n}", tiers[n % len(tiers)]), dice.uniform(SHORTEST, LONGEST)) for n in range(USERS)]
        mean = sum(milliseconds for _, milliseconds in users) / USERS / 1000
        with ours.node(DEFAULT_PROCESSES), ours.node(PRIORITY_PROCESSES, "analysis_priority"):
            begun, jobs = time.monotonic(), 0
            while (passed := time.monotonic() - begun) < SECONDS:
                user_id, milliseconds = dice.choice(users)
                for _ in range(dice.choice((1, 1, 1, 6))):  # some come alone, some with a whole list
                    ours.submit(user_id, round(milliseconds * dice.uniform(0.5, 1.5)))
                    jobs += 1
                # 2.25 jobs come together in the mean
                time.sleep(dice.expovariate(LOADS[passed > SECONDS / 2] / mean / 2.25))  # arrivals are random
            wait_for(lambda: ours.count("completed") == jobs)
        figures: Figures = {"jobs": jobs}
        for name, least in (("all", 0), ("of more than 2 s", 2)):
            [told] = ours.rows(TOLD, least=least)
            figures[f"estimates {name}"] = told.told
            figures[f"kept, {name}"] = told.kept / told.told
            figures[f"started sooner, {name}"] = told.sooner / told.told
            figures[f"median width s, {name}"] = told.width
            figures[f"median wait s, {name}"] = told.waited
    return figures
