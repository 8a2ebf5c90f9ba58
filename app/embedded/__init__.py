"""The embedded PostgreSQL of one home: started when needed, shared by processes, stopped after the last."""

from app.embedded.binaries import ClientProgram, EmbeddedUnavailable, clients
from app.embedded.server import Server, ensure, hold, passwords, stop

__all__ = ["ClientProgram", "EmbeddedUnavailable", "Server", "clients", "ensure", "hold", "passwords", "stop"]
