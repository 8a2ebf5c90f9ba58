"""What a process that holds secrets sees to before it reads a repository: that what it starts is in a sandbox."""

from app.errors import BadSetting
from app.settings import Settings
from tasks.inventory import guard
from tasks.inventory.process import NoSandbox


def settle(settings: Settings) -> None:
    """Follow SANDBOX in this process and those it forks; costs nothing."""
    guard.use_sandbox(on=settings.sandbox == "on")


def require(settings: Settings) -> None:
    """As `settle`, and try it once.  Raises: BadSetting when there can be no sandbox and SANDBOX does not say off."""
    settle(settings)
    try:
        guard.check()
    except NoSandbox as reason:
        raise missing(reason) from None


def missing(reason: NoSandbox) -> BadSetting:
    """What there is to say and to do about it."""
    return BadSetting(
        f"SANDBOX=on: no sandbox is available for git and the parsers: {reason}; SANDBOX=off runs them without one"
    )
