"""A pytest plugin that writes what pytest itself collects, each test at the def it stands for.

Given with `-p` to a pytest run of its own; it writes JSON lines to the file that NATIVE_OUT names, paths
relative to the root directory of that run.
"""

import functools
import inspect
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


def definition(function: Callable[..., object]) -> tuple[Path, int, str]:
    """File, line of the def and qualified name of a function, behind its decorators."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    code = function.__code__
    lines = Path(code.co_filename).read_text(encoding="utf-8").splitlines()
    line = code.co_firstlineno
    if function.__name__ == "<lambda>":
        return Path(code.co_filename), line, function.__qualname__
    while lines[line - 1].split("(")[0].split()[:1] not in (["def"], ["async"]):
        line += 1
    return Path(code.co_filename), line, function.__qualname__


def rows(items: list[pytest.Item], root: Path) -> Iterator[tuple[str, int, str]]:
    """(file, line, name) of every item."""
    for item in items:
        if isinstance(item, pytest.Function):
            path, line, name = definition(getattr(item.obj, "__func__", item.obj))
            yield path.relative_to(root).as_posix(), line, name


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the folded rows."""
    found = sorted(set(rows(session.items, session.config.rootpath)))
    Path(os.environ["NATIVE_OUT"]).write_text("".join(f"{json.dumps(row)}\n" for row in found), encoding="utf-8")
