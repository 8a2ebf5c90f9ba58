"""`fairlane submit` says what is wrong with what it was given, before it asks anybody."""

import pytest
from click.testing import CliRunner

from app.cli.submit import submit


@pytest.mark.parametrize("token", ["fl_7x\nfl_8y", "fl_7x 8y", "fl_7x\x07", "fl_7é"])
def test_a_token_that_is_none_is_told_and_not_shown(token: str) -> None:
    done = CliRunner().invoke(submit, ["local:shop"], env={"FAIRLANE_TOKEN": token})
    assert done.exit_code == 2
    assert "FAIRLANE_TOKEN is not a token" in done.stderr
    assert "fl_7" not in done.output


def test_a_service_that_is_not_there_is_named() -> None:
    env = {"FAIRLANE_TOKEN": " fl_one\n", "FAIRLANE_URL": "http://127.0.0.1:1"}
    done = CliRunner().invoke(submit, ["local:shop"], env=env)
    assert done.exit_code == 4
    assert "http://127.0.0.1:1 does not answer" in done.stderr
