"""Specifications of the running service, from the request to the page: `python -m bench.specview.whole [--tests N …]`.

With `--model` the tests' double of a language model writes them, each of its answers taking `--seconds`.
Prints seconds, and the peak of the worker's memory before and after; the last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
from service_harness.model_runs import subjects

from bench.service import Service, running
from bench.specview.model import free_port

PER_FILE = 20


def main() -> None:
    options = _options()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="fairlane-bench-") as folder:
        Path(folder).chmod(0o755)
        for count in options.tests:
            _repository(Path(folder) / f"tests{count}", count)
        port = free_port()
        argv = [sys.executable, "-m", "service_harness.model_double", "--port", str(port)]
        double = subprocess.Popen([*argv, "--seconds", str(options.seconds)], stdout=subprocess.PIPE, text=True)
        model = {"LLM_BASE_URL": f"http://127.0.0.1:{port}/v1", "LLM_MODEL": "double"} if options.model else {}
        try:
            double.stdout.readline()  # type: ignore[union-attr]
            with running(Path(folder), LLM_REQUESTS_PER_MINUTE="100000", **model) as started:
                service = replace(started, token=_token(started))
                for count in options.tests:
                    figures[f"{count} tests"] = found = _measure(service, f"local:tests{count}")
                    print(f"{count} tests: {found}")
        finally:
            double.terminate()
    print(json.dumps(figures))


def _measure(service: Service, repository: str) -> dict[str, float]:
    """Seconds of the analysis, of the request's answer, until the document, until its page; megabytes."""
    began = time.monotonic()
    analysis = _until(service, _ask(service, "POST", "/analyses", {"repository": repository}))
    analysed = time.monotonic() - began
    before = _megabytes(service)
    began = time.monotonic()
    job = _ask(service, "POST", "/specs", {"analysis_id": analysis["id"], "language": "en"})
    accepted = time.monotonic() - began
    done = _until(service, job)
    written = time.monotonic() - began
    _ask(service, "GET", f"/specs/{done['id']}")
    read = time.monotonic() - began
    again = time.monotonic()
    _until(service, _ask(service, "POST", "/specs", {"analysis_id": analysis["id"], "mode": "regenerate_cached"}))
    return {
        "analysis s": round(analysed, 2), "accept s": round(accepted, 2), "to the document s": round(written, 2),
        "to the document read s": round(read, 2), "again from kept words s": round(time.monotonic() - again, 2),
        "units": done["units"], "fell back": done["summary"]["fell_back"],
        "worker MB before": before, "worker MB after": _megabytes(service),
    }  # fmt: skip


def _token(service: Service) -> str:
    """Of a user without a limit."""
    service.fairlane("user", "add", "bench@example.org", "--tier", "enterprise")
    found: str = json.loads(service.fairlane("token", "add", "bench@example.org", "--json"))["token"]
    return found


def _until(service: Service, job: dict[str, Any]) -> dict[str, Any]:
    while job["status"] not in ("completed", "failed", "cancelled"):
        time.sleep(0.02)
        timeline = _ask(service, "GET", job["links"]["timeline"].removeprefix("/api/v1"))
        if {row["event"] for row in timeline["items"]} & {"completed", "failed", "cancelled"}:
            job = _ask(service, "GET", job["links"]["self"].removeprefix("/api/v1"))
    assert job["status"] == "completed", job["error"]
    return job


def _megabytes(service: Service) -> float:
    """The largest process below the service's that serves specifications' queues."""
    return round(max(_peak(one) for one in psutil.Process(service.pid).children(recursive=True)), 1)


def _peak(process: psutil.Process) -> float:
    try:
        if "specview" not in " ".join(process.cmdline()):
            return 0
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    except (psutil.NoSuchProcess, OSError):
        return 0
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def _ask(service: Service, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    asked = urllib.request.Request(
        f"{service.url}/api/v1{path}",
        None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {service.token}", "Content-Type": "application/json"},
        method=method,
    )
    with urllib.request.urlopen(asked) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def _repository(path: Path, count: int) -> None:
    files: dict[str, list[str]] = {}
    for one in subjects(count, per_file=PER_FILE):
        files.setdefault(one.file, []).append(f"def {one.name}():\n    pass\n")
    for name, tests in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text("\n\n".join(tests))
    git = ["git", "-C", str(path), "-c", "user.name=Bench", "-c", "user.email=bench@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "tests"]):
        subprocess.run([*git, *words], check=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, nargs="+", default=[1_000, 28_000])
    parser.add_argument("--model", action="store_true", help="by the double of a language model")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each of its answers")
    return parser.parse_args()


if __name__ == "__main__":
    main()
