"""Which adapter reads a source; each is loaded when one is opened."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cairn.adapters.sources.allowed import refuse_bare_token
from cairn.kernel.clock import monotonic
from cairn.sources.configs import (
    BucketConfig,
    ConfluenceConfig,
    GitConfig,
    NotionConfig,
    SiteConfig,
    TicketsConfig,
    parse_config,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from cairn.sources.reader import Limits, Reader
    from cairn.sources.source import KnowledgeKind
    from cairn.writing.platform import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSource:
    """Implements `OpenReader`. `private_hosts` may be inside this network: for a laptop.

    Tickets are read by `platform`.
    """

    folders: tuple[Path, ...] = ()
    private_hosts: frozenset[str] = frozenset()
    buckets: frozenset[str] = frozenset()
    pause: Callable[[float], None] = time.sleep
    platform: Platform | None = None

    def __call__(
        self,
        kind: KnowledgeKind,
        config: Mapping[str, Any],
        secrets: Mapping[str, str],
        limits: Limits,
    ) -> Reader:
        """Return what reads it."""
        parsed = parse_config(kind, config)
        if isinstance(parsed, GitConfig):
            return self._git(parsed, secrets, limits)
        if isinstance(parsed, SiteConfig):
            return self._site(parsed, limits)
        if isinstance(parsed, TicketsConfig):
            return self._tickets(parsed, limits)
        if isinstance(parsed, ConfluenceConfig):
            return self._confluence(parsed, secrets, limits)
        if isinstance(parsed, NotionConfig):
            return self._notion(parsed, secrets, limits)
        if isinstance(parsed, BucketConfig):
            from cairn.adapters.sources.bucket import BucketReader

            return BucketReader(config=parsed, buckets=self.buckets)
        from cairn.adapters.sources.folder import FolderReader

        return FolderReader(config=parsed, roots=self.folders)

    def _git(self, config: GitConfig, secrets: Mapping[str, str], limits: Limits) -> Reader:
        from cairn.adapters.http.outgoing import Outgoing
        from cairn.adapters.sources.git import GitReader

        refuse_bare_token(config.url, secrets, self.private_hosts)
        inside = urlsplit(config.url).hostname in self.private_hosts
        return GitReader(
            config=config,
            secrets=secrets,
            limits=limits,
            roots=self.folders,
            transport=lambda: Outgoing(allow_private=inside),
            stopwatch=monotonic,
        )

    def _site(self, config: SiteConfig, limits: Limits) -> Reader:
        from cairn.adapters.sources.site import SiteReader

        return SiteReader(
            config=config,
            limits=limits,
            private_hosts=self.private_hosts,
            pause=self.pause,
            stopwatch=monotonic,
        )

    def _tickets(self, config: TicketsConfig, limits: Limits) -> Reader:
        from cairn.adapters.sources.past_tickets import TicketsReader
        from cairn.investigations.journal import Journal

        if self.platform is None:
            raise RuntimeError("tickets are read by a platform")
        return TicketsReader(config=config, limits=limits, journal=Journal(platform=self.platform))

    def _confluence(
        self, config: ConfluenceConfig, secrets: Mapping[str, str], limits: Limits
    ) -> Reader:
        from cairn.adapters.sources.confluence import ConfluenceReader, confluence_headers
        from cairn.adapters.sources.web_api import WebApi

        api = WebApi(
            name="Confluence",
            url=config.url,
            headers=confluence_headers(config, secrets),
            private_hosts=self.private_hosts,
            pause=self.pause,
        )
        return ConfluenceReader(config=config, limits=limits, api=api)

    def _notion(self, config: NotionConfig, secrets: Mapping[str, str], limits: Limits) -> Reader:
        from cairn.adapters.sources.notion import GAP_SECONDS, NotionReader, notion_headers
        from cairn.adapters.sources.web_api import WebApi

        api = WebApi(
            name="Notion",
            url=config.url,
            headers=notion_headers(secrets),
            private_hosts=self.private_hosts,
            gap=GAP_SECONDS,
            pause=self.pause,
        )
        return NotionReader(limits=limits, api=api)
