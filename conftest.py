"""What every run has whose tests are of the service, or of several packages."""

from durable_harness.left_behind import watch as pytest_configure

from tests.tiers import pytest_ignore_collect

__all__ = ["pytest_configure", "pytest_ignore_collect"]
