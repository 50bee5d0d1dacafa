"""What a source may be told: refused by its field, before anything reads it."""

from typing import Any

import pytest

from cairn.adapters.sources.checking import CheckSource
from cairn.kernel.errors import ValidationFailed
from cairn.sources.source import KnowledgeKind

SITE = {"url": "https://docs.harbour.example/"}


@pytest.mark.parametrize(
    ("kind", "config", "field"),
    [
        (KnowledgeKind.GIT, {"url": "https://[x/y"}, "config.url"),
        (KnowledgeKind.NOTION, {"url": "https://[x"}, "config.url"),
        (KnowledgeKind.CONFLUENCE, {"url": "https://x:99999", "username": "a"}, "config.url"),
        (KnowledgeKind.SITE, {**SITE, "hosts": ["y.example:99999"]}, "config.hosts.0"),
        (KnowledgeKind.SITE, {**SITE, "include": ["a*a*a*a*b"]}, "config.include.0"),
    ],
)
def test_what_is_no_address_and_what_would_never_end_is_refused(
    kind: KnowledgeKind, config: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationFailed, match=field):
        CheckSource()(kind, config, {"token": "t"})
