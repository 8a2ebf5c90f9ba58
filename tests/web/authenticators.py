"""An authenticator in software: it makes keys and signs as CTAP2 devices do, with what a test wants to get wrong."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

ORIGIN = "http://localhost"
PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


@dataclass
class Authenticator:
    """One key.  step: how much its counter grows at each use; cose: what it says its public key is, if not its own."""

    origin: str = ORIGIN
    rp_id: str = "localhost"
    step: int = 1
    flags: int = PRESENT | VERIFIED
    counter: int = 0
    handle: bytes = b""
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    id: bytes = field(default_factory=lambda: uuid4().bytes)
    cose: dict[int, Any] | None = None

    def create(self, options: dict[str, Any]) -> str:
        """Its answer to `navigator.credentials.create`, with the attestation format `none`."""
        self.handle = base64url_to_bytes(options["user"]["id"])
        numbers = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
        attested = bytes(16) + len(self.id).to_bytes(2) + self.id + cbor2.dumps(self.cose or cose)
        data = self._data(self.flags | ATTESTED) + attested
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._answer({
            "clientDataJSON": self._client("webauthn.create", options), "attestationObject": attestation,
        })  # fmt: skip

    def get(self, options: dict[str, Any]) -> str:
        """Its answer to `navigator.credentials.get`."""
        self.counter += self.step
        data, client = self._data(self.flags), self._client("webauthn.get", options)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        return self._answer({
            "clientDataJSON": client, "authenticatorData": data, "signature": signature, "userHandle": self.handle,
        })  # fmt: skip

    def _data(self, flags: int) -> bytes:
        return hashlib.sha256(self.rp_id.encode()).digest() + bytes([flags]) + self.counter.to_bytes(4)

    def _client(self, kind: str, options: dict[str, Any]) -> bytes:
        said = {"type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": False}
        return json.dumps(said).encode()

    def _answer(self, parts: dict[str, bytes]) -> str:
        response = {name: bytes_to_base64url(part) for name, part in parts.items()}
        own = bytes_to_base64url(self.id)
        return json.dumps({"id": own, "rawId": own, "type": "public-key", "response": response})
