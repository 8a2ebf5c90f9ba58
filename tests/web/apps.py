"""Flask applications that tests use one after another: building one takes 54 ms, compiling its templates 158 ms."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from apiflask import APIFlask
from durable_harness.left_behind import RUN_FOLDER
from jinja2 import BytecodeCache, FileSystemBytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

from app.web import build, parts
from app.web.core.wiring import WebWiring


class Compiled(BytecodeCache):
    """Compiled templates of all applications of a run: to compile all of them takes each process seconds."""

    @cached_property
    def _files(self) -> FileSystemBytecodeCache:
        folder = Path(os.environ[RUN_FOLDER], "templates")
        folder.mkdir(exist_ok=True)
        return FileSystemBytecodeCache(str(folder))

    def load_bytecode(self, bucket: Bucket) -> None:
        self._files.load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._files.dump_bytecode(bucket)


class Apps:
    """Built applications by their settings and secret; no two tests have the same one at a time."""

    def __init__(self, prepare: Callable[[APIFlask], None] = lambda _: None) -> None:
        """prepare: changes each application once, after it was built."""
        self._prepare = prepare
        self._free: defaultdict[Any, list[APIFlask]] = defaultdict(list)

    @contextmanager
    def lent(self, wired: WebWiring) -> Iterator[APIFlask]:
        """An application whose parts, which keep all that changes while it serves, are new.

        A test that changes the application itself builds one by `create_app`.
        """
        free = self._free[wired.settings, wired.secret]
        app = free.pop() if free else self._built(wired)
        app.extensions |= parts(wired)
        yield app
        free.append(app)

    def _built(self, wired: WebWiring) -> APIFlask:
        app = build(wired.settings, wired.secret)
        self._prepare(app)
        return app


def _builders() -> Callable[..., Any]:
    """`Rule._compile_builder`, each rule compiled once: nine tenths of the time in which an application is built."""
    compile_builder, built = Rule._compile_builder, dict[Any, Any]()

    def of_rule(rule: Rule, append_unknown: bool = True) -> Any:
        key = (*rule._trace, repr(rule.defaults), append_unknown)
        if key not in built:
            built[key] = compile_builder(rule, append_unknown)
        return built[key]  # it is not bound to the rule yet

    return of_rule


Rule._compile_builder = _builders()  # type: ignore[method-assign]
APIFlask.jinja_options = {"bytecode_cache": Compiled()}
APPS = Apps()
