"""Make sure that a process with secrets starts git and parsers in a sandbox before it reads a repository."""

from testlist.sandbox import guard
from testlist.sandbox.process import NoSandbox

from app.errors import BadSetting
from app.settings import Settings


def settle(settings: Settings) -> None:
    """Apply SANDBOX in this process and those that it forks; costs nothing."""
    guard.use_sandbox(on=settings.sandbox == "on")


def require(settings: Settings) -> None:
    """Apply SANDBOX, and try the sandbox once.

    Raises: BadSetting if no sandbox is available and SANDBOX is not off.
    """
    settle(settings)
    try:
        guard.check()
    except NoSandbox as reason:
        raise missing(reason) from None


def missing(reason: NoSandbox) -> BadSetting:
    """The error that says why, and what to do about it."""
    return BadSetting(
        f"SANDBOX=on: no sandbox is available for git and the parsers: {reason}; SANDBOX=off runs them without one"
    )
