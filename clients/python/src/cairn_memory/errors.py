"""What may be raised: a tree, so that a program catches as much as it means to."""

from __future__ import annotations

from dataclasses import dataclass


class CairnError(Exception):
    """Everything that this package raises."""


class ConnectionFailed(CairnError):
    """No answer came: the deployment cannot be reached, or the connection was lost."""


class TimedOut(CairnError):
    """What was waited for did not happen in time. It may still happen."""


class BadAnswer(CairnError):
    """The answer is not one of this API: look at the address."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """A fault of one field: where it is, and the rule that it breaks."""

    location: str
    message: str


class Problem(CairnError):
    """The API refused the request (RFC 9457), by what it says about it.

    `code` is stable, such as `validation-failed`; `reason` says more; `fields` names the places;
    `request_id` finds the request in the deployment's log; `retry_after` is in seconds.
    """

    def __init__(
        self,
        detail: str,
        *,
        code: str,
        reason: str,
        status: int,
        fields: tuple[FieldError, ...] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code
        self.reason = reason
        self.status = status
        self.fields = fields
        self.request_id = request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        seen = f" [request {self.request_id}]" if self.request_id and self.status >= 500 else ""
        return f"{self.detail} ({self.code}, {self.status}){seen}"


class InvalidRequest(Problem):
    """The request itself is wrong: it will be refused again."""


class MalformedBody(InvalidRequest):
    """The body is not strict JSON."""


class ValidationFailed(InvalidRequest):
    """A field is not acceptable; `fields` names it."""


class TooLarge(InvalidRequest):
    """A body, a text or a document is above its limit."""


class MethodNotAllowed(InvalidRequest):
    """The path has no such method: client and server are of different versions."""


class UnsupportedMediaType(InvalidRequest):
    """The body is not declared as JSON."""


class AccessRefused(Problem):
    """The key does not allow this."""


class Unauthenticated(AccessRefused):
    """The key is missing, unknown, expired or revoked."""


class Denied(AccessRefused):
    """The key's role, scope or agent does not allow it."""


class NotFound(Problem):
    """Nothing with this id is visible to the key."""


class Conflict(Problem):
    """The request collides with the present state."""


class BudgetExceeded(Problem):
    """A budget of tokens, money or time is spent."""


class NotStreamable(Problem):
    """This address answers in one piece: poll what the message names."""


class TemporaryProblem(Problem):
    """It was refused for now. It was tried again as often as `retries` says."""


class RateLimited(TemporaryProblem):
    """Too many requests with this key, or of this workspace."""


class Unavailable(TemporaryProblem):
    """A dependency did not answer in time; nothing was lost."""


class ServerError(Problem):
    """A bug of the deployment; `request_id` finds it in its log."""


BY_CODE: dict[str, type[Problem]] = {
    "malformed-body": MalformedBody,
    "validation-failed": ValidationFailed,
    "too-large": TooLarge,
    "method-not-allowed": MethodNotAllowed,
    "unsupported-media-type": UnsupportedMediaType,
    "unauthenticated": Unauthenticated,
    "denied": Denied,
    "not-found": NotFound,
    "conflict": Conflict,
    "budget-exceeded": BudgetExceeded,
    "not-streamable": NotStreamable,
    "rate-limited": RateLimited,
    "unavailable": Unavailable,
    "internal": ServerError,
}
