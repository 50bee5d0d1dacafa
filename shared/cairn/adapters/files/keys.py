"""The laptop's key store: one SQLite file, and a master key in a file beside it. Not for AWS.

Any number of processes may use it at once; every change is one synchronous transaction, so a
process killed at any moment leaves either the old state or the new one. Stored keys are wrapped
(AES-256-GCM) by the master key. Erasing overwrites the bytes in the file (`secure_delete`); what
the file system or a backup keeps besides is out of reach here.
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from cairn.kernel.errors import Unavailable
from cairn.ledger.keys import KEY_BYTES, SubjectForgotten

_LOCK_SECONDS = 5.0
_NONCE_BYTES = 12
_SCHEMA = """
CREATE TABLE IF NOT EXISTS subject_key (
  workspace_id BLOB NOT NULL,
  subject_id BLOB NOT NULL,
  wrapped BLOB, -- NULL: destroyed, never to be made again
  PRIMARY KEY (workspace_id, subject_id)
) WITHOUT ROWID
"""
_SELECT = "SELECT wrapped FROM subject_key WHERE workspace_id = ? AND subject_id = ?"
_INSERT = "INSERT INTO subject_key (workspace_id, subject_id, wrapped) VALUES (?, ?, ?)"
_DESTROY = """
INSERT INTO subject_key (workspace_id, subject_id, wrapped) VALUES (?, ?, NULL)
ON CONFLICT (workspace_id, subject_id) DO UPDATE SET wrapped = NULL
"""


class FileKeyStore:
    """Implements `KeyStore` on `path`; the master key is in `path` + `.master`.

    Both files are made on first use, readable by their owner only. Raises Unavailable when a file
    cannot be read or written, when another process holds the lock for more than 5 s
    (`key-store`), and when the master key is lost or not the one of this file
    (`key-store-damaged`).
    """

    def __init__(self, path: Path, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        self._path = path
        self._random_bytes = random_bytes
        self._master: AESGCM | None = None

    def get_or_create(
        self, workspace_id: UUID, subject_ids: Collection[UUID]
    ) -> Mapping[UUID, bytes]:
        """Return a key for every subject, making those that are missing in one transaction."""
        subjects = set(subject_ids)
        keys = self.get(workspace_id, subjects)
        if len(keys) == len(subjects):
            return keys
        with self._writing() as connection:
            return {
                subject: self._one_or_new(connection, workspace_id, subject)
                for subject in sorted(subjects)
            }

    def get(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bytes]:
        """Return the keys that exist."""
        with self._connected() as connection:
            wrapped_keys = {
                subject: self._wrapped(connection, workspace_id, subject)
                for subject in set(subject_ids)
            }
        return {
            subject: self._unwrap(wrapped, workspace_id, subject)
            for subject, wrapped in wrapped_keys.items()
            if wrapped
        }

    def absent(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bool]:
        """Return those without a key, and of each whether it was destroyed."""
        with self._connected() as connection:
            wrapped_keys = {
                subject: self._wrapped(connection, workspace_id, subject)
                for subject in set(subject_ids)
            }
        return {
            subject: wrapped is None for subject, wrapped in wrapped_keys.items() if not wrapped
        }

    def destroy(self, workspace_id: UUID, subject_id: UUID) -> bool:
        """Erase the key and bar the subject."""
        with self._writing() as connection:
            had = bool(self._wrapped(connection, workspace_id, subject_id))
            connection.execute(_DESTROY, (workspace_id.bytes, subject_id.bytes))
        return had

    def _one_or_new(
        self, connection: sqlite3.Connection, workspace_id: UUID, subject: UUID
    ) -> bytes:
        wrapped = self._wrapped(connection, workspace_id, subject)
        if wrapped is None:
            raise SubjectForgotten(subject)
        if wrapped:
            return self._unwrap(wrapped, workspace_id, subject)
        key, nonce = self._random_bytes(KEY_BYTES), self._random_bytes(_NONCE_BYTES)
        sealed = self._master_key().encrypt(nonce, key, workspace_id.bytes + subject.bytes)
        connection.execute(_INSERT, (workspace_id.bytes, subject.bytes, nonce + sealed))
        return key

    def _wrapped(
        self, connection: sqlite3.Connection, workspace_id: UUID, subject: UUID
    ) -> bytes | None:
        """Return the wrapped key, None when it was destroyed, b"" when there never was one."""
        row = connection.execute(_SELECT, (workspace_id.bytes, subject.bytes)).fetchone()
        return row[0] if row else b""

    def _unwrap(self, wrapped: bytes, workspace_id: UUID, subject: UUID) -> bytes:
        bound = workspace_id.bytes + subject.bytes
        try:
            return self._master_key().decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], bound)
        except InvalidTag as exc:
            raise _damaged("A stored key does not belong to the master key.") from exc

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def _connected(self) -> Generator[sqlite3.Connection]:
        try:
            _create_private(self._path)
            opened = sqlite3.connect(self._path, timeout=_LOCK_SECONDS, isolation_level=None)
            with closing(opened) as connection:
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("PRAGMA secure_delete = ON")
                _create_schema(connection)
                yield connection
        except (sqlite3.Error, OSError) as exc:
            raise Unavailable(f"The key file cannot be used: {exc}", reason="key-store") from exc

    def _master_key(self) -> AESGCM:
        if self._master is None:
            self._master = AESGCM(self._read_or_make_master())
        return self._master

    def _read_or_make_master(self) -> bytes:
        path = self._path.with_name(self._path.name + ".master")
        if not path.exists():
            if self._holds_keys():
                raise _damaged("The master key file is missing; the keys cannot be read without.")
            _write_once(path, self._random_bytes(KEY_BYTES))
        master = path.read_bytes()
        if len(master) != KEY_BYTES:
            raise _damaged("The master key file is not 32 bytes long.")
        return master

    def _holds_keys(self) -> bool:
        with self._connected() as connection:
            query = "SELECT 1 FROM subject_key WHERE wrapped IS NOT NULL LIMIT 1"
            return connection.execute(query).fetchone() is not None


def _damaged(detail: str) -> Unavailable:
    return Unavailable(detail, reason="key-store-damaged")


def _create_schema(connection: sqlite3.Connection) -> None:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'subject_key'").fetchone():
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_SCHEMA)
        connection.execute("COMMIT")


def _create_private(path: Path) -> None:
    """Make an empty file of mode 600 unless there is one; SQLite's journals inherit the mode."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _write_once(path: Path, content: bytes) -> None:
    """Put `content` durably at `path` unless another process was first; never half a file."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        draft.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
