"""The adapters several functions share, each made from its part of the settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from urllib.parse import urlsplit

from aws_lambda_powertools import Logger

from cairn.adapters.aws.clients import aws_client
from cairn.adapters.postgres.database import Database
from cairn.bootstrap.lazy import lazy
from cairn.embedding.models import chosen_model, is_known
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.ids import new_id
from cairn.kernel.metrics import untold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from pydantic import SecretStr

    from cairn.adapters.aws.signing import KmsSigningKey
    from cairn.adapters.files.signing import FileSigningKey
    from cairn.embedding.port import Embedder, EmbeddingModel
    from cairn.investigations.browse import BrowseInvestigations
    from cairn.investigations.people.bundle import Escalations
    from cairn.kernel.access import Principal
    from cairn.kernel.metrics import Metrics
    from cairn.ledger.keys import BodyCipher, KeyCache, KeyStore
    from cairn.sessions.opening import OpenSession
    from cairn.settings import ApiSettings, RetrieveSettings
    from cairn.workspace.documents import Document
    from cairn.writing.platform import Log, Platform
    from cairn.writing.ports import Dispatcher

SigningKey: TypeAlias = "FileSigningKey | KmsSigningKey"
"""Signs, and verifies what was signed."""

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


class SigningSettings(Protocol):
    """`file:/absolute/path` or `kms:ARN`."""

    @property
    def signing_key(self) -> str: ...


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


def logger(service: str, level: str) -> Logger:
    """Return the function's logger; it writes JSON lines and never events or bodies."""
    return Logger(service=f"cairn-{service}", level=level, log_uncaught_exceptions=False)


def inform(log: Logger) -> Log:
    """Return what use cases say with what they did: a name and ids, counts or codes."""

    def report(event: str, fields: Mapping[str, Any]) -> None:
        log.info(event, extra=dict(fields))

    return report


def warn(log: Logger) -> Log:
    """Return what use cases report trouble with: a name and ids or codes."""

    def report(event: str, fields: Mapping[str, Any]) -> None:
        log.warning(event, extra=dict(fields))

    return report


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


def key_store(settings: KeyStoreSettings) -> KeyCache:
    """Return the store of data subjects' keys, remembered for at most 60 s.

    Raises ValidationFailed when the setting names no kind of store; nothing is opened yet.
    """
    from cairn.ledger.keys import KeyCache  # its ciphers are not for functions without keys

    kind, _, place = settings.key_store.partition(":")
    if kind == "file":
        return KeyCache(lazy(lambda: _key_file(Path(place))), utc_now)
    arn = settings.kms_key_arn
    if kind == "dynamodb" and arn:
        return KeyCache(lazy(lambda: _key_table(place, arn)), utc_now)
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


def signing_key(settings: SigningSettings) -> SigningKey:
    """Return the key that signs what is kept outside the database; nothing is read or called yet.

    Raises ValidationFailed when the setting names no kind of key.
    """
    kind, _, place = settings.signing_key.partition(":")
    if kind == "file" and place.startswith("/"):
        return lazy(lambda: _signing_file(Path(place)))
    if kind == "kms" and place.startswith("arn:"):
        return lazy(lambda: _signing_kms(place))
    raise ValidationFailed("CAIRN_SIGNING_KEY is file:/absolute/path or kms:ARN.")


def _signing_file(path: Path) -> FileSigningKey:
    from cairn.adapters.files.signing import FileSigningKey

    return FileSigningKey(path)


def _signing_kms(key_arn: str) -> KmsSigningKey:
    from cairn.adapters.aws.signing import KmsSigningKey

    return KmsSigningKey(aws_client("kms"), key_arn=key_arn)


def platform(opened: Database, *, keys: KeyStore, dispatcher: Dispatcher, log: Logger) -> Platform:
    """Return what use cases share; ciphers and transactions are imported by who needs them."""
    from cairn.adapters.postgres.store_transactions import StoreTransactions
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


def session_opening(
    platform: Platform,
    log: Logger,
    *,
    investigations: BrowseInvestigations,
    escalations: Escalations,
    snapshot: Callable[[Principal], str] = lambda principal: "",
) -> OpenSession:
    """Return what reads what a session begins with."""
    from cairn.recall.subscriptions import Subscriptions
    from cairn.reports.read import BrowseReports
    from cairn.sessions.opening import OpenSession

    transactions = platform.transactions
    return OpenSession(
        transactions=transactions,
        reports=BrowseReports(transactions=transactions, stopwatch=monotonic, log=inform(log)),
        subscriptions=Subscriptions(platform),
        investigations=investigations,
        escalations=escalations,
        snapshot=snapshot,
        clock=utc_now,
    )


def metrics(stage: Literal["local", "prod"]) -> Metrics:
    """Return the hook for use cases: lines of the log on AWS, files where a folder is set."""
    if stage == "prod":
        from cairn.adapters.aws.metrics import EmbeddedMetrics

        return EmbeddedMetrics()
    from cairn.settings import metrics_folder

    if metrics_folder() is None:
        return untold
    from cairn.adapters.files.prometheus import PrometheusMetrics

    return PrometheusMetrics()


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


def registered(embedder: Embedder, opened: Database) -> Embedder:
    """Return an embedder that embeds nothing before the database knows its model."""
    if is_known(embedder.model):
        return embedder  # by a migration
    from cairn.adapters.postgres.embedding_models import CheckRegistered
    from cairn.embedding.models import RegisteredEmbedder

    return RegisteredEmbedder(embedder, CheckRegistered(opened))


def deployment_document(settings: ApiSettings | RetrieveSettings) -> Document:
    """Return the environment's part of every workspace's settings."""
    models: dict[str, Any] = {"chat": settings.chat_model} if settings.chat_model else {}
    limits = [part.partition("=") for part in settings.model_budgets.split(",")]
    if budgets := {name.strip(): value.strip() for name, _, value in limits if value}:
        models["budgets"] = budgets
    sections = {"recall": settings.constants(), "models": models}
    return {name: section for name, section in sections.items() if section}
