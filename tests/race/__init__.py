import pytest

pytest.register_assert_rewrite("tests.race.scenes", "tests.race.search", "tests.race.stepping")
