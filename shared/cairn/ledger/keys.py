"""Keys of data subjects and the cipher of bodies. Not key storage: adapters live in `storage`.

Each data subject has one random 32-byte key. A body's AES-256-GCM key is derived from the keys of
all its subjects, so destroying any one of them makes the body unreadable for good while the chain,
which hashes ciphertext, still verifies. docs/decisions/0003-ledger-keys.md gives the reasons.
"""

import hmac
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from threading import Lock
from typing import Protocol
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from cairn.kernel.clock import Clock
from cairn.kernel.errors import Conflict, NotFound, Unavailable
from cairn.kernel.text.json_value import JsonValue

KEY_BYTES = 32
_NONCE_BYTES = 12
_FORMAT = b"\x01"
_PURPOSE = b"cairn ledger body 1"
_MARKS = b"cairn subject mark 1"


class BodyUnreadable(NotFound):
    """A body cannot be opened; `reason` is `key-destroyed` or `not-authentic` (altered bytes)."""

    code = "body-unreadable"


class SubjectForgotten(Conflict):
    """A key was asked for a data subject whose key was destroyed; it is never made anew."""

    code = "subject-forgotten"

    def __init__(self, subject_id: UUID) -> None:
        super().__init__("This data subject was forgotten.", subject_id=str(subject_id))


class KeyMissing(Unavailable):
    """A key that was made and never destroyed is not in the store; it is not made anew.

    A second one would leave what was sealed under the first unreadable when that comes back.
    """

    def __init__(self, subject_ids: Collection[UUID]) -> None:
        super().__init__(
            "A key that was never destroyed is missing; restore the key store.",
            reason="key-missing",
            subject_ids=sorted(map(str, subject_ids)),
        )


class KeyStore(Protocol):
    """Holds one 32-byte key per (workspace, data subject), outside the database.

    Every method is atomic across processes. Raises Unavailable when the store cannot be reached.
    """

    def get_or_create(
        self, workspace_id: UUID, subject_ids: Collection[UUID]
    ) -> Mapping[UUID, bytes]:
        """Return a key for every subject, making those that are missing.

        Two callers at once get the same key. Raises SubjectForgotten when one was destroyed.
        """
        ...

    def get(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bytes]:
        """Return the keys that exist; a missing subject was destroyed or never had one."""
        ...

    def absent(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bool]:
        """Return those that have no key, and of each whether it was destroyed; none is opened."""
        ...

    def destroy(self, workspace_id: UUID, subject_id: UUID) -> bool:
        """Erase the key for good and bar the subject; True when there was a key."""
        ...


def key_subjects(workspace_id: UUID, data_subjects: Iterable[UUID]) -> tuple[UUID, ...]:
    """Return whose keys seal a body: its data subjects, or the workspace itself if it has none.

    The workspace's own key has the workspace id as its subject id.
    """
    return tuple(sorted(set(data_subjects))) or (workspace_id,)


def subject_mark(workspace_key: bytes, kind: str, natural_key: str) -> bytes:
    """Return what a name is recognised by without being kept: HMAC-SHA256 under a derived key.

    Without the workspace's key, which is not in the database, nobody can try names against it.
    """
    key = HKDF(SHA256(), KEY_BYTES, salt=None, info=_MARKS).derive(workspace_key)
    return hmac.digest(key, f"{kind}\x1f{natural_key}".encode(), "sha256")


def forgotten_name(workspace_key: bytes, place: str, name: str) -> str:
    """Return what stands for a name that was forgotten, so that the same one is still known again.

    `place` is where it is unique, such as a help desk. As `subject_mark`: nobody can try names.
    """
    return f"forgotten:{subject_mark(workspace_key, place, name).hex()}"


