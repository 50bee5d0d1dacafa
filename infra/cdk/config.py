"""What the context (`-c name=value`) chooses. Not settings of the functions: those are wiring.

Every refusal is made here or in the construct that knows the reason, at synth, in one sentence.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from constructs import Node

ROOT = Path(__file__).resolve().parents[2]
STAGES = ("local", "prod")
EGRESS = ("bedrock", "nat")
EMBEDDERS = ("onnx", "openai")


class SynthRefused(Exception):
    """The chosen options cannot work together; the message says why and what would."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """The options of one synthesis, already checked for values that exist."""

    stage: str
    account: str | None
    region: str | None
    egress: str
    embedder: str
    openai_base_url: str | None
    openai_embedding_model: str | None
    openai_secret_arn: str | None
    jwt_issuer: str | None
    jwt_audience: tuple[str, ...]
    alarm_email: str | None
    zones: int
    min_acu: float
    max_acu: float
    backup_days: int
    anchor_retention_days: int
    embed_concurrency: int
    reserved_concurrency: int | None
    log_level: str
    layers: Path
    build: Path
    app_database_url: str
    key_store: str
    model_dir: str

    @property
    def is_local(self) -> bool:
        """Whether this is the laptop: no network, database, layers or alarms are synthesised."""
        return self.stage == "local"

    def stack(self, name: str) -> str:
        """The CloudFormation name of the stack called `name`."""
        return f"cairn-{self.stage}-{name}"


def read_config(node: Node) -> Config:
    """The options in `node`'s context; raises SynthRefused on a value that does not exist."""

    def text(name: str, default: str | None = None) -> str | None:
        value: Any = node.try_get_context(name)
        return default if value in (None, "") else str(value)

    reserved = text("reserved_concurrency")
    return Config(
        stage=_one_of("stage", text("stage", "local"), STAGES),
        account=text("account"),
        region=text("region"),
        egress=_one_of("egress", text("egress", "bedrock"), EGRESS),
        embedder=_one_of("embedder", text("embedder", "onnx"), EMBEDDERS),
        openai_base_url=text("openai_base_url"),
        openai_embedding_model=text("openai_embedding_model"),
        openai_secret_arn=text("openai_secret_arn"),
        jwt_issuer=text("jwt_issuer"),
        jwt_audience=tuple(filter(None, (text("jwt_audience") or "").split(","))),
        alarm_email=text("alarm_email"),
        zones=_whole("zones", text("zones", "2"), 2, 3),
        min_acu=float(text("min_acu", "0.5") or 0),
        max_acu=float(text("max_acu", "4") or 0),
        backup_days=_whole("backup_days", text("backup_days", "14"), 1, 35),
        anchor_retention_days=_whole(
            "anchor_retention_days", text("anchor_retention_days", "365"), 1, 36_500
        ),
        embed_concurrency=_whole("embed_concurrency", text("embed_concurrency", "4"), 2, 1000),
        reserved_concurrency=None
        if reserved is None
        else _whole("reserved_concurrency", reserved, 1, 1000),
        log_level=text("log_level", "INFO") or "INFO",
        layers=_folder(text("layers", "build/layers/arm64")),
        build=_folder(text("build", "build/functions")),
        **_laptop_values(text),
    )


def _laptop_values(text: Any) -> dict[str, str]:
    """Where the laptop keeps database, keys and model: context, else environment, else `.local/`.

    The launcher exports the CAIRN_* names, so that no secret stands on a command line.
    """

    def value(name: str, default: str) -> str:
        found: str | None = text(name)
        return found or os.environ.get(f"CAIRN_{name.upper()}", default)

    local = ROOT / ".local"
    return {
        "app_database_url": value("app_database_url", f"postgresql://cairn_app@/cairn?host={local}"),
        "key_store": value("key_store", f"file:{local / 'keys.sqlite'}"),
        "model_dir": value("model_dir", str(ROOT / "build" / "model" / "all-minilm-l6-v2")),
    }


def _one_of(name: str, value: str | None, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise SynthRefused(f"context {name}={value}: it is one of {', '.join(allowed)}")
    return value


def _whole(name: str, value: str | None, low: int, high: int) -> int:
    if value is None or not value.isdigit() or not low <= int(value) <= high:
        raise SynthRefused(f"context {name}={value}: it is a whole number from {low} to {high}")
    return int(value)


def _folder(value: str | None) -> Path:
    path = Path(value or "")
    return path if path.is_absolute() else ROOT / path
