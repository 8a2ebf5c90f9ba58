"""Tables of the commands."""

from __future__ import annotations

import pytest

from app.cli.rows import show_rows


def test_a_row_is_one_line_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    queues = [f"analysis_{number}" for number in range(20)]
    show_rows([{"name": "web-1:7", "queues": queues}], ("name", "queues"), as_json=False)
    head, row = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "queues"]
    assert row.split("  ")[0].strip() == "web-1:7"
    assert row.strip().endswith(", ".join(queues))


def test_a_name_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    show_rows([{"name": "[/] [red]a[/red] :smile:\nb", "of": "x" * 5_000}], ("name", "of"), as_json=False)
    _, row = capsys.readouterr().out.splitlines()
    assert row.split() == ["[/]", "[red]a[/red]", ":smile:", "b", "x" * 5_000]
