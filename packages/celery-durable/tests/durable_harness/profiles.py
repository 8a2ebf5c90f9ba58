"""How Hypothesis draws examples: the same ones in each run, so that a failure means that the program has changed.

`--hypothesis-profile=new` draws new ones, as `make prove-lifecycle` does, and prints how to repeat the one that fails.
"""

from hypothesis import HealthCheck, settings

# a busy machine is no failure, and a failure of another day is not tried again
#: That examples take long to make says only that the machine is busy.
SLOW = [HealthCheck.too_slow]

settings.register_profile("fixed", derandomize=True, database=None, deadline=None, suppress_health_check=SLOW)
settings.register_profile(
    "new", derandomize=False, database=None, deadline=None, print_blob=True, suppress_health_check=SLOW
)
settings.load_profile("fixed")
