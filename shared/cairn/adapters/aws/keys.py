"""The key store on AWS: a DynamoDB table without backups, under KMS. Not for laptops.

One item a subject: `workspace_id` and `subject_id` (the table's key, both strings), `wrapped_key`
or, once destroyed, `forgotten`. A subject's key is sealed by its workspace's key, and that one,
an item of its own, is wrapped by KMS: one request to KMS opens the keys of all subjects. Each is
bound to its workspace and subject, so an item copied elsewhere does not open.

Subjects' items are read every time, so a key destroyed anywhere is gone everywhere. A workspace's
wrapped key is kept for an hour, opened for a minute.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from cairn.kernel.errors import Unavailable
from cairn.ledger.keys import KEY_BYTES, SubjectForgotten

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping
    from uuid import UUID

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_kms import KMSClient

    from cairn.kernel.clock import Stopwatch

_BATCH = 100  # what BatchGetItem takes
_ATTEMPTS = 5
_WORKSPACE_KEY = "workspace-key"  # in the place of a subject's id
_SEALED = b"cairn\x01"  # before what a workspace's key sealed; older items are wrapped by KMS alone
_NONCE_BYTES = 12
WRAPPED_SECONDS = 3600.0
OPEN_SECONDS = 60.0


class DynamoKeyStore:
    """Implements `KeyStore`; the clients come from the composition root.

    Reads are strongly consistent. Raises Unavailable (`key-store`) when AWS refuses or is silent.
    Safe between threads.
    """

    def __init__(
        self,
        dynamodb: DynamoDBClient,
        kms: KMSClient,
        *,
        table: str,
        kms_key_arn: str,
        stopwatch: Stopwatch,
    ) -> None:
        self._dynamodb = dynamodb
        self._kms = kms
        self._table = table
        self._kms_key_arn = kms_key_arn
        self._stopwatch = stopwatch
        self._lock = Lock()
        self._wrapped: dict[UUID, tuple[float, bytes]] = {}
        self._opened: dict[UUID, tuple[float, bytes]] = {}

    def get_or_create(
        self, workspace_id: UUID, subject_ids: Collection[UUID]
    ) -> Mapping[UUID, bytes]:
        """Return a key for every subject, making those that are missing one by one."""
        with _translated():
            wrapped = self._read(workspace_id, subject_ids)
            for subject in subject_ids:
                if wrapped.get(subject, b"") is None:
                    raise SubjectForgotten(subject)
            return {
                subject: self._unwrap(workspace_id, subject, stored_key)
                if (stored_key := wrapped.get(subject))
                else self._create(workspace_id, subject)
                for subject in set(subject_ids)
            }

    def get(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bytes]:
        """Return the keys that exist."""
        with _translated():
            return {
                subject: self._unwrap(workspace_id, subject, wrapped)
                for subject, wrapped in self._read(workspace_id, subject_ids).items()
                if wrapped
            }

    def absent(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bool]:
        """Return those without a key, and of each whether it was destroyed."""
        with _translated():
            stored_keys = self._read(workspace_id, subject_ids)
        return {id_: id_ in stored_keys for id_ in subject_ids if not stored_keys.get(id_)}

    def destroy(self, workspace_id: UUID, subject_id: UUID) -> bool:
        """Erase the sealed key and bar the subject."""
        with self._lock:
            self._wrapped.pop(workspace_id, None)
            self._opened.pop(workspace_id, None)
        with _translated():
            answer = self._dynamodb.update_item(
                TableName=self._table,
                Key=_item_key(workspace_id, str(subject_id)),
                UpdateExpression="SET forgotten = :yes REMOVE wrapped_key",
                ExpressionAttributeValues={":yes": {"BOOL": True}},
                ReturnValues="ALL_OLD",
            )
        return "wrapped_key" in answer.get("Attributes", {})

    def _create(self, workspace_id: UUID, subject: UUID) -> bytes:
        key, nonce = os.urandom(KEY_BYTES), os.urandom(_NONCE_BYTES)
        sealing = AESGCM(self._workspace_key(workspace_id))
        sealed = sealing.encrypt(nonce, key, _bound(workspace_id, subject))
        if self._put(workspace_id, str(subject), _SEALED + nonce + sealed):
            return key
        return self._made_by_another(workspace_id, subject)

    def _put(self, workspace_id: UUID, name: str, wrapped: bytes) -> bool:
        """Keep a wrapped key; False when there is an item already."""
        try:
            self._dynamodb.put_item(
                TableName=self._table,
                Item={**_item_key(workspace_id, name), "wrapped_key": {"B": wrapped}},
                ConditionExpression="attribute_not_exists(subject_id)",
            )
        except ClientError as exc:
            if exc.response.get("Error", {}).get("Code") != "ConditionalCheckFailedException":
                raise
            return False
        return True

    def _made_by_another(self, workspace_id: UUID, subject: UUID) -> bytes:
        wrapped = self._read(workspace_id, [subject]).get(subject)
        if not wrapped:
            raise SubjectForgotten(subject)
        return self._unwrap(workspace_id, subject, wrapped)

    def _unwrap(self, workspace_id: UUID, subject: UUID, wrapped: bytes) -> bytes:
        if not wrapped.startswith(_SEALED):
            return self._decrypt(workspace_id, str(subject), wrapped)
        begin = len(_SEALED) + _NONCE_BYTES
        nonce, sealed = wrapped[len(_SEALED) : begin], wrapped[begin:]
        opening = AESGCM(self._workspace_key(workspace_id))
        return opening.decrypt(nonce, sealed, _bound(workspace_id, subject))

    def _workspace_key(self, workspace_id: UUID) -> bytes:
        """Return the key that seals the keys of a workspace's subjects, made with the first."""
        now = self._stopwatch()
        with self._lock:
            _drop_old(self._opened, now - OPEN_SECONDS)
            _drop_old(self._wrapped, now - WRAPPED_SECONDS)
            opened, cached = self._opened.get(workspace_id), self._wrapped.get(workspace_id)
        if opened:
            return opened[1]
        wrapped = cached[1] if cached else self._wrapped_workspace_key(workspace_id)
        key = self._decrypt(workspace_id, _WORKSPACE_KEY, wrapped)
        with self._lock:
            self._wrapped.setdefault(workspace_id, (now, wrapped))
            self._opened[workspace_id] = (now, key)
        return key

    def _wrapped_workspace_key(self, workspace_id: UUID) -> bytes:
        names = {"workspace_id": {"S": str(workspace_id)}, "subject_id": {"S": _WORKSPACE_KEY}}
        for item in self._read_batch([names]):
            return item["wrapped_key"]["B"]
        created = self._kms.generate_data_key(
            KeyId=self._kms_key_arn,
            KeySpec="AES_256",
            EncryptionContext=_context(workspace_id, _WORKSPACE_KEY),
        )["CiphertextBlob"]
        if self._put(workspace_id, _WORKSPACE_KEY, created):
            return created
        return self._read_batch([names])[0]["wrapped_key"]["B"]  # another process was first

    def _decrypt(self, workspace_id: UUID, name: str, wrapped: bytes) -> bytes:
        answer = self._kms.decrypt(
            KeyId=self._kms_key_arn,
            CiphertextBlob=wrapped,
            EncryptionContext=_context(workspace_id, name),
        )
        return answer["Plaintext"]

    def _read(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> dict[UUID, bytes | None]:
        """Return wrapped keys by subject, None for a destroyed one; subjects never seen are out."""
        subjects = {str(subject): subject for subject in subject_ids}
        names = sorted(subjects)
        wrapped_keys: dict[UUID, bytes | None] = {}
        for start in range(0, len(names), _BATCH):
            keys = [
                {"workspace_id": {"S": str(workspace_id)}, "subject_id": {"S": name}}
                for name in names[start : start + _BATCH]
            ]
            for item in self._read_batch(keys):
                wrapped = item.get("wrapped_key", {}).get("B")
                wrapped_keys[subjects[item["subject_id"]["S"]]] = wrapped
        return wrapped_keys

    def _read_batch(self, keys: list[Any]) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        for _ in range(_ATTEMPTS):
            answer = self._dynamodb.batch_get_item(
                RequestItems={self._table: {"Keys": keys, "ConsistentRead": True}}
            )
            items += answer["Responses"].get(self._table, [])
            unprocessed = answer.get("UnprocessedKeys", {})
            if self._table not in unprocessed:
                return items
            keys = list(unprocessed[self._table]["Keys"])
        raise Unavailable("The key table is throttled.", reason="key-store")


def _drop_old(keys: dict[UUID, tuple[float, bytes]], before: float) -> None:
    for workspace_id in [workspace for workspace, (since, _) in keys.items() if since <= before]:
        del keys[workspace_id]


def _item_key(workspace_id: UUID, name: str) -> dict[str, Any]:
    return {"workspace_id": {"S": str(workspace_id)}, "subject_id": {"S": name}}


def _context(workspace_id: UUID, name: str) -> dict[str, str]:
    return {"workspace_id": str(workspace_id), "subject_id": name}


def _bound(workspace_id: UUID, subject: UUID) -> bytes:
    return b"cairn subject key 1" + workspace_id.bytes + subject.bytes


@contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except (ClientError, BotoCoreError) as exc:
        raise Unavailable(f"The key store did not answer: {exc}", reason="key-store") from exc
    except InvalidTag as exc:
        raise Unavailable("A key does not open under its workspace's.", reason="key-store") from exc
