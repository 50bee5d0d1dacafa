"""Secrets and settings of what a workspace connects to: cleaned, sealed with its key, opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.text.checks import clean_json, clean_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.kernel.text.json_value import JsonValue
    from cairn.ledger.keys import BodyCipher, KeyStore
    from cairn.writing.platform import Platform

MAX_CONFIG_BYTES = 16_384
MAX_CONFIG_DEPTH = 6
MAX_SECRETS = 10
MAX_SECRET_CHARS = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """Seals and opens the secrets of one thing, such as a connector, for its workspace."""

    keys: KeyStore
    cipher: BodyCipher

    @classmethod
    def of(cls, platform: Platform) -> Secrets:
        """Return them with a platform's keys."""
        return cls(keys=platform.keys, cipher=platform.cipher)

    def sealed(self, workspace_id: UUID, thing_id: UUID, secrets: Mapping[str, str]) -> bytes:
        """Return them sealed for one thing."""
        keys = self.keys.get_or_create(workspace_id, (workspace_id,))
        body = cast("dict[str, JsonValue]", dict(secrets))
        return self.cipher.seal(thing_id, workspace_id, keys, body)

    def opened(self, workspace_id: UUID, thing_id: UUID, sealed: bytes) -> dict[str, str]:
        """Return them; BodyUnreadable when they were not sealed for this thing."""
        owner = (workspace_id,)
        keys = self.keys.get(workspace_id, owner)
        opened = self.cipher.open(thing_id, workspace_id, owner, keys, sealed)
        return {name: str(value) for name, value in opened.items()}


def clean_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings as they are kept; ValidationFailed where they are too large or too deep."""
    checked = clean_json(
        dict(config), field="config", max_bytes=MAX_CONFIG_BYTES, max_depth=MAX_CONFIG_DEPTH
    )
    return cast("Mapping[str, Any]", checked)


def clean_secrets(secrets: Mapping[str, str]) -> dict[str, str]:
    """Return secrets as they are sealed; ValidationFailed for too many, or one that is too long."""
    if len(secrets) > MAX_SECRETS:
        message = f"has more than {MAX_SECRETS} items"
        raise ValidationFailed(f"secrets {message}.", errors=[FieldError("secrets", message)])
    return {
        clean_text(name, field="secrets", max_chars=64): clean_text(
            value, field=f"secrets.{name}", max_chars=MAX_SECRET_CHARS
        )
        for name, value in secrets.items()
    }
