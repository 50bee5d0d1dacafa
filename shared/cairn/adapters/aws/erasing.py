"""Objects whose every version is read or deleted: uploads that go, tombstones that must not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.adapters.aws.clients import aws_client
from cairn.adapters.aws.objects import translated
from cairn.forgetting.prove import Looked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from uuid import UUID

    from cairn.forgetting.prove import Needles

_AT_ONCE = 1_000
MOST_OBJECTS = 2_000
"""Objects read to look into them; further ones are told."""


@dataclass(frozen=True)
class S3Erasing:
    """Implements `ObjectEraser`."""

    bucket: str

    def erase(self, prefix: str) -> int:
        """Delete every version below a prefix, and markers of deletion too."""
        with translated():
            versions = list(_versions(self.bucket, prefix))
            for start in range(0, len(versions), _AT_ONCE):
                aws_client("s3").delete_objects(
                    Bucket=self.bucket,
                    Delete={"Objects": versions[start : start + _AT_ONCE], "Quiet": True},
                )
        return len(versions)

    def count(self, prefix: str) -> int:
        """Return how many versions there are below a prefix."""
        with translated():
            return sum(1 for _ in _versions(self.bucket, prefix))


@dataclass(frozen=True)
class S3Tombstones:
    """Implements `TombstoneStore` over a bucket with Object Lock."""

    bucket: str

    def put(self, key: str, content: bytes) -> None:
        """Store bytes under a key; Object Lock wants a checksum."""
        with translated():
            aws_client("s3").put_object(
                Bucket=self.bucket, Key=key, Body=content, ChecksumAlgorithm="SHA256"
            )

    def versions(self, prefix: str) -> Sequence[tuple[str, bytes]]:
        """Return (key, bytes) of every version below a prefix, the oldest of a key first."""
        with translated():
            versions = sorted(
                _versions(self.bucket, prefix, markers=False, dated=True),
                key=lambda version: (version["Key"], version["LastModified"]),
            )
            return [(item["Key"], _read(self.bucket, item)) for item in versions]


@dataclass(frozen=True)
class S3Searcher:
    """Implements `Searcher` over the bucket of uploads."""

    bucket: str
    prefixes: Sequence[str] = ("ingestions/", "sites/", "uploads/")

    def __call__(self, workspace_id: UUID, needles: Needles, /) -> Iterable[Looked]:
        """Read every version of every object of the workspace and look into it."""
        encoded = [item.encode() for item in needles.folded()]
        for prefix in self.prefixes:
            place = f"{prefix}{workspace_id}/"
            with translated():
                objects = list(_versions(self.bucket, place, markers=False))
                looked = objects[:MOST_OBJECTS]
                hits = sum(_has(_read(self.bucket, item), encoded) for item in looked)
            left = len(objects) - len(looked)
            note = f"{left} more objects were not read" if left else ""
            yield Looked(store="uploads", place=prefix, items=len(looked), found=hits, note=note)


def _has(content: bytes, encoded: Sequence[bytes]) -> bool:
    lower = content.lower()
    return any(item in content or item in lower for item in encoded)


def _versions(
    bucket: str, prefix: str, *, markers: bool = True, dated: bool = False
) -> Iterator[dict[str, Any]]:
    pages = aws_client("s3").get_paginator("list_object_versions")
    fields = ("Key", "VersionId", "LastModified") if dated else ("Key", "VersionId")
    for page in pages.paginate(Bucket=bucket, Prefix=prefix):
        items = [*page.get("Versions", ()), *(page.get("DeleteMarkers", ()) if markers else ())]
        yield from ({name: item[name] for name in fields} for item in items)


def _read(bucket: str, version: dict[str, Any]) -> bytes:
    answer = aws_client("s3").get_object(
        Bucket=bucket, Key=version["Key"], VersionId=version["VersionId"]
    )
    return answer["Body"].read()
