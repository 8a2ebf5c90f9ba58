import pytest

# what these assert is told as in a test
pytest.register_assert_rewrite("tests.model.life", "tests.model.observe", "tests.model.watch")
