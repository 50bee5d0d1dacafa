"""Documents of settings: patched, checked, read, and shown with where each value is from. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ValidationError

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.safety.profiles import STRICTEST
from cairn.workspace.settings import WorkspaceSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic_core import ErrorDetails

Document = Mapping[str, Any]
"""JSON of what was set, by section."""

Path = tuple[str, ...]

MAX_CHARS = 32_768
"""Of a document as JSON: it stands in the clear part of its ledger entry."""

DEFAULT, ENVIRONMENT, WORKSPACE = "default", "environment", "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSettings:
    """What a workspace has set, and how often it was changed."""

    document: Document = field(default_factory=dict[str, Any])
    version: int = 0
    position: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentSettings:
    """What holds for a workspace. `ignored` names what is stored and nobody can use any more."""

    settings: WorkspaceSettings = field(default_factory=WorkspaceSettings)
    document: Document = field(default_factory=dict[str, Any])
    ignored: tuple[str, ...] = ()


def merged(document: Document, patch: Document) -> dict[str, Any]:
    """Return `document` with a JSON merge patch (RFC 7396) laid over it; nothing empty stays."""
    result = dict(document)
    for name, value in patch.items():
        if isinstance(value, Mapping):
            held = result.get(name)
            inner: Document = cast("Document", held) if isinstance(held, Mapping) else {}
            value = merged(inner, cast("Document", value))
        if value is None or value == {}:
            result.pop(name, None)
        else:
            result[name] = value
    return result


def checked(document: Document, patch: Document) -> WorkspaceSettings:
    """Return the settings a document comes to after a patch.

    Raises ValidationFailed naming the path of every value that is wrong and of every setting the
    patch resets that there is not.
    """
    errors = [FieldError(".".join(path), "is not a setting") for path in _unknown_resets(patch)]
    try:
        settings = WorkspaceSettings.model_validate(document)
    except ValidationError as refused:
        field_errors = [
            FieldError(".".join(_path(error)), _message(error)) for error in refused.errors()
        ]
        raise _refused([*errors, *field_errors]) from None
    if errors:
        raise _refused(errors)
    if len(as_text(document)) > MAX_CHARS:
        raise _refused([FieldError("settings", f"are longer than {MAX_CHARS} characters")])
    return settings


def read(document: Document, deployment: Document | None = None) -> CurrentSettings:
    """Return what holds where `deployment` says something and `document` says more.

    What nobody can use (a recipe of another version, say) is left out and named: it must not stop
    a workspace's searches. A redaction profile nobody knows takes out everything.
    """
    usable_document, ignored = usable(document)
    settings = WorkspaceSettings.model_validate(merged(deployment or {}, usable_document))
    return CurrentSettings(settings=settings, document=usable_document, ignored=ignored)


def usable(document: Document) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the part of a document that is valid, and the paths of the rest."""
    valid, ignored = dict(document), list[str]()
    while True:
        try:
            WorkspaceSettings.model_validate(valid)
        except ValidationError as refused:
            for path in {_path(error) for error in refused.errors()}:
                valid = _without(valid, path)
                ignored.append(".".join(path))
        else:
            break
    if any(name == "safety" or name.startswith("safety.redaction") for name in ignored):
        valid = merged(valid, {"safety": {"redaction": STRICTEST}})
    return valid, tuple(sorted(ignored))


def shown(document: Document, deployment: Document) -> tuple[dict[str, Any], dict[str, str]]:
    """Return all settings as they hold, and by path where each value is from."""
    held = read(document, deployment)
    values: dict[str, Any] = held.settings.model_dump(mode="json")
    sources = {
        ".".join(path): WORKSPACE
        if _has(held.document, path)
        else ENVIRONMENT
        if _has(deployment, path)
        else DEFAULT
        for path, _ in leaves(values)
    }
    return values, sources


def leaves(document: Document, above: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value with its path; a table without entries is one."""
    for name, value in document.items():
        path = (*above, name)
        if isinstance(value, Mapping) and value:
            yield from leaves(cast("Document", value), path)
        else:
            yield path, value


def differences(before: Document, after: Document) -> list[dict[str, str | None]]:
    """Return what changed: the path, and both values as JSON, null where nothing was set."""
    old, new = dict(leaves(before)), dict(leaves(after))
    return [
        {
            "path": ".".join(path),
            "before": json.dumps(old[path]) if path in old else None,
            "after": json.dumps(new[path]) if path in new else None,
        }
        for path in sorted(old.keys() | new.keys())
        if path not in old or path not in new or old[path] != new[path]
    ]


def as_text(document: Document) -> str:
    """Return a document as JSON, the same each time."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _unknown_resets(patch: Document) -> list[Path]:
    """Return the paths a patch sets to null of which the model has no field."""
    results: list[Path] = []
    for path, value in leaves(patch):
        if value is None and not _is_field(path):
            results.append(path)
    return results


def _is_field(path: Path) -> bool:
    model: type[BaseModel] | None = WorkspaceSettings
    for name in path:
        if model is None:
            return True  # an entry of a table
        field = model.model_fields.get(name)
        if field is None:
            return False
        inner = field.annotation
        model = inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None
    return True


def _path(error: ErrorDetails) -> Path:
    return tuple(str(item) for item in error["loc"] if item != "[key]")


def _message(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        return "is not a setting"
    return error["msg"]


def _refused(errors: Sequence[FieldError]) -> ValidationFailed:
    first = errors[0]
    return ValidationFailed(
        f"{first.location} {first.message}.", reason="settings", errors=list(errors)
    )


def _without(document: Document, path: Path) -> dict[str, Any]:
    """Return a document without what stands at a path, or at the last part of it that is there."""
    head, rest = path[0], path[1:]
    inner = document.get(head)
    others = {name: value for name, value in document.items() if name != head}
    if not rest or not isinstance(inner, Mapping) or rest[0] not in inner:
        return others
    smaller = _without(cast("Document", inner), rest)
    return {**others, head: smaller} if smaller else others


def _has(document: Document, path: Path) -> bool:
    inner: Any = document
    for name in path:
        if not isinstance(inner, Mapping) or name not in inner:
            return False
        inner = cast("Document", inner)[name]
    return True
