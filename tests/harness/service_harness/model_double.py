"""A stand-in for a language model's endpoint: a real HTTP server whose answers are set call by call.

`python -m service_harness.model_double --port 8099 --seconds 1` serves good answers for runs of size.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

from service_harness.obedience import obey

HTML = b"<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>"


@dataclass(frozen=True)
class Call:
    """asked: the JSON of the user message; phase: of the answer that it wants; number: from 0."""

    number: int
    phase: str
    asked: dict[str, Any]
    system: str
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def fingerprint(self) -> str:
        """The same for a call that is repeated."""
        told = [self.body["model"], self.body["messages"][-1]]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    @property
    def language(self) -> str:
        return re.search(r"(?:Names are|sentence is|sentences) in (\w+)", self.system)[1]


@dataclass(frozen=True)
class Raw:
    """What goes over the wire.  drip: seconds between single bytes; hang: say nothing until the client leaves."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drip: float = 0
    hang: bool = False
    endless: bool = False


Behaviour = Callable[[Call], "Raw | dict[str, Any] | str"]


def good(call: Call) -> dict[str, Any]:
    """An answer as a well-behaved model gives it."""
    if call.phase == "classify":
        return {"places": [_place(file, call.language) for file in call.asked["files"]]}
    if call.phase == "convert":
        return {"sentences": [{"i": one["i"], "s": sentence(one, call.language)} for one in call.asked["tests"]]}
    return {"summary": {"Korean": "가게의 동작을 설명한다."}.get(call.language, "The shop sells what people want.")}


def sentence(entry: dict[str, Any], language: str) -> str:
    """Made of the words of the name, so that it can be told whose it is."""
    words = " ".join(
        re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", " ".join([*entry["suites"], entry["name"]])))
    )
    return f"{words} 동작을 확인한다."[:150] if language == "Korean" else f"{words[:1].upper()}{words[1:]}"[:150]


def _place(file: dict[str, Any], language: str) -> dict[str, Any]:
    folder = file["file"].rsplit("/", 2)[0].rsplit("/", 1)[-1]
    letters = "".join(c for c in folder if c.isalpha()) or "rest"
    domain, feature = (f"영역 {letters}", "기능") if language == "Korean" else (f"Area {letters}", "Main")
    return {"domain": domain, "feature": feature, "tests": [number for number, _ in file["tests"]]}


def garbage(_: Call) -> str:
    return "I am sorry, but here is a poem instead: {]"


def fenced(call: Call) -> str:
    return f"```json\n{json.dumps(good(call))}\n```"


def cut(call: Call) -> str:
    return json.dumps(good(call))[: len(json.dumps(good(call))) // 2]


def obeying(call: Call) -> dict[str, Any] | Raw | str:
    """The worst reader: it does what any name of the corpus asks for, however it was cleaned on the way."""
    return obey(call, good(call))


def status(code: int, **headers: str) -> Behaviour:
    return lambda _: Raw(HTML, code, {name.replace("_", "-"): value for name, value in headers.items()})


def html(_: Call) -> Raw:
    return Raw(HTML, headers={"content-type": "text/html"})


def hang(_: Call) -> Raw:
    return Raw(hang=True)


def drip(call: Call) -> Raw:
    return Raw(completion(json.dumps(good(call))), drip=0.05)


def too_much(_: Call) -> Raw:
    return Raw(endless=True)


def after(seconds: float, behaviour: Behaviour = good) -> Behaviour:
    def late(call: Call) -> Raw | dict[str, Any] | str:
        time.sleep(seconds)
        return behaviour(call)

    return late


def completion(text: str, *, finish: str = "stop", usage: Any = "counted") -> bytes:
    counted = {"prompt_tokens": 100, "completion_tokens": len(text) // 4} if usage == "counted" else usage
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], "usage": counted}).encode()


class ModelDouble:
    """The server's script and what it saw.  script: behaviours of the first calls; then `behaviour`, of all others."""

    def __init__(self, behaviour: Behaviour = good, script: Sequence[Behaviour] = ()) -> None:
        self.behaviour, self.script = behaviour, list(script)
        self.calls, self.fingerprints = list[Call](), Counter[str]()
        self.under_way, self.most_under_way = 0, 0
        self.first = Event()  # a call has come
        self.left = Event()  # a client has gone before its answer
        self.keep = True  # calls, for tests
        self._lock = Lock()
        self._closing = Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @classmethod
    @contextmanager
    def serving(cls, behaviour: Behaviour = good, script: Sequence[Behaviour] = ()) -> Iterator[ModelDouble]:
        double = cls(behaviour, script)
        thread = Thread(target=double._server.serve_forever, kwargs={"poll_interval": 0.005})
        thread.start()
        try:
            yield double
        finally:
            double._closing.set()
            double._server.shutdown()
            thread.join()
            double._server.server_close()

    def of(self, phase: str) -> list[Call]:
        return [call for call in self.calls if call.phase == phase]

    def begin(self, body: dict[str, Any], headers: dict[str, str]) -> tuple[Call, Behaviour]:
        asked = json.loads(body["messages"][-1]["content"])
        phase = "classify" if "files" in asked else "convert" if "tests" in asked else "summarise"
        with self._lock:
            call = Call(sum(self.fingerprints.values()), phase, asked, body["messages"][0]["content"], body, headers)
            if self.keep:
                self.calls.append(call)
            self.fingerprints[call.fingerprint] += 1
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            behaviour = self.script.pop(0) if self.script else self.behaviour
        self.first.set()
        return call, behaviour

    def end(self) -> None:
        with self._lock:
            self.under_way -= 1

    def send(self, handler: BaseHTTPRequestHandler, raw: Raw) -> None:
        if raw.hang:
            handler.connection.settimeout(30)
            if handler.rfile.read(1) == b"":
                self.left.set()
            handler.close_connection = True
            return
        handler.send_response(raw.status)
        headers = {"content-type": "application/json", "content-length": str(len(raw.body))} | raw.headers
        if raw.endless:
            headers.pop("content-length")
            handler.close_connection = True
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        for piece in self._pieces(raw):
            handler.wfile.write(piece)
            handler.wfile.flush()

    def _pieces(self, raw: Raw) -> Iterator[bytes]:
        if raw.endless:
            while not self._closing.is_set():
                yield b"x" * 65536
        elif raw.drip:
            for byte in raw.body:
                self._closing.wait(raw.drip)
                yield bytes([byte])
        else:
            yield raw.body

    def _handler(double) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the handler's
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                call, behaviour = double.begin(body, {name.lower(): value for name, value in self.headers.items()})
                try:
                    answer = behaviour(call)
                    if not isinstance(answer, Raw):
                        answer = Raw(completion(answer if isinstance(answer, str) else json.dumps(answer)))
                    double.send(self, answer)
                except (BrokenPipeError, ConnectionResetError):
                    double.left.set()
                    self.close_connection = True
                finally:
                    double.end()

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        return Handler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--behaviour", default="good", choices=["good", "garbage", "html", "hang", "fenced", "obeying"])
    options = parser.parse_args()
    double = ModelDouble(after(options.seconds, globals()[options.behaviour]))
    double.keep = False
    double._server.server_close()
    double._server = ThreadingHTTPServer(("127.0.0.1", options.port), double._handler())
    double._server.daemon_threads = True
    print(f"serving {double.url}", flush=True)
    try:
        double._server.serve_forever()
    except KeyboardInterrupt:
        repeats = sum(n - 1 for n in double.fingerprints.values())
        print(f"calls {sum(double.fingerprints.values())}, repeated {repeats}, at once {double.most_under_way}")


if __name__ == "__main__":
    main()
