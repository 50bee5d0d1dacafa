"""What a turn commits to, who signed it, and whether all of it holds. Pure; needs no server.

A header is canonical JSON without any text: of what was said it has SHA-256 over a salt of 32 bytes
and the text, so that a turn whose text was forgotten still verifies, and one whose text was
rewritten does not. The signature (Ed25519) covers the header, and the next header has its hash.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from cairn.discovery.negotiation.rules import START
from cairn.kernel.text.canonical import canonical_bytes, parse_canonical

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.discovery.negotiation.rows import Voice

FORMAT = "cairn-negotiation-turn-1"
EXPORT = "cairn-negotiation-1"
SALT_BYTES = 32
_PURPOSE = b"cairn negotiation advocate 1"


def commitment(salt: bytes, text: str) -> str:
    """Return what stands in a header for a text: anyone with the salt can check it."""
    return sha256(salt + text.encode()).hexdigest()


def key_id(public_key: bytes) -> str:
    """Return the name of a public key: SHA-256 over its 32 bytes."""
    return sha256(public_key).hexdigest()


def header(
    negotiation_id: UUID,
    *,
    seq: int,
    speaker: str,
    previous: bytes,
    voice: Voice,
    public_key: bytes,
    move: str,
    commitment: str,
    roles: tuple[str, str] | None,
    fit: int | None,
    inputs: Sequence[str] = (),
) -> bytes:
    """Return what is signed of a turn. `inputs` are commitments to what only its side may read."""
    return canonical_bytes(
        {
            "format": FORMAT,
            "negotiation_id": str(negotiation_id),
            "seq": seq,
            "speaker": speaker,
            "previous": previous.hex(),
            "voice": voice,
            "key_id": key_id(public_key),
            "move": move,
            "commitment": commitment,
            "roles": list(roles) if roles else None,
            "fit": fit,
            "inputs": list(inputs),
        }
    )


def header_hash(content: bytes) -> bytes:
    """Return what the next turn carries of this one."""
    return sha256(content).digest()


def advocate_key(workspace_key: bytes) -> Ed25519PrivateKey:
    """Return the key of a workspace's advocate, which is never in the database.

    It follows from the workspace's own key, which is held as all keys are (docs/decisions/0003).
    """
    seed = HKDF(SHA256(), 32, salt=None, info=_PURPOSE).derive(workspace_key)
    return Ed25519PrivateKey.from_private_bytes(seed)


def public_bytes(private: Ed25519PrivateKey) -> bytes:
    """Return the 32 bytes of the public key of a private one."""
    return private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def signed(public_key: bytes, content: bytes, signature: bytes) -> bool:
    """Return whether the key signed exactly these bytes."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A turn that does not hold, and why."""

    seq: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What an export says of itself. `keys` are who signed: trust those that you know.

    `forgotten` counts turns whose words are gone and whose signatures hold.
    """

    turns: int
    forgotten: int
    faults: tuple[Fault, ...]
    keys: Mapping[str, Sequence[str]]  # by side and voice
    head: str

    @property
    def holds(self) -> bool:
        """Return whether no word of either side was changed."""
        return not self.faults


def verify(export: Mapping[str, Any], trusted: Collection[str] = ()) -> Verified:
    """Check an export: signatures, the chain of hashes, whose turn it was, and the texts it has.

    With `trusted` every turn must be signed by a key of one of these names.
    """
    faults: list[Fault] = []
    keys: dict[str, list[str]] = {}
    previous, forgotten = START, 0
    turns: Sequence[Mapping[str, Any]] = export["turns"]
    for seq, turn in enumerate(turns, 1):
        try:
            reason, fields = _checked(export, seq, turn, previous)
        except (ValueError, KeyError, TypeError, AttributeError):
            reason, fields = "malformed", dict[str, Any]()
        if reason is None and trusted and fields["key_id"] not in trusted:
            reason = "unknown-key"
        if reason is not None:
            faults.append(Fault(seq=seq, reason=reason))
        else:
            keys.setdefault(f"{fields['speaker']} {fields['voice']}", []).append(fields["key_id"])
        forgotten += turn.get("message") is None
        previous = sha256(str(turn.get("header")).encode()).digest()
    if export.get("head") != previous.hex():
        faults.append(Fault(seq=len(turns), reason="cut-off"))
    return Verified(
        turns=len(turns),
        forgotten=forgotten,
        faults=tuple(faults),
        keys={who: sorted(set(ids)) for who, ids in keys.items()},
        head=previous.hex(),
    )


def _checked(
    export: Mapping[str, Any], seq: int, turn: Mapping[str, Any], previous: bytes
) -> tuple[str | None, Mapping[str, Any]]:
    content = turn["header"].encode()
    fields: Any = parse_canonical(content)
    public_key = bytes.fromhex(turn["public_key"])
    message, salt = turn.get("message"), turn.get("salt")
    speaker = "source" if seq % 2 else "candidate"
    checks = {
        "wrong-key": fields["key_id"] == key_id(public_key),
        "signature": signed(public_key, content, bytes.fromhex(turn["signature"])),
        "foreign-turn": (fields["format"], fields["negotiation_id"])
        == (FORMAT, export["negotiation_id"]),
        "gap": (fields["seq"], fields["speaker"]) == (seq, speaker),
        "turn-before": fields["previous"] == previous.hex(),
        "text": message is None
        or fields["commitment"] == commitment(bytes.fromhex(salt or ""), message),
    }
    return next((name for name, good in checks.items() if not good), None), fields
