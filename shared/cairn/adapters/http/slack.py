"""Slack's Web API, as far as tickets and channels need it. Not what its events mean.

Slack answers 200 with `ok` false where it refuses; what that means is told apart here. Errors are
those of `rest`. https://docs.slack.dev/apis/web-api/
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.adapters.http.rest import Request
from cairn.connectors.port import ConnectorUnauthorised
from cairn.kernel.errors import NotFound, RateLimited, Unavailable, ValidationFailed
from cairn.tickets.adapter import text_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.adapters.http.rest import Answer, RestService
    from cairn.kernel.errors import CairnError

API_URL = "https://slack.com/api"
EVENT = "cairn_answer"
PAGE, PAGES = 200, 10
"""Messages of a thread that are looked through for our answer: so many a page, so many pages."""

_SIGN_IN = frozenset(
    [
        "invalid_auth",
        "not_authed",
        "account_inactive",
        "token_revoked",
        "token_expired",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "ekm_access_denied",
    ]
)
_GONE = frozenset(
    [
        "channel_not_found",
        "thread_not_found",
        "not_in_channel",
        "is_archived",
        "message_not_found",
        "cant_update_message",
        "edit_window_closed",
        "user_not_found",
        "user_not_visible",
    ]
)
_PASSING = frozenset(
    ["internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackApi:
    """Implements `SlackClient`. Safe between threads; the token never shows in a repr."""

    service: RestService
    token: str = field(repr=False)

    def test(self) -> dict[str, Any]:
        """Return whose token it is."""
        return self._ask(Request(method="POST", path="/auth.test", repeatable=True)).record()

    def user(self, user: str) -> dict[str, Any]:
        """Return what is known of a user."""
        path, query = "/users.info", {"user": user}
        return self._ask(Request(method="GET", path=path, query=query, repeatable=True)).record()

    def found(self, channel: str, thread: str, key: str) -> str | None:
        """Return the time stamp of our message that carries the key, of a thread or a channel.

        NotFound where there is no such thread.
        """
        query = {"channel": channel, "limit": str(PAGE), "include_all_metadata": "true"}
        path = "/conversations.history"
        if thread:
            path, query["ts"] = "/conversations.replies", thread
        for _ in range(PAGES if thread else 1):  # of a channel the newest are enough
            request = Request(method="GET", path=path, query=query, repeatable=True)
            page = self._ask(request)
            for message in page.rows("messages"):
                if text_at(message, "metadata", "event_payload", "key") == key:
                    return text_at(message, "ts")
            cursor = text_at(page.record(), "response_metadata", "next_cursor")
            if not cursor:
                break
            query["cursor"] = cursor
        return None

    def say(self, channel: str, thread: str, body: Mapping[str, Any], key: str) -> str:
        """Post a message, in a thread where one is named.

        Sent once: OutcomeUnknown when no answer came.
        """
        body = {
            "channel": channel,
            **({"thread_ts": thread} if thread else {}),
            **body,
            "metadata": {"event_type": EVENT, "event_payload": {"key": key}},
            "unfurl_links": False,
            "unfurl_media": False,
        }
        posted = self._ask(Request(method="POST", path="/chat.postMessage", body=body))
        return text_at(posted.record(), "ts")

    def change(self, channel: str, stamp: str, body: Mapping[str, Any]) -> None:
        """Show something else in the place of one of our messages."""
        changed = {"channel": channel, "ts": stamp, **body}
        self._ask(Request(method="POST", path="/chat.update", body=changed, repeatable=True))

    def _ask(self, request: Request) -> Answer:
        headers = {"authorization": f"Bearer {self.token}", "user-agent": "cairn"}
        answer = self.service.ask(request, headers)
        if answer.record().get("ok") is not True:
            raise _refusal(text_at(answer.record(), "error")[:100])
        return answer


def _refusal(error: str) -> CairnError:
    if error in _SIGN_IN:
        return ConnectorUnauthorised("Slack refuses its sign-in; it must be renewed.")
    if error in _GONE:
        return NotFound("Slack has no such thread that the app may answer in.")
    if error == "ratelimited":
        return RateLimited("Slack has had too many requests.", retry_after=60)
    if error in _PASSING:
        return Unavailable("Slack did not do what it was asked.", reason="server-error")
    return ValidationFailed(f"Slack refused the request: {error}.", reason="refused")
