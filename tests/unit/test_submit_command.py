"""`fairlane submit` says what is wrong with what it was given, before it asks anybody."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from click.testing import CliRunner

from app.cli.submit import submit

Answering = Callable[..., str]


@pytest.fixture
def answering() -> Iterator[Answering]:
    """The address of a service that answers everything with one status and body."""
    servers: list[HTTPServer] = []

    def serve(status: int, body: bytes = b"") -> str:
        class Service(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        servers.append(HTTPServer(("127.0.0.1", 0), Service))
        threading.Thread(target=servers[-1].serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("token", ["fl_7x\nfl_8y", "fl_7x 8y", "fl_7x\x07", "fl_7é"])
def test_a_token_that_is_none_is_told_and_not_shown(token: str) -> None:
    done = CliRunner().invoke(submit, ["local:shop"], env={"FAIRLANE_TOKEN": token})
    assert done.exit_code == 2
    assert "FAIRLANE_TOKEN is not a token" in done.stderr
    assert "fl_7" not in done.output


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, 2), (422, 2), (402, 3), (429, 4), (500, 4), (502, 4), (503, 4), (401, 5), (403, 5), (404, 5), (409, 5)],
)
def test_a_refusal_is_never_the_exit_code_of_a_failed_analysis(answering: Answering, status: int, code: int) -> None:
    done = CliRunner().invoke(submit, ["local:shop"], env={"FAIRLANE_URL": answering(status)})
    assert (done.exit_code, done.stdout) == (code, "")
    assert done.stderr.startswith("fairlane: ")


@pytest.mark.parametrize(
    ("error", "code"),
    [("repository_not_found", 5), ("access_denied", 5), ("commit_not_found", 5), ("host_refused", 5), ("git_timeout", 4),
     ("git_failed", 4), ("too_many_tests", 1), ("time_limit", 1)],
)  # fmt: skip
def test_what_a_worker_found_out_has_the_exit_code_of_a_refusal(answering: Answering, error: str, code: int) -> None:
    failure = {"code": error, "message": "It failed.", "retryable": False}
    job = {"id": "x", "status": "failed", "wait": None, "progress": None, "summary": None, "error": failure,
           "links": {"page": "/analyses/x"}}  # fmt: skip
    env = {"FAIRLANE_URL": answering(200, json.dumps(job).encode())}
    done = CliRunner().invoke(submit, ["acme/shop", "--commit", "a" * 40, "--wait"], env=env)
    assert done.exit_code == code, done.output


def test_a_service_that_is_not_there_is_named() -> None:
    env = {"FAIRLANE_TOKEN": " fl_one\n", "FAIRLANE_URL": "http://127.0.0.1:1"}
    done = CliRunner().invoke(submit, ["local:shop"], env=env)
    assert done.exit_code == 4
    assert "http://127.0.0.1:1 does not answer" in done.stderr


@pytest.mark.parametrize("env", [{"FAIRLANE_URL": "shop"}, {"FAIRLANE_TOKEN_FILE": "/nonexistent"}])
def test_a_bad_setting_is_wrong_usage_and_no_failed_analysis(env: dict[str, str]) -> None:
    done = CliRunner().invoke(submit, ["local:shop"], env=env)
    assert (done.exit_code, done.stdout) == (2, "")
    assert next(iter(env)).removesuffix("_FILE") in done.stderr
