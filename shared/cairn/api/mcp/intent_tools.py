"""Tools over a member's intents and profile: read, say, change, delete."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.fields import Body, Name, Text, Timestamp, at_most
from cairn.api.mcp.tool import WRITERS, Effect, RepeatKey, Tool, ToolAnswer, repeated
from cairn.api.routes.intents import IntentChangeIn, IntentIn, submission_of
from cairn.api.routes.member_profiles import (
    MemberProfileChangeIn,
    MemberProfileSourcesIn,
    parts_of,
    sources_of,
)
from cairn.bootstrap.api import ApiServices
from cairn.discovery.intents.intents import IntentChange
from cairn.discovery.intents.rows import OPEN
from cairn.discovery.intents.views import IntentView, ProfileView
from cairn.discovery.networks.acting import acting
from cairn.kernel.access import Principal

MOST_LISTED = 50

Id = Annotated[UUID, Field(strict=False)]


class IntentLine(TypedDict):
    """An intent of the member's own."""

    id: UUID
    description: str
    side: str
    state: str
    vague: NotRequired[bool]
    question_about: NotRequired[UUID]
    expires_at: NotRequired[datetime]


class IntentLines(TypedDict):
    """Intents of the member's own."""

    items: list[IntentLine]


class ActionLine(TypedDict):
    """What was changed, or would be."""

    type: str
    id: NotRequired[UUID]
    description: NotRequired[str]


class IntentDone(TypedDict):
    """What words came to, or would."""

    actions: NotRequired[list[ActionLine]]
    questions: NotRequired[list[str]]


class ProfileLine(TypedDict):
    """The member's own profile; what is not said is left out."""

    written: bool
    text: NotRequired[str]
    missing: NotRequired[list[str]]


class IntentToolIn(IntentIn):
    """Words of the member, and a key under which they are taken once."""

    idempotency_key: RepeatKey | None = None


class ListArguments(Body):
    """Whose, and how many."""

    state: Literal["open", "all"] = "open"
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 20
    client_id: Name | None = None


class SearchArguments(Body):
    """Words of an intent."""

    query: Annotated[Text, at_most(2_000)]
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 20
    client_id: Name | None = None


class UpdateArguments(IntentChangeIn):
    """Which intent, and what changes."""

    id: Id


class StandArguments(Body):
    """Which intent, and what becomes of it."""

    id: Id
    to: Literal["pause", "resume", "refresh"]
    expires_at: Timestamp | None = None
    client_id: Name | None = None


class DeleteArguments(Body):
    """Which intent."""

    id: Id
    client_id: Name | None = None


class AnswerArguments(Body):
    """Which intent, and whether it is a change of the open one that it is near to."""

    id: Id
    decision: Literal["update", "create"]
    client_id: Name | None = None


class WhoseArguments(Body):
    """Whose."""

    client_id: Name | None = None


def _create(services: ApiServices, principal: Principal, arguments: IntentToolIn) -> ToolAnswer:
    member = acting(principal, arguments.client_id)
    submission = submission_of(arguments)
    if arguments.mode == "propose":
        done = services.intents.propose(member, submission)
    else:
        key = repeated(arguments, arguments.idempotency_key)
        done = services.intents.submit(member, submission, idempotency=key)
    actions = [
        {"type": each.type, "id": each.id, "description": each.description} for each in done.actions
    ]
    lines = [f"{each.type}: {each.description or each.id}" for each in done.actions]
    text = "\n".join([*lines, *done.questions]) or "Nothing is sought, offered or changed by that."
    return ToolAnswer(
        text=text,
        structured={
            "actions": actions,
            "questions": list(done.questions),
        },
    )


def _list(services: ApiServices, principal: Principal, arguments: ListArguments) -> ToolAnswer:
    member = acting(principal, arguments.client_id)
    states = OPEN if arguments.state == "open" else None
    views = services.intents.page(member, before=None, limit=arguments.limit, states=states)
    return _lines(views)


def _search(services: ApiServices, principal: Principal, arguments: SearchArguments) -> ToolAnswer:
    member = acting(principal, arguments.client_id)
    return _lines(services.intents.search(member, arguments.query, limit=arguments.limit))


def _update(services: ApiServices, principal: Principal, arguments: UpdateArguments) -> ToolAnswer:
    change = IntentChange(
        description=arguments.description, side=arguments.side, expires_at=arguments.expires_at
    )
    member = acting(principal, arguments.client_id)
    return _shown(services.intents.update(member, arguments.id, change)[0])


def _stand(services: ApiServices, principal: Principal, arguments: StandArguments) -> ToolAnswer:
    member = acting(principal, arguments.client_id)
    deeds = {
        "pause": services.intents.pause,
        "resume": services.intents.resume,
        "refresh": partial(services.intents.refresh, expires_at=arguments.expires_at),
    }
    return _shown(deeds[arguments.to](member, arguments.id))


def _delete(services: ApiServices, principal: Principal, arguments: DeleteArguments) -> ToolAnswer:
    member = acting(principal, arguments.client_id)
    return _shown(services.intents.remove(member, arguments.id))


def _answer(services: ApiServices, principal: Principal, arguments: AnswerArguments) -> ToolAnswer:
    member = acting(principal, arguments.client_id)
    is_change = arguments.decision == "update"
    return _shown(services.intents.settle(member, arguments.id, is_change=is_change))


def _read_profile(
    services: ApiServices, principal: Principal, arguments: WhoseArguments
) -> ToolAnswer:
    return _profile(services.member_profiles.read(acting(principal, arguments.client_id)))


