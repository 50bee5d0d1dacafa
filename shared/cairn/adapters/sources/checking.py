"""What can be refused of a source before anything is read. Loads no library of a kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cairn.adapters.sources.allowed import allowed_folder, refuse_bare_token, require_bucket
from cairn.sources.configs import (
    BucketConfig,
    ConfluenceConfig,
    FolderConfig,
    GitConfig,
    NotionConfig,
    parse_config,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cairn.sources.source import KnowledgeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSource:
    """Implements `CheckConfig`: what this machine does not let be read is refused at once."""

    folders: tuple[Path, ...] = ()
    private_hosts: frozenset[str] = frozenset()
    buckets: frozenset[str] = frozenset()

    def __call__(
        self, kind: KnowledgeKind, config: Mapping[str, Any], secrets: Mapping[str, str]
    ) -> None:
        """Raise ValidationFailed for what may not be read, or a token sent in the open."""
        parsed = parse_config(kind, config)
        if isinstance(parsed, FolderConfig):
            allowed_folder(parsed.path, self.folders, field="config.path")
        elif isinstance(parsed, BucketConfig):
            require_bucket(parsed.bucket, self.buckets)
        elif isinstance(parsed, GitConfig | ConfluenceConfig | NotionConfig):
            refuse_bare_token(parsed.url, secrets, self.private_hosts)
            if parsed.url.startswith("file://"):
                allowed_folder(urlsplit(parsed.url).path, self.folders, field="config.url")
