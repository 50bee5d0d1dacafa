"""What each kind of source is told, checked before anything connects. Not its secrets."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.sources.source import KnowledgeKind

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_PATTERNS, MAX_STARS, STARS_IN_A_PART = 20, 6, 2
"""Of a pattern: what matches it tries every way that its stars may stand, with each a power of the
name's length more."""


def _has_few_stars(pattern: str) -> str:
    if any(part.count("*") > STARS_IN_A_PART for part in pattern.split("/")):
        raise ValueError(f"a part of a path has at most {STARS_IN_A_PART} stars")
    return pattern


Line = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$", max_length=2_000)]
Pattern = Annotated[
    str, StringConstraints(pattern=rf"^[^*\x00-\x1f\x7f]*(\*[^*\x00-\x1f\x7f]*){{0,{MAX_STARS}}}$",
                           min_length=1, max_length=200),
    AfterValidator(_has_few_stars),
]  # fmt: skip
Branch = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x20\x7f~^:?*\[\\]{1,200}$")]
Patterns = Annotated[tuple[Pattern, ...], Field(max_length=MAX_PATTERNS)]


def _read_as_address(value: str) -> str:
    """Refuse what is no address, such as a port that there is not."""
    _ = urlsplit(value if "://" in value else f"//{value}").port  # raises ValueError
    return value


IsAddress = AfterValidator(_read_as_address)


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class _Config(_Settings):
    """Paths are chosen as .gitignore does it; none means all of a kind that is read."""

    include: Patterns = ()
    exclude: Patterns = ()


class FolderConfig(_Config):
    """A folder of the machine that Cairn runs on."""

    path: Line


class GitConfig(_Config):
    """A repository: its address, and a branch other than its usual one."""

    url: Annotated[Line, StringConstraints(pattern=r"^(https|http|file)://[^@\s\\]+$"), IsAddress]
    branch: Branch | None = None
    username: Annotated[Line, StringConstraints(max_length=200)] = "git"


Host = Annotated[str, StringConstraints(pattern=r"^[a-z0-9.\-]{1,253}(:[0-9]{1,5})?$"), IsAddress]


class SiteConfig(_Config):
    """Pages below the start's folder, or those that `include` names, of its host and `hosts`.

    `depth` is how many links may lead to a page, `delay_seconds` the pause before each request.
    """

    url: Annotated[Line, StringConstraints(pattern=r"^https?://[^@\s\\]+$"), IsAddress]
    hosts: Annotated[tuple[Host, ...], Field(max_length=10)] = ()
    depth: Annotated[int, Field(ge=1, le=50)] = 10
    delay_seconds: Annotated[float, Field(ge=0.1, le=30)] = 1.0


class BucketConfig(_Config):
    """An S3 bucket, or what is below a prefix of it. `region` where it is not Cairn's own."""

    bucket: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9]$")]
    prefix: Annotated[
        str, StringConstraints(pattern=r"^([^/\x00-\x1f\x7f][^\x00-\x1f\x7f]*)?$", max_length=500)
    ] = ""
    region: Annotated[str, StringConstraints(pattern=r"^[a-z0-9\-]{2,32}$")] | None = None


Address = Annotated[Line, StringConstraints(pattern=r"^https?://[^@\s\\?#]+$"), IsAddress]
SpaceKey = Annotated[str, StringConstraints(pattern=r"^~?[A-Za-z0-9_.:-]{1,255}$")]


class ConfluenceConfig(_Settings):
    """A site of Confluence Cloud, and who the token is of; without `spaces` all that are global."""

    url: Address
    username: Annotated[Line, StringConstraints(pattern=r"^[^:]+$", max_length=200)]
    spaces: Annotated[tuple[SpaceKey, ...], Field(max_length=50)] = ()


class NotionConfig(_Settings):
    """The pages that were connected to an integration. `url` is another address of the API."""

    url: Address = "https://api.notion.com"


TicketsName = Annotated[Line, Field(max_length=200)]


class TicketsConfig(_Settings):
    """Tickets that stand resolved for so many days; of `sources`, without any of all."""

    sources: Annotated[
        tuple[Annotated[Line, Field(max_length=200)], ...], Field(max_length=50)
    ] = ()
    after_days: Annotated[int, Field(ge=0, le=365)] = 7


CONFIGS: Mapping[KnowledgeKind, type[_Settings]] = MappingProxyType(
    {
        KnowledgeKind.FOLDER: FolderConfig,
        KnowledgeKind.GIT: GitConfig,
        KnowledgeKind.SITE: SiteConfig,
        KnowledgeKind.BUCKET: BucketConfig,
        KnowledgeKind.CONFLUENCE: ConfluenceConfig,
        KnowledgeKind.NOTION: NotionConfig,
        KnowledgeKind.TICKETS: TicketsConfig,
    }
)
SECRETS: Mapping[KnowledgeKind, frozenset[str]] = MappingProxyType(
    {
        KnowledgeKind.FOLDER: frozenset[str](),
        KnowledgeKind.GIT: frozenset({"token"}),
        KnowledgeKind.SITE: frozenset[str](),
        KnowledgeKind.BUCKET: frozenset[str](),
        KnowledgeKind.CONFLUENCE: frozenset({"token"}),
        KnowledgeKind.NOTION: frozenset({"token"}),
        KnowledgeKind.TICKETS: frozenset[str](),
    }
)


def parse_config(kind: KnowledgeKind, config: Mapping[str, Any]) -> Any:
    """Return the settings of a kind; ValidationFailed names what is wrong with them."""
    try:
        return CONFIGS[kind].model_validate(dict(config))
    except ValidationError as problem:
        errors = [
            FieldError(".".join(["config", *map(str, each["loc"])]), each["msg"])
            for each in problem.errors(include_url=False, include_input=False)
        ]
        where = ", ".join(error.location for error in errors)
        raise ValidationFailed(
            f"A source of this kind cannot use {where}.", reason="source-config", errors=errors
        ) from None


def check_secrets(kind: KnowledgeKind, secrets: Mapping[str, str]) -> None:
    """Raise ValidationFailed for secrets that a kind knows nothing of."""
    unknown = sorted(secrets.keys() - SECRETS[kind])
    if unknown:
        takes = ", ".join(sorted(SECRETS[kind])) or "none"
        fault = f"names {', '.join(unknown)}; a source of kind {kind} takes {takes}"
        raise ValidationFailed(f"secrets {fault}.", errors=[FieldError("secrets", fault)])
