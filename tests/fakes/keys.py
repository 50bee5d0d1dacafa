"""A key store in memory, for tests. Not for data that must outlive the process."""

import os
from collections.abc import Callable, Collection, Mapping
from threading import Lock
from uuid import UUID

from cairn.ledger.keys import KEY_BYTES, SubjectForgotten


class InMemoryKeyStore:
    """Implements `cairn.ledger.keys.KeyStore`; safe among threads."""

    def __init__(self, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        self._random_bytes = random_bytes
        self._keys: dict[tuple[UUID, UUID], bytes | None] = {}  # None: destroyed
        self._lock = Lock()

    def get_or_create(
        self, workspace_id: UUID, subject_ids: Collection[UUID]
    ) -> Mapping[UUID, bytes]:
        """Return a key for every subject, making those that are missing."""
        with self._lock:
            for subject in subject_ids:
                if self._keys.get((workspace_id, subject), b"") is None:
                    raise SubjectForgotten(subject)
            return {
                subject: self._keys.setdefault(
                    (workspace_id, subject), self._random_bytes(KEY_BYTES)
                )
                or b""
                for subject in subject_ids
            }

    def get(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bytes]:
        """Return the keys that exist."""
        with self._lock:
            found = {subject: self._keys.get((workspace_id, subject)) for subject in subject_ids}
        return {subject: key for subject, key in found.items() if key is not None}

    def absent(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bool]:
        """Return those without a key, and of each whether it was destroyed."""
        with self._lock:
            found = {id_: self._keys.get((workspace_id, id_), b"") for id_ in subject_ids}
        return {subject: key is None for subject, key in found.items() if not key}

    def destroy(self, workspace_id: UUID, subject_id: UUID) -> bool:
        """Erase the key and bar the subject."""
        with self._lock:
            had = self._keys.get((workspace_id, subject_id)) is not None
            self._keys[workspace_id, subject_id] = None
        return had
