"""The process tree of `fairlane up`: all children run until a signal, and none outlives it."""

from app.supervisor.child import Child
from app.supervisor.tree import AlreadyRunning, address, alone, run

__all__ = ["AlreadyRunning", "Child", "address", "alone", "run"]
