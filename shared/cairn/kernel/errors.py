"""Every error Cairn raises on purpose, split by who reacts. Not HTTP: statuses live in `api`.

CairnError
├── the caller changes the request
│   ├── ValidationFailed        422
│   │   └── TooLarge            413
│   ├── Unauthenticated         401
│   ├── Denied                  403
│   ├── NotFound                404  (another tenant's row too)
│   ├── Conflict                409
│   └── RateLimited             429  retry_after
├── the operator raises a limit
│   └── BudgetExceeded          402
└── nobody: try again
    └── Unavailable             503  retry_after; the only one state machines retry
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong with one place in the input; `location` is a path such as items.3.text."""

    location: str
    message: str


class CairnError(Exception):
    """Base of all. `code` is the stable machine name, `detail` the sentence a person reads.

    Identifiers go into `fields`, never into the sentence's meaning: a reader of logs and a client
    both look there.
    """

    code: ClassVar[str] = "internal"

    def __init__(self, detail: str, *, reason: str | None = None, **fields: object) -> None:
        super().__init__(detail)
        self.detail = detail
        self.reason = reason or self.code
        self.fields: Mapping[str, object] = fields

    def __str__(self) -> str:
        """Return `reason: detail`, which is what a state machine's history shows."""
        return f"{self.reason}: {self.detail}"


class ValidationFailed(CairnError):
    """The input is wrong and the same input will always be refused."""

    code = "validation-failed"

    def __init__(
        self,
        detail: str,
        *,
        reason: str | None = None,
        errors: Sequence[FieldError] = (),
        **fields: object,
    ) -> None:
        super().__init__(detail, reason=reason, **fields)
        self.errors = tuple(errors)


class TooLarge(ValidationFailed):
    """The input is well formed but larger than the documented limit."""

    code = "too-large"


class Unauthenticated(CairnError):
    """The API key is missing, malformed, unknown, expired or revoked."""

    code = "unauthenticated"


class Denied(CairnError):
    """The principal is known and not allowed to do this."""

    code = "denied"


class NotFound(CairnError):
    """Nothing with this id is visible to the principal; other tenants' rows look the same."""

    code = "not-found"


class Conflict(CairnError):
    """The request collides with the present state, or with a request still running."""

    code = "conflict"


class BudgetExceeded(CairnError):
    """A token, money, time or iteration budget is spent; raised before the call it pays for."""

    code = "budget-exceeded"


class RateLimited(CairnError):
    """Too many requests on one key; `retry_after` is in seconds."""

    code = "rate-limited"

    def __init__(
        self, detail: str, *, retry_after: float, reason: str | None = None, **fields: object
    ) -> None:
        super().__init__(detail, reason=reason, **fields)
        self.retry_after = retry_after


class Unavailable(CairnError):
    """A dependency did not answer in time; nothing was lost and a retry may succeed."""

    code = "unavailable"

    def __init__(
        self, detail: str, *, retry_after: float = 1.0, reason: str | None = None, **fields: object
    ) -> None:
        super().__init__(detail, reason=reason, **fields)
        self.retry_after = retry_after
