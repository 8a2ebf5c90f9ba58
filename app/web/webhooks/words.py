"""The words of the pages about webhooks that do not work."""

from __future__ import annotations

from app.web.core.languages import lazy_gettext as _

WHY_DISABLED = {
    "owner": _("You disabled it."),
    "gone": _("It was disabled because its receiver answered 410 Gone."),
    "failing": _("It was disabled because every attempt of five days failed."),
}
FAULTS = {
    "address_refused": _("The address is not public, or its port is not allowed."),
    "host_not_found": _("The name of the host was not found."),
    "unreachable": _("The receiver did not accept the connection, or broke it off."),
    "tls_failed": _("The certificate of the receiver is not valid for its name."),
    "timed_out": _("The receiver did not answer in time."),
    "redirected": _("The receiver answered with a redirect, which is not followed."),
    "refused": _("The receiver answered with an error."),
    "secret_unreadable": _("The stored secret cannot be read; rotate it."),
    "too_many_pending": _("100 deliveries were pending, so this one was not sent; replay it when your receiver works."),
    "job_deleted": _("The job was deleted before its event was sent."),
}
