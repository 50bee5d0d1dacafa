"""Anchors in S3, in a bucket with Object Lock. Not the documents' bucket: nothing is deleted here.

The bucket's default retention locks each object as it is put, which S3 refuses without a checksum.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.adapters.aws.clients import aws_client
from cairn.adapters.aws.objects import translated

if TYPE_CHECKING:
    from collections.abc import Sequence

_READERS = 8


@dataclass(frozen=True)
class S3Anchors:
    """Implements `AnchorStore` over one bucket."""

    bucket: str

    def put(self, key: str, content: bytes) -> None:
        """Store bytes under a key."""
        with translated():
            self._s3.put_object(
                Bucket=self.bucket, Key=key, Body=content, ChecksumAlgorithm="SHA256"
            )

    def keys(self, prefix: str) -> Sequence[str]:
        """Return all keys that begin with `prefix`, in order."""
        with translated():
            pages = self._s3.get_paginator("list_objects_v2").paginate(
                Bucket=self.bucket, Prefix=prefix
            )
            return [item["Key"] for page in pages for item in page.get("Contents", ())]

    def folders(self, prefix: str) -> Sequence[str]:
        """Return what stands between `prefix` and the next slash, of all keys, in order."""
        with translated():
            pages = self._s3.get_paginator("list_objects_v2").paginate(
                Bucket=self.bucket, Prefix=prefix, Delimiter="/"
            )
            folders = [item["Prefix"] for page in pages for item in page.get("CommonPrefixes", ())]
        return [item.removeprefix(prefix).rstrip("/") for item in folders]

    def read(self, keys: Sequence[str]) -> Sequence[bytes]:
        """Return the newest bytes of each key, some at once: there is one a day."""
        if len(keys) <= 1:
            return [self._get(key) for key in keys]
        with ThreadPoolExecutor(_READERS) as pool:
            return list(pool.map(self._get, keys))

    def _get(self, key: str) -> bytes:
        with translated():
            return self._s3.get_object(Bucket=self.bucket, Key=key)["Body"].read()

    @property
    def _s3(self) -> Any:
        return aws_client("s3")
