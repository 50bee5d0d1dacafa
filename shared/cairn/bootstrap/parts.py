"""The adapters several functions share, each made from its part of the settings."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from cairn.adapters.aws.clients import aws_client
from cairn.adapters.postgres.database import Database
from cairn.bootstrap.lazy import lazy
from cairn.embedding.models import chosen_model, is_known
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from uuid import UUID

    from aws_lambda_powertools import Logger
    from pydantic import SecretStr

    from cairn.embedding.port import Embedder, EmbeddingModel
    from cairn.ledger.keys import BodyCipher, KeyCache, KeyStore
    from cairn.writing.platform import Platform
    from cairn.writing.ports import Dispatcher

CONNECTIONS = 4
"""What a function that searches may hold: one for each leg. The others hold one."""


class DatabaseSettings(Protocol):
    """Where the functions' role signs in, and how."""

    @property
    def app_database_url(self) -> SecretStr: ...
    @property
    def database_auth(self) -> str: ...
    @property
    def database_wait_seconds(self) -> float: ...


class KeyStoreSettings(Protocol):
    """Where the keys of data subjects are."""

    @property
    def key_store(self) -> str: ...
    @property
    def kms_key_arn(self) -> str | None: ...


class EmbedderSettings(Protocol):
    """Which model makes vectors."""

    @property
    def model_dir(self) -> Path: ...
    @property
    def embedder(self) -> str: ...
    @property
    def openai_base_url(self) -> str | None: ...
    @property
    def openai_api_key(self) -> SecretStr | None: ...
    @property
    def openai_embedding_model(self) -> str: ...
    @property
    def onnx_embedding_model(self) -> str | None: ...


def database(settings: DatabaseSettings, *, size: int = 1) -> Database:
    """Return the functions' database; nothing connects yet."""
    url = settings.app_database_url.get_secret_value()
    password = iam_token(url) if settings.database_auth == "iam" else None
    wait = settings.database_wait_seconds
    return Database(url, size=size, password=password, wait_seconds=wait)


def iam_token(url: str) -> Callable[[], str]:
    """Return what makes a sign-in token for each new connection (valid 15 minutes)."""
    parts = urlsplit(url)

    def token() -> str:
        rds: Any = aws_client("rds")
        return rds.generate_db_auth_token(
            DBHostname=parts.hostname, Port=parts.port or 5432, DBUsername=parts.username
        )

    return token


class OpenedLater:
    """A key store that is opened when the first key is asked for; a cold start needs no clients."""

    def __init__(self, make: Callable[[], KeyStore]) -> None:
        self._make = make

    @cached_property
    def _store(self) -> KeyStore:
        return self._make()

    def get_or_create(
        self, workspace_id: UUID, subject_ids: Collection[UUID]
    ) -> Mapping[UUID, bytes]:
        """As `KeyStore`."""
        return self._store.get_or_create(workspace_id, subject_ids)

    def get(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bytes]:
        """As `KeyStore`."""
        return self._store.get(workspace_id, subject_ids)

    def absent(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bool]:
        """As `KeyStore`."""
        return self._store.absent(workspace_id, subject_ids)

    def destroy(self, workspace_id: UUID, subject_id: UUID) -> bool:
        """As `KeyStore`."""
        return self._store.destroy(workspace_id, subject_id)


def key_store(settings: KeyStoreSettings) -> KeyCache:
    """Return the store of data subjects' keys, remembered for at most 60 s.

    Raises ValidationFailed when the setting names no kind of store; nothing is opened yet.
    """
    from cairn.ledger.keys import KeyCache  # its ciphers are not for functions without keys

    kind, _, place = settings.key_store.partition(":")
    if kind == "file":
        return KeyCache(OpenedLater(lambda: _key_file(Path(place))), utc_now)
    arn = settings.kms_key_arn
    if kind == "dynamodb" and arn:
        return KeyCache(OpenedLater(lambda: _key_table(place, arn)), utc_now)
    raise ValidationFailed(
        "CAIRN_KEY_STORE is file:/absolute/path, or dynamodb:TABLE with CAIRN_KMS_KEY_ARN."
    )


def _key_file(path: Path) -> KeyStore:
    from cairn.adapters.files.keys import FileKeyStore

    return FileKeyStore(path)


def _key_table(table: str, kms_key_arn: str) -> KeyStore:
    from cairn.adapters.aws.keys import DynamoKeyStore

    clients = aws_client("dynamodb"), aws_client("kms")
    return DynamoKeyStore(*clients, table=table, kms_key_arn=kms_key_arn, stopwatch=monotonic)


def platform(opened: Database, *, keys: KeyStore, dispatcher: Dispatcher, log: Logger) -> Platform:
    """Return what use cases share; ciphers and transactions are imported by who needs them."""
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.bootstrap.logs import inform, warn
    from cairn.writing.platform import Platform

    return Platform(
        transactions=StoreTransactions(opened),
        keys=keys,
        cipher=lazy(_cipher),
        dispatcher=dispatcher,
        clock=utc_now,
        new_id=new_id,
        stopwatch=monotonic,
        log=inform(log),
        warn=warn(log),
    )


def _cipher() -> BodyCipher:
    from cairn.ledger.keys import BodyCipher

    return BodyCipher()


def model_of(settings: EmbedderSettings) -> EmbeddingModel:
    """Return the embedding model the settings name; ValidationFailed when they name none."""
    return chosen_model(
        embedder=settings.embedder,
        model_dir=settings.model_dir,
        onnx_model=settings.onnx_embedding_model,
        openai_model=settings.openai_embedding_model,
    )


def embedder(settings: EmbedderSettings) -> Embedder:
    """Return the embedder the settings name; its model is read with the first text."""
    model = model_of(settings)
    if settings.embedder == "onnx":
        from cairn.embedding.onnx import OnnxEmbedder

        return OnnxEmbedder(settings.model_dir, model)
    from cairn.embedding.openai import BASE_URL, OpenAIEmbedder

    key = settings.openai_api_key
    return OpenAIEmbedder(
        model,
        api_key=key.get_secret_value() if key else "",
        base_url=settings.openai_base_url or BASE_URL,
    )


def registered(made: Embedder, opened: Database) -> Embedder:
    """Return an embedder that embeds nothing before the database knows its model."""
    if is_known(made.model):
        return made  # by a migration
    from cairn.adapters.postgres.embedding_models import CheckRegistered
    from cairn.embedding.models import RegisteredEmbedder

    return RegisteredEmbedder(made, CheckRegistered(opened))
