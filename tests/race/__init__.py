import pytest

pytest.register_assert_rewrite(
    "tests.race.scenes_of_accepts",
    "tests.race.scenes_of_ends",
    "tests.race.scenes_of_joins",
    "tests.race.search",
    "tests.race.stepping",
)
