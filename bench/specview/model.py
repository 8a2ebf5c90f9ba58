"""How long a large specification takes with a model: `python -m bench.specview.model [--tests 28000] [--seconds 1]`.

The model is the tests' double in a process of its own.  Prints the seconds of each phase, the calls and the peak of
this process's memory; `--kept` is how long the caller takes to store a part.
"""

from __future__ import annotations

import argparse
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator

from service_harness.model_runs import PlainGenerator, subjects

from app.domain.specification import Behaviour, Domain, Feature, Place, Specification, Subject
from app.specview.generator import Part
from app.specview.model.endpoint import EndpointAccess
from app.specview.model.gate import OpenGate
from app.specview.model.generator import ModelGenerator


def main() -> None:
    options = _options()
    port = free_port()
    program = "service_harness.model_double"
    argv = [sys.executable, "-m", program, "--port", str(port), "--seconds", str(options.seconds)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as double:
        try:
            assert double.stdout is not None
            double.stdout.readline()
            tests = subjects(options.tests)
            access = EndpointAccess(f"http://127.0.0.1:{port}/v1", "double", parallel=options.parallel)
            run = ModelGenerator(access, OpenGate(), PlainGenerator())
            print(
                f"{options.tests} tests, {options.seconds:g} s a call, {options.parallel} at once; {_memory()} to begin"
            )
            _run(run, tests, options)
        finally:
            double.terminate()


def _run(run: ModelGenerator, tests: list[Subject], options: argparse.Namespace) -> None:
    began = time.monotonic()
    parts = dict[Place, list[Subject]]()
    for placed in run.place(tests, [], options.language):
        time.sleep(options.kept)
        for subject, place in placed.places:
            parts.setdefault(place, []).append(subject)
    began = _told("place", began, run)
    done, fell = 0, 0
    for phrased in run.phrase(_parts(parts), options.language):
        time.sleep(options.kept)
        done += len(phrased.sentences)
        fell += len(phrased.sentences) * phrased.fell_back
    began = _told("phrase", began, run)
    assert done == len(tests)
    some = [Behaviour(tests[0], "x")]
    domains = [Domain(name, [Feature("Main", some)]) for name in sorted({place.domain for place in parts})]
    run.summarise(Specification(options.language, "", domains))
    _told("summarise", began, run)
    print(f"{done} sentences, {fell} fell back, {run.meter.spent.total} tokens, troubles {dict(run.meter.troubles)}")


def _parts(parts: dict[Place, list[Subject]]) -> Iterator[Part]:
    for place, subjects_of in parts.items():
        yield Part(place, subjects_of)


def _told(phase: str, began: float, run: ModelGenerator) -> float:
    now = time.monotonic()
    print(f"{phase:>10}: {now - began:6.1f} s, {run.meter.calls} calls so far, peak {_memory()}")
    return now


def _memory() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"


def free_port() -> int:
    """One that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _options(given: Iterable[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, default=28_000)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--parallel", type=int, default=10)
    parser.add_argument("--kept", type=float, default=0.01)
    parser.add_argument("--language", default="en")
    return parser.parse_args(None if given is None else list(given))


if __name__ == "__main__":
    main()
