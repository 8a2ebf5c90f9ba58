"""A web process of its own, asked over HTTP."""

from __future__ import annotations

import json
import socket
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from durable_harness.waiting import wait_for

from tests.nodes import ROOT, LocalProcess, Nodes


class Web:
    """gunicorn on a free port.  code: the folder of the release; options: of gunicorn."""

    def __init__(
        self, nodes: Nodes, folder: Path, token: str, *, code: Path = ROOT, options: Sequence[str] = (), **env: str
    ) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{free.getsockname()[1]}"
        name = f"web{len(nodes.others)}"
        argv = [sys.executable, "-m", "gunicorn", "-b", self.url.removeprefix("http://")]
        argv += ["-c", "python:app.server.config", *options]
        self.process = LocalProcess(name, argv, nodes.environment(**env), folder / f"{name}.log", code)
        self.token = token
        nodes.others.append(self.process)
        self.process.start()
        wait_for(self._answers, "the web to answer")

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = json.dumps(body).encode() if body else None
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data, headers)) as answer:
            said = answer.read().decode()
        return json.loads(said) if answer.headers.get_content_type() == "application/json" else said

    def _answers(self) -> bool:
        try:
            return bool(self.ask("/healthz"))
        except OSError:
            assert self.process.status == "running", self.process.logs()
            return False
