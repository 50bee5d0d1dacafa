"""How a command fails: one clear line and what to do. The API's problems become failures here."""

from collections.abc import Mapping
from typing import Any

_ADVICE = {
    "unauthenticated": "check CAIRN_API_KEY, or source .local/cairn.env",
    "denied": "use a key with more rights: cairn keys create",
    "not-found": "check the id",
    "rate-limited": "wait a moment and run it again",
    "unavailable": "see what is down: cairn status",
    "internal": "look for the request id in the log: cairn logs api",
}


class Failure(Exception):
    """A command cannot do what was asked. `advice` says what to do about it.

    `code` is the API's name of the problem, "" for what is none of its.
    """

    def __init__(self, message: str, *, advice: str | None = None, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.code = code


def from_problem(problem: Mapping[str, Any]) -> Failure:
    """Return the failure of a problem+json answer."""
    code = str(problem.get("type", "")).rpartition(":")[2]
    message = str(problem.get("detail") or problem.get("title") or "The API refused the request.")
    message = message.removeprefix("body.")
    request = problem.get("instance")
    if request and int(problem.get("status", 0)) >= 500:
        message = f"{message} [request {request}]"
    return Failure(message, advice=_ADVICE.get(code), code=code)
