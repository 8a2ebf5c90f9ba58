"""Failures are alike if they differ only in what they name of one job."""

import pytest

from app.services.operations.failures import MOST, fingerprint

JOB = "6f0bb0a0-7b0e-4d8e-9b7e-3f0d6f6f2d11"


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("The repository has 12,345.6 GB.", "The repository has N GB."),
        (f"Job {JOB} at {'0a' * 20} is lost.", "Job … at … is lost."),
        ("`acme/shop` and 'x y' and \"z\" differ", "… and … and … differ"),
        ("https://github.com/acme/shop?token=abc is away", "… is away"),
        ("ann@example.org may not read src/app.py", "… may not read …"),
        ("The facade decade", "The facade decade"),
        ("Two\n  lines", "Two lines"),
        (None, ""),
    ],
)
def test_names_and_numbers_are_left_out(message: str | None, told: str) -> None:
    assert fingerprint("analysis", "x", message).message == told


def test_code_and_service_tell_failures_apart_and_the_message_is_cut() -> None:
    assert len({fingerprint(service, code, "x") for service in ("a", "b") for code in ("c", "d")}) == 4
    assert len(fingerprint("a", "c", "é" * 5_000).message) == MOST