class BodyCipher:
    """Seals and opens bodies.

    Ciphertext = 0x01 || 12-byte nonce || AES-256-GCM(key, UTF-8 JSON, AAD = workspace id bytes ||
    entry id bytes), where key = HKDF-SHA256(subject id bytes || subject key, for all subjects
    sorted by id; no salt; info = "cairn ledger body 1" || AAD). RFC 5869, NIST SP 800-38D.
    """

    def __init__(self, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        self._random_bytes = random_bytes

    def seal(
        self,
        entry_id: UUID,
        workspace_id: UUID,
        keys: Mapping[UUID, bytes],
        body: Mapping[str, JsonValue],
    ) -> bytes:
        """Encrypt `body` under the keys of all its subjects (`key_subjects`; at least one)."""
        plain = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        bound = workspace_id.bytes + entry_id.bytes
        nonce = self._random_bytes(_NONCE_BYTES)
        sealed = AESGCM(_body_key(keys, bound)).encrypt(nonce, plain.encode(), bound)
        return _FORMAT + nonce + sealed

    def open(
        self,
        entry_id: UUID,
        workspace_id: UUID,
        subject_ids: Collection[UUID],
        keys: Mapping[UUID, bytes],
        sealed: bytes,
    ) -> dict[str, JsonValue]:
        """Decrypt a body; `subject_ids` are those it was sealed for, `keys` what the store gave.

        Raises BodyUnreadable: `key-destroyed` when a subject has no key, `not-authentic` when the
        bytes, the ids or a key are not those of sealing.
        """
        missing = [str(subject) for subject in subject_ids if subject not in keys]
        if missing:
            raise BodyUnreadable(
                "A key of this body was destroyed.", reason="key-destroyed", subject_ids=missing
            )
        bound = workspace_id.bytes + entry_id.bytes
        key = _body_key({subject: keys[subject] for subject in subject_ids}, bound)
        nonce, ciphertext = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        try:
            if sealed[:1] != _FORMAT or len(ciphertext) < 16:
                raise InvalidTag
            plain = AESGCM(key).decrypt(nonce, ciphertext, bound)
        except InvalidTag as exc:
            raise BodyUnreadable(
                "This body is not what was sealed.", reason="not-authentic", entry_id=str(entry_id)
            ) from exc
        return json.loads(plain)


def _body_key(keys: Mapping[UUID, bytes], bound: bytes) -> bytes:
    if not keys or any(len(key) != KEY_BYTES for key in keys.values()):
        raise ValueError("a body needs at least one key, each of 32 bytes")
    material = b"".join(subject.bytes + keys[subject] for subject in sorted(keys))
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=_PURPOSE + bound).derive(material)


class KeyCache:
    """A KeyStore that remembers another one's plaintext keys for at most `seconds`.

    Only existing keys are remembered, never absence. Destroying through this cache takes effect at
    once here; other processes may read on for `seconds`.
    """

    def __init__(
        self, store: KeyStore, clock: Clock, *, seconds: float = 60.0, max_keys: int = 10_000
    ) -> None:
        self._store = store
        self._clock = clock
        self._lifetime = timedelta(seconds=seconds)
        self._max_keys = max_keys
        self._lock = Lock()
        self._keys: dict[tuple[UUID, UUID], tuple[datetime, bytes]] = {}  # oldest first
        self._destructions = 0

    def get_or_create(
        self, workspace_id: UUID, subject_ids: Collection[UUID]
    ) -> Mapping[UUID, bytes]:
        """Return a key for every subject, as the store does."""
        return self._through(self._store.get_or_create, workspace_id, subject_ids)

    def get(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bytes]:
        """Return the keys that exist, as the store does."""
        return self._through(self._store.get, workspace_id, subject_ids)

    def absent(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bool]:
        """Return those without a key, as the store says now: what is remembered may be gone."""
        return self._store.absent(workspace_id, subject_ids)

    def destroy(self, workspace_id: UUID, subject_id: UUID) -> bool:
        """Forget the key here and destroy it in the store."""
        destroyed = self._store.destroy(workspace_id, subject_id)
        with self._lock:
            self._destructions += 1
            self._keys.pop((workspace_id, subject_id), None)
        return destroyed

    def _through(
        self,
        fetch: Callable[[UUID, Collection[UUID]], Mapping[UUID, bytes]],
        workspace_id: UUID,
        subject_ids: Collection[UUID],
    ) -> Mapping[UUID, bytes]:
        unique = set(subject_ids)
        with self._lock:
            self._drop_old()
            seen = self._destructions
            results = {
                subject: self._keys[workspace_id, subject][1]
                for subject in unique
                if (workspace_id, subject) in self._keys
            }
        missing = sorted(unique - results.keys())
        fetched: Mapping[UUID, bytes] = fetch(workspace_id, missing) if missing else {}
        with self._lock:
            if seen == self._destructions:  # a key destroyed meanwhile must not come back
                self._remember(workspace_id, fetched)
        return {**results, **fetched}

    def _remember(self, workspace_id: UUID, fetched: Mapping[UUID, bytes]) -> None:
        expires = self._clock() + self._lifetime
        for subject, key in fetched.items():
            self._keys.pop((workspace_id, subject), None)
            self._keys[workspace_id, subject] = (expires, key)
        while len(self._keys) > self._max_keys:
            self._keys.pop(next(iter(self._keys)))

    def _drop_old(self) -> None:
        now = self._clock()
        while self._keys:
            oldest = next(iter(self._keys))
            if self._keys[oldest][0] > now:
                return
            del self._keys[oldest]
