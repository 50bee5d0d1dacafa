"""Documents on their way through the ingestion machine, in S3."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.adapters.aws.clients import aws_client
from cairn.kernel.errors import NotFound, Unavailable

if TYPE_CHECKING:
    from collections.abc import Generator

_MISSING = ("NoSuchKey", "404", "NotFound")


@dataclass(frozen=True)
class S3Objects:
    """Implements `ObjectStore` over one bucket."""

    bucket: str

    def put(self, key: str, content: bytes) -> None:
        """Store bytes under a key."""
        with translated():
            self._s3.put_object(Bucket=self.bucket, Key=key, Body=content)

    def get(self, key: str) -> bytes:
        """Return the bytes of a key."""
        with translated():
            return self._s3.get_object(Bucket=self.bucket, Key=key)["Body"].read()

    def size(self, key: str) -> int | None:
        """Return how many bytes a key holds, None when it holds nothing."""
        try:
            with translated():
                return self._s3.head_object(Bucket=self.bucket, Key=key)["ContentLength"]
        except NotFound:
            return None

    def delete(self, key: str) -> None:
        """Remove a key."""
        with translated():
            self._s3.delete_object(Bucket=self.bucket, Key=key)

    def upload_url(self, key: str, *, size: int, media_type: str, seconds: int) -> str:
        """Return a URL that takes one PUT of exactly `size` bytes."""
        parameters = {
            "Bucket": self.bucket,
            "Key": key,
            "ContentLength": size,
            "ContentType": media_type,
        }
        return self._s3.generate_presigned_url("put_object", Params=parameters, ExpiresIn=seconds)

    @property
    def _s3(self) -> Any:
        return aws_client("s3")


@contextmanager
def translated() -> Generator[None]:
    """Raise what S3 says as NotFound (no such key) or Unavailable (`object-store`)."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as exc:
        if exc.response.get("Error", {}).get("Code") in _MISSING:
            raise NotFound("The object is gone.", reason="no-object") from exc
        raise Unavailable("The object store refused.", reason="object-store") from exc
    except BotoCoreError as exc:
        raise Unavailable("The object store cannot be reached.", reason="object-store") from exc
