"""The environment of a process that tests start: nothing of the developer's shell reaches it by accident."""

import os

#: Where programs and the user's files are, and the language of messages.
KEPT = ("PATH", "HOME", "LANG")


def bare_environment() -> dict[str, str]:
    """KEPT, and the variables by which coverage measures the process too, where it measures this one."""
    return {name: value for name, value in os.environ.items() if name in KEPT or name.startswith("COVERAGE_")}