def _generate_profile(
    services: ApiServices, principal: Principal, arguments: MemberProfileSourcesIn
) -> ToolAnswer:
    member = acting(principal, arguments.client_id)
    return _profile(services.member_profiles.generate(member, sources_of(arguments)))


def _update_profile(
    services: ApiServices, principal: Principal, arguments: MemberProfileChangeIn
) -> ToolAnswer:
    member = acting(principal, arguments.client_id)
    return _profile(services.member_profiles.merge(member, parts_of(arguments), arguments.text))


def _lines(views: Any) -> ToolAnswer:
    text = "\n".join(f"{view.id} {view.side} ({view.state}): {view.description}" for view in views)
    items = [_line(view) for view in views]
    return ToolAnswer(text=text or "There is no intent.", structured={"items": items})


def _shown(view: IntentView) -> ToolAnswer:
    text = f"{view.side} ({view.state}): {view.description}"
    return ToolAnswer(text=text, structured=_line(view))


def _line(view: IntentView) -> dict[str, Any]:
    return {
        "id": view.id,
        "description": view.description,
        "side": view.side.value,
        "state": view.state.value,
        "vague": view.vague or None,
        "question_about": view.question_about,
        "expires_at": view.expires_at,
    }


def _profile(view: ProfileView) -> ToolAnswer:
    structured = {"written": view.written, "text": view.text, "missing": list(view.missing)}
    text = view.text or "Nothing is said of this member yet."
    return ToolAnswer(text=text, structured=structured)


CREATE = Tool(
    name="intent_create",
    title="Say what the member seeks or offers",
    description="Make, change or end intents as a text says. Answer its questions with "
    "intent_answer.",
    arguments=IntentToolIn,
    parameters={
        "text": "The member's words",
        "mode": "create, or propose: writes nothing",
    },
    result=IntentDone,
    call=_create,
    aliases=("create_intent",),
    roles=WRITERS,
    effect=Effect.CHANGE,
    of_a_client=True,
)
LIST = Tool(
    name="intent_list",
    title="List intents",
    description="What the member seeks and offers, the newest first.",
    arguments=ListArguments,
    parameters={"state": "open or all", "limit": "How many"},
    result=IntentLines,
    call=_list,
    aliases=("read_intents",),
    roles=WRITERS,
    of_a_client=True,
)
SEARCH = Tool(
    name="intent_search",
    title="Search intents",
    description="Find open intents of the member's own by their words.",
    arguments=SearchArguments,
    parameters={"query": "Words", "limit": "How many"},
    result=IntentLines,
    call=_search,
    aliases=("search_intents",),
    roles=WRITERS,
    of_a_client=True,
)
UPDATE = Tool(
    name="intent_update",
    title="Change an intent",
    description="Change what an intent says. Another side or matter makes a new one.",
    arguments=UpdateArguments,
    parameters={"id": "As intent_list gave it", "description": "What it is to say"},
    result=IntentLine,
    call=_update,
    aliases=("update_intent",),
    roles=WRITERS,
    effect=Effect.CHANGE,
    repeatable=False,
    of_a_client=True,
)
STAND = Tool(
    name="intent_move",
    title="Pause, resume or refresh an intent",
    description="Pause an intent, look for it again, or let it last anew.",
    arguments=StandArguments,
    parameters={"id": "As intent_list gave it", "to": "pause, resume or refresh"},
    result=IntentLine,
    call=_stand,
    roles=WRITERS,
    effect=Effect.CHANGE,
    of_a_client=True,
)
DELETE = Tool(
    name="intent_delete",
    title="Delete an intent",
    description="Archive an intent; what was found for it and is open expires.",
    arguments=DeleteArguments,
    parameters={"id": "As intent_list gave it"},
    result=IntentLine,
    call=_delete,
    aliases=("delete_intent",),
    roles=WRITERS,
    effect=Effect.DELETE,
    of_a_client=True,
)
ANSWER = Tool(
    name="intent_answer",
    title="Say whether an intent is a change of another",
    description="Settle what intent_create asked: update writes it there, create keeps both.",
    arguments=AnswerArguments,
    parameters={"id": "The new intent", "decision": "update or create"},
    result=IntentLine,
    call=_answer,
    roles=WRITERS,
    effect=Effect.CHANGE,
    repeatable=False,
    of_a_client=True,
)
READ_PROFILE = Tool(
    name="member_profile_read",
    title="Read the member's profile",
    description="The member's own profile as shared networks show it, and what is missing.",
    arguments=WhoseArguments,
    parameters={},
    result=ProfileLine,
    call=_read_profile,
    aliases=("read_user_profiles",),
    roles=WRITERS,
    of_a_client=True,
)
GENERATE_PROFILE = Tool(
    name="member_profile_generate",
    title="Make the member's profile",
    description="Make the missing parts from a text, documents, links, or memories if allowed.",
    arguments=MemberProfileSourcesIn,
    parameters={
        "text": "What the member says of themselves",
        "links": "Pages about the member",
        "memories": "true only if the member allows it",
    },
    result=ProfileLine,
    call=_generate_profile,
    aliases=("create_user_profile",),
    roles=WRITERS,
    effect=Effect.CHANGE,
    of_a_client=True,
)
UPDATE_PROFILE = Tool(
    name="member_profile_update",
    title="Change the member's profile",
    description="Merge what the member says of themselves, or set parts.",
    arguments=MemberProfileChangeIn,
    parameters={
        "text": "What the member says of themselves",
        "name": "Their name",
        "location": "Where they are",
        "skills": "What they can do",
    },
    result=ProfileLine,
    call=_update_profile,
    aliases=("update_user_profile",),
    roles=WRITERS,
    effect=Effect.CHANGE,
    of_a_client=True,
)
