"""Send links to people by mail, or print them in the log where there is no mail server."""

from __future__ import annotations

import smtplib
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

import structlog
from flask import current_app
from sqlalchemy.exc import SQLAlchemyError

from app import process_metrics
from app.domain.emails import is_address
from app.errors import Problem
from app.settings import Settings

EXTENSION = "fairlane mails"
SECONDS = 15  # for each answer of the mail server
#: Mails on their way at once; more are dropped, and their readers ask again.
PLACES = 8
#: Readers who are looked up at once, likewise.
LOOKUPS = 8
UNASKED = "If you did not ask for this, ignore this mail."

log = structlog.get_logger()


@dataclass
class Mails:
    """The sender of one process's mails.

    A mail leaves in a thread of its own, so that the time of an answer does not reveal who has an account.
    """

    settings: Settings
    places: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(PLACES))
    lookups: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(LOOKUPS))

    @property
    def are_sent(self) -> bool:
        """Whether there is a mail server."""
        return self.settings.smtp_url is not None

    def send(self, to: str, subject: str, words: str, link: str, *, otherwise: str = UNASKED) -> None:
        """Send a link, or print it.  words: what the link does; otherwise: what to do if it is not one's own."""
        if not self.are_sent:
            log.warning("mail.not_sent", to=to, subject=subject, link=link)  # for the operator to hand over
            return
        if not is_address(to):  # of an account from before such addresses were refused
            log.warning("mail.address_refused", to=to, subject=subject)
            return
        if not self.places.acquire(blocking=False):
            _mails("dropped")
            log.warning("mail.dropped")
            return
        letter = (to, subject, f"{words}\n\n{link}\n\n{otherwise}\n")
        threading.Thread(target=self._deliver, args=letter, name="mail", daemon=True).start()

    def send_found(self, find: Callable[[], tuple[str, str] | None], subject: str, words: str) -> None:
        """Send a link, or print it, if `find` returns a reader and a link.

        It runs after the answer, in a thread, so that the answer does not reveal whether there is such a reader.
        """
        if not self.lookups.acquire(blocking=False):
            log.warning("mail.dropped")
            return

        def look_up() -> None:
            try:
                if found := find():
                    self.send(found[0], subject, words, found[1])
            except (SQLAlchemyError, Problem) as error:
                log.warning("mail.failed", error=type(error).__name__)
            finally:
                self.lookups.release()

        threading.Thread(target=look_up, name="mail", daemon=True).start()

    def _deliver(self, to: str, subject: str, content: str) -> None:
        try:
            message = EmailMessage()
            message["From"], message["To"] = Address(addr_spec=self._sender()), Address(addr_spec=to)
            message["Subject"] = subject
            message.set_content(content)
            with self._server() as server:
                server.send_message(message, to_addrs=[to])  # not what the header is read as
            _mails("sent")
        except (OSError, ValueError, smtplib.SMTPException) as error:
            _mails("failed")
            log.warning("mail.failed", error=type(error).__name__)
        finally:
            self.places.release()

    def _server(self) -> smtplib.SMTP:
        """Signed in; the connection is encrypted if the server can."""
        parts = urlsplit(self.settings.smtp_url.get_secret_value() if self.settings.smtp_url else "")
        host, is_tls = parts.hostname or "", parts.scheme == "smtps"
        port = parts.port or (465 if is_tls else 587)
        if is_tls:
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=SECONDS, context=ssl.create_default_context())
        else:
            server = smtplib.SMTP(host, port, timeout=SECONDS)
        try:
            if not is_tls and server.ehlo() and server.has_extn("starttls"):
                server.starttls(context=ssl.create_default_context())
            if parts.username:
                server.login(unquote(parts.username), unquote(parts.password or ""))
        except BaseException:
            server.close()
            raise
        return server

    def _sender(self) -> str:
        return self.settings.mail_from or f"fairlane@{urlsplit(self.settings.public_url or '').hostname}"


def _mails(result: str) -> None:
    process_metrics.mails.labels(result).inc()


def mails() -> Mails:
    """The sender of links to people."""
    found: Mails = current_app.extensions[EXTENSION]
    return found
