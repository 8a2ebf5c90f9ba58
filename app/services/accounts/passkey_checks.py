"""Checks by the library of WebAuthn, and the options for a browser (docs/adr/0055)."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import webauthn
from webauthn.helpers import (
    base64url_to_bytes,
    decode_credential_public_key,
    decoded_public_key_to_cryptography,
    structs,
)
from webauthn.helpers.exceptions import WebAuthnException

from app.errors import InvalidInput, Message
from app.store.accounts.passkeys import StoredKey

NAME = "Fairlane"
TIMEOUT = 300_000  # ms in which a person finds the key
LONGEST = 20_000  # characters of an answer; an attestation, which is not asked for, would be the longest part
LONGEST_ID = 1023  # bytes of a credential's id, by WebAuthn; the index of the table takes 2,704
#: A passkey is the only thing asked for, so whoever found one must not be able to use it.
VERIFIED = structs.UserVerificationRequirement.REQUIRED
REFUSED = Message("The browser's answer about the passkey is not valid; try again.")
#: What the library lets through of the parsers below it, when an answer is not even of the right form.
BROKEN = (WebAuthnException, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, struct.error)


@dataclass(frozen=True, slots=True)
class Site:
    """The site that a passkey belongs to: the host name, and the origin of the pages that may use it."""

    rp_id: str
    origin: str


@dataclass(frozen=True, slots=True)
class NewKey:
    """A checked registration."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


def creation_options(site: Site, challenge: bytes, *, user_id: UUID, email: str, known: Iterable[bytes] = ()) -> str:
    """JSON for `navigator.credentials.create`.  known: credentials of the account, of which no second one is made."""
    options = webauthn.generate_registration_options(
        rp_id=site.rp_id,
        rp_name=NAME,
        user_id=user_id.bytes,
        user_name=email,
        user_display_name=email,
        challenge=challenge,
        timeout=TIMEOUT,
        authenticator_selection=structs.AuthenticatorSelectionCriteria(
            resident_key=structs.ResidentKeyRequirement.REQUIRED,
            user_verification=VERIFIED,
        ),
        exclude_credentials=[structs.PublicKeyCredentialDescriptor(id=one) for one in known],
    )
    return webauthn.options_to_json(options)


def request_options(site: Site, challenge: bytes, *, known: Iterable[bytes] = ()) -> str:
    """JSON for `navigator.credentials.get`.

    known: the credentials that may answer; without them, the authenticator knows which of its keys are for this site.
    """
    options = webauthn.generate_authentication_options(
        rp_id=site.rp_id,
        challenge=challenge,
        timeout=TIMEOUT,
        allow_credentials=[structs.PublicKeyCredentialDescriptor(id=one) for one in known],
        user_verification=VERIFIED,
    )
    return webauthn.options_to_json(options)


def checked_registration(answer: str, site: Site, challenge: bytes) -> NewKey:
    """Check that the person was verified, and that the key can be stored and used.  Raises: InvalidInput."""
    try:
        found = webauthn.verify_registration_response(
            credential=_short(answer),
            expected_challenge=challenge,
            expected_rp_id=site.rp_id,
            expected_origin=site.origin,
            require_user_verification=True,
        )
        if len(found.credential_id) > LONGEST_ID:
            raise ValueError("too long an id")
        # a point off the curve, or an RSA exponent of 1, would be found at the first sign-in only
        decoded_public_key_to_cryptography(decode_credential_public_key(found.credential_public_key))
    except BROKEN as error:
        raise InvalidInput(REFUSED) from error
    return NewKey(found.credential_id, found.credential_public_key, found.sign_count)


def credential_of(answer: str) -> tuple[bytes, bytes | None]:
    """Which credential an answer names, and for which user; not checked yet.  Raises: InvalidInput."""
    try:
        found = json.loads(_short(answer))
        handle = found["response"].get("userHandle")
        return base64url_to_bytes(found["id"]), base64url_to_bytes(handle) if handle else None
    except BROKEN as error:
        raise InvalidInput(REFUSED) from error


def checked_use(answer: str, key: StoredKey, site: Site, challenge: bytes) -> int:
    """The new sign count, which has grown if the authenticator counts.  Raises: InvalidInput."""
    try:
        found = webauthn.verify_authentication_response(
            credential=_short(answer),
            expected_challenge=challenge,
            expected_rp_id=site.rp_id,
            expected_origin=site.origin,
            credential_public_key=key.public_key,
            credential_current_sign_count=key.sign_count,
            require_user_verification=True,
        )
    except BROKEN as error:
        raise InvalidInput(REFUSED) from error
    return found.new_sign_count


def _short(answer: str) -> str:
    if len(answer) > LONGEST:
        raise ValueError("too long")
    return answer
