"""Every operation of the API, as a call to make. Made by scripts/clients.py: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from cairn_memory import models
from cairn_memory._call import Call, part, present


def get_health() -> Call[models.Health]:
    """Is the process up?

    Answer without touching anything else.
    """
    return Call(
        method="GET",
        path="/healthz",
        answer=models.Health,
    )


def get_readiness() -> Call[models.Readiness]:
    """Can it serve?

    Ask the database for one row: the oldest work that nobody took.
    """
    return Call(
        method="GET",
        path="/readyz",
        answer=models.Readiness,
    )


def list_agents() -> Call[models.AgentList]:
    """List agents.

    List the registered agents, disabled ones too, and how their lists cover what exists.
    """
    return Call(
        method="GET",
        path="/v1/agents",
        answer=models.AgentList,
    )


def register_agent(
    body: models.AgentIn,
) -> Call[models.AgentWithKey]:
    """Register an agent.

    Register an agent: an admin any, with a key for it; an agent's key that has none,
    itself.
    """
    return Call(
        method="POST",
        path="/v1/agents",
        answer=models.AgentWithKey,
        body=body,
    )


def register_negotiation_key(
    agent: UUID | str,
    body: models.PublicKeyIn,
) -> Call[models.PublicKeyShown]:
    """Register an agent's public key.

    Register the key by which a member's agent signs its turns; the private one stays there.
    """
    return Call(
        method="PUT",
        path=f"/v1/agents/{part(agent)}/negotiations/key",
        answer=models.PublicKeyShown,
        body=body,
    )


def pick_up_turn(
    agent: UUID | str,
    body: models.PickUpIn,
) -> Call[models.PickUpShown]:
    """Take up a turn.

    Take up the turn whose time is over first, for as long as `claim_until`.  Whoever asks
    is there: from then on turns wait for it. With `takeover` false the system's advocate
    never answers in its place, and the negotiation ends when its time passes.
    """
    return Call(
        method="POST",
        path=f"/v1/agents/{part(agent)}/negotiations/pickup",
        answer=models.PickUpShown,
        body=body,
    )


def respond_to_negotiation(
    agent: UUID | str,
    negotiation_id: UUID | str,
    body: models.NegotiationTurnIn,
) -> Call[models.NegotiationView]:
    """Take one's turn.

    Propose, counter, accept, reject or question, as a member's own agent.
    """
    return Call(
        method="POST",
        path=f"/v1/agents/{part(agent)}/negotiations/{part(negotiation_id)}/respond",
        answer=models.NegotiationView,
        body=body,
    )


def get_agent(
    slug: UUID | str,
) -> Call[models.AgentView]:
    """Show an agent.

    Show an agent; an agent's key reads its own.
    """
    return Call(
        method="GET",
        path=f"/v1/agents/{part(slug)}",
        answer=models.AgentView,
    )


def change_agent(
    slug: UUID | str,
    body: models.AgentChangeIn,
) -> Call[models.AgentView]:
    """Change an agent.

    Change what is given of an agent, disable or enable it; its next request is held to
    that.
    """
    return Call(
        method="PATCH",
        path=f"/v1/agents/{part(slug)}",
        answer=models.AgentView,
        body=body,
    )


def bake_knowledge(
    slug: UUID | str,
    body: models.KnowledgeIn,
) -> Call[models.KnowledgeView]:
    """Bake what an agent is given.

    Keep a snapshot of what is tagged for an agent and of what its subscription finds.
    """
    return Call(
        method="POST",
        path=f"/v1/agents/{part(slug)}/knowledge",
        answer=models.KnowledgeView,
        body=body,
    )


def read_knowledge(
    slug: UUID | str,
    *,
    version: int | None = None,
    form: Literal["full", "summary"] | None = None,
) -> Call[models.KnowledgeView]:
    """Read what an agent is given.

    Read an agent's snapshot, by its summary where it has one; an agent's key reads its own.
    """
    return Call(
        method="GET",
        path=f"/v1/agents/{part(slug)}/knowledge",
        answer=models.KnowledgeView,
        query={"version": version, "form": form},
    )


def list_approvals(
    *,
    state: Literal["pending", "granted", "used", "rejected", "edited", "expired", "void"]
    | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.QuestionPage]:
    """List approvals.

    List what people were asked: the tool, the state, the times; not with which values.
    """
    return Call(
        method="GET",
        path="/v1/approvals",
        answer=models.QuestionPage,
        query={"state": state, "limit": limit, "cursor": cursor},
    )


def get_approval(
    approval_id: UUID | str,
) -> Call[models.ApprovalView]:
    """Show an approval.

    Show tool, arguments, evidence, the rule that asks, rollback and expiry.
    """
    return Call(
        method="GET",
        path=f"/v1/approvals/{part(approval_id)}",
        answer=models.ApprovalView,
    )


def approve_action(
    approval_id: UUID | str,
    body: models.ApproveIn,
) -> Call[models.Decided]:
    """Approve an action.

    Say yes to exactly what you were shown; it counts once, until it expires.
    """
    return Call(
        method="POST",
        path=f"/v1/approvals/{part(approval_id)}/approve",
        answer=models.Decided,
        body=body,
    )


def edit_action(
    approval_id: UUID | str,
    body: models.EditActionIn,
) -> Call[models.Decided]:
    """Approve an action with other arguments.

    Say yes to other arguments: the rules look at them, then they count as approved.
    """
    return Call(
        method="POST",
        path=f"/v1/approvals/{part(approval_id)}/edit",
        answer=models.Decided,
        body=body,
    )


def reject_action(
    approval_id: UUID | str,
    body: models.RejectActionIn,
) -> Call[models.Decided]:
    """Reject an action.

    Say no, and why.
    """
    return Call(
        method="POST",
        path=f"/v1/approvals/{part(approval_id)}/reject",
        answer=models.Decided,
        body=body,
    )


def list_candidates(
    *,
    state: Literal["staged", "accepted", "rejected", "archived"] | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.CandidatePage]:
    """List what may be learned.

    List resolutions that wait for a person, and what became of others.
    """
    return Call(
        method="GET",
        path="/v1/candidates",
        answer=models.CandidatePage,
        query={"state": state, "limit": limit, "cursor": cursor},
    )


def get_candidate(
    candidate_id: UUID | str,
) -> Call[models.CandidateView]:
    """Show a candidate.

    Show the redacted ticket, how it was resolved and what was done.
    """
    return Call(
        method="GET",
        path=f"/v1/candidates/{part(candidate_id)}",
        answer=models.CandidateView,
    )


def accept_candidate(
    candidate_id: UUID | str,
    body: models.AcceptIn,
) -> Call[models.CandidateView]:
    """Accept a candidate.

    Make it a verified document. Again finishes what was interrupted and changes nothing
    else.
    """
    return Call(
        method="POST",
        path=f"/v1/candidates/{part(candidate_id)}/accept",
        answer=models.CandidateView,
        body=body,
    )


def edit_candidate(
    candidate_id: UUID | str,
    body: models.EditIn,
) -> Call[models.CandidateView]:
    """Edit a candidate.

    Replace its title or text; it waits on.
    """
    return Call(
        method="POST",
        path=f"/v1/candidates/{part(candidate_id)}/edit",
        answer=models.CandidateView,
        body=body,
    )


def reject_candidate(
    candidate_id: UUID | str,
    body: models.RejectIn,
) -> Call[models.CandidateView]:
    """Reject a candidate.

    Say no, and why.
    """
    return Call(
        method="POST",
        path=f"/v1/candidates/{part(candidate_id)}/reject",
        answer=models.CandidateView,
        body=body,
    )


def list_channels() -> Call[models.MessagingChannelList]:
    """List messaging channels.

    List channels, and how asking them goes.
    """
    return Call(
        method="GET",
        path="/v1/channels",
        answer=models.MessagingChannelList,
    )


def add_channel(
    body: models.MessagingChannelIn,
) -> Call[models.MessagingChannelView]:
    """Add a messaging channel.

    Keep a channel. Its secrets are sealed, and never shown again.
    """
    return Call(
        method="POST",
        path="/v1/channels",
        answer=models.MessagingChannelView,
        body=body,
    )


def get_channel(
    channel_id: UUID | str,
) -> Call[models.MessagingChannelView]:
    """Show a messaging channel.

    Show a channel.
    """
    return Call(
        method="GET",
        path=f"/v1/channels/{part(channel_id)}",
        answer=models.MessagingChannelView,
    )


def change_channel(
    channel_id: UUID | str,
    body: models.MessagingChannelChangeIn,
) -> Call[models.MessagingChannelView]:
    """Change a messaging channel.

    Change a channel. `settings` are set anew, all of them.
    """
    return Call(
        method="PATCH",
        path=f"/v1/channels/{part(channel_id)}",
        answer=models.MessagingChannelView,
        body=body,
    )


def remove_channel(
    channel_id: UUID | str,
) -> Call[models.MessagingChannelRemoved]:
    """Remove a messaging channel.

    Remove a channel with its secrets, its sessions, and who is whom there.
    """
    return Call(
        method="DELETE",
        path=f"/v1/channels/{part(channel_id)}",
        answer=models.MessagingChannelRemoved,
    )


def check_channel(
    channel_id: UUID | str,
) -> Call[models.ChannelChecked]:
    """Ask a messaging channel whether its keys are good.

    Ask the channel by which name it knows the app.
    """
    return Call(
        method="POST",
        path=f"/v1/channels/{part(channel_id)}/check",
        answer=models.ChannelChecked,
    )


def make_channel_code(
    channel_id: UUID | str,
    body: models.ChannelCodeIn,
) -> Call[models.ChannelCode]:
    """Make a code that ties somebody of a messaging channel.

    Make a one-time code: who sends it to the app, directly, is this person from then on.
    """
    return Call(
        method="POST",
        path=f"/v1/channels/{part(channel_id)}/codes",
        answer=models.ChannelCode,
        body=body,
    )


def receive_channel_event(
    channel_id: UUID | str,
) -> Call[models.ChannelHeard]:
    """Take what a messaging channel delivers.

    Keep what was said or clicked; it is worked at later. Proved by its signature, by no
    key.
    """
    return Call(
        method="POST",
        path=f"/v1/channels/{part(channel_id)}/events",
        answer=models.ChannelHeard,
    )


def list_channel_ties(
    channel_id: UUID | str,
) -> Call[models.TieList]:
    """List who of a messaging channel is who here.

    List who may decide and answer in a channel, as far as their roles let them.
    """
    return Call(
        method="GET",
        path=f"/v1/channels/{part(channel_id)}/ties",
        answer=models.TieList,
    )


def untie_channel_person(
    channel_id: UUID | str,
    person_id: UUID | str,
) -> Call[models.MessagingChannelRemoved]:
    """Untie a person from a messaging channel.

    Remove a tie.
    """
    return Call(
        method="DELETE",
        path=f"/v1/channels/{part(channel_id)}/ties/{part(person_id)}",
        answer=models.MessagingChannelRemoved,
    )


def chat(
    body: models.ChatIn,
) -> Call[models.TurnView | str]:
    """Say something and get an answer.

    Answer one message by a model with tools, or by rules where no model is configured.
    Asked for `text/event-stream`, a server streams the trace events as they come. Behind
    API Gateway send a `turn_id` of your own and poll its chunks while this answers.
    """
    return Call(
        method="POST",
        path="/v1/chat",
        answer=models.TurnView | str,
        body=body,
    )


def get_chat_action(
    action_id: UUID | str,
) -> Call[models.ActionView]:
    """Show what waits for the person.

    Show an action: the tool, its arguments and their hash, and what became of it.
    """
    return Call(
        method="GET",
        path=f"/v1/chat/actions/{part(action_id)}",
        answer=models.ActionView,
    )


def decide_chat_action(
    action_id: UUID | str,
    body: models.DecisionIn,
) -> Call[models.ActionView]:
    """Confirm or cancel what waits.

    Do it once, or drop it: within 15 minutes, with the arguments that the person saw.
    """
    return Call(
        method="POST",
        path=f"/v1/chat/actions/{part(action_id)}",
        answer=models.ActionView,
        body=body,
    )


def get_chat_turn(
    turn_id: UUID | str,
) -> Call[models.TurnView]:
    """Show a turn.

    Show a turn of this key: its state, its answer, and what waits for the person.
    """
    return Call(
        method="GET",
        path=f"/v1/chat/{part(turn_id)}",
        answer=models.TurnView,
    )


def abort_chat_turn(
    turn_id: UUID | str,
) -> Call[models.TurnView]:
    """Stop a turn.

    Stop a turn that runs; one that has ended stays as it is. What it did before stays done.
    """
    return Call(
        method="POST",
        path=f"/v1/chat/{part(turn_id)}/abort",
        answer=models.TurnView,
    )


def list_chat_chunks(
    turn_id: UUID | str,
    *,
    after: int | None = None,
    limit: int | None = None,
) -> Call[models.ChatChunks]:
    """Poll a turn's events.

    List what was told of a turn. Ask again with `after` of the answer until `ended`.
    """
    return Call(
        method="GET",
        path=f"/v1/chat/{part(turn_id)}/chunks",
        answer=models.ChatChunks,
        query={"after": after, "limit": limit},
    )


def follow_chat_turn(
    turn_id: UUID | str,
    *,
    after: int | None = None,
    last_event_id: str | None = None,
) -> Call[str]:
    """Follow a turn live, or again (server-sent events).

    Stream a turn's events from a number on, until it ends. Events are kept for a day.
    """
    return Call(
        method="GET",
        path=f"/v1/chat/{part(turn_id)}/events",
        answer=str,
        query={"after": after},
        headers=present({"last-event-id": last_event_id}),
    )


def list_chat_lines(
    turn_id: UUID | str,
    *,
    after: int | None = None,
) -> Call[models.ChatLines]:
    """Poll what a person says.

    List what was said since a person took over the chat that this turn is of.
    """
    return Call(
        method="GET",
        path=f"/v1/chat/{part(turn_id)}/lines",
        answer=models.ChatLines,
        query={"after": after},
    )


def list_chats(
    *,
    state: Literal["pending", "active", "returned", "closed", "ticket"] | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.ChatPage]:
    """List chats that go to people.

    List who waits for a person, whom one answers, and how chats ended.
    """
    return Call(
        method="GET",
        path="/v1/chats",
        answer=models.ChatPage,
        query={"state": state, "limit": limit, "cursor": cursor},
    )


def take_chat(
    body: models.TakeIn,
) -> Call[models.ChatView]:
    """Take a chat over from the agent.

    Answer a chat that the agent answers, whoever's it is; what it was doing stops.
    """
    return Call(
        method="POST",
        path="/v1/chats",
        answer=models.ChatView,
        body=body,
    )


def list_live_chats(
    *,
    limit: int | None = None,
) -> Call[models.LiveChats]:
    """List chats that the agent answers.

    List the chats under way, each with a turn by which a person takes it over.
    """
    return Call(
        method="GET",
        path="/v1/chats/live",
        answer=models.LiveChats,
        query={"limit": limit},
    )


def get_chat_numbers() -> Call[models.ChatNumbers]:
    """See how long customers wait.

    Show how many wait and are answered, how long customers waited, and how chats ended.
    """
    return Call(
        method="GET",
        path="/v1/chats/numbers",
        answer=models.ChatNumbers,
    )


def get_chat(
    chat_id: UUID | str,
) -> Call[models.ChatDetail]:
    """Show a chat with all that whoever takes it over needs.

    Show the transcript, calls of tools, citations, the agent's memory, and why.
    """
    return Call(
        method="GET",
        path=f"/v1/chats/{part(chat_id)}",
        answer=models.ChatDetail,
    )


def accept_chat(
    chat_id: UUID | str,
    body: models.AcceptChatIn,
) -> Call[models.ChatView]:
    """Answer a chat.

    Answer from now on: of two who accept at once one is told who was quicker.
    """
    return Call(
        method="POST",
        path=f"/v1/chats/{part(chat_id)}/accept",
        answer=models.ChatView,
        body=body,
    )


def close_chat(
    chat_id: UUID | str,
    body: models.CloseIn,
) -> Call[models.ChatView]:
    """Close a chat.

    End a chat that you have solved, and say how.
    """
    return Call(
        method="POST",
        path=f"/v1/chats/{part(chat_id)}/close",
        answer=models.ChatView,
        body=body,
    )


def list_lines_of_chat(
    chat_id: UUID | str,
    *,
    after: int | None = None,
) -> Call[models.LinesOfChat]:
    """Poll a chat.

    List what was said since a person was asked for. Ask again with `after` of the answer.
    """
    return Call(
        method="GET",
        path=f"/v1/chats/{part(chat_id)}/lines",
        answer=models.LinesOfChat,
        query={"after": after},
    )


def release_chat(
    chat_id: UUID | str,
) -> Call[models.ChatView]:
    """Leave a chat to another operator.

    Let the chat wait for somebody else; nobody in time, and it becomes a ticket.
    """
    return Call(
        method="POST",
        path=f"/v1/chats/{part(chat_id)}/release",
        answer=models.ChatView,
    )


def return_chat(
    chat_id: UUID | str,
) -> Call[models.ChatView]:
    """Give a chat back to the agent.

    Let the agent answer again; it knows what was said meanwhile.
    """
    return Call(
        method="POST",
        path=f"/v1/chats/{part(chat_id)}/return",
        answer=models.ChatView,
    )


def say_in_chat(
    chat_id: UUID | str,
    body: models.SayIn,
) -> Call[models.Line]:
    """Say something to the customer.

    Say something in a chat that you have accepted.
    """
    return Call(
        method="POST",
        path=f"/v1/chats/{part(chat_id)}/say",
        answer=models.Line,
        body=body,
    )


def ticket_of_chat(
    chat_id: UUID | str,
) -> Call[models.ChatView]:
    """Make a ticket of a chat.

    End a chat with a ticket in the queue that holds all that was said; the customer is
    told.
    """
    return Call(
        method="POST",
        path=f"/v1/chats/{part(chat_id)}/ticket",
        answer=models.ChatView,
    )


def put_checkpoint(
    body: models.CheckpointIn,
) -> Call[models.CheckpointKept]:
    """Keep a checkpoint.

    Keep a state, sealed as it came; no search finds it, and the ledger has no entry of it.
    """
    return Call(
        method="PUT",
        path="/v1/checkpoints",
        answer=models.CheckpointKept,
        body=body,
    )


def list_checkpoints(
    *,
    thread_id: str | None = None,
    namespace: str | None = None,
    checkpoint_id: str | None = None,
    before: str | None = None,
    run_id: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.CheckpointItemPage]:
    """List checkpoints.

    List those of this key's agent and one client, by their ids; a page is at most 5 MiB.
    """
    return Call(
        method="GET",
        path="/v1/checkpoints",
        answer=models.CheckpointItemPage,
        query={
            "thread_id": thread_id,
            "namespace": namespace,
            "checkpoint_id": checkpoint_id,
            "before": before,
            "run_id": run_id,
            "limit": limit,
            "cursor": cursor,
            "client_id": client_id,
            "user_id": user_id,
        },
    )


def remove_checkpoints(
    *,
    thread_id: str | None = None,
    namespace: str | None = None,
    checkpoint_id: str | None = None,
    before: str | None = None,
    run_id: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.CheckpointsRemoved]:
    """Take checkpoints away.

    Take away those of a thread or of a run, for good, with what tasks wrote beside them.
    """
    return Call(
        method="DELETE",
        path="/v1/checkpoints",
        answer=models.CheckpointsRemoved,
        query={
            "thread_id": thread_id,
            "namespace": namespace,
            "checkpoint_id": checkpoint_id,
            "before": before,
            "run_id": run_id,
            "client_id": client_id,
            "user_id": user_id,
        },
    )


def put_checkpoint_writes(
    body: models.CheckpointWritesIn,
) -> Call[models.CheckpointKept]:
    """Keep what a task wrote after a checkpoint.

    Keep what a program needs to go on from the middle of a step.
    """
    return Call(
        method="PUT",
        path="/v1/checkpoints/writes",
        answer=models.CheckpointKept,
        body=body,
    )


def claim(
    body: models.ClaimIn,
) -> Call[models.KeyWithSecret]:
    """Claim a new deployment.

    Exchange the one-time token for the first admin key; works once.
    """
    return Call(
        method="POST",
        path="/v1/claim",
        answer=models.KeyWithSecret,
        body=body,
    )


def list_connectors() -> Call[models.ConnectorList]:
    """List connectors.

    List connectors with how they are; never their secrets.
    """
    return Call(
        method="GET",
        path="/v1/connectors",
        answer=models.ConnectorList,
    )


def register_connector(
    body: models.ConnectorIn,
) -> Call[models.ConnectorView]:
    """Register a connector.

    Keep a connector and start it. One that does not start is kept too: its state says why.
    """
    return Call(
        method="POST",
        path="/v1/connectors",
        answer=models.ConnectorView,
        body=body,
    )


def get_connector_health() -> Call[models.ConnectorsHealth]:
    """Show how connectors are.

    Show how connectors were when they were last called or looked at.
    """
    return Call(
        method="GET",
        path="/v1/connectors/health",
        answer=models.ConnectorsHealth,
    )


def get_connector(
    connector: UUID | str,
) -> Call[models.ConnectorView]:
    """Show a connector.

    Show a connector with how it was when it was last called or looked at.
    """
    return Call(
        method="GET",
        path=f"/v1/connectors/{part(connector)}",
        answer=models.ConnectorView,
    )


def change_connector(
    connector: UUID | str,
    body: models.ConnectorChangeIn,
) -> Call[models.ConnectorView]:
    """Change a connector.

    Change settings, secrets, scopes, autonomy or criticality. What runs is started anew.
    """
    return Call(
        method="PATCH",
        path=f"/v1/connectors/{part(connector)}",
        answer=models.ConnectorView,
        body=body,
    )


def remove_connector(
    connector: UUID | str,
) -> Call[models.ConnectorRemoved]:
    """Remove a connector.

    Remove a connector with its secrets. What was done through it stays in the ledger.
    """
    return Call(
        method="DELETE",
        path=f"/v1/connectors/{part(connector)}",
        answer=models.ConnectorRemoved,
    )


def check_connector(
    connector: UUID | str,
) -> Call[models.ConnectorView]:
    """Look how a connector is.

    Ask a connector whether it is well, as the schedule does.
    """
    return Call(
        method="POST",
        path=f"/v1/connectors/{part(connector)}/check",
        answer=models.ConnectorView,
    )


def restart_connector(
    connector: UUID | str,
) -> Call[models.ConnectorView]:
    """Restart a connector.

    Start a connector anew. What it lists now counts from now on; a degradation ends.
    """
    return Call(
        method="POST",
        path=f"/v1/connectors/{part(connector)}/restart",
        answer=models.ConnectorView,
    )


def begin_connector_sign_in(
    connector: UUID | str,
) -> Call[models.SignInShown]:
    """Begin to sign in to a connector.

    Ask its authorization server for a device code; the one under way while it has time
    left.
    """
    return Call(
        method="POST",
        path=f"/v1/connectors/{part(connector)}/sign-in",
        answer=models.SignInShown,
    )


def get_connector_sign_in(
    connector: UUID | str,
) -> Call[models.SignInShown]:
    """Show how signing in to a connector stands.

    Show how signing in stands. Nobody is asked.
    """
    return Call(
        method="GET",
        path=f"/v1/connectors/{part(connector)}/sign-in",
        answer=models.SignInShown,
    )


def end_connector_sign_in(
    connector: UUID | str,
) -> Call[models.ConnectorRemoved]:
    """Sign out of a connector.

    Forget the token, and the sign-in under way.
    """
    return Call(
        method="DELETE",
        path=f"/v1/connectors/{part(connector)}/sign-in",
        answer=models.ConnectorRemoved,
    )


def poll_connector_sign_in(
    connector: UUID | str,
) -> Call[models.SignInShown]:
    """Ask whether a sign-in to a connector is done.

    Ask the authorization server, if it is time to: `ask_again_in` says when it is again.
    """
    return Call(
        method="POST",
        path=f"/v1/connectors/{part(connector)}/sign-in/poll",
        answer=models.SignInShown,
    )


def list_connector_tools(
    connector: UUID | str,
) -> Call[models.ToolList]:
    """List a connector's tools.

    List the tools of a connector as the rules of safety read them.
    """
    return Call(
        method="GET",
        path=f"/v1/connectors/{part(connector)}/tools",
        answer=models.ToolList,
    )


def call_connector_tool(
    connector: UUID | str,
    tool: UUID | str,
    body: models.ToolCallIn,
) -> Call[models.ToolAnswer]:
    """Try a tool out.

    Call a tool as a dry run, or one that reads. Writes go through investigations.
    """
    return Call(
        method="POST",
        path=f"/v1/connectors/{part(connector)}/tools/{part(tool)}",
        answer=models.ToolAnswer,
        body=body,
    )


def start_consolidation(
    body: models.ConsolidationIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.RunAccepted | models.Preview]:
    """Consolidate memories.

    Wake the consolidation machine, which also runs every six hours; or plan only.  A dry
    run plans for a few seconds; `more` says that memories were left for lack of time.
    """
    return Call(
        method="POST",
        path="/v1/consolidations",
        answer=models.RunAccepted | models.Preview,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def list_consolidations(
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.RunPage]:
    """List runs of the consolidation.

    List runs, dry ones too, with what they did, what they cost and why they failed.
    """
    return Call(
        method="GET",
        path="/v1/consolidations",
        answer=models.RunPage,
        query={"limit": limit, "cursor": cursor},
    )


def get_consolidation(
    run_id: UUID | str,
) -> Call[models.RunView | str]:
    """Follow one run.

    Show a run: waiting, running, finished or failed, and its counts so far.  Asked for
    `text/event-stream`, a server streams its trace events until it ends.
    """
    return Call(
        method="GET",
        path=f"/v1/consolidations/{part(run_id)}",
        answer=models.RunView | str,
    )


def add_contact(
    body: models.ContactIn,
) -> Call[models.ContactView]:
    """Add a contact.

    Add somebody the member knows, or change what is held of them; nobody else sees it.
    """
    return Call(
        method="POST",
        path="/v1/contacts",
        answer=models.ContactView,
        body=body,
    )


def list_contacts(
    *,
    limit: int | None = None,
    cursor: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.ContactPage]:
    """List contacts.

    List the contacts of one member.
    """
    return Call(
        method="GET",
        path="/v1/contacts",
        answer=models.ContactPage,
        query={"limit": limit, "cursor": cursor, "client_id": client_id, "user_id": user_id},
    )


def import_contacts(
    body: models.ContactImportIn,
) -> Call[models.ContactsImported]:
    """Import contacts from a file.

    Take in a CSV of an address book, vCards, a mailbox (mbox) or a calendar (iCalendar).
    The same file again changes nothing. Of what is held already, gaps are filled.
    """
    return Call(
        method="POST",
        path="/v1/contacts/import",
        answer=models.ContactsImported,
        body=body,
    )


def search_contacts(
    body: models.ContactSearchIn,
) -> Call[models.ContactList]:
    """Search contacts.

    Find contacts by words of their names, addresses, organisations, titles and notes.
    """
    return Call(
        method="POST",
        path="/v1/contacts/search",
        answer=models.ContactList,
        body=body,
    )


def get_contact(
    contact_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.ContactView]:
    """Show a contact.

    Show one contact of the member.
    """
    return Call(
        method="GET",
        path=f"/v1/contacts/{part(contact_id)}",
        answer=models.ContactView,
        query={"client_id": client_id, "user_id": user_id},
    )


def remove_contact(
    contact_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.ContactGone]:
    """Remove a contact.

    Remove a contact; to erase all that is held of somebody, forget them.
    """
    return Call(
        method="DELETE",
        path=f"/v1/contacts/{part(contact_id)}",
        answer=models.ContactGone,
        query={"client_id": client_id, "user_id": user_id},
    )


def invite_contact(
    contact_id: UUID | str,
    body: models.ContactInviteIn,
) -> Call[models.ContactInvited]:
    """Invite a contact into a network.

    Make an invite for a contact, who is a ghost until they take it. Nobody is written to.
    """
    return Call(
        method="POST",
        path=f"/v1/contacts/{part(contact_id)}/invite",
        answer=models.ContactInvited,
        body=body,
    )


def context(
    body: models.ContextIn,
) -> Call[models.ContextAnswer]:
    """Recall for a prompt.

    Search, and write what was found into one block with a citation for each source.  Stored
    texts are data: each is quoted in an element of its own, and marked when it reads like
    an attempt to direct a model. Neighbours and related nodes are there as far as they fit.
    """
    return Call(
        method="POST",
        path="/v1/context",
        answer=models.ContextAnswer,
        body=body,
        reads=True,
    )


def compact(
    body: models.CompactIn,
) -> Call[models.CompactedAnswer]:
    """Make a transcript shorter.

    Record every turn as a message of its conversation; give back what an agent goes on
    with.  The last turns stay in their own words; of the others a summary does, in five
    parts. What is in neither is found by recall. The same transcript again records nothing
    twice.
    """
    return Call(
        method="POST",
        path="/v1/context/compact",
        answer=models.CompactedAnswer,
        body=body,
    )


def begin_session(
    body: models.SessionIn,
) -> Call[models.SessionContext]:
    """Begin a session.

    Return the review digest, open tasks, what waits for a person, and what was said before.
    Nothing is searched for and nothing is written. Every part is what the key may read.
    """
    return Call(
        method="POST",
        path="/v1/context/session",
        answer=models.SessionContext,
        body=body,
    )


def list_conversations(
    *,
    channel: Literal["webchat", "whatsapp", "telegram", "slack", "email", "api", "teams"]
    | None = None,
    session_id: str | None = None,
    agent: str | None = None,
    sender: str | None = None,
    opened_from: datetime | None = None,
    opened_to: datetime | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.ConversationPage]:
    """List conversations, newest first.

    List what the key may see: a public key the one conversation it is bound to.
    """
    return Call(
        method="GET",
        path="/v1/conversations",
        answer=models.ConversationPage,
        query={
            "channel": channel,
            "session_id": session_id,
            "agent": agent,
            "sender": sender,
            "opened_from": opened_from,
            "opened_to": opened_to,
            "limit": limit,
            "cursor": cursor,
            "client_id": client_id,
            "user_id": user_id,
        },
    )


def record_message(
    body: models.MessageIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.MessageRecorded]:
    """Record a message.

    Record what was said.  A web chat is recorded from its user's second message on; every
    other channel from the first, whether its sender was let in or not.
    """
    return Call(
        method="POST",
        path="/v1/conversations/messages",
        answer=models.MessageRecorded,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def search_conversations(
    body: models.ConversationSearchIn,
) -> Call[models.MessagesFound]:
    """Search what was said.

    Find messages by meaning and by words. A public key searches its own conversation only.
    """
    return Call(
        method="POST",
        path="/v1/conversations/search",
        answer=models.MessagesFound,
        body=body,
        reads=True,
    )


def get_conversation(
    conversation_id: UUID | str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.ConversationWithMessages]:
    """Read a conversation.

    Read the messages of a conversation, oldest first.
    """
    return Call(
        method="GET",
        path=f"/v1/conversations/{part(conversation_id)}",
        answer=models.ConversationWithMessages,
        query={"limit": limit, "cursor": cursor},
    )


def change_conversation(
    conversation_id: UUID | str,
    body: models.ConversationChange,
) -> Call[models.ConversationChanged]:
    """Say whether memories are drawn from a conversation.

    Let memories be drawn from what is said from now on, or not. What was drawn stays.
    """
    return Call(
        method="PATCH",
        path=f"/v1/conversations/{part(conversation_id)}",
        answer=models.ConversationChanged,
        body=body,
    )


def bind_conversation_key(
    conversation_id: UUID | str,
    key_id: UUID | str,
) -> Call[models.KeyBound]:
    """Bind a public key to a conversation.

    Let a public key see one conversation. It cannot be bound to another one afterwards.
    """
    return Call(
        method="PUT",
        path=f"/v1/conversations/{part(conversation_id)}/keys/{part(key_id)}",
        answer=models.KeyBound,
    )


def get_costs(
    *,
    by: Literal["workspace", "model", "purpose", "day", "investigation", "persona"] | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Call[models.CostReport]:
    """Report what models have cost.

    Report tokens, US dollars and calls by model, purpose, day, persona or investigation.  A
    model without a price costs nothing here and is counted in `unpriced_calls`. Calls whose
    details are gone are in `total` and in `dropped_calls`, not in rows of models and
    purposes; by persona and investigation (the dearest hundred) so are those made for
    something else.
    """
    return Call(
        method="GET",
        path="/v1/costs",
        answer=models.CostReport,
        query={"by": by, "since": since, "until": until},
    )


def discover(
    body: models.DiscoverQueryIn,
) -> Call[models.DiscoveredShown | str]:
    """Look for who fits.

    Search, judge and rank those whom shared networks show. 90 must meet, 70 should meet.
    For `text/event-stream` it answers with the discovery's trace events; the last has it
    all.
    """
    return Call(
        method="POST",
        path="/v1/discover",
        answer=models.DiscoveredShown | str,
        body=body,
    )


def ingest_document(
    body: models.DocumentIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.DocumentTaken]:
    """Ingest a document.

    Store the bytes and start parsing, chunking, summaries and embedding.  Sending a known
    `source_uri` again replaces what changed. Follow it at `/v1/ingestions/{id}`.
    """
    return Call(
        method="POST",
        path="/v1/documents",
        answer=models.DocumentTaken,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def list_documents(
    *,
    source_uri: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.DocumentPage]:
    """List documents, newest first.

    List the documents the key may see, without their sections.
    """
    return Call(
        method="GET",
        path="/v1/documents",
        answer=models.DocumentPage,
        query={
            "source_uri": source_uri,
            "limit": limit,
            "cursor": cursor,
            "client_id": client_id,
            "user_id": user_id,
        },
    )


def get_document(
    document_id: UUID | str,
) -> Call[models.DocumentView]:
    """Read one document.

    Read a document's state, its sections and how many of its chunks are embedded.
    """
    return Call(
        method="GET",
        path=f"/v1/documents/{part(document_id)}",
        answer=models.DocumentView,
    )


def delete_document(
    document_id: UUID | str,
) -> Call[models.Deleted]:
    """Delete one document softly.

    Hide a document, its sections and its chunks from search and lists.
    """
    return Call(
        method="DELETE",
        path=f"/v1/documents/{part(document_id)}",
        answer=models.Deleted,
    )


def list_entities(
    *,
    q: str | None = None,
    type: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.EntityPage]:
    """List entities by name.

    List the entities the key may see; merged ones are left out.
    """
    return Call(
        method="GET",
        path="/v1/entities",
        answer=models.EntityPage,
        query={"q": q, "type": type, "limit": limit, "cursor": cursor},
    )


def get_entity(
    entity_id: UUID | str,
) -> Call[models.EntityDetail]:
    """Read one entity: names, mentions, relations.

    Read an entity; a merged one names what it went into as `superseded_by`.
    """
    return Call(
        method="GET",
        path=f"/v1/entities/{part(entity_id)}",
        answer=models.EntityDetail,
    )


def add_alias(
    entity_id: UUID | str,
    body: models.AliasIn,
) -> Call[models.EntityChanged]:
    """Give an entity one more name.

    Let a name in texts and questions mean this entity, for those who see it.
    """
    return Call(
        method="POST",
        path=f"/v1/entities/{part(entity_id)}/aliases",
        answer=models.EntityChanged,
        body=body,
    )


def remove_alias(
    entity_id: UUID | str,
    *,
    alias: str,
) -> Call[models.EntityChanged]:
    """Take a name from an entity.

    Remove an alias; entities already made from it stay as they are.
    """
    return Call(
        method="DELETE",
        path=f"/v1/entities/{part(entity_id)}/aliases",
        answer=models.EntityChanged,
        query={"alias": alias},
    )


def merge_entity(
    entity_id: UUID | str,
    body: models.MergeIn,
) -> Call[models.EntityChanged]:
    """Make an entity part of another one.

    Move mentions, relations and names; strengths add up, the stronger role stays.
    """
    return Call(
        method="POST",
        path=f"/v1/entities/{part(entity_id)}/merge",
        answer=models.EntityChanged,
        body=body,
    )


def split_entity(
    entity_id: UUID | str,
    body: models.SplitIn,
) -> Call[models.EntityChanged]:
    """Undo a merge, or part mentions of two things.

    With `undo` a merged entity stands again; with `mentions` those move to the one named.
    """
    return Call(
        method="POST",
        path=f"/v1/entities/{part(entity_id)}/split",
        answer=models.EntityChanged,
        body=body,
    )


def list_escalation_channels() -> Call[models.EscalationChannelList]:
    """List escalation channels.

    List the channels there are.
    """
    return Call(
        method="GET",
        path="/v1/escalation-channels",
        answer=models.EscalationChannelList,
    )


def add_escalation_channel(
    body: models.ChannelIn,
) -> Call[models.EscalationChannel]:
    """Add an escalation channel.

    Keep a Slack incoming webhook; a persona names it as `slack:<name>`.
    """
    return Call(
        method="POST",
        path="/v1/escalation-channels",
        answer=models.EscalationChannel,
        body=body,
    )


def remove_escalation_channel(
    name: UUID | str,
) -> Call[models.ChannelRemoved]:
    """Remove an escalation channel.

    Remove a channel with its address; personas that name it fall back to notes.
    """
    return Call(
        method="DELETE",
        path=f"/v1/escalation-channels/{part(name)}",
        answer=models.ChannelRemoved,
    )


def list_escalations(
    *,
    state: Literal["queued", "delivered", "failed"] | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.EscalationPage]:
    """List escalations.

    List where investigations called a person, by which channel, and whether they were told.
    """
    return Call(
        method="GET",
        path="/v1/escalations",
        answer=models.EscalationPage,
        query={"state": state, "limit": limit, "cursor": cursor},
    )


def get_escalation(
    escalation_id: UUID | str,
) -> Call[models.HandOff]:
    """Show an escalation with its hand-off.

    Show why, the timeline, the newest tool calls, what it rests on, and what it knows.
    """
    return Call(
        method="GET",
        path=f"/v1/escalations/{part(escalation_id)}",
        answer=models.HandOff,
    )


def retry_escalation(
    escalation_id: UUID | str,
) -> Call[models.EscalationView]:
    """Retry an escalation.

    Call a person again where it failed, by the channel the persona has now.
    """
    return Call(
        method="POST",
        path=f"/v1/escalations/{part(escalation_id)}/retry",
        answer=models.EscalationView,
    )


def observe_events(
    body: models.EventIn | models.EventBatch,
    *,
    idempotency_key: str | None = None,
) -> Call[models.EventResult | models.EventBatchResult]:
    """Observe one event or a batch.

    Store events durably, in the order they happened; what caused what is kept as edges.
    """
    return Call(
        method="POST",
        path="/v1/events",
        answer=models.EventResult | models.EventBatchResult,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def list_events(
    *,
    type: str | None = None,
    session_id: str | None = None,
    agent_id: str | None = None,
    trace_id: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.EventPage]:
    """List events, newest first.

    List what the key may see, with every filter given, by the order of the ledger.
    """
    return Call(
        method="GET",
        path="/v1/events",
        answer=models.EventPage,
        query={
            "type": type,
            "session_id": session_id,
            "agent_id": agent_id,
            "trace_id": trace_id,
            "limit": limit,
            "cursor": cursor,
            "client_id": client_id,
            "user_id": user_id,
        },
    )


def get_event(
    event_id: UUID | str,
) -> Call[models.EventView]:
    """Read one event.

    Read an event with its payload.
    """
    return Call(
        method="GET",
        path=f"/v1/events/{part(event_id)}",
        answer=models.EventView,
    )


def export_graph(
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.ExportPage]:
    """Export the memory graph.

    Read the nodes with natural keys and the edges between them, without ids, page by page.
    """
    return Call(
        method="GET",
        path="/v1/export",
        answer=models.ExportPage,
        query={"limit": limit, "cursor": cursor},
    )


def get_feed(
    *,
    limit: int | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.FeedView]:
    """Show the feed.

    Show whom a member should meet, why, and what to do about it.  A card is made of what a
    shared network shows and of what was said aloud; `by` says whether rules or a model
    worded it.
    """
    return Call(
        method="GET",
        path="/v1/feed",
        answer=models.FeedView,
        query={"limit": limit, "client_id": client_id, "user_id": user_id},
    )


def get_feed_health(
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.FeedHealth]:
    """Show how the feed does.

    Show how a member's feed does: what it is made of, how fresh it is, what of it expired.
    """
    return Call(
        method="GET",
        path="/v1/feed/health",
        answer=models.FeedHealth,
        query={"client_id": client_id, "user_id": user_id},
    )


def maintain_feeds() -> Call[models.MaintenanceRun]:
    """Look after every feed now.

    Look after the feeds of the workspace now; a schedule does so every hour.  Where one
    does poorly, its member's intents are looked for again, as many as may wait.
    """
    return Call(
        method="POST",
        path="/v1/feed/maintenance",
        answer=models.MaintenanceRun,
    )


def forget(
    body: models.ForgetIn,
) -> Call[models.ForgettingDone | models.ForgettingPlan]:
    """Forget a data subject or a source.

    Destroy the key, purge every projection, leave a signed tombstone. It cannot be undone.
    Repeated, it goes on where it was interrupted, or answers what was done. With `dry_run`
    it lists what would go; with `prove` as well it searches every store now, to show that
    the search finds.
    """
    return Call(
        method="POST",
        path="/v1/forget",
        answer=models.ForgettingDone | models.ForgettingPlan,
        body=body,
    )


def get_forgetting(
    forgetting_id: UUID | str,
) -> Call[models.ForgettingView]:
    """How a forgetting went.

    Return what was done: ids, counts and times.
    """
    return Call(
        method="GET",
        path=f"/v1/forget/{part(forgetting_id)}",
        answer=models.ForgettingView,
    )


def prove_forgetting(
    forgetting_id: UUID | str,
) -> Call[models.Proof]:
    """Search every store for what was forgotten, by its ids.

    Look for the subject's id and its nodes' in every table, index, bucket and the key
    store.
    """
    return Call(
        method="GET",
        path=f"/v1/forget/{part(forgetting_id)}/proof",
        answer=models.Proof,
    )


def prove_forgetting_by_strings(
    forgetting_id: UUID | str,
    body: models.ProofIn,
) -> Call[models.Proof]:
    """Search every store for canary strings, too.

    Look for strings that only the forgotten data had. They are held for this request only.
    """
    return Call(
        method="POST",
        path=f"/v1/forget/{part(forgetting_id)}/proof",
        answer=models.Proof,
        body=body,
    )


def make_grant(
    body: models.GrantIn,
) -> Call[models.GrantView]:
    """Make a standing grant.

    Say yes in advance to a tool with such arguments, so many times, until a moment.
    """
    return Call(
        method="POST",
        path="/v1/grants",
        answer=models.GrantView,
        body=body,
    )


def list_grants(
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.GrantPage]:
    """List standing grants.

    List grants, those that are over too, with how often each was used.
    """
    return Call(
        method="GET",
        path="/v1/grants",
        answer=models.GrantPage,
        query={"limit": limit, "cursor": cursor},
    )


def revoke_grant(
    grant_id: UUID | str,
) -> Call[models.GrantView]:
    """Revoke a standing grant.

    Revoke a grant at once; a second time changes nothing.
    """
    return Call(
        method="DELETE",
        path=f"/v1/grants/{part(grant_id)}",
        answer=models.GrantView,
    )


def import_graph(
    body: models.ImportIn,
) -> Call[models.Imported]:
    """Import into the memory graph.

    Write up to 100 records as they are, all or none; again changes nothing.
    """
    return Call(
        method="POST",
        path="/v1/import",
        answer=models.Imported,
        body=body,
    )


def list_incoming_webhooks() -> Call[models.IncomingWebhookList]:
    """List incoming webhooks.

    List the services that may write memories, without their secrets.
    """
    return Call(
        method="GET",
        path="/v1/incoming-webhooks",
        answer=models.IncomingWebhookList,
    )


def create_incoming_webhook(
    body: models.IncomingWebhookIn,
) -> Call[models.IncomingWebhookWithSecret]:
    """Make an incoming webhook.

    Let a service write memories. The secret that it signs them with is shown this once.
    """
    return Call(
        method="POST",
        path="/v1/incoming-webhooks",
        answer=models.IncomingWebhookWithSecret,
        body=body,
    )


def remove_incoming_webhook(
    incoming_id: UUID | str,
) -> Call[models.IncomingWebhookRemoved]:
    """Remove an incoming webhook.

    Take a service's right to write. What it wrote stays.
    """
    return Call(
        method="DELETE",
        path=f"/v1/incoming-webhooks/{part(incoming_id)}",
        answer=models.IncomingWebhookRemoved,
    )


def receive_memories(
    incoming_id: UUID | str,
    body: models.MemoryIn | models.MemoryBatch,
) -> Call[models.MemoryResult | models.MemoryBatchResult]:
    """Take a signed delivery of memories.

    Remember what a service sends: a body of `POST /v1/memories`, signed, with no key of
    ours.
    """
    return Call(
        method="POST",
        path=f"/v1/incoming-webhooks/{part(incoming_id)}/memories",
        answer=models.MemoryResult | models.MemoryBatchResult,
        body=body,
    )


def rotate_incoming_webhook(
    incoming_id: UUID | str,
) -> Call[models.IncomingWebhookWithSecret]:
    """Give an incoming webhook a new secret.

    Make a new secret. The one before is good for 24 hours more; again, and it is not.
    """
    return Call(
        method="POST",
        path=f"/v1/incoming-webhooks/{part(incoming_id)}/rotate",
        answer=models.IncomingWebhookWithSecret,
    )


def get_ingestion(
    ingestion_id: UUID | str,
) -> Call[models.IngestionView]:
    """Follow one ingestion.

    Show the status, the counts so far and, when it failed, why.
    """
    return Call(
        method="GET",
        path=f"/v1/ingestions/{part(ingestion_id)}",
        answer=models.IngestionView,
    )


def list_integrations(
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.IntegrationList]:
    """List integrations.

    List where a member's contacts are read from, and how it went last.
    """
    return Call(
        method="GET",
        path="/v1/integrations",
        answer=models.IntegrationList,
        query={"client_id": client_id, "user_id": user_id},
    )


def add_integration(
    body: models.IntegrationIn,
) -> Call[models.IntegrationView]:
    """Add an integration.

    Keep where contacts are read from. It is only ever read, and its address stays sealed.
    """
    return Call(
        method="POST",
        path="/v1/integrations",
        answer=models.IntegrationView,
        body=body,
    )


def remove_integration(
    integration_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.ContactGone]:
    """Remove an integration.

    Read from there no more; contacts that came of it stay.
    """
    return Call(
        method="DELETE",
        path=f"/v1/integrations/{part(integration_id)}",
        answer=models.ContactGone,
        query={"client_id": client_id, "user_id": user_id},
    )


def sync_integration(
    integration_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.ContactsImported]:
    """Synchronise an integration.

    Read the people the member met, now; what keeps it from being read is said and kept.
    """
    return Call(
        method="POST",
        path=f"/v1/integrations/{part(integration_id)}/sync",
        answer=models.ContactsImported,
        query={"client_id": client_id, "user_id": user_id},
    )


def submit_intents(
    body: models.IntentIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.IntentsSubmitted]:
    """Say what a member seeks or offers.

    Infer intents, verify each, and make, change or end what the words say; or only propose.
    """
    return Call(
        method="POST",
        path="/v1/intents",
        answer=models.IntentsSubmitted,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def list_intents(
    *,
    state: Literal["active", "paused", "expired", "archived"] | None = None,
    as_of: datetime | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.IntentPage]:
    """List a member's intents.

    List a member's own intents as they are, or as they were.
    """
    return Call(
        method="GET",
        path="/v1/intents",
        answer=models.IntentPage,
        query={
            "state": state,
            "as_of": as_of,
            "limit": limit,
            "cursor": cursor,
            "client_id": client_id,
            "user_id": user_id,
        },
    )


def get_intent(
    intent_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.IntentView]:
    """Show an intent.

    Show one of a member's own intents, and how far it was verified.
    """
    return Call(
        method="GET",
        path=f"/v1/intents/{part(intent_id)}",
        answer=models.IntentView,
        query={"client_id": client_id, "user_id": user_id},
    )


def update_intent(
    intent_id: UUID | str,
    body: models.IntentChangeIn,
) -> Call[models.IntentView]:
    """Change an intent.

    Change an intent in place; of another side or matter it ends and another begins.
    """
    return Call(
        method="PATCH",
        path=f"/v1/intents/{part(intent_id)}",
        answer=models.IntentView,
        body=body,
    )


def delete_intent(
    intent_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.IntentView]:
    """Delete an intent.

    Archive an intent: it leaves its networks, and what was found for it and is open
    expires.
    """
    return Call(
        method="DELETE",
        path=f"/v1/intents/{part(intent_id)}",
        answer=models.IntentView,
        query={"client_id": client_id, "user_id": user_id},
    )


def answer_intent(
    intent_id: UUID | str,
    body: models.IntentAnswerIn,
) -> Call[models.IntentView]:
    """Say whether an intent is a change of another.

    Settle what was unsure: `update` writes it into the open intent, `create` keeps both.
    """
    return Call(
        method="POST",
        path=f"/v1/intents/{part(intent_id)}/answer",
        answer=models.IntentView,
        body=body,
    )


def list_intent_networks(
    intent_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.AssignmentList]:
    """List the networks of an intent.

    List where one's intent belongs, with its score.
    """
    return Call(
        method="GET",
        path=f"/v1/intents/{part(intent_id)}/networks",
        answer=models.AssignmentList,
        query={"client_id": client_id, "user_id": user_id},
    )


def assign_intent(
    intent_id: UUID | str,
    body: models.AssignIn,
) -> Call[models.AssignmentList]:
    """Assign an intent to networks.

    Assign one's intent to networks that one is in, or let it be judged for all of them.
    """
    return Call(
        method="POST",
        path=f"/v1/intents/{part(intent_id)}/networks",
        answer=models.AssignmentList,
        body=body,
    )


def unassign_intent(
    intent_id: UUID | str,
    network_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.AssignmentList]:
    """Take an intent out of a network.

    Take one's intent out of a network, until it is judged anew.
    """
    return Call(
        method="DELETE",
        path=f"/v1/intents/{part(intent_id)}/networks/{part(network_id)}",
        answer=models.AssignmentList,
        query={"client_id": client_id, "user_id": user_id},
    )


def pause_intent(
    intent_id: UUID | str,
    body: models.IntentMoveIn,
) -> Call[models.IntentView]:
    """Pause an intent.

    Keep an intent without looking for it or showing it.
    """
    return Call(
        method="POST",
        path=f"/v1/intents/{part(intent_id)}/pause",
        answer=models.IntentView,
        body=body,
    )


def refresh_intent(
    intent_id: UUID | str,
    body: models.IntentRefreshIn,
) -> Call[models.IntentView]:
    """Let an intent last anew.

    Let an intent last 90 days from now, or until a moment; an expired one is open again.
    """
    return Call(
        method="POST",
        path=f"/v1/intents/{part(intent_id)}/refresh",
        answer=models.IntentView,
        body=body,
    )


def resume_intent(
    intent_id: UUID | str,
    body: models.IntentMoveIn,
) -> Call[models.IntentView]:
    """Resume an intent.

    Look for a paused intent again.
    """
    return Call(
        method="POST",
        path=f"/v1/intents/{part(intent_id)}/resume",
        answer=models.IntentView,
        body=body,
    )


def start_investigation(
    body: models.InvestigationIn,
) -> Call[models.InvestigationStarted | models.InvestigationQueued]:
    """Investigate a ticket.

    Queue a ticket and start its investigation if there is room.  A ticket that was answered
    or handed over is a conflict: put it back with `POST /v1/tickets/{ticket_id}/requeue`.
    While it waits for a slot, `state` is `queued` and there is no investigation yet.
    """
    return Call(
        method="POST",
        path="/v1/investigations",
        answer=models.InvestigationStarted | models.InvestigationQueued,
        body=body,
    )


def list_investigations(
    *,
    state: Literal[
        "CREATED",
        "PLANNING",
        "RETRIEVING",
        "SAFETY_CHECK",
        "WAITING_APPROVAL",
        "ACTING",
        "OBSERVING",
        "VERDICT",
        "WRITING_BACK",
        "DONE",
        "HALTED",
    ]
    | None = None,
    ticket_id: UUID | str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.InvestigationPage]:
    """List investigations.

    List investigations with their state, their verdict and what they spent.
    """
    return Call(
        method="GET",
        path="/v1/investigations",
        answer=models.InvestigationPage,
        query={"state": state, "ticket_id": ticket_id, "limit": limit, "cursor": cursor},
    )


def resume_investigations() -> Call[models.PresentList]:
    """Take up every investigation that has stopped moving.

    Start new executions of those that lost theirs; who waits for a person goes on waiting.
    """
    return Call(
        method="POST",
        path="/v1/investigations/resume",
        answer=models.PresentList,
    )


def get_investigation(
    investigation_id: UUID | str,
) -> Call[models.InvestigationDetail]:
    """Show an investigation.

    Show state, verdict, spending by purpose, the budget and what is left, questions,
    actions.
    """
    return Call(
        method="GET",
        path=f"/v1/investigations/{part(investigation_id)}",
        answer=models.InvestigationDetail,
    )


def dispute_investigation(
    investigation_id: UUID | str,
    body: models.DisputeIn,
) -> Call[models.OpinionView]:
    """Dispute how an investigation ended.

    Say that it did not end well: nothing is learned of it. Your last word counts.
    """
    return Call(
        method="POST",
        path=f"/v1/investigations/{part(investigation_id)}/dispute",
        answer=models.OpinionView,
        body=body,
    )


def follow_investigation(
    investigation_id: UUID | str,
    *,
    after: int | None = None,
    last_event_id: str | None = None,
) -> Call[str]:
    """Follow an investigation live (server-sent events).

    Stream starts and ends of states and steps, with durations, until the investigation
    ends.  Only where the API runs as a server: behind API Gateway answers come whole, so
    poll the steps.
    """
    return Call(
        method="GET",
        path=f"/v1/investigations/{part(investigation_id)}/events",
        answer=str,
        query={"after": after},
        headers=present({"last-event-id": last_event_id}),
    )


def list_opinions(
    investigation_id: UUID | str,
) -> Call[models.OpinionList]:
    """List what people said of an investigation.

    List ratings and disputes that stand; earlier words are in the ledger.
    """
    return Call(
        method="GET",
        path=f"/v1/investigations/{part(investigation_id)}/opinions",
        answer=models.OpinionList,
    )


def rate_investigation(
    investigation_id: UUID | str,
    body: models.RatingIn,
) -> Call[models.OpinionView]:
    """Rate an investigation.

    Rate one that ended; 4 and 5 stage what may be learned of it. Your last word counts.
    """
    return Call(
        method="POST",
        path=f"/v1/investigations/{part(investigation_id)}/rating",
        answer=models.OpinionView,
        body=body,
    )


def resume_investigation(
    investigation_id: UUID | str,
) -> Call[models.Present]:
    """Take up an investigation.

    Start a new execution from the last snapshot; actions that were applied are not
    repeated.
    """
    return Call(
        method="POST",
        path=f"/v1/investigations/{part(investigation_id)}/resume",
        answer=models.Present,
    )


def list_investigation_steps(
    investigation_id: UUID | str,
    *,
    after: int | None = None,
    limit: int | None = None,
) -> Call[models.StepsView]:
    """List an investigation's steps, and poll for new ones.

    List the timeline. Ask again with `after` of the answer, each second or so, until
    `ended`.
    """
    return Call(
        method="GET",
        path=f"/v1/investigations/{part(investigation_id)}/steps",
        answer=models.StepsView,
        query={"after": after, "limit": limit},
    )


def remember_step(
    investigation_id: UUID | str,
    seq: UUID | str,
    body: models.RememberIn,
) -> Call[models.Remembered]:
    """Remember a step.

    Make a line of the timeline an active node of the memory graph, tied to its
    investigation.
    """
    return Call(
        method="POST",
        path=f"/v1/investigations/{part(investigation_id)}/steps/{part(seq)}/remember",
        answer=models.Remembered,
        body=body,
    )


def list_keys() -> Call[models.KeyList]:
    """List API keys.

    List the workspace's keys, newest first, revoked ones too.
    """
    return Call(
        method="GET",
        path="/v1/keys",
        answer=models.KeyList,
    )


def create_key(
    body: models.KeyIn,
) -> Call[models.KeyWithSecret]:
    """Make an API key.

    Make a key for this workspace. Keep the secret: it cannot be shown again.
    """
    return Call(
        method="POST",
        path="/v1/keys",
        answer=models.KeyWithSecret,
        body=body,
    )


def revoke_key(
    key_id: UUID | str,
) -> Call[models.KeyView]:
    """Revoke an API key.

    Revoke a key at once. The last admin key cannot be revoked.
    """
    return Call(
        method="DELETE",
        path=f"/v1/keys/{part(key_id)}",
        answer=models.KeyView,
    )


def list_ledger(
    *,
    type: str | None = None,
    from_position: int | None = None,
    actor_id: str | None = None,
    subject_id: UUID | str | None = None,
    recorded_from: datetime | None = None,
    recorded_to: datetime | None = None,
    newest_first: bool | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.LedgerEntryPage]:
    """Read the ledger.

    Read entries with their hashes. Bodies are encrypted and stay out of the answer.
    """
    return Call(
        method="GET",
        path="/v1/ledger",
        answer=models.LedgerEntryPage,
        query={
            "type": type,
            "from_position": from_position,
            "actor_id": actor_id,
            "subject_id": subject_id,
            "recorded_from": recorded_from,
            "recorded_to": recorded_to,
            "newest_first": newest_first,
            "limit": limit,
            "cursor": cursor,
        },
    )


def verify_ledger(
    *,
    anchors: bool | None = None,
) -> Call[models.LedgerVerification | models.AnchoredVerification]:
    """Verify the ledger.

    Recompute every hash of the workspace's chain and name the first bad position.  With
    `anchors` the chain is also held to the signed heads outside the database.
    """
    return Call(
        method="GET",
        path="/v1/ledger/verify",
        answer=models.LedgerVerification | models.AnchoredVerification,
        query={"anchors": anchors},
    )


def read_session_log(
    *,
    session_id: str,
    stream: Literal["all", "errors", "events"] | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.LogLinePage]:
    """Read what is logged of a session.

    List a session's searches, calls of tools, chat events, messages and events: ids, no
    texts.  `errors` are the lines with an error, `events` what chats told and agents
    observed.
    """
    return Call(
        method="GET",
        path="/v1/logs",
        answer=models.LogLinePage,
        query={"session_id": session_id, "stream": stream, "limit": limit, "cursor": cursor},
    )


def get_member(
    member_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.MemberView]:
    """Show a member.

    Show who is in a network with one: as they describe themselves, and their intents there.
    """
    return Call(
        method="GET",
        path=f"/v1/members/{part(member_id)}",
        answer=models.MemberView,
        query={"client_id": client_id, "user_id": user_id},
    )


def remember(
    body: models.MemoryIn | models.MemoryBatch,
    *,
    idempotency_key: str | None = None,
) -> Call[models.MemoryResult | models.MemoryBatchResult]:
    """Remember one memory or a batch.

    Store memories durably; they are searchable by keyword at once and by vector soon after.
    """
    return Call(
        method="POST",
        path="/v1/memories",
        answer=models.MemoryResult | models.MemoryBatchResult,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def list_memories(
    *,
    type: Literal["event", "fact", "decision", "status"] | None = None,
    key: str | None = None,
    subject: str | None = None,
    session_id: str | None = None,
    state: Literal[
        "provisional", "active", "superseded", "expired", "archived", "quarantined", "any"
    ]
    | None = None,
    id_prefix: str | None = None,
    namespace: str | None = None,
    namespace_prefix: str | None = None,
    where: str | None = None,
    occurred_from: datetime | None = None,
    occurred_to: datetime | None = None,
    as_of: datetime | int | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.MemoryPage]:
    """List memories, newest first.

    List what the key may see, with every filter given; `state=any` shows all states.  With
    `as_of` memories are as they stood then, in the state they had.
    """
    return Call(
        method="GET",
        path="/v1/memories",
        answer=models.MemoryPage,
        query={
            "type": type,
            "key": key,
            "subject": subject,
            "session_id": session_id,
            "state": state,
            "id_prefix": id_prefix,
            "namespace": namespace,
            "namespace_prefix": namespace_prefix,
            "where": where,
            "occurred_from": occurred_from,
            "occurred_to": occurred_to,
            "as_of": as_of,
            "limit": limit,
            "cursor": cursor,
            "client_id": client_id,
            "user_id": user_id,
        },
    )


def refresh_memories(
    body: models.RefreshIn,
) -> Call[models.Refreshed]:
    """Refresh memories that last for a time.

    Let memories last as long again from now on; those without `ttl_seconds` are left out.
    """
    return Call(
        method="POST",
        path="/v1/memories/refresh",
        answer=models.Refreshed,
        body=body,
        reads=True,
    )


def get_memory(
    memory_id: UUID | str,
) -> Call[models.MemoryView]:
    """Read one memory.

    Read a memory whatever its state, unless it was deleted.
    """
    return Call(
        method="GET",
        path=f"/v1/memories/{part(memory_id)}",
        answer=models.MemoryView,
    )


def delete_memory(
    memory_id: UUID | str,
) -> Call[models.Deleted]:
    """Delete one memory softly.

    Hide a memory from search and lists; its ledger entries stay.
    """
    return Call(
        method="DELETE",
        path=f"/v1/memories/{part(memory_id)}",
        answer=models.Deleted,
    )


def correct_memory(
    memory_id: UUID | str,
    body: models.MemoryCorrection,
    *,
    idempotency_key: str | None = None,
) -> Call[models.EditResult]:
    """Correct a memory.

    Put a new version in a memory's place; the old one is superseded and was never true.
    """
    return Call(
        method="PATCH",
        path=f"/v1/memories/{part(memory_id)}",
        answer=models.EditResult,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def get_memory_history(
    memory_id: UUID | str,
) -> Call[models.MemoryHistory]:
    """Follow one memory through the ledger.

    Show each version with the ledger positions it held over.
    """
    return Call(
        method="GET",
        path=f"/v1/memories/{part(memory_id)}/history",
        answer=models.MemoryHistory,
    )


def merge_memories(
    memory_id: UUID | str,
    body: models.MemoryMerge,
    *,
    idempotency_key: str | None = None,
) -> Call[models.EditResult]:
    """Merge two memories.

    Put one memory in the place of two that the same readers see; it comes of both.
    """
    return Call(
        method="POST",
        path=f"/v1/memories/{part(memory_id)}/merge",
        answer=models.EditResult,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def move_memory(
    memory_id: UUID | str,
    body: models.MemoryMove,
    *,
    idempotency_key: str | None = None,
) -> Call[models.EditResult]:
    """Move a memory to other readers.

    Give a memory to another client, scope or agents; those it was taken from lose it.
    """
    return Call(
        method="POST",
        path=f"/v1/memories/{part(memory_id)}/move",
        answer=models.EditResult,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def keep_memory_from_recall(
    memory_id: UUID | str,
    body: models.NeverRecall,
    *,
    idempotency_key: str | None = None,
) -> Call[models.EditResult]:
    """Keep a memory from recall.

    Keep a memory, and let no search, context or walk find it, nor what it was in the past.
    """
    return Call(
        method="PUT",
        path=f"/v1/memories/{part(memory_id)}/never-recall",
        answer=models.EditResult,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def let_memory_be_recalled(
    memory_id: UUID | str,
    *,
    idempotency_key: str | None = None,
) -> Call[models.EditResult]:
    """Let a memory be recalled again.

    Give a memory that was kept from recall the state it would have had.
    """
    return Call(
        method="DELETE",
        path=f"/v1/memories/{part(memory_id)}/never-recall",
        answer=models.EditResult,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def pin_memory(
    memory_id: UUID | str,
    *,
    idempotency_key: str | None = None,
) -> Call[models.EditResult]:
    """Pin a memory.

    Keep a memory from ageing and fading, and rank it higher.
    """
    return Call(
        method="PUT",
        path=f"/v1/memories/{part(memory_id)}/pin",
        answer=models.EditResult,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def unpin_memory(
    memory_id: UUID | str,
    *,
    idempotency_key: str | None = None,
) -> Call[models.EditResult]:
    """Unpin a memory.

    Let a memory age and fade like any other again.
    """
    return Call(
        method="DELETE",
        path=f"/v1/memories/{part(memory_id)}/pin",
        answer=models.EditResult,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def restore_memory(
    memory_id: UUID | str,
    *,
    idempotency_key: str | None = None,
) -> Call[models.EditResult]:
    """Take the deletion of a memory back.

    Let a memory that was deleted in the last seven days be found again.
    """
    return Call(
        method="POST",
        path=f"/v1/memories/{part(memory_id)}/restore",
        answer=models.EditResult,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def list_namespaces(
    *,
    prefix: str | None = None,
    suffix: str | None = None,
    max_depth: int | None = None,
    limit: int | None = None,
    offset: int | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.NamespaceList]:
    """List the namespaces of memories.

    Name those with active memories that the key may see, each once.
    """
    return Call(
        method="GET",
        path="/v1/namespaces",
        answer=models.NamespaceList,
        query={
            "prefix": prefix,
            "suffix": suffix,
            "max_depth": max_depth,
            "limit": limit,
            "offset": offset,
            "client_id": client_id,
            "user_id": user_id,
        },
    )


def begin_negotiation(
    body: models.NegotiationIn,
) -> Call[models.NegotiationView]:
    """Begin a negotiation.

    Begin the negotiation of an opportunity of one's own; the same one a second time.
    """
    return Call(
        method="POST",
        path="/v1/negotiations",
        answer=models.NegotiationView,
        body=body,
    )


def list_negotiations(
    *,
    state: Literal["open", "waiting", "ended"] | None = None,
    my_turn: bool | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.NegotiationPage]:
    """List negotiations.

    List the negotiations of a member; an admin who names no client lists all.
    """
    return Call(
        method="GET",
        path="/v1/negotiations",
        answer=models.NegotiationPage,
        query={
            "state": state,
            "my_turn": my_turn,
            "limit": limit,
            "cursor": cursor,
            "client_id": client_id,
            "user_id": user_id,
        },
    )


def measure_negotiations() -> Call[models.NegotiationMeasures]:
    """Show how negotiations end.

    Count how negotiations ended, and the share of yeses that came at once.
    """
    return Call(
        method="GET",
        path="/v1/negotiations/measures",
        answer=models.NegotiationMeasures,
    )


def get_negotiation(
    negotiation_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.NegotiationView]:
    """Show a negotiation.

    Show a negotiation to one of its two sides, or to an admin.
    """
    return Call(
        method="GET",
        path=f"/v1/negotiations/{part(negotiation_id)}",
        answer=models.NegotiationView,
        query={"client_id": client_id, "user_id": user_id},
    )


def advance_negotiation(
    negotiation_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.NegotiationView]:
    """Go on with a negotiation.

    Go on where the time for a turn has passed; without this, a sweep does.
    """
    return Call(
        method="POST",
        path=f"/v1/negotiations/{part(negotiation_id)}/advance",
        answer=models.NegotiationView,
        query={"client_id": client_id, "user_id": user_id},
    )


def answer_negotiation(
    negotiation_id: UUID | str,
    body: models.PersonAnswerIn,
) -> Call[models.NegotiationView]:
    """Answer for one's agent.

    Answer the one question that one's own side is asked when the agents come to no end.
    """
    return Call(
        method="POST",
        path=f"/v1/negotiations/{part(negotiation_id)}/answer",
        answer=models.NegotiationView,
        body=body,
    )


def list_negotiation_events(
    negotiation_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.NegotiationEventList | str]:
    """Show the trace of a negotiation.

    Show a negotiation as trace events: its start, its turns, its outcome, its end.  For
    `text/event-stream` it answers with them as they happen, until it ends or waits for
    people.
    """
    return Call(
        method="GET",
        path=f"/v1/negotiations/{part(negotiation_id)}/events",
        answer=models.NegotiationEventList | str,
        query={"client_id": client_id, "user_id": user_id},
    )


def export_negotiation(
    negotiation_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.NegotiationExport]:
    """Export a negotiation.

    Export the signed turns, so that an outsider can verify them without this server.
    """
    return Call(
        method="GET",
        path=f"/v1/negotiations/{part(negotiation_id)}/export",
        answer=models.NegotiationExport,
        query={"client_id": client_id, "user_id": user_id},
    )


def list_negotiation_inputs(
    negotiation_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.PrivateInputList]:
    """Show what weighed in one's turns.

    Show which memories of one's own the advocate weighed: the other side has hashes alone.
    """
    return Call(
        method="GET",
        path=f"/v1/negotiations/{part(negotiation_id)}/inputs",
        answer=models.PrivateInputList,
        query={"client_id": client_id, "user_id": user_id},
    )


def create_network(
    body: models.NetworkIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.NetworkView]:
    """Make a network.

    Make a network and be in it as its owner; of an admin for nobody it is the workspace's.
    """
    return Call(
        method="POST",
        path="/v1/networks",
        answer=models.NetworkView,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def list_networks(
    *,
    joined: bool | None = None,
    as_of: datetime | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.NetworkPage]:
    """List networks.

    List networks that one is in, and those that anyone may join; or which one was in then.
    """
    return Call(
        method="GET",
        path="/v1/networks",
        answer=models.NetworkPage,
        query={
            "joined": joined,
            "as_of": as_of,
            "limit": limit,
            "cursor": cursor,
            "client_id": client_id,
            "user_id": user_id,
        },
    )


def join_by_invite(
    body: models.JoinByInviteIn,
) -> Call[models.NetworkView]:
    """Join a network by an invite.

    Join by the token of an invite, which lets nobody else in then.
    """
    return Call(
        method="POST",
        path="/v1/networks/join",
        answer=models.NetworkView,
        body=body,
    )


def get_network(
    network_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.NetworkView]:
    """Show a network.

    Show a network that one is in, or that anyone may join.
    """
    return Call(
        method="GET",
        path=f"/v1/networks/{part(network_id)}",
        answer=models.NetworkView,
        query={"client_id": client_id, "user_id": user_id},
    )


def update_network(
    network_id: UUID | str,
    body: models.NetworkChangesIn,
) -> Call[models.NetworkView]:
    """Change a network.

    Change a network as its owner; with another prompt what is in it is judged anew.
    """
    return Call(
        method="PATCH",
        path=f"/v1/networks/{part(network_id)}",
        answer=models.NetworkView,
        body=body,
    )


def remove_network(
    network_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.NetworkLeft]:
    """Remove a network.

    Remove a network as its owner, once nobody else is in it.
    """
    return Call(
        method="DELETE",
        path=f"/v1/networks/{part(network_id)}",
        answer=models.NetworkLeft,
        query={"client_id": client_id, "user_id": user_id},
    )


def create_invite(
    network_id: UUID | str,
    body: models.InviteIn,
) -> Call[models.InviteMade]:
    """Invite somebody to a network.

    Make a link that lets one person in, once; the owner, or anybody in an open network.
    """
    return Call(
        method="POST",
        path=f"/v1/networks/{part(network_id)}/invites",
        answer=models.InviteMade,
        body=body,
    )


def list_invites(
    network_id: UUID | str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.InviteRowPage]:
    """List invites to a network.

    List invites: an owner all, another member those they made. Tokens are in no list.
    """
    return Call(
        method="GET",
        path=f"/v1/networks/{part(network_id)}/invites",
        answer=models.InviteRowPage,
        query={"limit": limit, "cursor": cursor, "client_id": client_id, "user_id": user_id},
    )


def revoke_invite(
    network_id: UUID | str,
    invite_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.NetworkLeft]:
    """Withdraw an invite.

    Withdraw an invite that was not used.
    """
    return Call(
        method="DELETE",
        path=f"/v1/networks/{part(network_id)}/invites/{part(invite_id)}",
        answer=models.NetworkLeft,
        query={"client_id": client_id, "user_id": user_id},
    )


def join_network(
    network_id: UUID | str,
    body: models.JoinIn,
) -> Call[models.NetworkView]:
    """Join a network.

    Join a network that anyone may join; one's intents are judged for it.
    """
    return Call(
        method="POST",
        path=f"/v1/networks/{part(network_id)}/join",
        answer=models.NetworkView,
        body=body,
    )


def leave_network(
    network_id: UUID | str,
    body: models.LeaveIn,
) -> Call[models.NetworkLeft]:
    """Leave a network.

    Leave a network; what one had there is shown there no more.
    """
    return Call(
        method="POST",
        path=f"/v1/networks/{part(network_id)}/leave",
        answer=models.NetworkLeft,
        body=body,
    )


def list_network_members(
    network_id: UUID | str,
    *,
    as_of: datetime | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.InNetworkPage]:
    """List who is in a network.

    List who is in a network that one is in, as they describe themselves.
    """
    return Call(
        method="GET",
        path=f"/v1/networks/{part(network_id)}/members",
        answer=models.InNetworkPage,
        query={
            "as_of": as_of,
            "limit": limit,
            "cursor": cursor,
            "client_id": client_id,
            "user_id": user_id,
        },
    )


def remove_network_member(
    network_id: UUID | str,
    member_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.NetworkLeft]:
    """Let somebody be in a network no longer.

    Let somebody go as the owner; what they had there is shown there no more.
    """
    return Call(
        method="DELETE",
        path=f"/v1/networks/{part(network_id)}/members/{part(member_id)}",
        answer=models.NetworkLeft,
        query={"client_id": client_id, "user_id": user_id},
    )


def set_member_prompt(
    network_id: UUID | str,
    body: models.MemberPromptIn,
) -> Call[models.NetworkView]:
    """Say what of a member's belongs to a network.

    Say what of one's own is to be there; one's intents are judged anew for it.
    """
    return Call(
        method="PUT",
        path=f"/v1/networks/{part(network_id)}/prompt",
        answer=models.NetworkView,
        body=body,
    )


def write_nodes(
    body: models.NodeIn | models.NodeBatch,
    *,
    idempotency_key: str | None = None,
) -> Call[models.NodeResult | models.NodeBatchResult]:
    """Write one node or a batch, with typed edges.

    Store nodes and their edges in one transaction; found by their words at once.
    """
    return Call(
        method="POST",
        path="/v1/nodes",
        answer=models.NodeResult | models.NodeBatchResult,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def list_nodes(
    *,
    label: str,
    kind: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.NodePage]:
    """List the nodes of a label, newest first.

    List what the key may see of one label, with every filter given.
    """
    return Call(
        method="GET",
        path="/v1/nodes",
        answer=models.NodePage,
        query={
            "label": label,
            "kind": kind,
            "limit": limit,
            "cursor": cursor,
            "client_id": client_id,
            "user_id": user_id,
        },
    )


def get_node(
    node_id: UUID | str,
) -> Call[models.NodeView]:
    """Read one node of any label, with its edges.

    Read a node with its provenance; its edges are counted by kind, and the strongest shown.
    """
    return Call(
        method="GET",
        path=f"/v1/nodes/{part(node_id)}",
        answer=models.NodeView,
    )


def delete_node(
    node_id: UUID | str,
) -> Call[models.Deleted]:
    """Delete one node softly.

    Hide a node from search, lists and the graph; its ledger entries stay.
    """
    return Call(
        method="DELETE",
        path=f"/v1/nodes/{part(node_id)}",
        answer=models.Deleted,
    )


def replace_compiled_truth(
    node_id: UUID | str,
    body: models.TruthIn,
) -> Call[models.NodeChanged]:
    """Set what is held true of a node.

    Replace a node's compiled truth; it is searched with the node and lifts its score.
    """
    return Call(
        method="PUT",
        path=f"/v1/nodes/{part(node_id)}/compiled-truth",
        answer=models.NodeChanged,
        body=body,
    )


def replace_labels(
    node_id: UUID | str,
    body: models.LabelsIn,
) -> Call[models.NodeChanged]:
    """Set what a node is beside its first label.

    Replace a node's other labels; the first, which says what wrote it, stays.
    """
    return Call(
        method="PUT",
        path=f"/v1/nodes/{part(node_id)}/labels",
        answer=models.NodeChanged,
        body=body,
    )


def get_lineage(
    node_id: UUID | str,
    *,
    direction: Literal["ancestors", "descendants", "both"] | None = None,
    max_depth: int | None = None,
    intent: Literal[
        "why", "when", "what", "related", "general", "who_is", "how_does", "personalize"
    ]
    | None = None,
    as_of: datetime | int | None = None,
    format: Literal["atlas", "prov"] | None = None,
) -> Call[models.Lineage | models.ProvDocument]:
    """Trace a node.

    Follow causes, makers, summaries, parts and earlier versions from a node.  `ancestors`
    is what it comes from, `descendants` what came of it. `intent` orders what is followed
    first where there is much.
    """
    return Call(
        method="GET",
        path=f"/v1/nodes/{part(node_id)}/lineage",
        answer=models.Lineage | models.ProvDocument,
        query={
            "direction": direction,
            "max_depth": max_depth,
            "intent": intent,
            "as_of": as_of,
            "format": format,
        },
    )


def create_opportunities(
    body: models.DiscoverIn,
) -> Call[models.OpportunitiesCreated | str]:
    """Propose meetings.

    Keep drafts with those picked. Without any, let agents negotiate with who fits best.  An
    agent that is there has a minute a turn: ask again, or read the opportunity, until none
    is `negotiating`. For `text/event-stream` it answers with trace events as they happen,
    and with each draft as it is ready. The same two people and intents have one
    opportunity.
    """
    return Call(
        method="POST",
        path="/v1/opportunities",
        answer=models.OpportunitiesCreated | str,
        body=body,
    )


def list_opportunities(
    *,
    state: Literal[
        "latent", "negotiating", "draft", "pending", "accepted", "rejected", "stalled", "expired"
    ]
    | None = None,
    as_of: datetime | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.OpportunityPage]:
    """List a member's opportunities.

    List those that a member has a part in and may see.
    """
    return Call(
        method="GET",
        path="/v1/opportunities",
        answer=models.OpportunityPage,
        query={
            "state": state,
            "as_of": as_of,
            "limit": limit,
            "cursor": cursor,
            "client_id": client_id,
            "user_id": user_id,
        },
    )


def introduce(
    body: models.IntroduceIn,
) -> Call[models.OpportunityView]:
    """Introduce two others.

    Propose two others to each other; each of them says yes for themselves.
    """
    return Call(
        method="POST",
        path="/v1/opportunities/introduce",
        answer=models.OpportunityView,
        body=body,
    )


def get_opportunity(
    opportunity_id: UUID | str,
    *,
    as_of: datetime | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.OpportunityView]:
    """Show an opportunity.

    Show one, and what its reader may do with it.
    """
    return Call(
        method="GET",
        path=f"/v1/opportunities/{part(opportunity_id)}",
        answer=models.OpportunityView,
        query={"as_of": as_of, "client_id": client_id, "user_id": user_id},
    )


def accept_opportunity(
    opportunity_id: UUID | str,
    body: models.ActIn,
) -> Call[models.OpportunityView]:
    """Accept an opportunity.

    Say yes for oneself.
    """
    return Call(
        method="POST",
        path=f"/v1/opportunities/{part(opportunity_id)}/accept",
        answer=models.OpportunityView,
        body=body,
    )


def reject_opportunity(
    opportunity_id: UUID | str,
    body: models.ActIn,
) -> Call[models.OpportunityView]:
    """Reject an opportunity.

    Say no; these two are not proposed to each other for the same intents again.
    """
    return Call(
        method="POST",
        path=f"/v1/opportunities/{part(opportunity_id)}/reject",
        answer=models.OpportunityView,
        body=body,
    )


def send_opportunity(
    opportunity_id: UUID | str,
    body: models.ActIn,
) -> Call[models.OpportunityView]:
    """Send an opportunity.

    Show it to the other one; it is the sender's yes, and nobody else's.
    """
    return Call(
        method="POST",
        path=f"/v1/opportunities/{part(opportunity_id)}/send",
        answer=models.OpportunityView,
        body=body,
    )


def list_people() -> Call[models.PersonList]:
    """List who signs in.

    List the people of the workspace who may sign in to the console, disabled ones too.
    """
    return Call(
        method="GET",
        path="/v1/people",
        answer=models.PersonList,
    )


def add_person(
    body: models.PersonIn,
) -> Call[models.LinkMade]:
    """Let somebody sign in.

    Add a person. Give them the link: it is good once, for 15 minutes.
    """
    return Call(
        method="POST",
        path="/v1/people",
        answer=models.LinkMade,
        body=body,
    )


def change_person(
    person_id: UUID | str,
    body: models.PersonChangeIn,
) -> Call[models.PersonView]:
    """Change what somebody may do.

    Change a role, or whether somebody may sign in. The last owner stays one.
    """
    return Call(
        method="PATCH",
        path=f"/v1/people/{part(person_id)}",
        answer=models.PersonView,
        body=body,
    )


def remove_person(
    person_id: UUID | str,
) -> Call[models.PersonView]:
    """Remove somebody who signs in.

    Remove a person with their login, name, password and sessions. The last owner stays.
    """
    return Call(
        method="DELETE",
        path=f"/v1/people/{part(person_id)}",
        answer=models.PersonView,
    )


def link_person(
    person_id: UUID | str,
) -> Call[models.LinkMade]:
    """Make a link that signs somebody in once.

    Make a new link for somebody who lost password or session; it is good for 15 minutes.
    """
    return Call(
        method="POST",
        path=f"/v1/people/{part(person_id)}/link",
        answer=models.LinkMade,
    )


def tie_person(
    person_id: UUID | str,
    body: models.TieIn,
) -> Call[models.PersonView]:
    """Say which member somebody is.

    Tie a person to a member of networks: in the console they see and do what it may.
    """
    return Call(
        method="PUT",
        path=f"/v1/people/{part(person_id)}/member",
        answer=models.PersonView,
        body=body,
    )


def untie_person(
    person_id: UUID | str,
) -> Call[models.PersonView]:
    """Let somebody be no member.

    Untie a person from their member, which stays as it is.
    """
    return Call(
        method="DELETE",
        path=f"/v1/people/{part(person_id)}/member",
        answer=models.PersonView,
    )


def sign_person_out(
    person_id: UUID | str,
) -> Call[models.SignedOut]:
    """Sign somebody out everywhere.

    End every session of a person, and the link they may have; they may sign in again.
    """
    return Call(
        method="POST",
        path=f"/v1/people/{part(person_id)}/sign-out",
        answer=models.SignedOut,
    )


def list_personas() -> Call[models.PersonaList]:
    """List personas.

    List personas; `default`, which works on everything else, is always among them.
    """
    return Call(
        method="GET",
        path="/v1/personas",
        answer=models.PersonaList,
    )


def create_persona(
    body: models.NewPersonaIn,
) -> Call[models.PersonaView]:
    """Make a persona.

    Make a persona; its name stays for good.
    """
    return Call(
        method="POST",
        path="/v1/personas",
        answer=models.PersonaView,
        body=body,
    )


def get_persona(
    persona: UUID | str,
) -> Call[models.PersonaView]:
    """Show a persona.

    Show a persona as it is now.
    """
    return Call(
        method="GET",
        path=f"/v1/personas/{part(persona)}",
        answer=models.PersonaView,
    )


def replace_persona(
    persona: UUID | str,
    body: models.PersonaIn,
) -> Call[models.PersonaView]:
    """Change a persona.

    Replace what a persona says by another version; the same again changes nothing.
    """
    return Call(
        method="PUT",
        path=f"/v1/personas/{part(persona)}",
        answer=models.PersonaView,
        body=body,
    )


def remove_persona(
    persona: UUID | str,
) -> Call[models.PersonaRemoved]:
    """Remove a persona.

    Remove a persona; the default one works on its tickets from now on.
    """
    return Call(
        method="DELETE",
        path=f"/v1/personas/{part(persona)}",
        answer=models.PersonaRemoved,
    )


def list_persona_versions(
    persona: UUID | str,
) -> Call[models.PersonaVersionList]:
    """Show how a persona changed.

    List every version a persona had; each is an entry of the ledger, too.
    """
    return Call(
        method="GET",
        path=f"/v1/personas/{part(persona)}/versions",
        answer=models.PersonaVersionList,
    )


def get_profile(
    *,
    about: Literal["who_is", "how_does", "personalize"] | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.Profile]:
    """Show what is known of a client.

    Derive a client's facts, preferences, skills, interests and patterns from what stands
    now.
    """
    return Call(
        method="GET",
        path="/v1/profile",
        answer=models.Profile,
        query={"about": about, "client_id": client_id, "user_id": user_id},
    )


def get_member_profile(
    *,
    as_of: datetime | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.ProfileView]:
    """Show a member's own profile.

    Show the profile as shared networks show it or showed it, and which parts are missing.
    """
    return Call(
        method="GET",
        path="/v1/profiles/me",
        answer=models.ProfileView,
        query={"as_of": as_of, "client_id": client_id, "user_id": user_id},
    )


def replace_member_profile(
    body: models.MemberProfileIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.ProfileView]:
    """Write a member's profile.

    Write the whole profile; what is left out is empty then.
    """
    return Call(
        method="PUT",
        path="/v1/profiles/me",
        answer=models.ProfileView,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def update_member_profile(
    body: models.MemberProfileChangeIn,
) -> Call[models.ProfileView]:
    """Change a member's profile.

    Merge parts and a text into the profile; a mere confirmation says nothing.
    """
    return Call(
        method="PATCH",
        path="/v1/profiles/me",
        answer=models.ProfileView,
        body=body,
    )


def generate_member_profile(
    body: models.MemberProfileSourcesIn,
) -> Call[models.ProfileView]:
    """Make a member's profile from sources.

    Make the missing parts from a text, documents, links or memories; `force` merges all.
    """
    return Call(
        method="POST",
        path="/v1/profiles/me/generate",
        answer=models.ProfileView,
        body=body,
    )


def list_premises(
    *,
    as_of: datetime | None = None,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.PremiseList]:
    """List what a member says of themselves.

    List premises; nobody else is shown them.
    """
    return Call(
        method="GET",
        path="/v1/profiles/me/premises",
        answer=models.PremiseList,
        query={"as_of": as_of, "client_id": client_id, "user_id": user_id},
    )


def add_premises(
    body: models.PremisesIn,
) -> Call[models.PremiseList]:
    """State premises.

    Keep each statement of a self-description by itself, for good or until a moment.
    """
    return Call(
        method="POST",
        path="/v1/profiles/me/premises",
        answer=models.PremiseList,
        body=body,
    )


def retract_premise(
    premise_id: UUID | str,
    *,
    client_id: str | None = None,
    user_id: str | None = None,
) -> Call[models.PremiseRetracted]:
    """Retract a premise.

    Take back a premise; the profile no longer says so in its words either.
    """
    return Call(
        method="DELETE",
        path=f"/v1/profiles/me/premises/{part(premise_id)}",
        answer=models.PremiseRetracted,
        query={"client_id": client_id, "user_id": user_id},
    )


def list_proposals(
    *,
    state: Literal["proposed", "remembered"] | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.ProposalPage]:
    """List proposed nodes.

    List what was seen again and again, for a person to make active; or what people marked.
    """
    return Call(
        method="GET",
        path="/v1/proposals",
        answer=models.ProposalPage,
        query={"state": state, "limit": limit, "cursor": cursor},
    )


def accept_proposal(
    node_id: UUID | str,
) -> Call[models.Proposal]:
    """Accept a proposed node.

    Make it active: planners are shown it from now on.
    """
    return Call(
        method="POST",
        path=f"/v1/proposals/{part(node_id)}/accept",
        answer=models.Proposal,
    )


def reject_proposal(
    node_id: UUID | str,
) -> Call[models.Proposal]:
    """Reject a proposed node.

    Archive it; it is not proposed again.
    """
    return Call(
        method="POST",
        path=f"/v1/proposals/{part(node_id)}/reject",
        answer=models.Proposal,
    )


def list_publications() -> Call[models.PublicationOutList]:
    """List what is published.

    List what everybody may read, with addresses.
    """
    return Call(
        method="GET",
        path="/v1/publications",
        answer=models.PublicationOutList,
    )


def publish(
    body: models.PublicationIn,
) -> Call[models.PublicationOut]:
    """Publish a report, a document or files.

    Put a snapshot on the web. For admins and operators; its address needs no key.
    """
    return Call(
        method="POST",
        path="/v1/publications",
        answer=models.PublicationOut,
        body=body,
    )


def public_host() -> Call[models.PublicHostOut]:
    """Tell where sites are served.

    Tell the public host and what the workspace's addresses begin with, as the setting says.
    """
    return Call(
        method="GET",
        path="/v1/publications/host",
        answer=models.PublicHostOut,
    )


def withdraw_publication(
    publication_id: UUID | str,
) -> Call[models.PublicationWithdrawn]:
    """Withdraw what is published.

    Take a publication off the web, at once.
    """
    return Call(
        method="DELETE",
        path=f"/v1/publications/{part(publication_id)}",
        answer=models.PublicationWithdrawn,
    )


def query_nodes(
    body: models.NodeQueryIn,
) -> Call[models.NodeQueryAnswer]:
    """Query nodes by label and property.

    List nodes whose properties are as asked, newest first.  A property that no node has is
    no error: `warnings` names it, and one that is like it.
    """
    return Call(
        method="POST",
        path="/v1/query/nodes",
        answer=models.NodeQueryAnswer,
        body=body,
        reads=True,
    )


def query_subgraph(
    body: models.SubgraphIn,
) -> Call[models.Subgraph]:
    """Query the graph.

    Walk the graph from what the question names, or from given nodes.  Intents are inferred;
    `intent` overrides them. Nodes with `retrieval_reason: proactive` were not asked for.
    Unknown ids and names lead nowhere; `meta.warnings` says so.
    """
    return Call(
        method="POST",
        path="/v1/query/subgraph",
        answer=models.Subgraph,
        body=body,
        reads=True,
    )


def start_rebuild(
    body: models.RebuildIn,
) -> Call[models.RebuildView]:
    """Make the projections anew from the ledger.

    Replay the ledger beside the rows in use, then replace what differs in one transaction.
    Searches go on all the while. Writes wait only while the rows are put in place; then a
    write may be told to come again (503 `ledger-busy`).
    """
    return Call(
        method="POST",
        path="/v1/rebuilds",
        answer=models.RebuildView,
        body=body,
    )


def get_rebuild(
    rebuild_id: UUID | str,
) -> Call[models.RebuildView]:
    """Follow one rebuild.

    Show a rebuild: running, finished with checksums by table, or failed with a reason.
    """
    return Call(
        method="GET",
        path=f"/v1/rebuilds/{part(rebuild_id)}",
        answer=models.RebuildView,
    )


def get_redaction() -> Call[models.RedactionProfile]:
    """Show the redaction profile.

    Show the workspace's profile; a persona's adds to it.
    """
    return Call(
        method="GET",
        path="/v1/redaction",
        answer=models.RedactionProfile,
    )


def choose_redaction(
    body: models.ProfileIn,
) -> Call[models.RedactionProfile]:
    """Choose the redaction profile.

    Choose the workspace's profile. Open questions to people are void: the rules have
    changed.
    """
    return Call(
        method="PUT",
        path="/v1/redaction",
        answer=models.RedactionProfile,
        body=body,
    )


def count_missing_vectors() -> Call[models.MissingVectors]:
    """How many nodes have no vector of the present model.

    Count the nodes that are found by keyword only, and those of them that wait for a
    vector.
    """
    return Call(
        method="GET",
        path="/v1/reindex",
        answer=models.MissingVectors,
    )


def reindex(
    *,
    after: UUID | str | None = None,
) -> Call[models.Reindexed]:
    """Queue nodes that have no vector of the present model.

    Queue a part of the workspace; ask again with `after` while there is `more`.  A node
    that waits already is not queued again, so the whole may be repeated. Nodes whose words
    an older release indexed are indexed anew.
    """
    return Call(
        method="POST",
        path="/v1/reindex",
        answer=models.Reindexed,
        query={"after": after},
    )


def relate_nodes(
    body: models.RelationshipIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.NodeChanged]:
    """State a relation between two nodes.

    Tie two nodes by a typed edge; between entities it grows stronger each time it is
    stated.
    """
    return Call(
        method="POST",
        path="/v1/relationships",
        answer=models.NodeChanged,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def write_report(
    body: models.ReportIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.ReportKept]:
    """Write a report.

    Keep what a workflow made. Reports are never changed; the same one again is the same
    one.
    """
    return Call(
        method="POST",
        path="/v1/reports",
        answer=models.ReportKept,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def list_reports(
    *,
    keyword: str | None = None,
    source_workflow: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.ReportPage]:
    """List reports, newest first.

    List the catalogue without bodies, and say how many reports it has.
    """
    return Call(
        method="GET",
        path="/v1/reports",
        answer=models.ReportPage,
        query={
            "keyword": keyword,
            "source_workflow": source_workflow,
            "limit": limit,
            "cursor": cursor,
        },
    )


def get_latest_reports(
    *,
    keyword: str | None = None,
    limit: int | None = None,
) -> Call[models.ReportWithBodyList]:
    """Read the newest report.

    Read the newest report with a keyword, by the time it is about; no items when none is.
    """
    return Call(
        method="GET",
        path="/v1/reports/latest",
        answer=models.ReportWithBodyList,
        query={"keyword": keyword, "limit": limit},
    )


def list_scim_groups() -> Call[models.ScimGroupList]:
    """List groups of directories.

    List the groups that directories brought, how many are in each, and the role it gives.
    """
    return Call(
        method="GET",
        path="/v1/scim/groups",
        answer=models.ScimGroupList,
    )


def set_scim_role(
    group_id: UUID | str,
    body: models.ScimRoleIn,
) -> Call[models.ScimGroup]:
    """Let a group give a role.

    Set what a group's people may do, at once; of several groups the strongest role counts.
    """
    return Call(
        method="PUT",
        path=f"/v1/scim/groups/{part(group_id)}",
        answer=models.ScimGroup,
        body=body,
    )


def list_scim_tokens() -> Call[models.ScimTokenList]:
    """List tokens of directories.

    List the tokens of directories, when each was used last, and until when it is good.
    """
    return Call(
        method="GET",
        path="/v1/scim/tokens",
        answer=models.ScimTokenList,
    )


def make_scim_token(
    body: models.ScimTokenIn,
) -> Call[models.ScimTokenMade]:
    """Make a token for a directory.

    Let a directory bring people and groups by SCIM, at `/scim/v2`. An owner's to make.
    """
    return Call(
        method="POST",
        path="/v1/scim/tokens",
        answer=models.ScimTokenMade,
        body=body,
    )


def revoke_scim_token(
    token_id: UUID | str,
) -> Call[models.ScimToken]:
    """Revoke a directory's token.

    Revoke a token at once. The people and groups that it brought stay as they are.
    """
    return Call(
        method="DELETE",
        path=f"/v1/scim/tokens/{part(token_id)}",
        answer=models.ScimToken,
    )


def search(
    body: models.SearchIn,
) -> Call[models.SearchAnswer | str]:
    """Recall.

    Find memories and document chunks by meaning and by words, as the key may see them.  A
    part that failed is named in `meta.degraded`. `meta.truncated` says that there was more
    than is shown, and `meta.dropped` what was left out because the answer would have been
    too large.  Asked for `text/event-stream`, it answers with the search's trace events;
    the last has it all.
    """
    return Call(
        method="POST",
        path="/v1/search",
        answer=models.SearchAnswer | str,
        body=body,
        reads=True,
    )


def list_searches(
    *,
    node_id: UUID | str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.SearchPage]:
    """List searches.

    List one's own searches, an admin every one: who asked, when, how many were returned.
    Neither what was asked nor any text is kept. With `node_id`, `rank` is the node's place.
    """
    return Call(
        method="GET",
        path="/v1/searches",
        answer=models.SearchPage,
        query={"node_id": node_id, "limit": limit, "cursor": cursor},
    )


def get_search(
    search_id: UUID | str,
    *,
    format: Literal["json", "svg"] | None = None,
) -> Call[models.ExplainedSearch | str]:
    """Explain a search.

    Return why each result is where it is; one's own searches, and every one for an admin.
    The id is `meta.search_id` of an answer. Texts are shown as far as the key may see them
    now. `svg` draws what the graph leg walked.
    """
    return Call(
        method="GET",
        path=f"/v1/searches/{part(search_id)}",
        answer=models.ExplainedSearch | str,
        query={"format": format},
    )


def give_feedback(
    search_id: UUID | str,
    body: models.FeedbackIn,
) -> Call[models.Feedback]:
    """Say whether a result was of use.

    Keep what this key says of a node its search returned; a second time replaces the first.
    `proactive_signal` is what the answer said of a proactive node: a signal of which at
    least ten judgements of the last 30 days say mostly no is muted until they are older.
    """
    return Call(
        method="POST",
        path=f"/v1/searches/{part(search_id)}/feedback",
        answer=models.Feedback,
        body=body,
    )


def get_settings() -> Call[models.SettingsView]:
    """Show the settings.

    Show every setting of the workspace, and where its value is from.
    """
    return Call(
        method="GET",
        path="/v1/settings",
        answer=models.SettingsView,
    )


def change_settings(
    body: models.SettingsIn,
    *,
    if_match: str | None = None,
) -> Call[models.SettingsView]:
    """Change the settings.

    Change what is named, reset what is null, and leave the rest. Holds within a second.
    """
    return Call(
        method="PATCH",
        path="/v1/settings",
        answer=models.SettingsView,
        body=body,
        headers=present({"if-match": if_match}),
    )


def list_sources() -> Call[models.KnowledgeSourceList]:
    """List sources of knowledge.

    List sources, what stands of each, and how reading it goes.
    """
    return Call(
        method="GET",
        path="/v1/sources",
        answer=models.KnowledgeSourceList,
    )


def add_source(
    body: models.KnowledgeSourceIn,
) -> Call[models.KnowledgeSource]:
    """Add a source of knowledge.

    Keep a source, and read it at once. Its secrets are sealed, and never shown again.
    """
    return Call(
        method="POST",
        path="/v1/sources",
        answer=models.KnowledgeSource,
        body=body,
    )


def get_source(
    knowledge_id: UUID | str,
) -> Call[models.KnowledgeSource]:
    """Show a source of knowledge.

    Show a source: the run under way, the last one, what a preview found out, the last
    error.
    """
    return Call(
        method="GET",
        path=f"/v1/sources/{part(knowledge_id)}",
        answer=models.KnowledgeSource,
    )


def change_source(
    knowledge_id: UUID | str,
    body: models.KnowledgeSourceChangeIn,
) -> Call[models.KnowledgeSource]:
    """Change or pause a source of knowledge.

    Change a source. It is read anew with the next minutes; a paused one is not.
    """
    return Call(
        method="PATCH",
        path=f"/v1/sources/{part(knowledge_id)}",
        answer=models.KnowledgeSource,
        body=body,
    )


def remove_source(
    knowledge_id: UUID | str,
    *,
    documents: bool | None = None,
) -> Call[models.KnowledgeSource]:
    """Remove a source of knowledge.

    Remove a source with its secrets. To destroy what it brought, forget it instead.
    """
    return Call(
        method="DELETE",
        path=f"/v1/sources/{part(knowledge_id)}",
        answer=models.KnowledgeSource,
        query={"documents": documents},
    )


def preview_source(
    knowledge_id: UUID | str,
) -> Call[models.KnowledgeSource]:
    """Find out what a sync would change.

    Read a source and change nothing. Follow `run` until it is null; then see
    `last_preview`.
    """
    return Call(
        method="POST",
        path=f"/v1/sources/{part(knowledge_id)}/preview",
        answer=models.KnowledgeSource,
    )


def sync_source(
    knowledge_id: UUID | str,
    body: models.SourceSyncIn,
) -> Call[models.KnowledgeSource]:
    """Read a source of knowledge now.

    Read a source at once. Follow `run` until it is null; then `last_sync` says what it did.
    """
    return Call(
        method="POST",
        path=f"/v1/sources/{part(knowledge_id)}/sync",
        answer=models.KnowledgeSource,
        body=body,
    )


def get_stats() -> Call[models.Stats]:
    """What the workspace holds and how good it is.

    Count nodes, decayed facts, junk, duplicates, contradictions, bytes, vectors and what
    waits.  Rates are exact up to 2,000 active memories and of a random sample beyond; each
    says which.
    """
    return Call(
        method="GET",
        path="/v1/stats",
        answer=models.Stats,
    )


def find_orphans() -> Call[models.OrphansByKind]:
    """Rows that lost what they belong to.

    Find nodes without an entry, edges without an end, vectors without a node, and the like.
    Each kind is counted up to 1,000.
    """
    return Call(
        method="GET",
        path="/v1/stats/orphans",
        answer=models.OrphansByKind,
    )


def get_status() -> Call[models.Status]:
    """How much work waits.

    Count what waits for its embedding, what failed, and what is stored.
    """
    return Call(
        method="GET",
        path="/v1/status",
        answer=models.Status,
    )


def get_subscriptions(
    *,
    agent: str | None = None,
) -> Call[models.SubscriptionList]:
    """What agents subscribe to.

    Return what an agent subscribes to; no items when it subscribes to nothing.
    """
    return Call(
        method="GET",
        path="/v1/subscriptions",
        answer=models.SubscriptionList,
        query={"agent": agent},
    )


def replace_subscription(
    body: models.SubscriptionIn,
) -> Call[models.SubscriptionView]:
    """Subscribe an agent to keywords.

    Replace the agent's keywords. Searches follow them where subscriptions are switched on.
    """
    return Call(
        method="PUT",
        path="/v1/subscriptions",
        answer=models.SubscriptionView,
        body=body,
    )


def clear_subscription(
    *,
    agent: str | None = None,
) -> Call[models.SubscriptionView]:
    """Let an agent subscribe to nothing.

    Remove every keyword of the agent; nothing to remove is fine too.
    """
    return Call(
        method="DELETE",
        path="/v1/subscriptions",
        answer=models.SubscriptionView,
        query={"agent": agent},
    )


def list_summaries(
    *,
    scope: Literal["episode", "session", "agent"] | None = None,
    scope_id: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    as_of: datetime | int | None = None,
) -> Call[models.SummaryPage]:
    """List summaries.

    Return summaries of episodes, sessions and agents, the latest first.
    """
    return Call(
        method="GET",
        path="/v1/summaries",
        answer=models.SummaryPage,
        query={
            "scope": scope,
            "scope_id": scope_id,
            "limit": limit,
            "cursor": cursor,
            "as_of": as_of,
        },
    )


def get_summary(
    summary_id: UUID | str,
    *,
    depth: int | None = None,
    as_of: datetime | int | None = None,
) -> Call[models.SummaryTreeView]:
    """Show what a summary is made of.

    Return a summary with what it is made of: sessions, episodes, and their sources.
    """
    return Call(
        method="GET",
        path=f"/v1/summaries/{part(summary_id)}",
        answer=models.SummaryTreeView,
        query={"depth": depth, "as_of": as_of},
    )


def apply_taint(
    body: models.TaintIn,
) -> Call[models.Tainted]:
    """Hold back an agent, a session, a source or a node, and all that was made of it.

    Quarantine it. Ask again with the same body while `complete` is false.  New writes that
    fall under a standing taint are stored in quarantine. `dry_run` changes nothing.
    """
    return Call(
        method="POST",
        path="/v1/taint",
        answer=models.Tainted,
        body=body,
    )


def list_taints(
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.TaintPage]:
    """List taints.

    Read the taints of the workspace, standing and lifted.
    """
    return Call(
        method="GET",
        path="/v1/taints",
        answer=models.TaintPage,
        query={"limit": limit, "cursor": cursor},
    )


def get_taint(
    taint_id: UUID | str,
) -> Call[models.TaintReport]:
    """Read a taint.

    Return a taint with the newest actions and searches that used what it holds.
    """
    return Call(
        method="GET",
        path=f"/v1/taints/{part(taint_id)}",
        answer=models.TaintReport,
    )


def lift_taint(
    taint_id: UUID | str,
) -> Call[models.TaintLifted]:
    """Lift a taint.

    Let nodes have the state they had; those that another taint holds stay in quarantine.
    """
    return Call(
        method="POST",
        path=f"/v1/taints/{part(taint_id)}/lift",
        answer=models.TaintLifted,
    )


def start_task(
    body: models.TaskIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.TaskState]:
    """Start a task.

    Start a piece of work whose writes name it; inputs the schema calls secret are not kept.
    """
    return Call(
        method="POST",
        path="/v1/tasks",
        answer=models.TaskState,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def update_task(
    task_id: UUID | str,
    body: models.StepIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.TaskState]:
    """Say how a task goes.

    Add a step, and what it produced; of many steps the newest hundred are kept.
    """
    return Call(
        method="PATCH",
        path=f"/v1/tasks/{part(task_id)}",
        answer=models.TaskState,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def complete_task(
    task_id: UUID | str,
    body: models.EndIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.TaskState]:
    """End a task.

    End a task: completed, failed or cancelled. The same end again changes nothing.
    """
    return Call(
        method="POST",
        path=f"/v1/tasks/{part(task_id)}/complete",
        answer=models.TaskState,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def list_ticket_sources() -> Call[models.TicketSourceList]:
    """List ticket sources.

    List help desks and how polling them goes; the plain source, `api`, is not among them.
    """
    return Call(
        method="GET",
        path="/v1/ticket-sources",
        answer=models.TicketSourceList,
    )


def register_ticket_source(
    body: models.SourceIn,
) -> Call[models.TicketSourceView]:
    """Register a ticket source.

    Keep a help desk. Its secrets are sealed, and never shown again.
    """
    return Call(
        method="POST",
        path="/v1/ticket-sources",
        answer=models.TicketSourceView,
        body=body,
    )


def get_ticket_source(
    source_id: UUID | str,
) -> Call[models.TicketSourceView]:
    """Show a ticket source.

    Show a help desk and how polling it goes.
    """
    return Call(
        method="GET",
        path=f"/v1/ticket-sources/{part(source_id)}",
        answer=models.TicketSourceView,
    )


def change_ticket_source(
    source_id: UUID | str,
    body: models.SourceChangeIn,
) -> Call[models.TicketSourceView]:
    """Change a ticket source.

    Change a help desk. New secrets mend one that `needs-auth`, and its tickets go on.
    """
    return Call(
        method="PATCH",
        path=f"/v1/ticket-sources/{part(source_id)}",
        answer=models.TicketSourceView,
        body=body,
    )


def remove_ticket_source(
    source_id: UUID | str,
) -> Call[models.TicketSourceRemoved]:
    """Remove a ticket source.

    Remove a help desk with its secrets. Its tickets stay; nothing is written back to it.
    """
    return Call(
        method="DELETE",
        path=f"/v1/ticket-sources/{part(source_id)}",
        answer=models.TicketSourceRemoved,
    )


def confirm_ticket_webhook(
    source_id: UUID | str,
) -> Call[models.WebhookExpected]:
    """Say that a source's webhooks arrive here.

    Answer a help desk that looks whether anybody is there before it sends. Needs no key.
    """
    return Call(
        method="GET",
        path=f"/v1/ticket-sources/{part(source_id)}/events",
        answer=models.WebhookExpected,
    )


def receive_ticket_webhook(
    source_id: UUID | str,
) -> Call[models.EventsTaken | models.ChallengeAnswered]:
    """Take a help desk's webhook.

    Take a delivery in. Who sends it is proved by its signature, not by a key of ours.  A
    challenge (of Slack, which looks whether anybody is there) is answered by itself.
    """
    return Call(
        method="POST",
        path=f"/v1/ticket-sources/{part(source_id)}/events",
        answer=models.EventsTaken | models.ChallengeAnswered,
    )


def poll_ticket_source(
    source_id: UUID | str,
) -> Call[models.PollResult]:
    """Fetch a source's new tickets now.

    Fetch what is new at a help desk, for up to twenty seconds.
    """
    return Call(
        method="POST",
        path=f"/v1/ticket-sources/{part(source_id)}/poll",
        answer=models.PollResult,
    )


def begin_source_sign_in(
    source_id: UUID | str,
) -> Call[models.SignInShown]:
    """Begin to sign in to a ticket source.

    Ask its authorization server for a device code; the one under way while it has time
    left.
    """
    return Call(
        method="POST",
        path=f"/v1/ticket-sources/{part(source_id)}/sign-in",
        answer=models.SignInShown,
    )


def get_source_sign_in(
    source_id: UUID | str,
) -> Call[models.SignInShown]:
    """Show how signing in to a ticket source stands.

    Show how signing in stands. Nobody is asked.
    """
    return Call(
        method="GET",
        path=f"/v1/ticket-sources/{part(source_id)}/sign-in",
        answer=models.SignInShown,
    )


def end_source_sign_in(
    source_id: UUID | str,
) -> Call[models.TicketSourceRemoved]:
    """Sign out of a ticket source.

    Forget the token, and the sign-in under way.
    """
    return Call(
        method="DELETE",
        path=f"/v1/ticket-sources/{part(source_id)}/sign-in",
        answer=models.TicketSourceRemoved,
    )


def poll_source_sign_in(
    source_id: UUID | str,
) -> Call[models.SignInShown]:
    """Ask whether a sign-in to a ticket source is done.

    Ask the authorization server, if it is time to: `ask_again_in` says when it is again.
    """
    return Call(
        method="POST",
        path=f"/v1/ticket-sources/{part(source_id)}/sign-in/poll",
        answer=models.SignInShown,
    )


def add_ticket(
    body: models.TicketIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.TicketTaken]:
    """Add a ticket.

    Take a ticket in. It is screened, queued and investigated after the answer.
    """
    return Call(
        method="POST",
        path="/v1/tickets",
        answer=models.TicketTaken,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def list_tickets(
    *,
    status: Literal[
        "new",
        "queued",
        "investigating",
        "auto_resolved",
        "needs_tech",
        "needs_client",
        "needs_l2",
        "failed",
        "discarded",
    ]
    | None = None,
    source: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.TicketPage]:
    """List tickets.

    List tickets without their bodies; discarded ones are among them.
    """
    return Call(
        method="GET",
        path="/v1/tickets",
        answer=models.TicketPage,
        query={"status": status, "source": source, "limit": limit, "cursor": cursor},
    )


def get_ticket_queue() -> Call[models.QueueView]:
    """See the queue.

    Show how many tickets wait, for how long a new one would, and whether it is too long.
    """
    return Call(
        method="GET",
        path="/v1/tickets/queue",
        answer=models.QueueView,
    )


def get_ticket(
    ticket_id: UUID | str,
) -> Call[models.TicketDetail]:
    """Show a ticket.

    Show what a ticket says, what was said since, and which investigations it had.
    """
    return Call(
        method="GET",
        path=f"/v1/tickets/{part(ticket_id)}",
        answer=models.TicketDetail,
    )


def add_ticket_message(
    ticket_id: UUID | str,
    body: models.TicketMessageIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.TicketMessageTaken]:
    """Add a requester's message to a ticket.

    Keep what the requester wrote; a ticket that waits for it, or is done, is taken up
    again.
    """
    return Call(
        method="POST",
        path=f"/v1/tickets/{part(ticket_id)}/messages",
        answer=models.TicketMessageTaken,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def requeue_ticket(
    ticket_id: UUID | str,
) -> Call[models.TicketQueued]:
    """Put a ticket back into the queue.

    Queue a ticket that has ended or was discarded; it is not screened again.
    """
    return Call(
        method="POST",
        path=f"/v1/tickets/{part(ticket_id)}/requeue",
        answer=models.TicketQueued,
    )


def list_tool_calls(
    *,
    investigation_id: UUID | str | None = None,
    connector: str | None = None,
    session_id: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.ToolCallPage]:
    """List tool calls.

    List what agents asked tools for: owner, input and output (redacted, cut), error, times.
    Calls that agents made over MCP and HTTP are among them, with the owner `cairn`.
    """
    return Call(
        method="GET",
        path="/v1/tool-calls",
        answer=models.ToolCallPage,
        query={
            "investigation_id": investigation_id,
            "connector": connector,
            "session_id": session_id,
            "limit": limit,
            "cursor": cursor,
        },
    )


def get_tool_call(
    action_id: UUID | str,
) -> Call[models.ToolCallView]:
    """Show a tool call.

    Show what a citation of a tool names: the call, and what the tool said.
    """
    return Call(
        method="GET",
        path=f"/v1/tool-calls/{part(action_id)}",
        answer=models.ToolCallView,
    )


def create_upload(
    body: models.UploadIn,
) -> Call[models.UploadTicket]:
    """Prepare the upload of a large document.

    Return a URL to PUT the bytes to, once, with its headers; then ingest them by
    `upload_id`.
    """
    return Call(
        method="POST",
        path="/v1/uploads",
        answer=models.UploadTicket,
        body=body,
    )


def list_webhooks() -> Call[models.WebhookList]:
    """List webhooks.

    List webhooks with what waits and what failed; never their secrets.
    """
    return Call(
        method="GET",
        path="/v1/webhooks",
        answer=models.WebhookList,
    )


def create_webhook(
    body: models.WebhookIn,
) -> Call[models.WebhookWithSecret]:
    """Make a webhook.

    Tell an address of what happens. The secret that signs each delivery is shown this once.
    """
    return Call(
        method="POST",
        path="/v1/webhooks",
        answer=models.WebhookWithSecret,
        body=body,
    )


def remove_webhook(
    webhook_id: UUID | str,
) -> Call[models.WebhookRemoved]:
    """Remove a webhook.

    Remove a webhook with its deliveries.
    """
    return Call(
        method="DELETE",
        path=f"/v1/webhooks/{part(webhook_id)}",
        answer=models.WebhookRemoved,
    )


def list_webhook_deliveries(
    webhook_id: UUID | str,
) -> Call[models.DeliveryList]:
    """List the newest deliveries of a webhook.

    List deliveries: waiting, delivered or failed, with the last answer's status.
    """
    return Call(
        method="GET",
        path=f"/v1/webhooks/{part(webhook_id)}/deliveries",
        answer=models.DeliveryList,
    )


def whoami() -> Call[models.WhoAmI]:
    """Who this key is.

    Show the workspace, role, scopes and rate limit of the key.
    """
    return Call(
        method="GET",
        path="/v1/whoami",
        answer=models.WhoAmI,
    )


def get_widget() -> Call[models.WidgetOut]:
    """Show the chat widget.

    Show what the workspace's widget may do, and what it has cost today.
    """
    return Call(
        method="GET",
        path="/v1/widget",
        answer=models.WidgetOut,
    )


def set_widget(
    body: models.WidgetIn,
) -> Call[models.WidgetOut]:
    """Set the chat widget.

    Make the widget, or set all of it anew. Its id stays: it stands in pages.
    """
    return Call(
        method="PUT",
        path="/v1/widget",
        answer=models.WidgetOut,
        body=body,
    )


def remove_widget() -> Call[models.WidgetRemoved]:
    """Remove the chat widget.

    Remove the widget with its sessions. What was said in them stays a conversation.
    """
    return Call(
        method="DELETE",
        path="/v1/widget",
        answer=models.WidgetRemoved,
    )


def get_widget_page(
    widget_id: UUID | str,
) -> Call[models.WidgetPage]:
    """What the widget's page shows.

    Say how the widget looks on a page of an allowed origin.
    """
    return Call(
        method="GET",
        path=f"/v1/widget/{part(widget_id)}",
        answer=models.WidgetPage,
    )


def get_widget_challenge(
    widget_id: UUID | str,
) -> Call[models.WidgetChallenge]:
    """Ask what is to be solved.

    Make a challenge. It takes one answer.
    """
    return Call(
        method="GET",
        path=f"/v1/widget/{part(widget_id)}/challenge",
        answer=models.WidgetChallenge,
    )


def solve_widget_challenge(
    widget_id: UUID | str,
    body: models.WidgetSolutionIn,
) -> Call[models.WidgetSessionView]:
    """Solve the challenge.

    Take an answer: once, and of the challenge that this session was given.
    """
    return Call(
        method="POST",
        path=f"/v1/widget/{part(widget_id)}/challenge",
        answer=models.WidgetSessionView,
        body=body,
    )


def ask_widget_person(
    widget_id: UUID | str,
) -> Call[models.WidgetHandOffView]:
    """Ask for a person.

    Ask for a person to answer in this chat; again while one is asked for changes nothing.
    """
    return Call(
        method="POST",
        path=f"/v1/widget/{part(widget_id)}/hand-off",
        answer=models.WidgetHandOffView,
    )


def get_widget_hand_off(
    widget_id: UUID | str,
    *,
    after: int | None = None,
) -> Call[models.WidgetHandOffView]:
    """Poll what a person says.

    Show the last hand-off of this chat; what the customer said is among its lines.
    """
    return Call(
        method="GET",
        path=f"/v1/widget/{part(widget_id)}/hand-off",
        answer=models.WidgetHandOffView,
        query={"after": after},
    )


def hear_widget_person(
    widget_id: UUID | str,
    *,
    after: int | None = None,
) -> Call[str]:
    """Hear what a person says (server-sent events).

    Stream lines after a number until the person, or nobody, answers any more.
    """
    return Call(
        method="GET",
        path=f"/v1/widget/{part(widget_id)}/hand-off/events",
        answer=str,
        query={"after": after},
    )


def say_to_widget(
    widget_id: UUID | str,
    body: models.WidgetMessageIn,
) -> Call[models.WidgetTurn | str]:
    """Say something to the widget.

    Answer a customer; every limit is asked before any model is.  Asked for `text/event-
    stream` it tells the words as they come, and at last `turn_end`.
    """
    return Call(
        method="POST",
        path=f"/v1/widget/{part(widget_id)}/messages",
        answer=models.WidgetTurn | str,
        body=body,
    )


def resolve_widget_session(
    widget_id: UUID | str,
) -> Call[models.WidgetSessionView]:
    """End a session that is solved.

    Say that the customer has what they wanted.
    """
    return Call(
        method="POST",
        path=f"/v1/widget/{part(widget_id)}/resolve",
        answer=models.WidgetSessionView,
    )


def get_widget_session(
    widget_id: UUID | str,
) -> Call[models.WidgetSessionView]:
    """Show a session of the widget.

    Show a session's state, and what may still be said in it.
    """
    return Call(
        method="GET",
        path=f"/v1/widget/{part(widget_id)}/session",
        answer=models.WidgetSessionView,
    )


def open_widget_session(
    widget_id: UUID | str,
    body: models.WidgetSessionIn,
) -> Call[models.WidgetSessionView]:
    """Open a session of the widget.

    Let a customer talk: anonymously, or as whom a token signed by the host names.
    """
    return Call(
        method="POST",
        path=f"/v1/widget/{part(widget_id)}/sessions",
        answer=models.WidgetSessionView,
        body=body,
    )


def list_widget_chunks(
    turn_id: UUID | str,
    widget_id: UUID | str,
    *,
    after: int | None = None,
) -> Call[models.WidgetChunks]:
    """Poll an answer of the widget.

    List pieces of an answer where none can be streamed; ask with `after` until `ended`.
    """
    return Call(
        method="GET",
        path=f"/v1/widget/{part(widget_id)}/turns/{part(turn_id)}",
        answer=models.WidgetChunks,
        query={"after": after},
    )


def list_workflow_runs(
    *,
    workflow: str | None = None,
    state: Literal["running", "waiting", "done", "failed", "cancelled"] | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[models.WorkflowRunPage]:
    """List runs of workflows.

    List runs with what came of their steps.
    """
    return Call(
        method="GET",
        path="/v1/workflow-runs",
        answer=models.WorkflowRunPage,
        query={"workflow": workflow, "state": state, "limit": limit, "cursor": cursor},
    )


def get_workflow_run(
    workflow_run_id: UUID | str,
) -> Call[models.WorkflowRunView]:
    """Show a run of a workflow.

    Show where a run is, what came of its steps, and what it waits for.
    """
    return Call(
        method="GET",
        path=f"/v1/workflow-runs/{part(workflow_run_id)}",
        answer=models.WorkflowRunView,
    )


def cancel_workflow_run(
    workflow_run_id: UUID | str,
) -> Call[models.WorkflowRunView]:
    """Cancel a run.

    End a run where it is; what was done stays done.
    """
    return Call(
        method="POST",
        path=f"/v1/workflow-runs/{part(workflow_run_id)}/cancel",
        answer=models.WorkflowRunView,
    )


def decide_workflow_run(
    workflow_run_id: UUID | str,
    body: models.WorkflowWordIn,
) -> Call[models.WorkflowRunView]:
    """Approve or reject what a run waits for.

    Let a run go on, or end it. What was decided first counts.
    """
    return Call(
        method="POST",
        path=f"/v1/workflow-runs/{part(workflow_run_id)}/decide",
        answer=models.WorkflowRunView,
        body=body,
    )


def follow_workflow_run(
    workflow_run_id: UUID | str,
    *,
    last_event_id: str | None = None,
) -> Call[str]:
    """Follow a run live (server-sent events).

    Stream what comes of a run's steps, with durations, until it ends or waits for a person.
    Only where the API runs as a server: behind API Gateway poll the run.
    """
    return Call(
        method="GET",
        path=f"/v1/workflow-runs/{part(workflow_run_id)}/events",
        answer=str,
        headers=present({"last-event-id": last_event_id}),
    )


def resume_workflow_run(
    workflow_run_id: UUID | str,
) -> Call[models.WorkflowRunView]:
    """Try a run's failed step again.

    Go on from the step that failed, or where an execution was lost; steps done stay done.
    """
    return Call(
        method="POST",
        path=f"/v1/workflow-runs/{part(workflow_run_id)}/resume",
        answer=models.WorkflowRunView,
    )


def list_workflows() -> Call[models.WorkflowShownList]:
    """List workflows.

    List workflows as they are now.
    """
    return Call(
        method="GET",
        path="/v1/workflows",
        answer=models.WorkflowShownList,
    )


def create_workflow(
    body: models.NewWorkflowIn,
) -> Call[models.WorkflowShown]:
    """Make a workflow.

    Make a workflow; its name stays for good.
    """
    return Call(
        method="POST",
        path="/v1/workflows",
        answer=models.WorkflowShown,
        body=body,
    )


def get_workflow(
    workflow: UUID | str,
) -> Call[models.WorkflowShown]:
    """Show a workflow.

    Show a workflow as it is now, and what a run of it is given.
    """
    return Call(
        method="GET",
        path=f"/v1/workflows/{part(workflow)}",
        answer=models.WorkflowShown,
    )


def replace_workflow(
    workflow: UUID | str,
    body: models.WorkflowIn,
) -> Call[models.WorkflowShown]:
    """Change a workflow.

    Replace a workflow by another version; runs under way go on with theirs.
    """
    return Call(
        method="PUT",
        path=f"/v1/workflows/{part(workflow)}",
        answer=models.WorkflowShown,
        body=body,
    )


def remove_workflow(
    workflow: UUID | str,
) -> Call[models.WorkflowRemoved]:
    """Remove a workflow.

    Remove a workflow; its runs stay, and those under way go on.
    """
    return Call(
        method="DELETE",
        path=f"/v1/workflows/{part(workflow)}",
        answer=models.WorkflowRemoved,
    )


def run_workflow(
    workflow: UUID | str,
    body: models.WorkflowRunIn,
    *,
    idempotency_key: str | None = None,
) -> Call[models.WorkflowRunView]:
    """Run a workflow.

    Begin a run of the present version. With a client it reads and writes that client's.
    """
    return Call(
        method="POST",
        path=f"/v1/workflows/{part(workflow)}/runs",
        answer=models.WorkflowRunView,
        body=body,
        headers=present({"idempotency-key": idempotency_key}),
        keyed=True,
    )


def list_workflow_versions(
    workflow: UUID | str,
) -> Call[models.WorkflowShownList]:
    """Show how a workflow changed.

    List every version a workflow had; each is an entry of the ledger, too.
    """
    return Call(
        method="GET",
        path=f"/v1/workflows/{part(workflow)}/versions",
        answer=models.WorkflowShownList,
    )
