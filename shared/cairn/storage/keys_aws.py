"""The key store on AWS: a DynamoDB table without backups, each key wrapped by KMS. Not for laptops.

One item a subject: `workspace_id` and `subject_id` (the table's key, both strings), `wrapped_key`
(what KMS gave) or, once destroyed, `forgotten`. The encryption context binds a wrapped key to its
workspace and subject, so an item copied elsewhere does not open.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from cairn.errors import Unavailable
from cairn.ledger.keys import SubjectForgotten

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping
    from uuid import UUID

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_kms import KMSClient

_BATCH = 100  # what BatchGetItem takes
_ATTEMPTS = 5


class DynamoKeyStore:
    """Implements `cairn.ledger.keys.KeyStore`; the clients come from the composition root.

    Reads are strongly consistent. Raises Unavailable (`key-store`) when AWS refuses or is silent.
    """

    def __init__(
        self, dynamodb: DynamoDBClient, kms: KMSClient, *, table: str, kms_key_arn: str
    ) -> None:
        self._dynamodb = dynamodb
        self._kms = kms
        self._table = table
        self._kms_key_arn = kms_key_arn

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
                subject: self._unwrap(workspace_id, subject, kept)
                if (kept := wrapped.get(subject))
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
            kept = self._read(workspace_id, subject_ids)
        return {one: one in kept for one in subject_ids if not kept.get(one)}

    def destroy(self, workspace_id: UUID, subject_id: UUID) -> bool:
        """Erase the wrapped key and bar the subject."""
        with _translated():
            answer = self._dynamodb.update_item(
                TableName=self._table,
                Key=_item_key(workspace_id, subject_id),
                UpdateExpression="SET forgotten = :yes REMOVE wrapped_key",
                ExpressionAttributeValues={":yes": {"BOOL": True}},
                ReturnValues="ALL_OLD",
            )
        return "wrapped_key" in answer.get("Attributes", {})

    def _create(self, workspace_id: UUID, subject: UUID) -> bytes:
        made = self._kms.generate_data_key(
            KeyId=self._kms_key_arn,
            KeySpec="AES_256",
            EncryptionContext=_context(workspace_id, subject),
        )
        item = {**_item_key(workspace_id, subject), "wrapped_key": {"B": made["CiphertextBlob"]}}
        try:
            self._dynamodb.put_item(
                TableName=self._table,
                Item=item,
                ConditionExpression="attribute_not_exists(subject_id)",
            )
        except ClientError as exc:
            if exc.response.get("Error", {}).get("Code") != "ConditionalCheckFailedException":
                raise
            return self._made_by_another(workspace_id, subject)
        return made["Plaintext"]

    def _made_by_another(self, workspace_id: UUID, subject: UUID) -> bytes:
        wrapped = self._read(workspace_id, [subject]).get(subject)
        if not wrapped:
            raise SubjectForgotten(subject)
        return self._unwrap(workspace_id, subject, wrapped)

    def _unwrap(self, workspace_id: UUID, subject: UUID, wrapped: bytes) -> bytes:
        answer = self._kms.decrypt(
            KeyId=self._kms_key_arn,
            CiphertextBlob=wrapped,
            EncryptionContext=_context(workspace_id, subject),
        )
        return answer["Plaintext"]

    def _read(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> dict[UUID, bytes | None]:
        """Return wrapped keys by subject, None for a destroyed one; subjects never seen are out."""
        subjects = {str(subject): subject for subject in subject_ids}
        names = sorted(subjects)
        found: dict[UUID, bytes | None] = {}
        for start in range(0, len(names), _BATCH):
            keys = [
                {"workspace_id": {"S": str(workspace_id)}, "subject_id": {"S": name}}
                for name in names[start : start + _BATCH]
            ]
            for item in self._read_batch(keys):
                wrapped = item.get("wrapped_key", {}).get("B")
                found[subjects[item["subject_id"]["S"]]] = wrapped
        return found

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


def _item_key(workspace_id: UUID, subject: UUID) -> dict[str, Any]:
    return {"workspace_id": {"S": str(workspace_id)}, "subject_id": {"S": str(subject)}}


def _context(workspace_id: UUID, subject: UUID) -> dict[str, str]:
    return {"workspace_id": str(workspace_id), "subject_id": str(subject)}


@contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except (ClientError, BotoCoreError) as exc:
        raise Unavailable(f"The key store did not answer: {exc}", reason="key-store") from exc
