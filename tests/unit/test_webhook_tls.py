"""A webhook over TLS: real handshakes with certificates that the test makes."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.adapters import webhook_post
from app.adapters.webhook_post import post
from app.services.webhooks.webhooks import Where

HERE = Where(frozenset({443}), allow_loopback=True)
BODY = b'{"type":"webhook.test"}'
OK = b"HTTP/1.1 204 No Content\r\n\r\n"
NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "an authority of the test")])
Serve = Callable[[str], int]


def certify(folder: Path, name: str, *, ends: timedelta = timedelta(days=1)) -> tuple[Path, Path]:
    """A self-signed certificate for a name or an address, with its key.  Returns: their files, in PEM."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    try:
        subject: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        subject = x509.DNSName(name)
    made = (
        x509.CertificateBuilder()
        .subject_name(NAME)
        .issuer_name(NAME)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + ends)
        .add_extension(x509.SubjectAlternativeName([subject]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / f"{name}.pem", folder / f"{name}.key"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate, secret


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Let this process trust a certificate, as `SSL_CERT_FILE` does for a worker."""

    def trust(certificate: Path) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        webhook_post._trust.cache_clear()

    webhook_post._trust.cache_clear()
    yield trust
    webhook_post._trust.cache_clear()


def receive(certificate: Path, key: Path, got: list[bytes]) -> socket.socket:
    """A receiver on this machine that takes one request over TLS, or none if the handshake fails."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listening = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        with closing(listening.accept()[0]) as raw:
            try:
                with context.wrap_socket(raw, server_side=True) as connection:
                    request = b""
                    while not request.endswith(BODY):  # a close before the last byte would reset the connection
                        request += connection.recv(65536)
                    got.append(request)
                    connection.sendall(OK)
            except OSError:  # the sender broke the handshake off
                return

    threading.Thread(target=run, daemon=True).start()
    return listening


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_delivery_reaches_a_receiver_whose_certificate_is_trusted(
    host: str, tmp_path: Path, trusted: Callable[[Path], None]
) -> None:
    certificate, key = certify(tmp_path, host)
    trusted(certificate)
    got: list[bytes] = []
    with receive(certificate, key, got) as listening:
        port = listening.getsockname()[1]
        reply = post(f"https://{host}:{port}/hook?x=1", BODY, {"webhook-id": "msg_1"}, HERE)
    assert (reply.status, reply.fault) == (204, None)
    assert got[0].startswith(b"POST /hook?x=1 HTTP/1.1\r\n")
    assert f"Host: {host}:{port}\r\n".encode() in got[0]


@pytest.mark.parametrize(
    ("name", "ends", "is_trusted"),
    [
        pytest.param("127.0.0.1", timedelta(days=1), False, id="signed by somebody unknown"),
        pytest.param("another.example.org", timedelta(days=1), True, id="of another name"),
        pytest.param("127.0.0.1", timedelta(days=-1), True, id="expired"),
    ],
)
def test_nothing_is_sent_to_a_receiver_whose_certificate_is_not_valid(
    name: str, ends: timedelta, is_trusted: bool, tmp_path: Path, trusted: Callable[[Path], None]
) -> None:
    certificate, key = certify(tmp_path, name, ends=ends)
    if is_trusted:
        trusted(certificate)
    got: list[bytes] = []
    with receive(certificate, key, got) as listening:
        reply = post(f"https://127.0.0.1:{listening.getsockname()[1]}/hook", BODY, {}, HERE)
    assert (reply.status, reply.fault) == (None, "tls_failed")
    assert got == []
