"""A mail server that keeps what it is given."""

from __future__ import annotations

import email
import queue
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message


@dataclass
class MailServer:
    """refuses: the command that it answers with an error."""

    url: str = ""
    refuses: str = ""
    mails: queue.Queue[Message] = field(default_factory=queue.Queue)
    said: list[str] = field(default_factory=list)

    def next_mail(self) -> Message:
        return self.mails.get(timeout=30)


class Conversation(socketserver.StreamRequestHandler):
    """With one client.  It offers AUTH PLAIN, and takes everything."""

    server: Listener

    def handle(self) -> None:
        double = self.server.double
        self.say("220 double")
        while line := self.rfile.readline().decode().strip():
            double.said.append(line)
            verb = line.split(" ")[0].split(":")[0].upper()
            if verb == double.refuses:
                self.say("550 no")
            elif verb == "EHLO":
                self.say("250-double\r\n250 AUTH PLAIN")
            elif verb == "AUTH":
                self.say("235 ok")
            elif verb == "DATA":
                self.say("354 go on")
                self.take()
            else:
                self.say("221 bye" if verb == "QUIT" else "250 ok")

    def take(self) -> None:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line)
        self.say("250 taken")
        self.server.double.mails.put(email.message_from_bytes(b"".join(lines)))

    def say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


class Listener(socketserver.ThreadingTCPServer):
    """On a port of its own."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Conversation)
        self.double = MailServer(f"smtp://post:pass%20word@127.0.0.1:{self.server_address[1]}")


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """One that listens."""
    with Listener() as listener:
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield listener.double
        finally:
            listener.shutdown()
            thread.join()
