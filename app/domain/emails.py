"""Which e-mail addresses an account may have: those that mean one mailbox, whoever reads them."""

from __future__ import annotations

import re

#: Characters; what a mail server takes (RFC 5321).
LONGEST = 254

# A dot-atom before the @, and the name of a host behind it.  Everything else that RFC 5322 knows, such as quoted
# parts, comments, lists and encoded words, is read differently by different programs.
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)"
_ADDRESS = re.compile(rf"(?=[^@]{{1,64}}@)(?!.*=\?){_ATOM}(\.{_ATOM})*@{_LABEL}(\.{_LABEL})*")


def is_address(given: str) -> bool:
    """Whether this is an address of a mailbox, and nothing else.  Source: RFC 5321, Dot-string and Domain."""
    return len(given) <= LONGEST and _ADDRESS.fullmatch(given) is not None
