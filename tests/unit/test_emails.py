"""An address that an account may have is one mailbox, in the header and in the envelope."""

from __future__ import annotations

from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import getaddresses

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.domain.emails import is_address

ODD = [
    "x<ceo@corp.test>", "root,x@evil.test", "(c)a@b", "=?utf-8?q?a?=@b.test", "`}@[\\+=", ".<*<,`@`)>`-", "a@b@c", "@b", "a@",
    "a..b@c", ".a@b", "a.@b", "a@-b", "a@b-", "a@.b", "a@b.", "a@b..c", 'a"b@c', '"a b"@c', "a;b@c", "a:b@c", "a b@c", "a@b c",
    "a@[127.0.0.1]", "ä@b", "a@ä", "a@b\n", "a@b\r\nBcc: c@d", "a\0@b", "a@b\u200b", f"{'x' * 65}@b", f"a@{'x' * 64}", "%@%", "",
]  # fmt: skip
USUAL = [
    "ann@example.org", "ANN.b+c_d-e@mail.example.co.uk", "o'hara@example.org", "ann@localhost", "a@b", "_nn@example.org", "`}@b",
    "{a}|~!#$%&*/?=^@example.org", f"{'x' * 64}@b", "1@2.3",
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_what_programs_read_differently_is_refused(odd: str) -> None:
    assert not is_address(odd)


@pytest.mark.parametrize("usual", USUAL)
def test_a_dot_atom_at_a_host_is_accepted(usual: str) -> None:
    assert is_address(usual)


@pytest.mark.proof
@given(
    st.text(st.sampled_from("ab.@<>,;:()[]\"\\`{}=?'+- \t\r\n\0é_")) | st.emails() | st.text(),
)
@example("=?utf-8?q?a?=@b")
def test_an_accepted_address_means_itself_to_every_parser(text: str) -> None:
    if not is_address(text):
        return
    message = EmailMessage()
    message["To"] = Address(addr_spec=text)
    assert [(one.addr_spec, one.display_name) for one in message["To"].addresses] == [(text, "")]
    assert getaddresses([str(message["To"])]) == [("", text)]
    head = message.as_bytes().partition(b"\n\n")[0]
    assert b" ".join(head.replace(b"\n", b"").split()) == f"To: {text}".encode()
