"""What browsers prove with passkeys, checked by py_webauthn. Not what follows of it.

The user is always verified (PIN, finger, face), the origin and the relying party are this
deployment's own, and a count that does not rise is refused (a copied authenticator).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import webauthn
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from webauthn.helpers import parse_authentication_credential_json
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_PROOF_CHARS = 32_768
TIMEOUT_MS = 240_000
_VERIFIED = UserVerificationRequirement.REQUIRED
_WRONG = (
    WebAuthnException,
    InvalidSignature,
    UnsupportedAlgorithm,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
)
"""What the library raises for a proof that does not hold, or is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where passkeys are good: the origin of the pages, and the name that they are bound to."""

    origin: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Which passkey a browser says it used, and whose: not proven yet."""

    credential_id: bytes
    user_id: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A passkey that a browser has proven to have made."""

    credential_id: bytes
    public_key: bytes = field(repr=False)
    sign_count: int


def place_of(origin: str) -> Place | None:
    """Return where passkeys are good for pages of an origin; None for one without a name."""
    name = urlsplit(origin).hostname or ""
    try:
        ip_address(name)
    except ValueError:
        return Place(origin=origin, name=name) if name else None
    return None  # browsers bind passkeys to names


def options_to_add(
    place: Place,
    challenge: bytes,
    *,
    user_id: bytes,
    login: str,
    name: str,
    others: Sequence[bytes],
) -> str:
    """Return, as JSON, what a browser makes a passkey of; it is one that needs no name typed."""
    options = webauthn.generate_registration_options(
        rp_id=place.name,
        rp_name="Cairn",
        user_id=user_id,
        user_name=login,
        user_display_name=name,
        challenge=challenge,
        timeout=TIMEOUT_MS,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=_VERIFIED
        ),
        exclude_credentials=[PublicKeyCredentialDescriptor(id=each) for each in others],
    )
    return webauthn.options_to_json(options)


def options_to_sign_in(place: Place, challenge: bytes) -> str:
    """Return, as JSON, what a browser signs: with any passkey that it has of this place."""
    options = webauthn.generate_authentication_options(
        rp_id=place.name, challenge=challenge, timeout=TIMEOUT_MS, user_verification=_VERIFIED
    )
    return webauthn.options_to_json(options)


def check_added(proof: str, place: Place, challenge: bytes) -> Added | None:
    """Return the passkey that a browser made, None where that is not proven."""
    if len(proof) > MAX_PROOF_CHARS:
        return None
    try:
        verified = webauthn.verify_registration_response(
            credential=proof,
            expected_challenge=challenge,
            expected_rp_id=place.name,
            expected_origin=place.origin,
            require_user_verification=True,
        )
    except _WRONG:
        return None
    return Added(
        credential_id=verified.credential_id,
        public_key=verified.credential_public_key,
        sign_count=verified.sign_count,
    )


def claimed(proof: str) -> Claim | None:
    """Return which passkey was used and whose it is said to be; None for what is no proof."""
    if len(proof) > MAX_PROOF_CHARS:
        return None
    try:
        parsed = parse_authentication_credential_json(proof)
    except _WRONG:
        return None
    return Claim(credential_id=parsed.raw_id, user_id=parsed.response.user_handle)


def check_signed(
    proof: str, place: Place, challenge: bytes, *, public_key: bytes, sign_count: int
) -> int | None:
    """Return the passkey's new count, None where the proof does not hold."""
    try:
        verified = webauthn.verify_authentication_response(
            credential=proof,
            expected_challenge=challenge,
            expected_rp_id=place.name,
            expected_origin=place.origin,
            credential_public_key=public_key,
            credential_current_sign_count=sign_count,
            require_user_verification=True,
        )
    except _WRONG:
        return None
    return verified.new_sign_count
