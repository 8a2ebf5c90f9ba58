"""Frequent lines: written soon by a thread, with the time and the origin of what they tell, and dropped if nobody reads."""

from __future__ import annotations

import errno
import io
import json
import threading
from collections.abc import Iterator

import pytest
import structlog

from app import log_writer, origins
from app.log_writer import LogWriter
from app.logs import SHARED
from app.origins import Origin

ORIGIN = Origin("order-1", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")


class Stream(io.StringIO):
    """Takes what is written when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may, self.asked = threading.Event(), threading.Event()

    def write(self, text: str) -> int:
        self.asked.set()
        assert self.may.wait(60)
        return super().write(text)


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stream]:
    before = structlog.get_config()
    structlog.configure(processors=[*SHARED, lambda _, __, line: json.dumps(line)])
    stream = Stream()
    monkeypatch.setattr(log_writer, "SECONDS", 0.0)
    yield stream
    structlog.configure(**before)


def ended(writer: LogWriter) -> None:
    writer.close()
    writer._thread.join(60)  # a stopping process waits for a second


def test_a_line_has_the_origin_and_the_time_of_what_it_tells(stream: Stream) -> None:
    writer = LogWriter(stream)
    with origins.entered(ORIGIN):
        writer.put("one", "accepted", {"units": 1})
    writer.put("two", "request", lambda: {"status": 200, "request_id": "own"})
    stream.may.set()
    ended(writer)
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert (first["event"], first["units"], first["logger"], first["level"]) == ("accepted", 1, "one", "info")
    assert (first["request_id"], first["trace_id"]) == ("order-1", ORIGIN.trace_id)
    assert (second["request_id"], second["status"], second.get("trace_id")) == ("own", 200, None)
    assert first["timestamp"] <= second["timestamp"]
    assert origins.current() is None


def test_nobody_waits_for_a_reader_and_what_is_too_much_is_counted(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_writer, "MOST", 3)
    writer = LogWriter(stream)
    writer.put("one", "first", {})
    assert stream.asked.wait(60)  # the thread waits for the reader from now on
    for number in range(5):
        writer.put("one", "more", {"number": number})
    stream.may.set()
    ended(writer)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line.get("number") for line in lines[:-1]] == [None, 0, 1, 2]
    assert (lines[-1]["event"], lines[-1]["lines"]) == ("lines_dropped", 2)


def test_a_full_disk_and_a_line_that_cannot_be_made_end_nothing(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    was_refused = threading.Event()
    write = stream.write

    def refused(_: str) -> int:
        monkeypatch.setattr(stream, "write", write)
        was_refused.set()
        raise OSError(errno.ENOSPC, "No space left on device")

    def unmade() -> dict[str, object]:
        raise LookupError

    monkeypatch.setattr(stream, "write", refused)
    stream.may.set()
    writer = LogWriter(stream)
    writer.put("one", "lost", {})
    assert was_refused.wait(60)
    writer.put("one", "unmade", unmade)
    writer.put("one", "after", {})
    ended(writer)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines if line["event"] != "lines_dropped"] == ["after"]
    assert sum(line["lines"] for line in lines if line["event"] == "lines_dropped") == 2


def test_a_process_with_few_lines_writes_them_at_once() -> None:
    with structlog.testing.capture_logs() as lines:
        log_writer.write("one", "accepted", lambda: {"units": 1})
    assert lines == [{"event": "accepted", "units": 1, "log_level": "info"}]


def test_a_line_has_the_time_that_it_is_given(stream: Stream) -> None:
    stream.may.set()
    writer = LogWriter(stream)
    writer.put("one", "accepted", {}, 1.5)
    ended(writer)
    assert json.loads(stream.getvalue())["timestamp"] == "1970-01-01T00:00:01.500000Z"
    with structlog.testing.capture_logs() as lines:
        log_writer.write("one", "accepted", {}, 1.5)
    assert lines == [{"event": "accepted", "timestamp": "1970-01-01T00:00:01.500000Z", "log_level": "info"}]
