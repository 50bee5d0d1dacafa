"""Conversations: found, read as a transcript with what was drawn from it, and the log of a session.

Whoever signs in reads what their role may; the log is for owners and admins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import Form, day_of, number_of, refused_deed, wrong_field
from cairn.api.console.guard import form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.conversations.messages import Channel
from cairn.conversations.read import ConversationFilter
from cairn.conversations.search import ConversationQuery
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, Denied, NotFound, ValidationFailed
from cairn.sessions.logs import LogStream

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.api.console.guard import Visitor
    from cairn.sessions.logs import LogLine

CONVERSATIONS, LOG = "/console/conversations", "/console/session-log"
PER_PAGE, MESSAGES, LINES, HITS, OFFERED = 25, 50, 50, 20, 50
DONE = {"shared": "The key sees this conversation, and no other one."}
LOGS = {"Stream": "all", "Errors": "errors", "Events": "events"}
"""The logs of a session, as a row's menu names them."""
_OPTIONS = {
    "channel": "channel",
    "session": "session",
    "client": "client",
    "agent": "agent",
    "sender": "sender",
    "since": "from",
    "until": "to",
}
_PARAMETERS = {
    "channel": "channel",
    "session": "session_id",
    "client": "client_id",
    "agent": "agent",
    "sender": "sender",
    "since": "opened_from",
    "until": "opened_to",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What the list is narrowed to, as its form writes it; empty texts mean any."""

    channel: str = ""
    session: str = ""
    client: str = ""
    agent: str = ""
    sender: str = ""
    since: str = ""
    until: str = ""

    def filled(self) -> dict[str, str]:
        """Return what is narrowed, by field."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in values.items() if value}

    def where(self) -> ConversationFilter:
        """Return what the list shows."""
        return ConversationFilter(
            channel=pages.choice(Channel, self.channel).value if self.channel else None,
            session_id=self.session or None,
            client_id=self.client or None,
            agent=self.agent or None,
            sender=self.sender or None,
            opened_from=day_of(self.since, "since"),
            opened_to=day_of(self.until, "until"),
        )

    def link(self, **more: object) -> str:
        """Return the path of the list with this selection and what else is to be said."""
        values = self.filled() | more
        return pages.with_query(CONVERSATIONS, values)

    def command(self) -> str:
        """Return the same as a command."""
        options = [
            f" --{_OPTIONS[name]} {pages.quoted(_moment(name, value))}"
            for name, value in self.filled().items()
        ]
        return f"cairn conversations list{''.join(options)}"

    def path(self) -> str:
        """Return the same as a path of the API."""
        values = {_PARAMETERS[name]: _moment(name, value) for name, value in self.filled().items()}
        return pages.with_query("/v1/conversations", values)


def _moment(name: str, value: str) -> str:
    return f"{value}T00:00:00Z" if name in ("since", "until") else value


@routes.get(CONVERSATIONS)
def show_conversations(request: Request, visitor: Reader) -> Response:
    """List conversations, newest first; with a question, the messages that answer it."""
    query = request.query_params
    chosen = Selection(
        **{name: query[name].strip() for name in Selection.__slots__ if query.get(name)}
    )
    question = query.get("q", "").strip()
    listed = _hits(visitor, question) if question else _listed(visitor, chosen, query)
    return shown(
        request,
        visitor,
        "conversations.html",
        chosen=chosen,
        q=question,
        channels=[each.value for each in Channel],
        logs=LOGS,
        **listed,
    )


def _listed(visitor: Visitor, chosen: Selection, query: Mapping[str, str]) -> dict[str, Any]:
    page = visitor.services.conversations.list(
        visitor.principal,
        chosen.where(),
        limit=PER_PAGE,
        after=number_of(query.get("after", "")),
    )
    older = chosen.link(after=page.next_after) if page.next_after is not None else None
    return {"conversations": page.items, "answer": None, "older": older}


def _hits(visitor: Visitor, question: str) -> dict[str, Any]:
    answer = visitor.services.search_conversations(
        visitor.principal, ConversationQuery(query=question, limit=HITS)
    )
    return {"conversations": (), "answer": answer, "older": None}


@routes.get(CONVERSATIONS + "/{conversation_id}")
def show_conversation(conversation_id: str, request: Request, visitor: Reader) -> Response:
    """Show what was said, oldest first, and the memories that each message gave."""
    return _conversation(request, visitor, id_of(conversation_id))


def _conversation(
    request: Request, visitor: Visitor, id_: UUID, *, form: Form | None = None, status: int = 200
) -> Response:
    conversation, page = visitor.services.conversations.get(
        visitor.principal,
        id_,
        limit=MESSAGES,
        after=number_of(request.query_params.get("after", "")),
    )
    return shown(
        request,
        visitor,
        "conversation.html",
        status=status,
        conversation=conversation,
        messages=page.items,
        following=page.next_after,
        log=f"{LOG}?{urlencode({'session': conversation.session_id})}",
        form=form or Form(),
        done=DONE.get(request.query_params.get("done", ""), ""),
        **_keys(visitor, id_),
    )


def _keys(visitor: Visitor, id_: UUID) -> dict[str, Any]:
    """Return the keys that see a conversation, and the newest that could; for who binds them."""
    if not visitor.is_admin:
        return {"sees": (), "could": ()}
    bound = visitor.services.bind_key.keys_of(visitor.principal, id_)
    every = visitor.services.list_keys(visitor.principal)
    public = [each for each in every if each.role is Role.PUBLIC]
    good = [each for each in public if not each.revoked_at and each.id not in bound]
    newest = sorted(good, key=lambda each: each.created_at, reverse=True)
    return {"sees": [each for each in public if each.id in bound], "could": newest[:OFFERED]}


@routes.post(CONVERSATIONS + "/{conversation_id}/keys")
def share_conversation(conversation_id: str, request: Request, body: Body) -> Response:
    """Let a public key see it, and no other, for good; the form says that it is meant."""
    (visitor, form), id_ = form_from(request, body), id_of(conversation_id)
    visitor.principal.require(Role.ADMIN)
    visitor.services.conversations.get(visitor.principal, id_, limit=1, after=None)
    try:
        require_meant(form)
        key_id = _key_id(form.get("key_id", "").strip())
        visitor.services.bind_key(visitor.principal, id_, key_id)
    except (Conflict, ValidationFailed) as error:
        return _conversation(request, visitor, id_, **refused_deed(form, error, "key_id"))
    return pages.go_to(f"{CONVERSATIONS}/{id_}?done=shared")


def _key_id(text: str) -> UUID:
    try:
        return id_of(text)
    except NotFound as error:
        raise wrong_field("key_id", "is the id of a public key, as under Keys") from error


@routes.post(CONVERSATIONS + "/{conversation_id}/infer")
def change_conversation(conversation_id: str, request: Request, body: Body) -> Response:
    """Let memories be drawn from what is said from now on, or not."""
    (visitor, form), id_ = form_from(request, body), id_of(conversation_id)
    if not visitor.works:
        raise Denied("Your role reads conversations. Ask an operator.", reason="role")
    if form.get("infer") not in ("yes", "no"):
        raise ValidationFailed("Say whether memories are drawn: yes or no.")
    visitor.services.change_conversation(visitor.principal, id_, infer=form["infer"] == "yes")
    return pages.go_to(f"{CONVERSATIONS}/{id_}")


# What is logged of a session


@routes.get(LOG)
def show_log(request: Request, visitor: Reader) -> Response:
    """Show the lines of a session's log, newest first: all, errors or events."""
    query = request.query_params
    session, stream = query.get("session", "").strip(), query.get("stream", "all")
    chosen = pages.choice(LogStream, stream)
    lines: list[LogLine] = []
    if session:
        after = (query["at"], id_of(query["line"])) if "at" in query and "line" in query else None
        read = visitor.services.read_session_log(
            visitor.principal, session, stream=chosen, after=after, limit=LINES + 1
        )
        lines = list(read)
    elif not visitor.is_admin:
        raise Denied("Only owners and admins read what is logged of a session.", reason="role")
    older = None
    if len(lines) > LINES:
        last = lines[LINES - 1]
        values = {"session": session, "stream": chosen, "at": last.at.isoformat(), "line": last.id}
        older = f"{LOG}?{urlencode(values)}"
    return shown(
        request,
        visitor,
        "session_log.html",
        session=session,
        stream=chosen.value,
        streams=[each.value for each in LogStream],
        path=f"{LOG}?{urlencode({'session': session})}&stream=",
        newest="at" not in query,
        lines=lines[:LINES],
        subjects={each.id: _subject(each.source.value, each.subject_id) for each in lines},
        older=older,
        call=f"/v1/logs?{urlencode({'session_id': session, 'stream': chosen})}",
    )


def _subject(source: str, subject_id: UUID) -> str | None:
    """Return the page of what a line is of; None where there is none."""
    if source == "search":
        return f"/console/searches/{subject_id}"
    if source == "tool":
        return f"/console/cited?{urlencode({'citation': f'[tool:{subject_id}]'})}"
    return None
