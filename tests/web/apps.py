"""Flask applications that tests use one after another: building one takes 54 ms, compiling its templates 158 ms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from apiflask import APIFlask
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

from app.web import build, parts
from app.web.core.wiring import WebWiring


class Compiled(BytecodeCache):
    """Compiled templates of all applications of this process."""

    def __init__(self) -> None:
        self._codes: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._codes:
            bucket.bytecode_from_string(self._codes[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._codes[bucket.key] = bucket.bytecode_to_string()


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
