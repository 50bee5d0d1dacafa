"""The types of the API. Made by scripts/clients.py: do not edit."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, ConfigDict, Field

from cairn_memory._model import Model


class AcceptChatIn(Model):
    """Who answers: by which `name` the customer knows them. `take_over`: from another operator."""

    name: str | None = None
    """By which name the customer knows you."""

    take_over: bool = False
    """Also from another operator."""


class ActIn(Model):
    """For whom; a key of a member needs to say nothing."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class AliasIn(Model):
    """Another name of an entity."""

    alias: str
    """Another name of the entity."""


class ApproveIn(Model):
    """A yes to exactly what has this binding."""

    binding: str
    """`binding` of the approval: what you were shown."""

    reason: str = ""
    """Why; it is kept with the decision."""


class AssignIn(Model):
    """Networks that an intent belongs to; none: it is judged where it does."""

    networks: list[UUID] | None = None
    """Networks that it belongs to; none: it is judged where it does."""

    client_id: str | None = None
    """The member it is done for, where the key is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class CalledToolIn(Model):
    """A tool that a turn called."""

    name: str
    """Its name."""

    arguments: dict[str, Any] | str | None = None
    """The arguments of the tool, by name."""

    id: str | None = None
    """Its id."""


class ChannelCodeIn(Model):
    """For whom the code is."""

    person_id: UUID
    """Who whoever sends the code is to be."""


class ChannelIn(Model):
    """A Slack incoming webhook. Its address is a secret: it is sealed and never shown."""

    name: str
    """The name by which personas use it: `slack:<name>`."""

    url: str
    """The address of the Slack incoming webhook; it is sealed and never shown."""


class ChannelLimits(Model):
    """How much somebody may say: in a minute, in a day, and in one session of a thread."""

    per_minute: int = 20
    """Messages of somebody in a minute, in all threads."""

    per_day: int = 200
    """Messages of somebody in a day."""

    per_session: int = 40
    """Messages of a session of a thread."""

    idle_minutes: int = 240
    """Minutes of silence that end a session."""


class ChatIn(Model):
    """What a person says. The same `turn_id` and message again is the same turn."""

    message: str
    """What is wrong, in words."""

    session_id: str | None = None
    """The session it belongs to, as its writer names it."""

    turn_id: UUID | None = None
    """The turn's id; your own makes sending it again safe."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    suggest: bool = False
    """Whether to suggest what may be asked next."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class CheckpointIn(Model):
    """A state of a thread; one of the same id takes the place of the one before."""

    thread_id: str
    """The thread's name, among those of this agent and client."""

    namespace: str = ""
    """Which graph of the thread it is of, when there are several."""

    checkpoint_id: str
    """The program's own id of it; a later one comes after it in the order of characters."""

    parent_id: str | None = None
    """The id of what it follows from."""

    run_id: str | None = None
    """The run that came to it; its checkpoints can be taken away together."""

    data: str
    """The state, as the program writes it: a text; bytes in base64."""

    client_id: str = "global"
    """The client it belongs to; `global` for none in particular."""

    ttl_seconds: int | None = None
    """How many seconds its thread lasts after a write; null as before, else as the workspace says."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class CheckpointWriteIn(Model):
    """What a task wrote to a channel."""

    idx: int
    """Its place among what the task wrote; below zero for what is written anew each time."""

    channel: str
    """The channel's name."""

    data: str
    """What was written, as the program writes it: a text; bytes in base64."""


class CheckpointWritesIn(Model):
    """What a task wrote after a checkpoint. Each counts once; the last one below `idx` 0."""

    thread_id: str
    """That of the checkpoint."""

    namespace: str = ""
    """That of the checkpoint."""

    checkpoint_id: str
    """The checkpoint that the task began at; it may be put a moment later."""

    task_id: str
    """The task that wrote it."""

    task_path: str = ""
    """Where the task stands in the step; what was written is read in this order."""

    writes: list[CheckpointWriteIn]
    """What it wrote, each with its place."""

    client_id: str = "global"
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class ClaimIn(Model):
    """The token from the deployment's output, and a name for the workspace."""

    token: str
    """The one-time token of the deployment."""

    workspace_name: str = "main"
    """The name of the first workspace."""


class CloseIn(Model):
    """How the chat was solved."""

    resolution: str
    """How the chat was solved."""


class ConsolidationIn(Model):
    """
    What is to be consolidated. Without `client_id`, the memories of every client.

    `dry_run` plans only: the answer holds the plan and its cost, and no memory changes.
    """

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    dry_run: bool = False
    """Plan, and change nothing."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class ContactImportIn(Model):
    """A file of people as text; of a mailbox or a calendar only names, addresses and times."""

    format: Literal["csv", "vcard", "mailbox", "calendar"]
    """How results are written: full, compact or text."""

    text: str
    """The text."""

    own_addresses: list[str] | None = None
    """The member's own addresses; a mailbox needs them."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class ContactIn(Model):
    """Somebody the member knows. Who is there by their address is changed, not added again."""

    name: str
    """Its name."""

    address: str | None = None
    """A mail address: by it they are known again."""

    phone: str | None = None
    """A phone number."""

    organisation: str | None = None
    """Where they work."""

    title: str | None = None
    """The title."""

    note: str | None = None
    """More about it."""

    member_id: UUID | None = None
    """Which member of a shared network they are."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class ContactInviteIn(Model):
    """Into which network."""

    network_id: UUID
    """The network's id."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class ContactSearchIn(Model):
    """Words that a contact has, or begins with."""

    query: str
    """The question, in words."""

    limit: int = 20
    """How many at most."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class ConversationChange(Model):
    """What is to hold for a conversation from now on."""

    infer: bool
    """Whether memories are drawn from what is said."""


class DecisionIn(Model):
    """The person's word; `arguments_hash` is of what they saw."""

    decision: Literal["confirm", "cancel"]
    """confirm does it, cancel drops it."""

    arguments_hash: str | None = None
    """The hash of the tool and its arguments: what the person saw."""


class DiscoverIn(Model):
    """What to look for: an intent, a query, or, with neither, who fits the profile."""

    intent_id: UUID | None = None
    """An active intent of the member."""

    query: str | None = None
    """What is looked for, in the member's words."""

    side: Literal["seeking", "offering", "both"] | None = None
    """Which side the query is on: seeking, unless it says so."""

    members: list[UUID] | None = None
    """Those whom it is about, instead of a search."""

    networks: list[UUID] | None = None
    """Only in these; without them in every network of the member."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class DiscoverQueryIn(Model):
    """The same, and how much of it is wanted."""

    intent_id: UUID | None = None
    """An active intent of the member."""

    query: str | None = None
    """What is looked for, in the member's words."""

    side: Literal["seeking", "offering", "both"] | None = None
    """Which side the query is on: seeking, unless it says so."""

    members: list[UUID] | None = None
    """Those whom it is about, instead of a search."""

    networks: list[UUID] | None = None
    """Only in these; without them in every network of the member."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    limit: int = 20
    """How many people are returned, at the most."""

    minimum: int = 70
    """The least score of what is returned."""

    lenses: bool = False
    """Look through hypothetical documents by rules, too; a model's are looked through in any case."""

    profiles: bool = True
    """Look in profiles, beside intents."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class DisputeIn(Model):
    """What was wrong."""

    reason: str
    """What was wrong."""


class EdgeIn(Model):
    """An edge of a new node: `to` leads from it, `from` to it; exactly one of them."""

    relation: str = Field(..., examples=["SOLVES", "depends_on"])
    """What kind of edge it is, such as SOLVES."""

    to: UUID | None = None
    """The id of the node it leads to, for an edge from the new node."""

    from_: UUID | None = Field(None, alias="from")
    """The id of the node it leads from, for an edge to the new node."""

    weight: float = 1.0
    """How strong the edge is."""

    properties: dict[str, Any] | None = None
    """What is set on it, as a JSON object."""


class EditActionIn(Model):
    """A yes to other arguments, which go through the safety rules again."""

    binding: str
    """`binding` of the approval: what you were shown."""

    arguments: dict[str, Any]
    """All of them, as the tool takes them."""

    reason: str
    """Why."""


class EditIn(Model):
    """What it is to say instead; what is left out stays."""

    title: str | None = None
    """The title."""

    text: str | None = None
    """The text."""


class FileIn(Model):
    """A file to publish, by its path below the publication's address."""

    path: str
    """Where it is to be, below the address of the publication."""

    content_base64: str
    """Its bytes, in standard base64 with padding."""


class GrantIn(Model):
    """
    What agents may do without asking.

    `arguments` has every argument of the calls it covers: in texts `*` stands for letters, digits
    and `._+-`, `**` for anything. null leaves them open, for at most 10 uses. Left out, they are
    those of the approval, exactly.
    """

    tool: str
    """The tool, as `connector.tool`."""

    arguments: dict[str, Any] | None = None
    """The arguments of the tool, by name."""

    expires_at: AwareDatetime
    """When it ends to count."""

    max_uses: int
    """How often it may be used."""

    reason: str
    """Why."""

    approval_id: UUID | None = None
    """The approval it comes from."""


class ImportIn(Model):
    """Records in the order of an export: nodes before the edges that name them."""

    items: list[dict[str, Any]]
    """The items, in their order."""


class IntegrationIn(Model):
    """Where contacts are read from: the address of a calendar, as its owner can publish it."""

    kind: Literal["calendar"]
    """What kind it is."""

    address: str
    """The address of the calendar; it is sealed and never shown."""

    own_addresses: list[str] | None = None
    """The member's own addresses, which count for nobody."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class IntentAnswerIn(Model):
    """Whether a new intent is a change of the open one that it is near to, or stays by itself."""

    decision: Literal["update", "create"]
    """update: it is a change of the open intent. create: it stands by itself."""

    client_id: str | None = None
    """Which member; needed with a key that is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class IntentMoveIn(Model):
    """Whose it is; left out: the client that the key is bound to."""

    client_id: str | None = None
    """Which member; needed with a key that is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class IntentRefreshIn(Model):
    """Until when an intent lasts anew; left out: 90 days."""

    expires_at: AwareDatetime | None = None
    """Until when it is looked for; left out: for 90 days from now."""

    client_id: str | None = None
    """Which member; needed with a key that is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class IntroduceIn(Model):
    """Two others who should meet."""

    first: UUID
    """One of the two."""

    second: UUID
    """The other one."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class InvestigationIn(Model):
    """Which ticket is to be investigated."""

    ticket_id: UUID
    """The ticket's id."""


class InviteIn(Model):
    """For how many days an invite lets somebody in."""

    days: int = 7
    """For how many days it lets somebody in."""

    client_id: str | None = None
    """The member it is done for, where the key is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class JoinByInviteIn(Model):
    """Who joins by which invite."""

    token: str
    """What the link of the invite has behind the #."""

    prompt: str = ""
    """What of the member's belongs there; empty: all that belongs to the network."""

    client_id: str | None = None
    """The member it is done for, where the key is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class JoinIn(Model):
    """Who joins, and what of theirs belongs there."""

    prompt: str = ""
    """What of the member's belongs there; empty: all that belongs to the network."""

    client_id: str | None = None
    """The member it is done for, where the key is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class KnowledgeIn(Model):
    """How much an agent is given, and whether it is shown a line of each instead of all."""

    summary: bool = False
    """Show a line of each node instead of all of it."""

    max_chars: int = 16000
    """How long the text may be."""


class KnowledgeSourceChangeIn(Model):
    """What to change; what is left out stays. Secrets are replaced one by one, null removes."""

    config: dict[str, Any] | None = None
    """The settings of its kind."""

    secrets: dict[str, str | None] | None = None
    """Its secrets by name; they are sealed and never shown."""

    sync_seconds: int | None = None
    """How many seconds lie between two readings."""

    max_items: int | None = None
    """How many items it may have."""

    max_bytes: int | None = None
    """How many bytes its items may have together."""

    paused: bool | None = None
    """True: it is not read any more; false: it is again."""


class LabelsIn(Model):
    """What a node is beside its first label."""

    labels: list[str]
    """What it is beside its first label; none takes all away."""


class LeaveIn(Model):
    """Who leaves."""

    client_id: str | None = None
    """The member it is done for, where the key is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class MemberProfileChangeIn(Model):
    """Parts of a profile, and a text that says more of it; what is left out stays."""

    text: str | None = None
    """What the member says of themselves, to be merged; a mere confirmation says nothing."""

    name: str | None = None
    """The name as it is shown."""

    bio: str | None = None
    """Who it is, in a sentence or two."""

    location: str | None = None
    """Where they are."""

    context: str | None = None
    """What they do and have done."""

    skills: list[str] | None = None
    """What they can do."""

    interests: list[str] | None = None
    """What they care for."""

    client_id: str | None = None
    """Which member; needed with a key that is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class MemberProfileIn(Model):
    """A whole profile: who somebody is, their story, what they can do and care for."""

    name: str = ""
    """The name as it is shown."""

    bio: str = ""
    """Who it is, in a sentence or two."""

    location: str = ""
    """Where they are."""

    context: str = ""
    """What they do and have done."""

    skills: list[str] | None = None
    """What they can do."""

    interests: list[str] | None = None
    """What they care for."""

    client_id: str | None = None
    """Which member; needed with a key that is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class MemberProfileSourcesIn(Model):
    """What a profile is made from; `memories` allows the member's own to be read."""

    text: str | None = None
    """What the member says of themselves; a mere confirmation says nothing."""

    document_ids: list[UUID] | None = None
    """Documents of the member's, at most five."""

    links: list[str] | None = None
    """Pages of the web about the member, at most five."""

    memories: bool = False
    """Allows the facts that are remembered of the member to be read."""

    force: bool = False
    """True: what is there is merged with what the sources say; else only missing parts are made."""

    client_id: str | None = None
    """Which member; needed with a key that is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class MemberPromptIn(Model):
    """What of a member's belongs to a network; empty: what belongs to the network."""

    prompt: str
    """What of the member's belongs there; empty: all that belongs to the network."""

    client_id: str | None = None
    """The member it is done for, where the key is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class MemoryCorrection(Model):
    """What a memory says otherwise, and why. What is left out stays; null clears."""

    reason: str
    """Why; it is kept with the new version, up to 1,000 characters."""

    text: str | None = None
    """What it says instead, up to 32,000 characters."""

    key: str | None = None
    """What the memory states, such as `acme-tech-stack`: a later one with the same key replaces it."""

    subject: str | None = None
    """Whom or what it is about."""

    status_value: str | None = None
    """What a status memory says, such as `done`."""

    category: Literal["semantic", "episodic", "procedural"] | None = None
    """What the memory is for: preference, procedure and so on."""

    knowledge_category: (
        Literal["brand", "strategy", "meeting", "content", "technical", "relationship", "general"]
        | None
    ) = None
    """What field of knowledge it belongs to."""

    importance: int | Literal["critical", "high", "medium", "low"] | None = None
    """How much it matters, from 1 to 10."""

    confidence: float | None = None
    """How sure it is, from 0 to 1."""

    occurred_at: AwareDatetime | None = None
    """When it happened; when it was written, if left out."""

    valid_to: AwareDatetime | None = None
    """Until when it is true; open when left out."""

    metadata: dict[str, Any] | None = None
    """What its writer keeps with it: any JSON object."""


class MemoryMerge(Model):
    """The memory to merge with, and why. Without a text the new memory says what both say."""

    other_id: UUID
    """The memory to merge with."""

    reason: str
    """Why."""

    text: str | None = None
    """What the new memory says; without it, what both say."""


class MergeIn(Model):
    """The entity that another one becomes part of."""

    into: UUID
    """The id of the entity that it becomes part of."""


class NegotiationIn(Model):
    """Which opportunity is to be negotiated; its own agents are waited for a minute a turn."""

    opportunity_id: UUID
    """The opportunity's id."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class NetworkChangesIn(Model):
    """What of a network is to be otherwise; what is left out stays."""

    name: str | None = None
    """Its name."""

    prompt: str | None = None
    """What belongs there; empty: everything."""

    join_policy: Literal["anyone", "invite_only"] | None = None
    """Who may join by themselves: `anyone`, or with `invite_only` who has an invite."""

    client_id: str | None = None
    """The member it is done for, where the key is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class NetworkIn(Model):
    """A new network."""

    name: str
    """Its name."""

    prompt: str = ""
    """What belongs there; empty: everything."""

    join_policy: Literal["anyone", "invite_only"] = "invite_only"
    """Who may join by themselves: `anyone`, or with `invite_only` who has an invite."""

    client_id: str | None = None
    """The member it is done for, where the key is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class NeverRecall(Model):
    """Why a memory is to be kept from recall."""

    reason: str
    """Why."""


class NewPersonaIn(Model):
    """A new persona."""

    instructions: str = ""
    """What agents are told about such tickets."""

    escalation: str = "ticket-note"
    """The channel by which a person is called: `ticket-note`, `webhook:<id>`, `slack:<name>`."""

    autonomy: Literal["off", "investigate", "propose", "act"] = "propose"
    """How far agents may go: off, investigate, propose or act."""

    max_tokens: int = 50000
    """How many tokens at most."""

    max_usd: float | str = "0.50"
    """US dollars an investigation may cost, as a decimal."""

    max_seconds: int = 900
    """Seconds an investigation may take."""

    max_iterations: int = 20
    """Rounds an investigation may take."""

    redaction: str = "pii"
    """The redaction profile that holds for its tickets, by name."""

    name: str
    """Its name."""


class PersonAnswerIn(Model):
    """A person's answer to the question that their agents' stall left open."""

    answer: str
    """What this side's person says."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class PersonaIn(Model):
    """A persona as a whole: what is left out is as a new one has it."""

    instructions: str = ""
    """What agents are told about such tickets."""

    escalation: str = "ticket-note"
    """The channel by which a person is called: `ticket-note`, `webhook:<id>`, `slack:<name>`."""

    autonomy: Literal["off", "investigate", "propose", "act"] = "propose"
    """How far agents may go: off, investigate, propose or act."""

    max_tokens: int = 50000
    """How many tokens at most."""

    max_usd: float | str = "0.50"
    """US dollars an investigation may cost, as a decimal."""

    max_seconds: int = 900
    """Seconds an investigation may take."""

    max_iterations: int = 20
    """Rounds an investigation may take."""

    redaction: str = "pii"
    """The redaction profile that holds for its tickets, by name."""


class PickUpIn(Model):
    """An agent that asks for a turn. With its `claim` it goes on with the one it has."""

    takeover: bool = True
    """Whether Cairn's advocate answers where this agent does not."""

    claim: UUID | None = None
    """Names the turn that was taken up; the answer to it carries it."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class PremisesIn(Model):
    """A self-description; each statement of it becomes a premise."""

    text: str
    """A self-description; each statement of it becomes a premise."""

    expires_at: AwareDatetime | None = None
    """Until when they hold; left out: until they are retracted."""

    client_id: str | None = None
    """Which member; needed with a key that is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class ProfileIn(Model):
    """The profile that is to hold."""

    profile: str
    """The redaction profile: none, soc2, pii or hipaa."""


class ProofIn(Model):
    """Strings that must not be found any more. They are kept nowhere."""

    canaries: list[str] | None = None
    """Strings that only what is forgotten had; they are kept nowhere."""


class PublicKeyIn(Model):
    """An agent's public key: the 32 bytes of an Ed25519 key, in hexadecimal digits."""

    public_key: str
    """The 32 bytes of an Ed25519 public key, in hexadecimal digits."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class PublicationIn(Model):
    """What to publish: exactly one of `report_id`, `document_id` and `files`."""

    report_id: UUID | None = None
    """The report to publish."""

    document_id: UUID | None = None
    """The document whose text to publish."""

    files: list[FileIn] | None = None
    """Files to publish as they are: HTML, CSS, plain text, images, fonts; no scripts."""

    title: str | None = None
    """What stands above it; of a report or a document its own title. Files need one."""

    name: str | None = None
    """The last part of its address: small letters, digits, dashes. Without one nobody guesses it."""


class RatingIn(Model):
    """How well it was done."""

    rating: int
    """How well it was done, from 1 to 5."""

    comment: str = ""
    """Why, in your words."""


class RebuildIn(Model):
    """What is wanted: a rebuild, or with `check` a comparison only."""

    check: bool = False
    """Compare, and change nothing."""


class RefreshIn(Model):
    """Memories that are to last as long again as they did when they were written."""

    ids: list[UUID]
    """The ids of the memories."""


class RejectActionIn(Model):
    """A no, and why: the agent is told."""

    reason: str
    """Why."""


class RejectIn(Model):
    """Why it is not to be learned."""

    reason: str
    """Why."""


class RelationshipIn(Model):
    """An edge between two stored nodes."""

    source_id: UUID
    """The id of the node that the edge leads from."""

    target_id: UUID
    """The id of the node that the edge leads to."""

    relation: str = Field(..., examples=["SOLVES", "depends_on"])
    """What kind of edge it is, such as SOLVES."""

    weight: float = 1.0
    """How strong the edge is."""

    properties: dict[str, Any] | None = None
    """What is set on it, as a JSON object."""


class SayIn(Model):
    """What an operator says. The same `line_id` and text again is said once."""

    text: str
    """What the customer is told."""

    line_id: UUID | None = None
    """An id of your own: the same again is said once."""


class ScheduleIn(Model):
    """When it runs by itself: a time of day by the clocks of a time zone; no days are all."""

    at: str
    """A time of day, such as 07:30."""

    timezone: str = "UTC"
    """An IANA time zone, such as Europe/Berlin."""

    days: list[str] | None = None
    """On which days of the week; none are all."""


class ScimRoleIn(Model):
    """The role that a group gives; null for none."""

    role: Literal["owner", "admin", "operator", "reviewer", "reader"] | None
    """The role that the group gives; null for none."""


class ScimTokenIn(Model):
    """A directory that is to bring people and groups."""

    name: str
    """Which directory will hold it."""

    days: int | None = None
    """How many days it is good for; without, until it is revoked."""


class SessionIn(Model):
    """Whose session begins, and in which conversation."""

    agent: str | None = None
    """The agent's name."""

    conversation_id: UUID | None = None
    """The conversation's id."""


class SettingsIn(Model):
    """
    A JSON merge patch (RFC 7396) by section; null resets. See docs/use/settings.md.

    With `version` it is refused when the settings have changed since that version.
    """

    model_config = ConfigDict(
        extra="allow",
    )
    version: int | None = None
    """Refuse the change when the settings have changed since this version."""

    recall: dict[str, Any] | None = None
    """
    How a workspace's searches are made. `recipe` None is the deployment's `default`.

    `min_relevance` None is what the embedder's constants say; `calibration` is for an embedder
    that has none, or others.

    `client_required` refuses searches and lists about every client at once, and
    `public_subscriptions` lets public keys use the subscription leg where it is switched on.

    """

    models: dict[str, Any] | None = None
    """Which chat models answer, for how much. `chat` is written as CAIRN_CHAT_MODEL."""

    envelope: dict[str, Any] | None = None
    """
    How much of each a planner is shown; `results` is of steps shown whole, the latest.

    `connector_recent_results` are of reads by other investigations, so old at the most.

    """

    safety: dict[str, Any] | None = None
    """Which personal values no model sees."""

    conversations: dict[str, Any] | None = None
    """What becomes of what is said. `infer` False: no memories are drawn from messages."""

    workflows: dict[str, Any] | None = None
    """What runs by itself. `briefing` None: there is no daily briefing."""

    checkpoints: dict[str, Any] | None = None
    """How much room checkpoints of programs have. `expire_after_days` None: they stay."""


class SourceChangeIn(Model):
    """What to change; what is left out stays. Secrets are replaced one by one, null removes."""

    config: dict[str, Any] | None = None
    """The settings of its kind."""

    secrets: dict[str, str | None] | None = None
    """Its secrets by name; they are sealed and never shown."""

    persona: str | None = None
    """The persona that works on it, by name."""

    poll_seconds: int | None = None
    """How many seconds lie between two polls."""

    paused: bool | None = None
    """True to stop polling, false to go on."""


class SourceSyncIn(Model):
    """How a source is to be read now."""

    accept_deletions: bool = False
    """True where most of it is gone on purpose: its documents are deleted."""


class SplitIn(Model):
    """Either `undo`, a merged entity, or `mentions` that meant the entity `name`."""

    undo: UUID | None = None
    """The id of a merged entity that is to stand on its own again."""

    name: str | None = None
    """Its name."""

    type: str | None = None
    """The type."""

    mentions: list[UUID] | None = None
    """The ids of the nodes that meant the other entity."""


class SubgraphIn(Model):
    """Where to start, and how far and by what to go."""

    query: str | None = None
    """The question, in words."""

    node_ids: list[UUID] | None = None
    """The nodes to start at."""

    intent: (
        Literal["why", "when", "what", "related", "general", "who_is", "how_does", "personalize"]
        | None
    ) = None
    """What the question is after; read from it when left out."""

    retrieval_method: Literal["intent_weighted", "ppr", "activation"] | None = None
    """How the graph was ranked."""

    max_depth: int = 3
    """How many edges away the walk may go."""

    max_nodes: int = 100
    """How many nodes at most."""

    timeout_ms: int = 5000
    """Milliseconds the walk may take."""

    as_of: AwareDatetime | int | None = None
    """A time, or a ledger position: the answer is what was known then."""

    labels: list[str] | None = None
    """Only nodes with these labels; all when empty."""

    relations: list[str] | None = None
    """Only edges of these relations; all when empty."""

    session_id: str | None = None
    """The session it belongs to, as its writer names it."""


class SubjectIn(Model):
    """A client or a person by the name they are known by."""

    kind: Literal["client", "person"]
    """What kind it is."""

    natural_key: str
    """The name it is known by."""


class SubscriptionIn(Model):
    """An agent's keywords from now on: 1 to 5 of them, 1 to 64 characters each."""

    agent: str | None = None
    """The agent's name."""

    keywords: list[str]
    """The keywords it is found by."""


class TaintIn(Model):
    """Exactly one of agent, session, source and node, and why."""

    agent: str | None = None
    """The agent whose writes are held back."""

    session: str | None = None
    """The name of the session."""

    source: str | None = None
    """The URI of the source whose documents are held back."""

    node: UUID | None = None
    """The id of the node that is held back."""

    reason: str
    """Why."""

    causes: bool = False
    """Whether what was caused by it is held back too."""

    dry_run: bool = False
    """True for a rehearsal that changes nothing."""


class TakeIn(Model):
    """A turn of the chat that is taken over from the agent."""

    turn_id: UUID
    """The turn's id; your own makes sending it again safe."""

    name: str | None = None
    """By which name the customer knows you."""


class TaskIn(Model):
    """A piece of work about to begin."""

    kind: str = Field(..., examples=["tunnel-login"])
    """What kind it is."""

    title: str
    """The title."""

    inputs: dict[str, Any] | None = None
    """What it was started with."""

    input_schema: dict[str, Any] | None = None
    """The JSON Schema of the inputs."""

    conversation_id: UUID | None = None
    """The conversation's id."""

    session_id: str | None = None
    """The session it belongs to, as its writer names it."""

    trace_id: str | None = None
    """The trace it belongs to, as its writer names it."""

    source_agent: str | None = None
    """The agent that said it."""

    occurred_at: AwareDatetime | None = None
    """When it happened; when it was written, if left out."""

    client_id: str = "global"
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | None = None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    agents: list[str] | None = None
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    data_subjects: list[str] | None = None
    """Whom it is about, so that they can be forgotten."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class TicketIn(Model):
    """
    A ticket. `external_id` is the caller's own: the same one again changes nothing.

    `modified_at` says which of two forms of it is the later one.
    """

    title: str
    """The title."""

    body: str = ""
    """The text."""

    external_id: str | None = None
    """Its id where it comes from: the same one again changes nothing."""

    customer: str = ""
    """The customer's name."""

    requester_email: str | None = None
    """The address of who asked."""

    priority: Literal["low", "medium", "high", "critical"] = "medium"
    """How urgent it is."""

    persona: str = "default"
    """The persona that works on it, by name."""

    sla_at: AwareDatetime | None = None
    """When it must be answered."""

    received_at: AwareDatetime | None = None
    """When it came in."""

    modified_at: AwareDatetime | None = None
    """When it was last changed where it comes from."""

    source_metadata: dict[str, Any] | None = None
    """What its source says of it beside its text."""


class TicketMessageIn(Model):
    """
    What the requester wrote later. `external_id` is the caller's own: it makes a message once.

    One `written_at` before our answer stays with the ticket and does not put it back.
    """

    text: str
    """The text."""

    external_id: str | None = None
    """Its id where it comes from: the same one again changes nothing."""

    written_at: AwareDatetime | None = None
    """When it was written."""


class TieIn(Model):
    """The member of networks that somebody is, by its client."""

    client_id: str
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class ToolCallIn(Model):
    """A call to try a tool out. Without a dry run, tools that read only."""

    arguments: dict[str, Any] | None = None
    """The arguments of the tool, by name."""

    dry_run: bool = True
    """True for a rehearsal that changes nothing."""


class TranscriptTurnIn(Model):
    """One turn of a transcript; it says something, or calls a tool."""

    role: Literal["user", "assistant", "system", "tool"]
    """The role."""

    text: str = ""
    """The text."""

    occurred_at: AwareDatetime | None = None
    """When it happened; when it was written, if left out."""

    sender: str | None = None
    """Who said it, as the channel names them."""

    tool_calls: list[CalledToolIn] | None = None
    """The newest tool calls."""

    tool_call_id: str | None = None
    """Which call a tool's answer is of."""


class TruthIn(Model):
    """What is held true of a node now."""

    text: str
    """The text."""


class TurnIn(Model):
    """One earlier message of the conversation, for the gate."""

    role: Literal["user", "assistant"]
    """The role."""

    text: str
    """The text."""


class TurnRolesIn(Model):
    """What the two are to each other."""

    source: Literal["agent", "patient", "peer"]
    """Where it comes from."""

    candidate: Literal["agent", "patient", "peer"]
    """What the one who was found is: agent, patient or peer."""


class UploadIn(Model):
    """What will be uploaded."""

    size: int
    """In bytes, exactly."""

    media_type: str | None = None
    """The media type, such as `text/markdown`; found out when left out."""

    sha256: str | None = None
    """The SHA-256 of the bytes, hexadecimal; the object store then refuses all others."""


class WebhookIn(Model):
    """Where to, and of what; of everything unless said."""

    url: str
    """Where deliveries are posted."""

    events: (
        list[
            Literal[
                "memory_superseded",
                "contradiction_flagged",
                "consolidation_done",
                "workflow_notice",
                "chat_hand_off",
            ]
        ]
        | None
    ) = None
    """The kinds of event it is told of."""


class WidgetHandOff(Model):
    """
    When a person is called, and for how long they are waited for.

    Nobody for `wait_minutes`: a ticket. No answer of the operator for `away_minutes`: the chat
    waits for another. After `after_unanswered` answers in a row that found nothing a person
    is called; null: never.
    """

    wait_minutes: int = 10
    """Nobody has accepted by then: the chat becomes a ticket."""

    away_minutes: int = 10
    """The customer has no answer by then: the chat waits for another operator."""

    after_unanswered: int | None = None
    """So many answers in a row that cite nothing call a person; null: never."""


class WidgetHost(Model):
    """Whose signature says who a customer is: the issuer of tokens, and its public keys."""

    issuer: str
    """The `iss` of the host's tokens."""

    keys: list[dict[str, Any]]
    """Public keys (RFC 7517), each with kid and alg."""


class WidgetLimits(Model):
    """
    How much is said: by an address (or whom the host signed in), and in a session.

    After `challenge_after` messages a session solves a challenge; null: never.
    """

    per_minute: int = 20
    """Messages a minute of an address, or of whom the host signed in."""

    per_day: int = 200
    """The same in 24 hours."""

    per_session: int = 40
    """Messages of a session."""

    idle_minutes: int = 15
    """After so many minutes of silence a session is over."""

    challenge_after: int | None = 3
    """After so many messages a browser has to show itself; null: never."""


class WidgetLogin(Model):
    """
    The host's own login: an OpenID Connect issuer that publishes its keys.

    `audiences` are the ids of the host's clients there, for one of which an id token has to be.
    """

    issuer: str
    """The issuer as its tokens name it; its keys are read where it publishes them."""

    audiences: list[str]
    """The ids of the host's clients there: an id token is for one of them."""

    limits: WidgetLimits | None = None
    """What may be said by whom it signed in."""


class WidgetMessageIn(Model):
    """What a customer says. The same `turn_id` and message again is the same turn."""

    message: str
    """What the customer says."""

    turn_id: UUID | None = None
    """An id that the page makes, to ask for the answer by."""


class WidgetSessionIn(Model):
    """Who talks: whom the host's signed token names, or whoever it is."""

    host_token: str | None = None
    """A token that the host signed (iss, aud: the widget's id, sub, exp), or an id token of its login."""


class WidgetSolutionIn(Model):
    """What solves the challenge: the number that was found, or what Turnstile said."""

    answer: str
    """The number that was found, or what Turnstile said."""


class WidgetTexts(Model):
    """What the widget says by itself."""

    title: str = "Chat with us"
    """What stands above the chat."""

    greeting: str = "Hello. What can we help you with?"
    """What a customer reads first."""

    placeholder: str = "Write a message"
    """What stands in the empty field."""

    busy: str = "I'm getting a lot of messages right now, please try again in a moment."
    """What is said where a limit is reached."""


class WidgetTheme(Model):
    """How the widget looks on its page."""

    primary: str = "#0f766e"
    """The colour of the button, the head and links: #rrggbb."""

    background: str = "#ffffff"
    """The colour behind the chat: #rrggbb."""

    text: str = "#1c1917"
    """The colour of words: #rrggbb."""

    font: str = "system-ui, sans-serif"
    """The fonts, as CSS names them."""

    side: Literal["left", "right"] = "right"
    """At which side of the page it stands."""


class WorkflowRunIn(Model):
    """What a run is given: a value for each `input.NAME` of the workflow."""

    input: dict[str, str] | None = Field(None, max_length=100)
    """What it was called with, redacted and cut."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class WorkflowStepIn(Model):
    """A step: its name, its kind, and the fields that its kind has."""

    name: str
    """Its name."""

    kind: str
    """What kind it is."""

    needs: list[str] | None = None
    """Steps that have to be done before it."""

    query: str | None = None
    """The question, in words."""

    limit: int | None = None
    """How many at most."""

    hours: int | None = None
    """How many hours it looks back, or waits."""

    prompt: str | None = None
    """What a model is asked."""

    tool: str | None = None
    """The tool, as `connector.tool`."""

    arguments: dict[str, Any] | None = None
    """The arguments of the tool, by name."""

    message: str | None = None
    """What is wrong, in words."""

    title: str | None = None
    """The title."""

    body: str | None = None
    """The text."""

    keywords: list[str] | None = None
    """The keywords it is found by."""


class WorkflowWordIn(Model):
    """A person's word on what a run waits for."""

    decision: Literal["approve", "reject"]
    """confirm does it, cancel drops it."""

    comment: str = ""
    """Why, in your words."""


class ActionView(Model):
    """What a person is asked, or was. `arguments` are empty once they were forgotten."""

    id: UUID
    """Its id."""

    turn_id: UUID
    """The turn's id; your own makes sending it again safe."""

    tool: str
    """The tool, as `connector.tool`."""

    arguments: dict[str, Any]
    """The arguments of the tool, by name."""

    arguments_hash: str
    """The hash of the tool and its arguments: what the person saw."""

    state: Literal["pending", "running", "done", "failed", "cancelled", "expired"] | str
    """The state it is in."""

    created_at: AwareDatetime
    """When it was made."""

    expires_at: AwareDatetime
    """When it ends to count."""

    decided_at: AwareDatetime | None
    """When it was decided."""

    result: str | None
    """What came of it, by table."""


class AgentView(Model):
    """A registered agent: what is said of it, and what it may reach."""

    slug: str
    """What it is called by."""

    id: UUID
    """Its id."""

    name: str
    """Its name."""

    owner: str | None
    """The person whose it is."""

    description: str
    """What it does, for people."""

    specialists: list[str]
    """Slugs of registered agents that it may hand work to."""

    persona: str
    """How it works: the name of a persona."""

    edition: str
    """The edition it belongs to; offered in every one when empty."""

    tools: list[str] | None
    """The tools it may call over MCP, and nothing else; no such limit without a list."""

    scopes: list[Literal["public", "shared", "admin"] | str]
    """The scopes it may see."""

    requests_a_minute: int | None
    """What each of its keys may send; the deployment's own limit without one."""

    live_memory: bool
    """Whether it may search, or knows its snapshot alone."""

    disabled: str | None
    """Why it may do nothing: by-admin or tool-drift."""

    joined: bool
    """It registered itself."""

    version: int
    """The version."""

    registered_at: AwareDatetime
    """Since when it is registered."""

    changed_at: AwareDatetime
    """When it was last changed."""


class Assignment(Model):
    """An intent's place in a network; `direct` when somebody said so."""

    network_id: UUID
    """The network's id."""

    score: float
    """How far it belongs there: from 0.7 on, 1 when somebody said so."""

    direct: bool
    """Whether somebody said so; else it was judged."""

    assigned_at: AwareDatetime
    """When it was assigned."""


class BriefItem(Model):
    """A piece of the summary, and the messages it is of."""

    text: str
    """The text."""

    message_ids: list[UUID]
    """The messages it is recorded as."""

    reworded: bool
    """True for a model's words; otherwise they are the messages' own."""


class CandidateView(Model):
    """A resolution that may become a document. In lists `text` is None."""

    id: UUID
    """Its id."""

    investigation_id: UUID
    """The investigation's id."""

    ticket_id: UUID
    """The ticket's id."""

    cause: str
    """Why it was staged: a good rating, or nobody's dispute."""

    staged_at: AwareDatetime
    """When it was staged."""

    state: Literal["staged", "accepted", "rejected", "archived"] | str
    """The state it is in."""

    edited_at: AwareDatetime | None
    """When it was edited."""

    decided_at: AwareDatetime | None
    """When it was decided."""

    decided_by: UUID | None
    """Who decided it."""

    reason: str | None
    """Why."""

    document_id: UUID | None
    """The document's id."""

    ingestion_id: UUID | None
    """The ingestion's id; follow it at `GET /v1/ingestions/{id}`."""

    title: str | None
    """The title."""

    text: str | None
    """The text."""

    rejected_because: str | None
    """Why it was rejected."""


class ChainHead(Model):
    """Where the ledger ends."""

    position: int
    """The ledger position of its entry."""

    hash: str
    """The hash, in hex."""

    recorded_at: AwareDatetime
    """When it was written to the ledger."""


class ChallengeAnswered(Model):
    """What a source that looks whether anybody is there gets back."""

    challenge: str
    """What was sent, as it came."""


class ChannelAllowance(Model):
    """How much somebody may say: in a minute, in a day, and in one session of a thread."""

    per_minute: int
    """Messages of somebody in a minute, in all threads."""

    per_day: int
    """Messages of somebody in a day."""

    per_session: int
    """Messages of a session of a thread."""

    idle_minutes: int
    """Minutes of silence that end a session."""


class ChannelChecked(Model):
    """The keys are good; the channel knows the app by this name."""

    app: str
    """By which name the channel knows the app."""


class ChannelCode(Model):
    """A code that ties who sends it, once; shown in this answer only."""

    channel_id: UUID
    """The channel it is good in."""

    person_id: UUID
    """Who whoever sends it will be."""

    expires_at: AwareDatetime
    """When it ends to count."""

    code: str
    """The code: `tie CODE` is sent to the app directly."""


class ChannelHeard(Model):
    """What the channel wants to be answered with: nothing, or what it asked for."""

    challenge: str | None = None
    """What a channel that looks whether anybody is there sent."""

    statusCode: int | None = None
    """What became of a button's press, as Teams reads it."""

    type: str | None = None
    """What `value` is, to Teams."""

    value: str | None = None
    """What Teams shows to who pressed."""


class ChannelRemoved(Model):
    """The channel that is gone."""

    name: str
    """Its name."""


class ChatMemory(Model):
    """What the agent had before it at its last turn: its query, what it read, the labels."""

    query: str | None
    """The question, in words."""

    sources: list[str]
    """By path of a setting: default, environment or workspace."""

    labels: dict[str, Any]
    """Only nodes with these labels; all when empty."""

    turns: int
    """The turns, in order."""


class ChatNumbers(Model):
    """How many wait and are answered now; of the last seven days, how long customers waited."""

    pending: int
    """How many messages of the conversation wait."""

    active: int
    """How many a person answers now, of those of seven days."""

    waiting_seconds: float
    """How long whoever waits longest has waited."""

    accepted: int
    """False for a message that was turned away before an agent saw it."""

    median_wait_seconds: float | None
    """How long customers waited for somebody to accept, the median; null: nobody did."""

    longest_wait_seconds: float | None
    """The longest of these."""

    closed: int
    """How many were closed by a person."""

    returned: int
    """How many the agent got back."""

    tickets: int
    """How many became tickets."""


class ChatToolCall(Model):
    """What the agent called, with what values stand hidden; `result` is the beginning of it."""

    turn_id: UUID
    """The turn's id; your own makes sending it again safe."""

    tool: str
    """The tool, as `connector.tool`."""

    arguments: dict[str, Any]
    """The arguments of the tool, by name."""

    result: str | None
    """What came of it, by table."""

    error: str | None
    """What went wrong, as a code or a problem; null when nothing did."""

    at: AwareDatetime
    """When it happened."""


class ChatView(Model):
    """
    A chat that goes to a person, in a list. `why` is None when its customer was forgotten.

    `waits_since` is set while the customer waits for somebody, or for the operator's answer;
    `due_at` is when nobody will have come, or the operator will have left.
    """

    id: UUID
    """Its id."""

    state: Literal["pending", "active", "returned", "closed", "ticket"] | str
    """The state it is in."""

    cause: Literal["customer", "rules", "agent", "operator"] | str
    """Why it was staged: a good rating, or nobody's dispute."""

    channel: str
    """Where it came in or goes out."""

    client_id: str | None
    """The client it belongs to; `global` for none in particular."""

    operator_id: UUID | None
    """The person or the key that answers."""

    operator: str | None
    """By which name the customer knows who answers."""

    why: str | None
    """Why, in one sentence."""

    lines: int
    """How many lines there are since a person was asked for."""

    requested_at: AwareDatetime
    """When a person was asked for."""

    accepted_at: AwareDatetime | None
    """When somebody accepted first."""

    waits_since: AwareDatetime | None
    """Since when the customer waits, for somebody or for an answer; null: for nobody."""

    due_at: AwareDatetime | None
    """When it runs next by itself; null where it does not."""

    ended_at: AwareDatetime | None
    """When it ended."""

    ticket_id: UUID | None
    """The ticket's id."""


class CheckpointKept(Model):
    """The checkpoint that was put, or was written beside."""

    checkpoint_id: str
    """The program's own id of the checkpoint."""


class CheckpointWriteItem(Model):
    """What a task wrote to a channel."""

    task_id: str
    """The task that wrote it."""

    task_path: str
    """Where the task stands in the step."""

    idx: int
    """Its place among what the task wrote."""

    channel: str
    """The channel's name."""

    data: str
    """What was written, as it was put."""


class CheckpointsRemoved(Model):
    """How many checkpoints went."""

    removed: int
    """How many checkpoints went."""


class CompactedTokens(Model):
    """How long the transcript was, may be now, and is."""

    before: int
    """What stands before the result."""

    target: int
    """How long it may be."""

    after: int
    """Ask for what comes after this."""


class ConnectorHealth(Model):
    """How a connector was when it was last called or looked at."""

    name: str
    """Its name."""

    state: (
        Literal[
            "configured",
            "launching",
            "ready",
            "busy",
            "timeout",
            "crashed",
            "restarting",
            "degraded",
            "shutdown",
        ]
        | str
    )
    """The state it is in."""

    error: str | None
    """What went wrong, as a code or a problem; null when nothing did."""

    checked_at: AwareDatetime | None
    """When it was last called or looked at."""

    well: bool
    """Whether it is well."""


class ConnectorRemoved(Model):
    """The connector that is gone."""

    name: str
    """Its name."""


class ConnectorView(Model):
    """
    A connector with how it is. `error` is a code, `restarts` are of the last 5 minutes.

    `version`, `hash` and `safe` are of its manifest: null before it was ever listed.
    """

    id: UUID
    """Its id."""

    name: str
    """Its name."""

    transport: Literal["stdio", "http", "in_process"] | str
    """How the connector is spoken to."""

    builtin: str | None
    """The connector that ships with Cairn, by name; null for one of your own."""

    command: list[str]
    """What is run, word by word."""

    url: str | None
    """The address."""

    config: dict[str, Any]
    """The settings of its kind."""

    secret_names: list[str]
    """The names of its secrets, never their values."""

    scopes: str
    """The scopes of its tools, as YAML."""

    autonomy: Literal["off", "investigate", "propose", "act"] | str
    """How far agents may go: off, investigate, propose or act."""

    criticality: Literal["skip", "halt"] | str
    """What happens when the connector is not well: skip it, or stop."""

    created_at: AwareDatetime
    """When it was made."""

    changed_at: AwareDatetime
    """When it was last changed."""

    state: (
        Literal[
            "configured",
            "launching",
            "ready",
            "busy",
            "timeout",
            "crashed",
            "restarting",
            "degraded",
            "shutdown",
        ]
        | str
    )
    """The state it is in."""

    error: str | None
    """A code, when it is not well."""

    detail: str | None
    """What it said, without secrets."""

    restarts: int
    """Failures within the last 5 minutes."""

    checked_at: AwareDatetime | None
    """When it was last called or looked at."""

    version: str | None
    """The version of its manifest."""

    hash: str | None
    """SHA-256 of its manifest, in hex."""

    safe: bool | None
    """Whether every tool has a scope; null before it was ever listed."""

    tools: int
    """How many tools it listed."""


class ConnectorsHealth(Model):
    """Whether every connector is well, and each of them."""

    well: bool
    """Whether it is well."""

    items: list[ConnectorHealth]
    """The items, in their order."""


class ContactGone(Model):
    """The contact, or the integration, that is gone."""

    id: UUID
    """Its id."""


class ContactView(Model):
    """A contact as its member sees it; `member_id` is who they are in the networks, if known."""

    id: UUID
    """Its id."""

    name: str
    """Its name."""

    address: str | None
    """Their mail address."""

    phone: str | None
    """Their phone number."""

    organisation: str | None
    """Where they work."""

    title: str | None
    """The title."""

    note: str | None
    """More about it."""

    met: int
    """How often the member met them or wrote with them, by calendars and mailboxes."""

    met_at: AwareDatetime | None
    """When the last time was."""

    standing: Literal["contact", "ghost", "member"] | str
    """contact, ghost (invited, not here yet) or member."""

    member_id: UUID | None
    """The member that they are, if known."""

    created_at: AwareDatetime
    """When it was made."""

    changed_at: AwareDatetime
    """When it was last changed."""


class ContextCitation(Model):
    """One source of a context, and what screening says of its text."""

    cite: str
    """How the block cites it."""

    node_id: UUID
    """The node's id."""

    type: str
    """The type."""

    score: float
    """The score."""

    screening: Literal["clean", "suspicious", "discard"] | str
    """What screening says of the text."""

    patterns: list[str]
    """What in the text reads like an instruction to a model."""


class ConversationChanged(Model):
    """A conversation, and whether memories are drawn from it."""

    conversation_id: UUID
    """The conversation's id."""

    infer: bool
    """Whether memories are drawn from what is said."""


class ConversationView(Model):
    """
    A conversation as its reader sees it. `position` is that of the entry that opened it.

    `infer` False: no memories are drawn from its messages.
    """

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    channel: str
    """Where it came in or goes out."""

    session_id: str
    """The session it belongs to, as its writer names it."""

    client_id: str
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | str
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    opened_at: AwareDatetime
    """When it was opened."""

    recorded_at: AwareDatetime
    """When it was written to the ledger."""

    agents: list[str]
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    source_agent: str | None
    """The agent that said it."""

    infer: bool
    """Whether memories are drawn from what is said."""

    messages: int
    """How many messages there are."""

    last_message_at: AwareDatetime | None
    """When its last message was."""


class CostRow(Model):
    """
    What one model, purpose, day or workspace has cost; cached tokens count as tokens.

    `usd` is of the calls with a known price, the others are counted in `unpriced_calls`. The sorts
    of tokens are None where only the sum was kept.
    """

    name: str
    """Its name."""

    calls: int
    """How many calls there were."""

    tokens: int
    """How many tokens."""

    usd: float
    """US dollars."""

    unpriced_calls: int
    """Calls of models whose price is not known."""

    input_tokens: int | None
    """Tokens sent."""

    output_tokens: int | None
    """Tokens received."""

    cache_read_tokens: int | None
    """Input tokens that the provider read from its cache."""

    cache_write_tokens: int | None
    """Input tokens that the provider wrote to its cache."""


class Decided(Model):
    """What a decision did: the question's state, and where the investigation goes on."""

    id: UUID
    """Its id."""

    state: Literal["pending", "granted", "used", "rejected", "edited", "expired", "void"] | str
    """The state it is in."""

    investigation_id: UUID
    """The investigation's id."""

    investigation_state: (
        Literal[
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
        | str
    )
    """Where the investigation goes on."""

    position: int
    """The ledger position of its entry."""


class Deleted(Model):
    """What a soft deletion did: the ledger position of its entry and how many nodes it hid."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    nodes: int
    """How many nodes there are."""


class DeliveryView(Model):
    """A delivery as it is shown: waiting, delivered or failed, and how its last try went."""

    id: UUID
    """Its id."""

    webhook_id: UUID
    """The webhook's id."""

    event: str
    """The kind of event."""

    position: int
    """The ledger position of its entry."""

    occurred_at: AwareDatetime
    """When it happened; when it was written, if left out."""

    state: str
    """The state it is in."""

    attempts: int
    """How often it was tried."""

    status: int | None
    """How it stands."""

    error: str | None
    """What went wrong, as a code or a problem; null when nothing did."""

    updated_at: AwareDatetime
    """When it last changed."""


class DocumentTaken(Model):
    """A document that is stored; its ingestion runs."""

    document_id: UUID
    """The document's id."""

    ingestion_id: UUID
    """The ingestion's id; follow it at `GET /v1/ingestions/{id}`."""

    status: Literal["accepted", "parsed", "chunked", "stored", "ready", "failed"] | str
    """How it stands."""

    position: int
    """The ledger position of its entry."""


class DrawnMemory(Model):
    """A memory that was drawn from a message."""

    id: UUID
    """Its id."""

    message_id: UUID
    """The message's id."""

    kind: str
    """What kind it is."""

    text: str
    """The text."""

    state: str
    """The state it is in."""


class DroppedCounts(Model):
    """How much was left out because the answer would have been too large."""

    related: int
    """Related nodes that were left out."""

    context: int
    """Neighbours that were left out."""

    results: int
    """Results that were left out."""


class EdgeCount(Model):
    """How many edges of one view, relation and direction a node has to nodes the reader sees."""

    view: str
    """The part of the graph: semantic, temporal, causal or entity."""

    relation: str
    """What kind of edge it is, such as SOLVES."""

    direction: str
    """`out` leads from the node, `in` leads to it."""

    count: int
    """How many there are."""


class EdgeRecord(Model):
    """An edge of the memory graph: its ends are labels with natural keys."""

    kind: Literal["edge"]
    """What kind it is."""

    source: list[str]
    """Label and natural key of the node that it leads from."""

    target: list[str]
    """Label and natural key of the node that it leads to."""

    relation: str
    """What kind of edge it is, such as SOLVES."""

    weight: str
    """How strong the edge is."""

    properties: dict[str, Any]
    """What is set on it, as a JSON object."""

    observed_at: AwareDatetime
    """When it was observed."""


class EditResult(Model):
    """What became of an edit: the memory that stands now, and those it stands in the place of."""

    outcome: Literal["created", "changed", "unchanged", "duplicate"] | str
    """What became of it."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    replaced: list[UUID]
    """The memories that it stands in the place of."""

    warnings: list[str]
    """What its writer should know."""


class EntityChanged(Model):
    """An entity was corrected: the entity that stands now, and how many edges moved."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    moved_edges: int
    """How many edges moved."""


class EntityView(Model):
    """An entity in a list. `sort_key` is its name as the list sorts it."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    name: str
    """Its name."""

    type: str
    """The type."""

    state: str
    """The state it is in."""

    scope: Literal["public", "shared", "admin"] | str
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    sort_key: str
    """Its name as the list sorts it."""

    agents: list[str]
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    backlink_count: int
    """How many nodes refer to it."""

    compiled_truth: str | None
    """What is held true of the node now, in one text."""


class EscalationChannel(Model):
    """A channel by which people are called, without its address."""

    name: str
    """Its name."""

    kind: str
    """What kind it is."""

    created_at: AwareDatetime
    """When it was made."""

    created_by: UUID
    """Who made it."""


class EscalationView(Model):
    """A call of a person in a list; `noted` says that a note stands at the ticket."""

    id: UUID
    """Its id."""

    investigation_id: UUID
    """The investigation's id."""

    ticket_id: UUID
    """The ticket's id."""

    verdict: (
        Literal[
            "auto_resolved",
            "needs_tech",
            "needs_l2",
            "needs_client",
            "skipped",
            "failed",
            "failed_budget",
        ]
        | str
    )
    """How the investigation ended; null before."""

    channel: str
    """Where it came in or goes out."""

    queued_at: AwareDatetime
    """When it was queued."""

    updated_at: AwareDatetime
    """When it last changed."""

    state: Literal["queued", "delivered", "failed"] | str
    """The state it is in."""

    attempts: int
    """How often it was tried."""

    noted: bool
    """Whether a note stands at the ticket."""

    error: str | None
    """What went wrong, as a code or a problem; null when nothing did."""

    delivered_at: AwareDatetime | None
    """When it was delivered."""

    why: str | None
    """Why, in one sentence."""


class EventItemResult(Model):
    """What became of one item of a batch, at its place among the items."""

    outcome: Literal["created", "duplicate"] | str
    """What became of it."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    warnings: list[str]
    """What its writer should know."""

    index: int
    """Its place among the items, from 0."""


class EventResult(Model):
    """What became of one event."""

    outcome: Literal["created", "duplicate"] | str
    """What became of it."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    warnings: list[str]
    """What its writer should know."""


class EventRoles(Model):
    """What the two are to each other."""

    source: str
    """Where it comes from."""

    candidate: str
    """What the one who was found is: agent, patient or peer."""


class EventView(Model):
    """A stored event as its reader sees it. `position` is that of the entry that made it."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    type: str
    """The type."""

    text: str
    """The text."""

    state: str
    """The state it is in."""

    client_id: str
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | str
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    occurred_at: AwareDatetime
    """When it happened; when it was written, if left out."""

    recorded_at: AwareDatetime
    """When it was written to the ledger."""

    importance: int
    """How much it matters, from 1 to 10."""

    importance_band: str
    """Its importance in words: critical, high, medium or low."""

    agent_id: str | None
    """The agent that did or said it."""

    session_id: str | None
    """The session it belongs to, as its writer names it."""

    sequence: int | None
    """Its place in its session."""

    trace_id: str | None
    """The trace it belongs to, as its writer names it."""

    parent_id: UUID | None
    """The id of what it follows from."""

    tool_name: str | None
    """The tool that was called."""

    status: str | None
    """How it stands."""

    payload: dict[str, Any]
    """What happened, as any JSON object."""

    agents: list[str]
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    keywords: list[str]
    """The keywords it is found by."""

    summary: str | None
    """What it says, in short."""

    embedded: bool
    """Whether it has a vector."""


class EventsTaken(Model):
    """
    What a delivery brought; `duplicate` when it had come before. `nameless` ones had no id.

    `messages` are requesters' later words that were new; `challenge` is to be sent back as it is.
    """

    new: int
    """How many are new."""

    changed: int
    """How many were changed."""

    known: int
    """How many were known already."""

    nameless: int
    """How many came without an id and were left out."""

    messages: int
    """How many messages there are."""

    duplicate: bool
    """True when it had come before."""

    challenge: str | None
    """Always null: a challenge is answered by itself."""


class EvidenceChange(Model):
    """Citations that came and went since the same tool was last asked for."""

    added: list[str]
    """Citations that are new since then."""

    removed: list[str]
    """True when it is gone."""


class ExploredEdge(Model):
    """An edge that the graph leg walked."""

    source_id: UUID
    """The id of the node that the edge leads from."""

    target_id: UUID
    """The id of the node that the edge leads to."""

    view: str
    """The part of the graph: semantic, temporal, causal or entity."""

    relation: str | None
    """What kind of edge it is, such as SOLVES."""

    weight: float
    """How strong the edge is."""


class ExploredNode(Model):
    """A node that the graph leg walked, with the beginning of its text."""

    node_id: UUID
    """The node's id."""

    type: str
    """The type."""

    text: str
    """The text."""


class ExportedTurn(Model):
    """A turn as it was signed. The words and the salt are null where they were forgotten."""

    header: str
    """What was signed: canonical JSON without any text."""

    signature: str
    """64 bytes in hexadecimal digits, over the header."""

    public_key: str
    """The 32 bytes of an Ed25519 public key, in hexadecimal digits."""

    position: int
    """The ledger position of its entry."""

    message: str | None
    """What is wrong, in words."""

    salt: str | None
    """32 random bytes in hexadecimal digits."""


class Face(Model):
    """How somebody describes themselves; empty without a profile."""

    name: str | None
    """Their name."""

    text: str | None
    """How they describe themselves, in one text."""

    location: str | None
    """Where they are."""

    context: str | None
    """What they do, and why they are here."""

    skills: list[str]
    """What they can do."""

    interests: list[str]
    """What they care for."""


class FacetReport(Model):
    """A part of the question and the result that speaks of it; `whole` with what all share."""

    question: str
    """The part, as a question of its own."""

    order: Literal["before", "after"] | str | None
    """Whether it lies before or after the first part; null where it may lie anywhere."""

    node_id: UUID | None
    """The first result that speaks of it; null where there is none."""

    whole: bool
    """Whether it speaks of what the parts have in common, too."""

    moved: bool
    """Whether it was moved among the first results for this part."""


class FacetsReport(Model):
    """How the question was taken apart; `second_round` says that parts were searched for."""

    rule: Literal["questions", "clauses", "items", "sequence", "model"] | str
    """What took the question apart."""

    source: Literal["rules", "llm"] | str
    """Whether rules did, or a model."""

    second_round: bool
    """Whether parts that the first search left bare were searched for."""

    facets: list[FacetReport]
    """The parts of the question and what was found of each; null for a question that is one."""


class FaultFound(Model):
    """One thing wrong: with the object `key`, or with anchor `number`, or from `position` on."""

    reason: (
        Literal[
            "unsigned", "malformed", "not-authentic", "foreign", "missing", "unanchored", "overdue"
        ]
        | str
    )
    """Why."""

    key: str | None
    """What the memory states, such as `acme-tech-stack`: a later one with the same key replaces it."""

    number: int | None
    """The number of the anchor."""

    position: int | None
    """The ledger position of its entry."""


class FeedHealth(Model):
    """How a member's feed does: below `rediscover_below` its intents are looked for again."""

    score: float
    """The score."""

    rediscover_below: float
    """Below this score intents are looked for again."""

    connections: int
    """Meetings found, without introductions."""

    introductions: int
    """Meetings that a third member proposed."""

    expired: int
    """Meetings that expired in the last 30 days."""

    discovered_at: AwareDatetime | None
    """When the member's intents were looked for last."""

    looked_at: AwareDatetime | None
    """When a run of the maintenance looked at it last."""

    rediscovered_at: AwareDatetime | None
    """When its intents were last looked for anew."""


class FeedNarrator(Model):
    """Who tells of a card: Cairn, a member who introduces two, or the member's own agent."""

    kind: Literal["cairn", "introducer", "agent"] | str
    """What kind it is."""

    remark: str
    """What they say."""


class Feedback(Model):
    """
    Whether a node was of use. `retrieval_reason` is direct or proactive, as the answer said.

    `signal` is the answer's `proactive_signal`, of a proactive node.
    """

    search_id: UUID
    """The search's id."""

    node_id: UUID
    """The node's id."""

    useful: bool
    """Whether it was of use."""

    retrieval_reason: str
    """`direct` for what was asked for, `proactive` for what was not."""

    signal: str | None
    """The signal that a proactive node was shown by."""


class FeedbackCount(Model):
    """
    What readers said of results: of a recipe, for a reason, by a signal if it was proactive.

    `recipe` is None where it was not kept, `share` that of useful ones.
    """

    recipe: str | None
    """The recipe of the search, by name."""

    retrieval_reason: str
    """`direct` for what was asked for, `proactive` for what was not."""

    signal: str | None
    """The signal that a proactive node was shown by."""

    judged: int
    """How many were judged."""

    useful: int
    """Whether it was of use."""

    share: float
    """The share, from 0 to 1."""


class FieldProblem(Model):
    """What is wrong with one field."""

    location: str
    """The field, as a path."""

    message: str
    """What is wrong, in words."""


class FieldsReport(Model):
    """What `fields` asked for, and what it left."""

    asked: list[str]
    """The properties that were asked for."""

    returned_properties: int
    """How many properties are shown."""

    dropped_properties: int
    """How many properties were left out."""


class ForgettingDone(Model):
    """A forgetting that was asked for; `already` when it had been done before."""

    id: UUID
    """Its id."""

    subject_id: UUID
    """The id of the data subject."""

    kind: Literal["client", "person", "source"] | str
    """What kind it is."""

    keyed: bool
    """False when its older texts are encrypted with a key that stays."""

    reason: Literal["request", "retention", "mistake", "other"] | str
    """Why."""

    status: Literal["begun", "marked", "barred", "purged", "done"] | str
    """How it stands."""

    position: int
    """The ledger position of its entry."""

    purged_position: int | None
    """The ledger position of the entry that purged it."""

    counts: dict[str, int]
    """How many there are of each."""

    begun_at: AwareDatetime
    """When it began."""

    done_at: AwareDatetime | None
    """When it was done."""

    already: bool
    """True when it had been done before."""


class ForgettingView(Model):
    """A forgetting: ids, counts and times, and nothing of what was forgotten."""

    id: UUID
    """Its id."""

    subject_id: UUID
    """The id of the data subject."""

    kind: Literal["client", "person", "source"] | str
    """What kind it is."""

    keyed: bool
    """False when its older texts are encrypted with a key that stays."""

    reason: Literal["request", "retention", "mistake", "other"] | str
    """Why."""

    status: Literal["begun", "marked", "barred", "purged", "done"] | str
    """How it stands."""

    position: int
    """The ledger position of its entry."""

    purged_position: int | None
    """The ledger position of the entry that purged it."""

    counts: dict[str, int]
    """How many there are of each."""

    begun_at: AwareDatetime
    """When it began."""

    done_at: AwareDatetime | None
    """When it was done."""


class GateReport(Model):
    """What the gate made of the question."""

    search: bool
    """Whether the question needs a search."""

    rewritten: bool
    """Whether the question was rewritten."""

    query: str | None
    """The question, in words."""

    reason: str
    """Why."""

    source: str
    """Where it comes from."""

    language: str | None
    """The language of the question (ISO 639-1); null when unknown. Its words are looked for in the forms they have in it; rules know English."""

    complexity: str
    """How complex the question is."""

    topic_change: bool | None
    """Whether the question changes the topic; null when nobody asked."""

    topic_change_confidence: float | None
    """How sure that is, from 0 to 1."""


class GrantView(Model):
    """A standing grant. `arguments` is what calls must look like; null leaves them open."""

    id: UUID
    """Its id."""

    tool: str
    """The tool, as `connector.tool`."""

    declaration: str
    """The hash of the tool as it was declared when the grant was made, in hex."""

    expires_at: AwareDatetime
    """When it ends to count."""

    max_uses: int
    """How often it may be used."""

    made_by: UUID
    """Who made it."""

    made_at: AwareDatetime
    """When it was made."""

    uses: int
    """How often it was used."""

    revoked_at: AwareDatetime | None
    """When it was revoked; null while it counts."""

    approval_id: UUID | None
    """The approval it comes from."""

    arguments: dict[str, Any] | None
    """The arguments of the tool, by name."""

    reason: str
    """Why."""


class Health(Model):
    """The process is up."""

    status: Literal["ok"]
    """How it stands."""


class Imported(Model):
    """How many records were read, and how many of them changed something."""

    read: int
    """How many records there were."""

    changed: int
    """How many were changed."""


class InNetwork(Model):
    """Somebody in a network."""

    id: UUID
    """The member's id."""

    role: Literal["owner", "member"] | str
    """`owner` or `member`."""

    joined_at: AwareDatetime
    """When they joined."""

    profile: Face
    """How they describe themselves."""


class IncomingWebhookRemoved(Model):
    """The incoming webhook that is gone."""

    id: UUID
    """Its id."""


class IncomingWebhookView(Model):
    """A service that writes memories; its deliveries go to `memories_path`."""

    id: UUID
    """Its id."""

    name: str
    """Its name."""

    client_id: str | None
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | str
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    created_at: AwareDatetime
    """When it was made."""

    rotated_at: AwareDatetime | None
    """When it got its secret; null for the first."""

    memories_path: str
    """The path that its deliveries go to."""


class IncomingWebhookWithSecret(Model):
    """One with its new secret: it is in this answer only."""

    id: UUID
    """Its id."""

    name: str
    """Its name."""

    client_id: str | None
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | str
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    created_at: AwareDatetime
    """When it was made."""

    rotated_at: AwareDatetime | None
    """When it got its secret; null for the first."""

    memories_path: str
    """The path that its deliveries go to."""

    secret: str
    """The secret. Keep it: it is shown this once."""


class IngestionView(Model):
    """How far an ingestion is. `execution` names the state machine's execution."""

    id: UUID
    """Its id."""

    document_id: UUID
    """The document's id."""

    status: Literal["accepted", "parsed", "chunked", "stored", "ready", "failed"] | str
    """How it stands."""

    started_at: AwareDatetime
    """When it started."""

    finished_at: AwareDatetime | None
    """When it was finished."""

    execution: str | None
    """The execution of the state machine."""

    sections: int
    """The sections."""

    chunks: int
    """How many chunks there are."""

    embedded: int
    """Whether it has a vector."""

    error: dict[str, Any] | None
    """What went wrong, as a code or a problem; null when nothing did."""


class IntegrationView(Model):
    """Where contacts are read from. The address stays a secret: its host is shown."""

    id: UUID
    """Its id."""

    kind: str
    """What kind it is."""

    host: str
    """The host of its address."""

    people: int | None
    """How many people were found when it was read last."""

    problem: str | None
    """Why it was not read, by code; null when it was."""

    created_at: AwareDatetime
    """When it was made."""

    synced_at: AwareDatetime | None
    """When it was read last."""


class IntentAction(Model):
    """What was changed, or would be. `id` is None for a new intent that was only proposed."""

    type: str
    """create, update or expire."""

    id: UUID | None
    """The intent's id; null for a new one that is only proposed."""

    description: str | None
    """The intent as it is to be; null for one that ends."""

    side: Literal["seeking", "offering", "both"] | str | None
    """Whether it is sought, offered, or both."""

    score: float
    """How sure this is, from 0 to 1."""

    unsure: bool
    """Whether it may be a change of an open intent as well: its owner is asked."""

    near: UUID | None
    """The open intent that it may be a change of."""


class IntentStatement(Model):
    """A statement of a text: what is done by it, how far it holds, and whether it is kept."""

    text: str
    """What is said, made specific by the profile where it was vague."""

    act: Literal["COMMISSIVE", "DIRECTIVE", "DECLARATION", "ASSERTIVE", "EXPRESSIVE"] | str
    """What the speaker did by saying it (Searle's classes of speech acts)."""

    side: Literal["seeking", "offering", "both"] | str | None
    """Whether something is sought or offered by it; null for neither."""

    kept: bool
    """Whether it is an intent."""

    closes: bool
    """Whether it says that something is over."""

    authority: int
    """Whether the speaker is in a position to say it, from 0 to 100."""

    sincerity: int
    """Whether the speaker means it, from 0 to 100."""

    clarity: int
    """Whether it is specific enough to act on, from 0 to 100."""

    entropy: float
    """How many things it could mean, from 0 to 1."""

    confidence: float
    """How sure it is that it was meant, from 0 to 1."""

    vague: bool
    """Whether it could mean almost anybody."""

    anchor: str | None
    """The names and numbers that it refers to."""

    original: str | None
    """What was said before it was made specific by the profile."""

    reason: str
    """Why it was judged so."""

    by: Literal["rules", "model"] | str
    """Whether rules or a model judged it."""


class IntentView(Model):
    """
    An intent. `original` is what was said before it was made specific by the profile.

    `question_about` is the open intent that it may be a change of: its owner is to say.
    """

    id: UUID
    """Its id."""

    client_id: str
    """The client it belongs to; `global` for none in particular."""

    description: str
    """What is sought or offered."""

    side: Literal["seeking", "offering", "both"] | str
    """Whether it is sought, offered, or both."""

    state: Literal["active", "paused", "expired", "archived"] | str
    """active, paused, expired or archived."""

    version: int
    """The version."""

    position: int
    """The ledger position of its entry."""

    created_at: AwareDatetime | None
    """When it was made."""

    changed_at: AwareDatetime
    """When it last changed."""

    expires_at: AwareDatetime | None
    """Until when it is looked for."""

    discovered_at: AwareDatetime | None
    """When it was last looked for."""

    act: Literal["COMMISSIVE", "DIRECTIVE", "DECLARATION", "ASSERTIVE", "EXPRESSIVE"] | str | None
    """What the speaker did by saying it (Searle's classes of speech acts)."""

    confidence: float | None
    """How sure it is that it was meant, from 0 to 1."""

    authority: int | None
    """Whether the speaker is in a position to say it, from 0 to 100."""

    sincerity: int | None
    """Whether the speaker means it, from 0 to 100."""

    clarity: int | None
    """Whether it is specific enough to act on, from 0 to 100."""

    entropy: float | None
    """How many things it could mean, from 0 to 1."""

    vague: bool
    """Whether it could mean almost anybody: entropy above .75, or clarity below 40."""

    anchor: str | None
    """The names and numbers that it refers to."""

    reason: str
    """Why it was judged so."""

    original: str | None
    """What was said before it was made specific by the profile, or before it was changed."""

    question_about: UUID | None
    """The open intent that it may be a change of; answer to settle it."""

    by: Literal["rules", "model"] | str
    """Whether rules or a model judged it."""


class IntentsSubmitted(Model):
    """What a text came to. `questions` are about intents that may be changes of others."""

    mode: str
    """create or propose."""

    by: Literal["rules", "model"] | str
    """Whether rules or a model read the text."""

    statements: list[IntentStatement]
    """What the text says, statement by statement."""

    actions: list[IntentAction]
    """What was changed, or would be."""

    intents: list[IntentView]
    """The intents that were made, changed or ended, as they are now."""

    questions: list[str]
    """What the member is asked, in words."""

    left_out: int
    """How many further statements were not looked at."""


class Interest(Model):
    """Something a client likes or speaks of again; `evidence` are memories, the newest first."""

    name: str
    """Its name."""

    type: str
    """The type."""

    score: float
    """The score."""

    evidence: list[UUID]
    """The memories that name it, the newest first."""


class InvestigationQueued(Model):
    """The ticket waits for a slot: there is no investigation yet."""

    ticket_id: UUID
    """The ticket's id."""

    state: Literal["queued"]
    """The state it is in."""


class InvestigationStarted(Model):
    """Where the investigation of a ticket is; `run` is how many executions it had."""

    ticket_id: UUID
    """The ticket's id."""

    workspace_id: UUID
    """The workspace's id."""

    investigation_id: UUID
    """The investigation's id."""

    state: (
        Literal[
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
        | str
    )
    """The state it is in."""

    run: int
    """Which of its executions counts, from 1."""


class InviteMade(Model):
    """A new invite. The link holds its token and is shown this once."""

    id: UUID
    """Its id."""

    network_id: UUID
    """The network's id."""

    token: str
    """What joins by it; kept as a hash alone."""

    link: str
    """What to send; the token is behind the #. It is shown this once."""

    text: str
    """Words to send with it."""

    by: str
    """Who worded the text: `rules` or `model`."""

    expires_at: AwareDatetime
    """When it ends to count."""


class InviteRow(Model):
    """An invite: it lets one person in, once. Its token is nowhere but in its link."""

    id: UUID
    """Its id."""

    network_id: UUID
    """The network's id."""

    made_by: UUID | None
    """Who made it."""

    ghost_id: UUID | None
    """The contact's member it is meant for, who is not here yet."""

    created_at: AwareDatetime
    """When it was made."""

    expires_at: AwareDatetime
    """When it ends to count."""

    revoked_at: AwareDatetime | None
    """When it was revoked; null while it counts."""

    used_at: AwareDatetime | None
    """When somebody joined by it."""

    used_by: UUID | None
    """The member who did."""


class KeptMessage(Model):
    """A turn that stays in its own words, and the messages it is recorded as."""

    place: int
    """What was searched: a table, an index, a bucket."""

    role: str
    """The role."""

    text: str
    """The text."""

    sender: str | None
    """Who said it, as the channel names them."""

    occurred_at: AwareDatetime | None
    """When it happened; when it was written, if left out."""

    message_ids: list[UUID]
    """The messages it is recorded as."""


class KeyBound(Model):
    """A public key and the conversation it sees."""

    conversation_id: UUID
    """The conversation's id."""

    key_id: UUID
    """The key's id."""


class KeyView(Model):
    """An API key without its secret."""

    id: UUID
    """Its id."""

    name: str
    """Its name."""

    prefix: str
    """The beginning of the key, which is no secret."""

    role: Literal["admin", "agent", "public"] | str
    """What the key may do: admin, agent or public."""

    scopes: list[Literal["public", "shared", "admin"] | str]
    """The scopes it sees."""

    created_at: AwareDatetime
    """When it was made."""

    agent_slug: str | None
    """The agent that the key speaks for; it finds what is tagged for that agent."""

    tools: list[str] | None
    """The tools a key may call over MCP; null for no such limit."""

    expires_at: AwareDatetime | None
    """When it ends to count."""

    revoked_at: AwareDatetime | None
    """When it was revoked; null while it counts."""

    client_id: str | None
    """The client it belongs to; `global` for none in particular."""

    agent: str | None
    """The registered agent that it belongs to."""

    person: bool
    """A person holds it: over MCP it is not asked for an agent."""

    token_subject: str | None
    """Whose access tokens open it: `sub:` or `client:` and the name they say."""

    last_used_at: AwareDatetime | None
    """When a request last had it; null for never, and after a crash of the database."""


class KeyWithSecret(Model):
    """A new key. Its secret is in this answer only."""

    key: KeyView
    """What the memory states, such as `acme-tech-stack`: a later one with the same key replaces it."""

    secret: str
    """The secret. Keep it: it is shown this once."""


class KnowledgeView(Model):
    """A snapshot as its reader sees it. `stale`: some of what it held may no longer be shown."""

    agent: str
    """Whose it is."""

    version: int
    """Its number; the newest is the present one."""

    baked_at: AwareDatetime
    """When it was baked."""

    position: int
    """The ledger position of its entry."""

    form: Literal["full", "summary"] | str
    """Whether all of each node is shown, or a line."""

    live_memory: bool
    """Whether the agent may search besides."""

    stale: bool
    """Some of what it held may no longer be shown."""

    node_ids: list[UUID]
    """What is in it and may be shown now, in order."""

    missing: int
    """How many of its nodes may not."""

    text: str
    """It as one text for a prompt; each node quoted as data."""


class LedgerEntryView(Model):
    """One ledger entry: everything in the clear header, hashes in hex. Bodies stay encrypted."""

    position: int
    """The ledger position of its entry."""

    id: UUID
    """Its id."""

    type: str
    """The type."""

    actor_kind: str
    """What kind of actor wrote the entry: a key or the system."""

    actor_id: str
    """The id of who wrote the entry."""

    occurred_at: AwareDatetime
    """When it happened; when it was written, if left out."""

    recorded_at: AwareDatetime
    """When it was written to the ledger."""

    prev_hash: str
    """The hash of the entry before, in hex."""

    hash: str
    """The hash, in hex."""

    session_id: str | None
    """The session it belongs to, as its writer names it."""

    trace_id: str | None
    """The trace it belongs to, as its writer names it."""

    parent_id: UUID | None
    """The id of what it follows from."""

    data_subjects: list[UUID]
    """Whom it is about, so that they can be forgotten."""

    meta: dict[str, Any]
    """What projections need beside the body: ids and numbers."""


class LegCount(Model):
    """How many candidates a way of searching found, and how long it took."""

    found: int
    """How many were found."""

    ms: float
    """Milliseconds it took."""


class LegPlace(Model):
    """Where a leg had a node, from 1, and the leg's own score."""

    rank: int
    """Its place, from 1; null when it was not returned."""

    score: float
    """The score."""


class LegReport(Model):
    """How many candidates a leg of a search found, how long it took, and why it failed."""

    found: int
    """How many were found."""

    ms: float
    """Milliseconds it took."""

    failure: str | None = None
    """Why it failed; null when it did not."""


class LensShown(Model):
    """A way that was looked in: where, for whom, and who thought of it."""

    label: str
    """Who the ideal match is, seen so."""

    corpus: Literal["profiles", "intents"] | str
    """Where is looked: in profiles or in intents."""

    reason: str
    """Why so."""

    by: Literal["rules", "model"] | str
    """What made it: rules or model."""


class LimitsView(Model):
    """What may be spent, or what is left of it; nothing is ever less than 0."""

    tokens: int
    """How many tokens."""

    usd: float
    """US dollars."""

    seconds: float
    """Seconds of work."""

    iterations: int
    """Rounds of thinking and acting."""


class Line(Model):
    """A line as its readers see it; `text` is None where there is none, or it was forgotten."""

    seq: int
    """Its number, from 1."""

    kind: Literal["said", "requested", "accepted", "left", "returned", "closed", "ticket"] | str
    """What kind it is."""

    speaker: Literal["customer", "operator", "cairn"] | str
    """Whose turn it is, or was: source or candidate."""

    name: str | None
    """Its name."""

    text: str | None
    """The text."""

    at: AwareDatetime
    """When it happened."""


class LineageCapacity(Model):
    """How far a lineage may go, and how many nodes it has."""

    max_depth: int
    """How many edges away the walk may go."""

    used_nodes: int
    """How many nodes were used."""


class LineageWeights(Model):
    """What the scores of a lineage were made with."""

    hop_decay: float
    """What each edge away multiplies a score by."""

    relations: dict[str, float]
    """Only edges of these relations; all when empty."""


class LinesOfChat(Model):
    """What was said with a person there after a number, the oldest first."""

    state: Literal["pending", "active", "returned", "closed", "ticket"] | str
    """The state it is in."""

    items: list[Line]
    """The items, in their order."""

    after: int
    """Ask for what comes after this."""


class LinkedNode(Model):
    """The other end of an edge, told in one line."""

    id: UUID
    """Its id."""

    label: str
    """The label of the node."""

    kind: str | None
    """What kind it is."""

    title: str
    """The title."""


class AssignmentList(Model):
    """A list that is always whole."""

    items: list[Assignment]
    """The items, in their order."""


class ConnectorList(Model):
    """A list that is always whole."""

    items: list[ConnectorView]
    """The items, in their order."""


class ContactList(Model):
    """A list that is always whole."""

    items: list[ContactView]
    """The items, in their order."""


class DeliveryList(Model):
    """A list that is always whole."""

    items: list[DeliveryView]
    """The items, in their order."""


class EscalationChannelList(Model):
    """A list that is always whole."""

    items: list[EscalationChannel]
    """The items, in their order."""


class IncomingWebhookList(Model):
    """A list that is always whole."""

    items: list[IncomingWebhookView]
    """The items, in their order."""


class IntegrationList(Model):
    """A list that is always whole."""

    items: list[IntegrationView]
    """The items, in their order."""


class KeyList(Model):
    """A list that is always whole."""

    items: list[KeyView]
    """The items, in their order."""


class LiveChat(Model):
    """A chat that the agent answers; `turn_id` takes it over."""

    turn_id: UUID
    """The turn's id; your own makes sending it again safe."""

    channel: str
    """Where it came in or goes out."""

    client_id: str | None
    """The client it belongs to; `global` for none in particular."""

    question: str | None
    """What the reader's own person is asked; null when nothing is."""

    at: AwareDatetime
    """When it happened."""


class LiveChats(Model):
    """Chats that the agent answers, the newest first."""

    items: list[LiveChat]
    """The items, in their order."""


class LogLine(Model):
    """A line. `subject_id` is the search, call, turn, event or message, `error` a code."""

    id: UUID
    """Its id."""

    at: AwareDatetime
    """When it happened."""

    source: Literal["search", "tool", "chat", "event", "message"] | str
    """What the line is of: a search, a call of a tool, a chat, an event or a message."""

    subject_id: UUID
    """The search, call, turn of a chat, event or message."""

    name: str | None
    """The tool, the trace event with what it is about, or the kind."""

    state: str | None
    """How it stands or ended."""

    error: str | None
    """A code, where something went wrong."""

    duration_ms: float | None
    """Milliseconds it took, where that is known."""


class Looked(Model):
    """
    One place of a store: how many items were looked at, and in how many something was found.

    `searched` False: the place cannot be searched from here; `note` says why, and what becomes of
    what is in it.
    """

    store: str
    """The store that was searched."""

    place: str
    """What was searched: a table, an index, a bucket."""

    items: int
    """The items, in their order."""

    found: int
    """How many were found."""

    searched: bool
    """Whether it could be searched."""

    note: str
    """More about it."""


class MaintenanceRun(Model):
    """
    What a run did. `held_back`: enough waited already, so the rest is the next run's.

    `redriven`: what had failed again and again, and is tried again by the next run of discovery.
    """

    feeds: int
    """How many feeds were looked at."""

    unhealthy: int
    """How many of them do poorly."""

    intents: int
    """The intents read from the question, with how sure each is."""

    introduced: int
    """How many pairs of contacts were proposed to each other."""

    held_back: bool
    """Whether enough waited already; the rest is the next run's."""

    redriven: int
    """How many intents, opportunities and negotiations that had failed are tried again."""


class MatchShown(Model):
    """Somebody whom it may be worth to meet. `role` is what they are to the one who looks."""

    member_id: UUID
    """The other member."""

    name: str
    """What they call themselves."""

    intent_id: UUID | None
    """Their intent; null where the profile alone fits."""

    intent: str
    """What they say in it."""

    side: str | None
    """Whether they seek or offer, or both."""

    network_id: UUID
    """The shared network in which it is found: that of the highest relevancy."""

    score: int
    """0 to 100: 90 must meet, 70 should meet."""

    verdict: str | None
    """must_meet or should_meet; null below that."""

    role: Literal["agent", "patient", "peer"] | str
    """What they are to the one who looks: agent, patient or peer."""

    reason: str
    """Why, as a third person puts it."""

    questions: list[str]
    """What is to be asked, since nothing was said of it."""

    conflicts: list[str]
    """What stands against it."""

    by: Literal["rules", "model"] | str
    """What judged this one: rules or model."""


class MemoryItemResult(Model):
    """What became of one item of a batch, at its place among the items."""

    outcome: Literal["created", "duplicate", "corroborated", "superseded"] | str
    """What became of it."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    superseded: list[UUID]
    """The ids of the memories it replaced."""

    observation_count: int
    """How often it was observed."""

    warnings: list[str]
    """What its writer should know."""

    index: int
    """Its place among the items, from 0."""


class MemoryResult(Model):
    """What became of one memory."""

    outcome: Literal["created", "duplicate", "corroborated", "superseded"] | str
    """What became of it."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    superseded: list[UUID]
    """The ids of the memories it replaced."""

    observation_count: int
    """How often it was observed."""

    warnings: list[str]
    """What its writer should know."""


class MendView(Model):
    """
    What a ticket waits for: a connector or a ticket source that is to be authorised again.

    `page` is the console's, where a person does it.
    """

    kind: str
    """What kind it is."""

    name: str
    """Its name."""

    path: str
    """The path of the API that mends it."""

    command: str
    """What is run, word by word."""

    page: str
    """Where the console does it."""


class MessageHit(Model):
    """A message that was found, and how well it answers, from 0 to 1."""

    id: UUID
    """Its id."""

    conversation_id: UUID
    """The conversation's id."""

    role: str
    """The role."""

    content: str
    """The text."""

    timestamp: AwareDatetime
    """When it was said."""

    relevance_score: float
    """How well it answers, from 0 to 1."""

    channel: str
    """Where it came in or goes out."""

    session_id: str
    """The session it belongs to, as its writer names it."""

    sequence: int
    """Its place in its session."""

    sender: str | None
    """Who said it, as the channel names them."""

    accepted: bool
    """False for a message that was turned away before an agent saw it."""

    position: int
    """The ledger position of its entry."""


class MessageRecorded(Model):
    """A message that is recorded, or waits for the next one of its conversation."""

    conversation_id: UUID
    """The conversation's id."""

    message_id: UUID
    """The message's id."""

    persisted: bool
    """False while the first messages of a web chat wait."""

    position: int | None
    """The ledger position of its entry."""

    written: list[UUID]
    """The ids of the messages that are recorded now."""

    pending: int
    """How many messages of the conversation wait."""

    expires_at: AwareDatetime | None
    """When it ends to count."""

    warnings: list[str]
    """What its writer should know."""


class MessageView(Model):
    """What the requester wrote later; `text` is None when whom it is about was forgotten."""

    id: UUID
    """Its id."""

    external_id: str
    """Its id where it comes from: the same one again changes nothing."""

    text: str | None
    """The text."""

    written_at: AwareDatetime
    """When it was written."""

    received_at: AwareDatetime
    """When it came in."""


class MessagingChannelRemoved(Model):
    """The channel that is gone."""

    id: UUID
    """Its id."""


class MissingKey(Model):
    """
    A data subject whom nobody has forgotten and whose key is gone, with what is unreadable.

    The workspace's own id stands for entries that are about nobody.
    """

    subject_id: UUID
    """The id of the data subject."""

    entries: int
    """How many ledger entries there are."""

    first_position: int
    """The position of the first such entry."""

    destroyed: bool
    """Whether the key was destroyed, and not only lost."""


class MissingVectors(Model):
    """How many nodes have no vector of the present model, and how many of them wait for it."""

    model: str
    """The model, by name."""

    missing: int
    """How many have no vector of the present model."""

    waiting: int
    """How many wait."""


class ModelCallReport(Model):
    """
    A model that was asked on the way; `provider` and `model` are null when none answered.

    `cost_usd` is null where no price is known.
    """

    purpose: str
    """What the model was asked for."""

    provider: str | None
    """Who ran the model."""

    model: str | None
    """The model, by name."""

    ms: float
    """Milliseconds it took."""

    cost_usd: float | None
    """What models cost, in US dollars; null where no price is known."""

    failure: str | None
    """Why it failed; null when it did not."""

    cached: bool
    """Whether it comes from a cache."""


class NamedEntity(Model):
    """Who or what a memory refers to, by its name and type."""

    name: str
    """Its name."""

    type: str
    """The type."""


class NamespaceList(Model):
    """Namespaces in their order, and whether there are more after these."""

    namespaces: list[str]
    """The namespaces, in their order."""

    more: bool
    """Whether there is more to do."""


class NegotiationEventData(Model):
    """What a trace event of a negotiation says."""

    opportunity_id: UUID
    """The opportunity's id."""

    negotiation_id: UUID
    """The negotiation's id."""

    trigger: str | None = None
    """What started it: the schedule or a request."""

    started_at: AwareDatetime | None = None
    """When it started."""

    turn_index: int | None = None
    """The place of the turn, from 1."""

    actor: Literal["source", "candidate"] | str | None = None
    """Which side spoke."""

    action: Literal["propose", "counter", "accept", "reject", "question"] | str | None = None
    """What was done, in one line."""

    message: str | None = None
    """What is wrong, in words."""

    suggested_roles: EventRoles | None = None
    """What the two are to each other, as that side sees it."""

    voice: Literal["agent", "attested", "advocate"] | str | None = None
    """Whose words and key: agent, attested or advocate."""

    at: AwareDatetime | None = None
    """When it happened."""

    outcome: str | None = None
    """What became of it."""

    turn_count: int | None = None
    """How many turns were taken."""

    agreed_roles: EventRoles | None = None
    """What the two agreed to be to each other; null unless both said yes."""

    duration_ms: int | None = None
    """Milliseconds until the ranking was done."""


class NegotiationExport(Model):
    """A negotiation that anyone can verify without a server."""

    format: str
    """How results are written: full, compact or text."""

    negotiation_id: UUID
    """The negotiation's id."""

    outcome: str | None
    """What became of it."""

    head: str
    """The ledger position it was made as of."""

    advocate_key_id: str
    """The name of the key by which Cairn signs here."""

    turns: list[ExportedTurn]
    """The turns, in order."""


class NegotiationMeasures(Model):
    """How negotiations ended. `instant_share` is the share of yeses that came at once."""

    ended: int
    """True when no more will come."""

    accepted: int
    """False for a message that was turned away before an agent saw it."""

    instant_accepts: int
    """How many yeses came with the second turn."""

    instant_share: float | None
    """Their share of all yeses; null without any."""


class NegotiationRoles(Model):
    """What the two are to each other: agent, patient or peer."""

    source: str
    """Where it comes from."""

    candidate: str
    """What the one who was found is: agent, patient or peer."""


class NegotiationTurn(Model):
    """
    One turn. `message` is null where it was forgotten; `position` is of its ledger entry.

    `voice` says whose words and whose key: the side's agent by its own, the agent attested by
    Cairn, or Cairn's advocate; `by` how the advocate came to it.
    """

    seq: int
    """Its number, from 1."""

    speaker: Literal["source", "candidate"] | str
    """Whose turn it is, or was: source or candidate."""

    action: Literal["propose", "counter", "accept", "reject", "question"] | str
    """What was done, in one line."""

    message: str | None
    """What is wrong, in words."""

    suggested_roles: NegotiationRoles | None
    """What the two are to each other, as that side sees it."""

    fit: int | None
    """How well the two fit, 0 to 100; of a negotiation, the mean."""

    voice: Literal["agent", "attested", "advocate"] | str
    """Whose words and key: agent, attested or advocate."""

    by: str | None
    """What a row is: a model, a purpose, a day or a workspace."""

    key_id: str
    """The key's id."""

    inputs: list[str]
    """What it was started with."""

    position: int
    """The ledger position of its entry."""

    said_at: AwareDatetime
    """When it was said."""


class NegotiationView(Model):
    """
    A negotiation as its two sides see it. `side` is the reader's, null for an admin.

    `deadline` is when it goes on by itself, `question` what the reader's own person is asked.
    `failures` counts turns that failed, which are none; `failure` says what the newest was.
    """

    id: UUID
    """Its id."""

    opportunity_id: UUID
    """The opportunity's id."""

    network_id: UUID
    """The network's id."""

    side: Literal["source", "candidate"] | str | None
    """Which side is the reader's: source or candidate; null for an admin."""

    state: Literal["open", "waiting", "ended"] | str
    """The state it is in."""

    outcome: (
        Literal[
            "accepted",
            "rejected",
            "rejected_stalled",
            "waiting_for_agent",
            "timed_out",
            "turn_cap",
            "expired",
        ]
        | str
        | None
    )
    """What became of it."""

    speaker: Literal["source", "candidate"] | str | None
    """Whose turn it is, or was: source or candidate."""

    agreed_roles: NegotiationRoles | None
    """What the two agreed to be to each other; null unless both said yes."""

    fit: float | None
    """How well the two fit, 0 to 100; of a negotiation, the mean."""

    turn_cap: int | None
    """How many turns there are; null where both sides bring agents."""

    turn_count: int
    """How many turns were taken."""

    stance: str
    """How to go about the next turn: explore or decide."""

    trigger: str
    """What started it: the schedule or a request."""

    deadline: AwareDatetime | None
    """When it goes on by itself; null when it has ended."""

    question: str | None
    """What the reader's own person is asked; null when nothing is."""

    failures: int
    """How many polls in a row failed."""

    failure: str | None
    """Why it failed; null when it did not."""

    begun_at: AwareDatetime
    """When it began."""

    ended_at: AwareDatetime | None
    """When it ended."""

    turns: list[NegotiationTurn]
    """The turns, in order."""


class Neighbour(Model):
    """A message or chunk that stands beside a result."""

    node_id: UUID
    """The node's id."""

    text: str
    """The text."""

    occurred_at: AwareDatetime | None
    """When it happened; when it was written, if left out."""


class NetworkLeft(Model):
    """The network that somebody is in no longer, or that is gone."""

    id: UUID
    """Its id."""


class NetworkView(Model):
    """
    A network as somebody sees it. `role` and `member_prompt` are theirs; None: they are not in.

    `members` is how many there are.
    """

    id: UUID
    """Its id."""

    name: str
    """Its name."""

    prompt: str
    """What belongs there; empty: everything."""

    join_policy: Literal["anyone", "invite_only"] | str
    """Who may join by themselves: `anyone`, or with `invite_only` who has an invite."""

    owner_id: UUID | None
    """The member who owns it; null: the workspace's admins."""

    role: Literal["owner", "member"] | str | None
    """What the member is in it, `owner` or `member`; null when they are not in it."""

    member_prompt: str | None
    """What of the member's belongs there; null when they are not in it."""

    joined_at: AwareDatetime | None
    """When they joined."""

    members: int
    """How many are in it."""

    version: int
    """The version."""

    created_at: AwareDatetime
    """When it was made."""

    changed_at: AwareDatetime
    """When it was last changed."""


class NodeAttributes(Model):
    """What is set on a node; what is not set is left out."""

    key: str | None = None
    """What the memory states, such as `acme-tech-stack`: a later one with the same key replaces it."""

    subject: str | None = None
    """Whom or what it is about."""

    status_value: str | None = None
    """What a status memory says, such as `done`."""

    category: str | None = None
    """What the memory is for: preference, procedure and so on."""

    knowledge_category: str | None = None
    """What field of knowledge it belongs to."""

    namespace: str | None = None
    """The namespace it is in: labels with / between them, such as `users/dana`."""

    title: str | None = None
    """The title."""

    summary: str | None = None
    """What it says, in short."""

    canonical_name: str | None = None
    """The name of the entity."""

    state: str | None = None
    """The state it is in."""

    scope: Literal["public", "shared", "admin"] | str | None = None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    importance: int | None = None
    """How much it matters, from 1 to 10."""

    confidence: float | None = None
    """How sure it is, from 0 to 1."""

    observation_count: int | None = None
    """How often it was observed."""

    access_count: int | None = None
    """How many searches have returned it."""

    sequence: int | None = None
    """Its place in its session."""

    ordinal: int | None = None
    """Its place in the document, from 0."""

    source_uri: str | None = None
    """The source of the document: sending the same one again replaces what changed."""

    line_from: int | None = None
    """The first line of the source."""

    line_to: int | None = None
    """The last line of the source."""

    page_from: int | None = None
    """The first page of the source."""

    page_to: int | None = None
    """The last page of the source."""

    document_id: UUID | None = None
    """The document's id."""

    parent_id: UUID | None = None
    """The id of what it follows from."""

    supersedes: UUID | None = None
    """The id of what it replaced."""

    superseded_by: UUID | None = None
    """The id of what replaced it."""

    valid_from: AwareDatetime | None = None
    """From when it is true."""

    valid_to: AwareDatetime | None = None
    """Until when it is true; open when left out."""

    superseded_at: AwareDatetime | None = None
    """When a later one replaced it."""

    last_accessed_at: AwareDatetime | None = None
    """When a search last returned it."""

    keywords: list[str] | None = None
    """The keywords it is found by."""

    agents: list[str] | None = None
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    headings: list[str] | None = None
    """The headings above it, the outermost first."""

    metadata: dict[str, Any] | None = None
    """What its writer keeps with it: any JSON object."""


class NodeChanged(Model):
    """What was changed, and the ledger position of its entry."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""


class NodeItemResult(Model):
    """What became of one item of a batch, at its place among the items."""

    outcome: Literal["created", "duplicate"] | str
    """What became of it."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    edges: int
    """The edges."""

    warnings: list[str]
    """What its writer should know."""

    index: int
    """Its place among the items, from 0."""


class NodeRecord(Model):
    """A node of the memory graph without its id."""

    kind: Literal["node"]
    """What kind it is."""

    label: str
    """The label of the node."""

    natural_key: str
    """The name it is known by."""

    properties: dict[str, Any]
    """What is set on it, as a JSON object."""

    provenance: Literal["operator", "proposed", "imported"] | str
    """The ledger entry that made the node, and who said it, when and where."""

    status: Literal["provisional", "active", "archived"] | str
    """How it stands."""


class NodeResult(Model):
    """What became of one node."""

    outcome: Literal["created", "duplicate"] | str
    """What became of it."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    edges: int
    """How many edges were written with it."""

    warnings: list[str]
    """What its writer should know."""


class OpinionView(Model):
    """What a person said last: a rating with a comment, or a dispute with a reason."""

    investigation_id: UUID
    """The investigation's id."""

    principal_id: UUID
    """The id of who did it."""

    kind: str
    """What kind it is."""

    rating: int | None
    """How well it was done, from 1 to 5."""

    text: str | None
    """The text."""

    said_at: AwareDatetime
    """When it was said."""


class Orphans(Model):
    """How many there are of one kind, at most COUNTED, and some of their ids."""

    count: int
    """How many there are."""

    examples: list[UUID]
    """Some of their ids."""


class OrphansByKind(Model):
    """Rows that lost what they belong to, by what they lack."""

    node_without_entry: Orphans
    """Nodes of which the ledger has no entry."""

    edge_without_end: Orphans
    """Edges of which a node at an end is not there."""

    vector_without_node: Orphans
    """Vectors without their node."""

    entity_without_reference: Orphans
    """Entities that no text names any more."""

    entry_without_row: Orphans
    """Ledger entries whose node is there no more, though nothing purged it."""


class CandidatePage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[CandidateView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class ChatPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[ChatView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class ContactPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[ContactView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class ConversationPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[ConversationView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class EntityPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[EntityView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class EscalationPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[EscalationView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class EventPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[EventView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class GrantPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[GrantView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class InNetworkPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[InNetwork]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class IntentPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[IntentView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class InviteRowPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[InviteRow]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class LedgerEntryPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[LedgerEntryView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class LogLinePage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[LogLine]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class NegotiationPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[NegotiationView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class NetworkPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[NetworkView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class PathPart(Model):
    """A document or a section that a result is part of."""

    node_id: UUID
    """The node's id."""

    type: str
    """The type."""

    source_uri: str | None = None
    """The source of the document: sending the same one again replaces what changed."""

    headings: list[str] | None = None
    """The headings above it, the outermost first."""


class Pattern(Model):
    """
    What was done for a client again and again; `evidence` are events, the newest first.

    What memories show a client to do has `text`, and the memories as its evidence.
    """

    type: str
    """The type."""

    tool_name: str | None
    """The tool that was called."""

    text: str | None
    """What memories show the client to do, of a habit; null for what events show."""

    times: int
    """How often it was done."""

    sessions: int
    """In how many sessions, or days where events have no session."""

    first_at: AwareDatetime
    """When it was done first."""

    last_at: AwareDatetime
    """When it was done last."""

    strength: float
    """How strong it is, from 0 to 1; halved each 30 days since the last."""

    evidence: list[UUID]
    """The events, the newest first."""


class PersonLeftOut(Model):
    """Somebody who was picked and is no match, and why."""

    member_id: UUID
    """Who was picked."""

    reason: str
    """Why they were left out."""


class PersonView(Model):
    """
    Somebody who may sign in. `disabled_at` says since when they may not.

    `client_id` is the member of networks that they are.
    """

    id: UUID
    """Its id."""

    login: str
    """The name somebody signs in under, in small letters."""

    name: str
    """Its name."""

    role: Literal["owner", "admin", "operator", "reviewer", "reader"] | str
    """The role."""

    created_at: AwareDatetime
    """When it was made."""

    changed_at: AwareDatetime
    """When it was last changed."""

    has_password: bool
    """Whether a password is set; without one a link signs in."""

    passkeys: int
    """How many passkeys they have."""

    client_id: str | None
    """The client it belongs to; `global` for none in particular."""

    disabled_at: AwareDatetime | None
    """When it was switched off."""


class PersonaRemoved(Model):
    """The persona that is gone."""

    name: str
    """Its name."""


class PersonaVersionView(Model):
    """A persona as it stood from one change on."""

    name: str
    """Its name."""

    instructions: str
    """What agents are told about such tickets."""

    escalation: str
    """The channel by which a person is called: `ticket-note`, `webhook:<id>`, `slack:<name>`."""

    autonomy: Literal["off", "investigate", "propose", "act"] | str
    """How far agents may go: off, investigate, propose or act."""

    max_tokens: int
    """How many tokens at most."""

    max_usd: str
    """US dollars an investigation may cost, as a decimal."""

    max_seconds: int
    """Seconds an investigation may take."""

    max_iterations: int
    """Rounds an investigation may take."""

    redaction: str
    """The redaction profile that holds for its tickets, by name."""

    version: int
    """The version."""

    changed_at: AwareDatetime
    """When it was last changed."""

    changed_by: UUID
    """Who changed it."""

    removed: bool
    """True when it is gone."""


class PersonaView(Model):
    """A persona: how agents work on its tickets, and what they may spend."""

    name: str
    """The persona's name."""

    instructions: str
    """What agents are told about such tickets."""

    escalation: str
    """The channel by which a person is called: `ticket-note`, `webhook:<id>`, `slack:<name>`."""

    autonomy: Literal["off", "investigate", "propose", "act"] | str
    """How far agents may go: off, investigate, propose or act."""

    max_tokens: int
    """How many tokens at most."""

    max_usd: str
    """US dollars an investigation may cost, as a decimal."""

    max_seconds: int
    """Seconds an investigation may take."""

    max_iterations: int
    """Rounds an investigation may take."""

    redaction: str
    """The redaction profile that holds for its tickets, by name."""

    version: int
    """The version."""


class PersonalReason(Model):
    """What is known of whom the search is for, and leads to the result."""

    relation: str
    """How the person hangs together with it."""

    name: str | None = None
    """What they are interested in; only of an interest."""

    score: float
    """What the walk from them gives it, from 0 to 1."""

    evidence: list[UUID]
    """The ids of what they said or did that this follows from."""


class PollResult(Model):
    """
    What a poll did: tickets that were new, changed, known already, or had no id to keep.

    `messages` are requesters' later words that were new; `set_aside` says how many were none, by
    the reason.
    """

    new: int
    """How many are new."""

    changed: int
    """How many were changed."""

    known: int
    """How many were known already."""

    nameless: int
    """How many came without an id and were left out."""

    messages: int
    """How many messages there are."""

    set_aside: dict[str, int]
    """How many mails were no tickets, by the reason: `automatic`, `mailing-list`, `own`, `malformed`."""

    complete: bool
    """False when there is more to do: ask again."""


class PremiseRetracted(Model):
    """The premise that no longer holds."""

    id: UUID
    """The premise's id."""


class PremiseView(Model):
    """One thing that a member says of themselves; nobody else is shown it."""

    id: UUID
    """Its id."""

    text: str
    """One thing that the member says of themselves."""

    by: str
    """Whether rules or a model cut it from the self-description."""

    recorded_at: AwareDatetime
    """When it was written to the ledger."""

    expires_at: AwareDatetime | None
    """Until when it holds; null: until it is retracted."""


class Present(Model):
    """The present state of an investigation, and which of its executions counts."""

    workspace_id: UUID
    """The workspace's id."""

    investigation_id: UUID
    """The investigation's id."""

    state: (
        Literal[
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
        | str
    )
    """The state it is in."""

    run: int
    """Which of its executions counts, from 1."""


class PrivateInput(Model):
    """What weighed in a turn of one's own: by its salt anyone can check the commitment."""

    seq: int
    """Its number, from 1."""

    node_id: UUID
    """The node's id."""

    salt: str
    """32 random bytes in hexadecimal digits."""

    commitment: str
    """SHA-256 over the salt and the text."""


class ProblemDetails(Model):
    """RFC 9457 problem details. `type` is stable; `reason` says more about it."""

    type: (
        Literal[
            "urn:cairn:error:malformed-body",
            "urn:cairn:error:unauthenticated",
            "urn:cairn:error:budget-exceeded",
            "urn:cairn:error:denied",
            "urn:cairn:error:not-found",
            "urn:cairn:error:method-not-allowed",
            "urn:cairn:error:conflict",
            "urn:cairn:error:too-large",
            "urn:cairn:error:unsupported-media-type",
            "urn:cairn:error:validation-failed",
            "urn:cairn:error:rate-limited",
            "urn:cairn:error:internal",
            "urn:cairn:error:not-streamable",
            "urn:cairn:error:unavailable",
        ]
        | str
    )
    """The kind of problem: stable, made for programs."""

    title: str
    """What kind of problem it is."""

    status: int
    """The HTTP status."""

    detail: str
    """What is wrong with this request, in a sentence or two."""

    reason: str
    """A stable word that says more than the type."""

    instance: str | None = None
    """The request id."""

    errors: list[FieldProblem] | None = None
    """What is wrong, field by field."""


class Proof(Model):
    """What was looked at. `clean`: nothing was found in any place that could be searched."""

    forgetting_id: UUID | None
    """The forgetting that is proved; null before one."""

    subject_id: UUID | None
    """The id of the data subject."""

    clean: bool
    """True when nothing was found in any place that could be searched."""

    canaries: int
    """Strings that only what is forgotten had; they are kept nowhere."""

    places: list[Looked]
    """Every place that was searched."""


class Proposal(Model):
    """A node that is proposed, or was remembered, as it is shown."""

    id: UUID
    """Its id."""

    label: str
    """The label of the node."""

    natural_key: str
    """The name it is known by."""

    properties: dict[str, Any]
    """What is set on it, as a JSON object."""

    provenance: str
    """The ledger entry that made the node, and who said it, when and where."""

    status: str
    """How it stands."""


class ProvDocument(Model):
    """A PROV-JSON document (W3C PROV); its other members are records by kind and id."""

    model_config = ConfigDict(
        extra="allow",
    )
    prefix: dict[str, str]
    """The beginning of the key, which is no secret."""


class Provenance(Model):
    """The ledger entry that made a node, and who said it, when and where."""

    entry_id: UUID
    """The id of the ledger entry."""

    position: int
    """The ledger position of its entry."""

    source: Literal["ledger"]
    """Where it comes from."""

    occurred_at: AwareDatetime | None
    """When it happened; when it was written, if left out."""

    recorded_at: AwareDatetime | None
    """When it was written to the ledger."""

    session_id: str | None
    """The session it belongs to, as its writer names it."""

    agent_id: str | None
    """The agent that did or said it."""

    trace_id: str | None
    """The trace it belongs to, as its writer names it."""


class PublicHostOut(Model):
    """Where a workspace's sites are; with a `reason` they are nowhere, and the rest is null."""

    hostname: str | None
    """The host that published sites are served on; null when there is none."""

    url: str | None
    """The address."""

    source: str | None
    """Where it comes from."""

    reason: str | None
    """Why."""


class PublicKeyShown(Model):
    """A registered key, by its name: SHA-256 over its 32 bytes."""

    agent: str
    """The agent's name."""

    key_id: str
    """The key's id."""


class PublicationWithdrawn(Model):
    """What nobody reads any more."""

    id: UUID
    """Its id."""


class PublishedPath(Model):
    """A file of a publication."""

    path: str
    """Where it is, below the address of the publication."""

    size: int
    """How many bytes it has."""

    sha256: str
    """Its SHA-256, in hexadecimal digits: the tag it is served with."""


class QuestionView(Model):
    """A question to a person in a line: not what was asked, and not with which values."""

    id: UUID
    """Its id."""

    investigation_id: UUID
    """The investigation's id."""

    ticket_id: UUID
    """The ticket's id."""

    action_id: UUID
    """The tool call that is asked for."""

    tool: str
    """The tool, as `connector.tool`."""

    state: Literal["pending", "granted", "used", "rejected", "edited", "expired", "void"] | str
    """The state it is in."""

    asked_at: AwareDatetime
    """When it was asked."""

    expires_at: AwareDatetime
    """When it ends to count."""

    decided_at: AwareDatetime | None
    """When it was decided."""

    decided_by: UUID | None
    """Who decided it."""


class QueueView(Model):
    """
    The queue as it is shown. `expected_wait_s` is a new ticket's, None before any has ended.

    `held` tickets are queued for personas that are off; `new` ones are not screened yet.
    """

    depth: int
    """How many wait."""

    held: int
    """How many are queued for personas that are off."""

    new: int
    """How many are not screened yet."""

    investigating: int
    """How many are being investigated."""

    discarded: int
    """How many were discarded by screening."""

    average_s: float | None
    """Seconds the last investigations took on average; null before any has ended."""

    at_once: int
    """How many investigations run at once."""

    expected_wait_s: float | None
    """Seconds a new ticket would wait; null before any investigation has ended."""

    degraded: bool
    """Whether the queue is too long."""

    degraded_above: int
    """The length above which the queue is too long."""


class Rate(Model):
    """`count` of `of` memories looked at; `exact` when these were all."""

    count: int
    """How many there are."""

    of: int
    """How many were looked at."""

    share: float
    """The share, from 0 to 1."""

    exact: bool
    """Whether all were looked at, and not a sample."""


class RateLimit(Model):
    """What a key may send, and what of it is left."""

    limit: int
    """How many requests the key may send in a window."""

    remaining: int
    """How many requests are left in this window."""

    window_seconds: int
    """The window that the limit is of, in seconds."""


class Readiness(Model):
    """Whether the work that waits is being done."""

    status: Literal["ready", "behind"] | str
    """How it stands."""

    oldest_waiting_seconds: int
    """For how many seconds the oldest work waits."""


class RebuildView(Model):
    """
    A rebuild, or with `check` a comparison that changes nothing.

    `entries` of about `head` are replayed; `result` has the checksums once it is finished, `error`
    a reason once it failed.
    """

    id: UUID
    """Its id."""

    check: bool
    """True for a comparison that changes nothing."""

    state: str
    """The state it is in."""

    entries: int
    """How many ledger entries there are."""

    head: int
    """The ledger position it was made as of."""

    result: dict[str, Any] | None
    """What came of it, by table."""

    error: str | None
    """What went wrong, as a code or a problem; null when nothing did."""

    created_at: AwareDatetime
    """When it was made."""

    updated_at: AwareDatetime
    """When it last changed."""


class RedactionProfile(Model):
    """The redaction profile that holds."""

    profile: str
    """The redaction profile: none, soc2, pii or hipaa."""


class RefreshedMemory(Model):
    """A memory that was refreshed, and when it expires now."""

    id: UUID
    """Its id."""

    expires_at: AwareDatetime
    """When it expires now."""


class Refused(Model):
    """What could not be taken: the number of its line or card, and why."""

    place: int
    """What was searched: a table, an index, a bucket."""

    why: str
    """Why, in one sentence."""


class Reindexed(Model):
    """
    What a call did: nodes without a vector of `model` among those looked at, and newly queued.

    When there is `more`, the next call goes on `after` that node.
    """

    model: str
    """The model, by name."""

    missing: int
    """How many have no vector of the present model."""

    queued: int
    """How many were queued."""

    more: bool
    """Whether there is more to do."""

    after: UUID | None
    """Ask for what comes after this."""


class RejectedItem(Model):
    """An item that was refused, at its place among the items, and why."""

    index: int
    """Its place among the items, from 0."""

    outcome: Literal["rejected"]
    """What became of it."""

    error: ProblemDetails
    """What went wrong, as a code or a problem; null when nothing did."""


class RelatedNode(Model):
    """A node one edge away from a result."""

    node_id: UUID
    """The node's id."""

    type: str
    """The type."""

    relation: str
    """What kind of edge it is, such as SOLVES."""

    view: str | None = None
    """The part of the graph: semantic, temporal, causal or entity."""

    direction: str
    """`out` leads from the node, `in` leads to it."""

    text: str | None = None
    """The text."""

    kind: str | None = None
    """What kind it is."""

    title: str | None = None
    """The title."""

    canonical_name: str | None = None
    """The name of the entity."""

    importance: int | None = None
    """How much it matters, from 1 to 10."""

    occurred_at: AwareDatetime
    """When it happened; when it was written, if left out."""


class RelevanceReport(Model):
    """What results were held to; `unjudged` says why nothing could be left out."""

    best: float | None
    """The relevance of the best candidate."""

    least: float | None
    """The relevance below which a result is left out."""

    enough: float | None
    """The relevance that one result must reach for the question to be answerable."""

    left_out: int
    """How many candidates were left out because of it."""

    unjudged: (
        Literal[
            "off",
            "no_calibration",
            "estimated",
            "no_legs",
            "other_index",
            "language",
            "long",
            "labels",
            "listing",
        ]
        | str
        | None
    )
    """Why nothing could be left out."""

    calibration: str | None
    """The embedder whose constants were used."""

    estimated: bool
    """Whether nobody fitted constants for the embedder, so that those of another were carried over."""


class Remembered(Model):
    """The node that was made, or is there already."""

    node_id: UUID
    """The node's id."""

    label: str
    """The label of the node."""

    natural_key: str
    """The name it is known by."""

    text: str
    """The text."""


class ReplyView(Model):
    """What was answered to a ticket; `text` is None when whom it is about was forgotten."""

    id: UUID
    """Its id."""

    investigation_id: UUID
    """The investigation's id."""

    private: bool
    """Whether only the help desk's people see it."""

    text: str | None
    """The text."""

    created_at: AwareDatetime
    """When it was made."""


class ReportEntry(Model):
    """A report without its body. `parent_id` is the conversation or the admin that produced it."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    title: str
    """The title."""

    keywords: list[str]
    """The keywords it is found by."""

    scope: Literal["public", "shared", "admin"] | str
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    occurred_at: AwareDatetime
    """When it happened; when it was written, if left out."""

    recorded_at: AwareDatetime
    """When it was written to the ledger."""

    agents: list[str]
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    source_agent: str | None
    """The agent that said it."""

    source_workflow: str | None
    """The workflow that made it."""

    parent_id: UUID | None
    """The id of what it follows from."""


class ReportKept(Model):
    """A report that is kept; `created` is false when it was there already."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    created: bool
    """True when it is new."""

    parent_id: UUID | None
    """The id of what it follows from."""


class ReportPage(Model):
    """A page of the catalogue, and how many reports it has."""

    items: list[ReportEntry]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""

    total: int
    """All of it together."""


class ReportWithBody(Model):
    """A report with its body."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    title: str
    """The title."""

    keywords: list[str]
    """The keywords it is found by."""

    scope: Literal["public", "shared", "admin"] | str
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    occurred_at: AwareDatetime
    """When it happened; when it was written, if left out."""

    recorded_at: AwareDatetime
    """When it was written to the ledger."""

    agents: list[str]
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    source_agent: str | None
    """The agent that said it."""

    source_workflow: str | None
    """The workflow that made it."""

    parent_id: UUID | None
    """The id of what it follows from."""

    body: str
    """The text."""


class ResultContext(Model):
    """What stands before and after a result in its conversation or document."""

    before: list[Neighbour]
    """What stands before the result."""

    after: list[Neighbour]
    """Ask for what comes after this."""


class RunAccepted(Model):
    """A run that waits to begin; follow it by its id."""

    id: UUID
    """Its id."""

    state: str
    """The state it is in."""


class RunView(Model):
    """A run as it is shown. `client` is a data subject's id, or the workspace's for no client."""

    id: UUID
    """Its id."""

    state: str
    """The state it is in."""

    trigger: str
    """What started it: the schedule or a request."""

    dry_run: bool
    """True for a rehearsal that changes nothing."""

    client: UUID | None
    """The id of the client whose memories it went through; null for all."""

    provider: str | None
    """Who ran the model."""

    model: str | None
    """The model, by name."""

    counts: dict[str, int]
    """How many there are of each."""

    cost_usd: float | None
    """What models cost, in US dollars; null where no price is known."""

    undone: list[str]
    """What was not done, and why."""

    error: dict[str, Any] | None
    """What went wrong, as a code or a problem; null when nothing did."""

    execution: str | None
    """The execution of the state machine."""

    created_at: AwareDatetime
    """When it was made."""

    started_at: AwareDatetime | None
    """When it started."""

    ended_at: AwareDatetime | None
    """When it ended."""


class ScheduleShown(Model):
    """When it runs by itself."""

    at: str
    """A time of day, such as 07:30."""

    timezone: str
    """An IANA time zone, such as Europe/Berlin."""

    days: list[str]
    """On which days of the week; none are all."""


class ScimGroup(Model):
    """A group that a directory brought, how many are in it, and the role that it gives."""

    id: UUID
    """Its id."""

    name: str
    """What the directory calls the group."""

    created_at: AwareDatetime
    """When it was made."""

    changed_at: AwareDatetime
    """When it was last changed."""

    role: Literal["owner", "admin", "operator", "reviewer", "reader"] | str | None
    """The role that it gives; null for none."""

    external_id: str | None
    """The id that the directory has for it."""

    members: int
    """How many people are in it."""


class ScimToken(Model):
    """A directory's token. `used_at` is to the minute."""

    id: UUID
    """Its id."""

    name: str
    """Which directory holds it."""

    created_at: AwareDatetime
    """When it was made."""

    expires_at: AwareDatetime | None
    """When it ends to count."""

    used_at: AwareDatetime | None
    """When the directory used it last, to the minute; null for never."""


class ScimTokenMade(Model):
    """A new token with its text, which is shown this once and never stored."""

    token: ScimToken
    """The token, without its text."""

    secret: str
    """Its text, for the directory; it is in this answer only."""


class ScoringWeights(Model):
    """What the final score was made with."""

    legs: dict[str, float]
    """By leg of the search: what it found."""

    signals: dict[str, float]
    """By signal: what it adds."""

    recency: float
    """How much being recent counts."""

    access: float
    """How much being read often counts."""

    compiled_truth: float
    """What is held true of the node now, in one text."""

    backlinks: float
    """How much being referred to counts."""

    relevance: float
    """How much the words and the meaning count."""


class SearchCapacity(Model):
    """The bounds of a search, and what of them was used."""

    limit: int
    """How many at most."""

    max_limit: int
    """The highest limit there is."""

    max_nodes: int
    """How many nodes at most."""

    used_nodes: int
    """How many nodes were used."""

    max_chars: int
    """How many characters of JSON the results may have."""

    expand_hops: int
    """How many edges around each result are followed, 0 to 2."""


class SearchResult(Model):
    """One result. `compact` leaves out attributes and context, `fields` narrows properties."""

    node_id: UUID
    """The node's id."""

    type: str
    """The type."""

    kind: str | None
    """What kind it is."""

    text: str | None = None
    """The text."""

    attributes: NodeAttributes | None = None
    """What is set on the node."""

    context: ResultContext | None = None
    """What stands beside the result."""

    provenance: Provenance
    """The ledger entry that made the node, and who said it, when and where."""

    scores: dict[str, float]
    """The scores by signal."""

    retrieval_reason: Literal["direct", "proactive"] | str
    """`direct` for what was asked for, `proactive` for what was not."""

    validity: Literal["current", "superseded", "ended"] | str
    """Whether what it says holds: current, superseded, or ended (past its `valid_to`)."""

    relevance: float | None
    """The probability that it bears on the question; null where that cannot be told."""

    path: list[PathPart] | None = None
    """What it is part of, from the document down; only of sections and chunks."""

    proactive_signal: (
        Literal["recurring_pattern", "entity_context", "retrieval_history"] | str | None
    ) = None
    """Why a node is shown that nobody asked for."""

    because: UUID | None = None
    """The result, entity or search it is shown because of."""

    personal: PersonalReason | None = None
    """Why it stands higher for whom the search is; only where it does."""

    merged: list[UUID] | None = None
    """The ids it stands for."""

    related: list[RelatedNode] | None = None
    """Nodes one edge away."""

    related_dropped: int | None = None
    """How many related nodes were left out."""


class SearchView(Model):
    """
    A search in a list: who asked it when, how many were returned, and `rank` of the node that
    the list is about. `asked_by` is the name of a key or a person; None for the deployment itself.
    """

    id: UUID
    """Its id."""

    asked_at: AwareDatetime
    """When it was asked."""

    principal_id: UUID
    """The id of who did it."""

    asked_by: str | None
    """The name of the key or the person who asked; null for the deployment itself."""

    session_id: str | None
    """The session it belongs to, as its writer names it."""

    recipe: str
    """The recipe of the search, by name."""

    returned: int
    """How many results there were."""

    rank: int | None
    """Its place, from 1; null when it was not returned."""

    duration_ms: float
    """Milliseconds until the ranking was done."""

    as_of_position: int | None
    """The ledger position that the answer was read as of; null for now."""


class SectionView(Model):
    """One section of a document: its headings path and how many chunks it has."""

    id: UUID
    """Its id."""

    ordinal: int
    """Its place in the document, from 0."""

    headings: list[str]
    """The headings above it, the outermost first."""

    chunks: int
    """How many chunks there are."""

    summary: str | None
    """What it says, in short."""


class SeenIn(Model):
    """A search that returned tainted nodes: who saw them, and when."""

    search_id: UUID
    """The search's id."""

    principal_id: UUID
    """The id of who did it."""

    recorded_at: AwareDatetime
    """When it was written to the ledger."""

    node_ids: list[UUID]
    """The ids of nodes."""


class SessionAlert(Model):
    """Something that waits for a person."""

    id: UUID
    """Its id."""

    kind: Literal["approval", "escalation"] | str
    """What kind it is."""

    text: str
    """The text."""

    at: AwareDatetime
    """When it happened."""


class SessionDigest(Model):
    """The newest report of a review; `text` is its beginning."""

    id: UUID
    """Its id."""

    title: str
    """The title."""

    text: str
    """The text."""

    occurred_at: AwareDatetime
    """When it happened; when it was written, if left out."""


class SessionTask(Model):
    """A task that has not ended."""

    id: UUID
    """Its id."""

    kind: str
    """What kind it is."""

    title: str
    """The title."""

    status: str
    """How it stands."""

    importance: int
    """How much it matters, from 1 to 10."""

    occurred_at: AwareDatetime
    """When it happened; when it was written, if left out."""


class SetMember(Model):
    """A node of a set, and when it was."""

    node_id: UUID
    """The node's id."""

    occurred_at: AwareDatetime
    """When it happened; when it was written, if left out."""


class SetReport(Model):
    """
    All that was found of what the question asks about, the earliest first.

    `rule` decided by the words in `said`; `found` counts memories, not what happened.
    """

    rule: Literal["count", "which", "first", "last"] | str
    """What the question wants of the set."""

    said: str
    """The words of the question that decided."""

    found: int
    """How many were found."""

    complete: bool
    """Whether everything that has the words was looked at; false: there may be more."""

    members: list[SetMember]
    """Its nodes, the earliest first, at most a hundred."""


class SettingsView(Model):
    """
    All settings as they hold. `sources` says by path where each value is from.

    `workspace` is what was set; `ignored` names what of it nobody can use any more.
    """

    version: int
    """How often the settings were changed."""

    settings: dict[str, Any]
    """All settings as they hold, by section."""

    sources: dict[str, str]
    """By path of a setting: default, environment or workspace."""

    workspace: dict[str, Any]
    """What the workspace has set, and nothing else."""

    ignored: list[str]
    """What of it nobody can use."""


class ShownEvidence(Model):
    """What speaks for the action, with its citation; the text is redacted."""

    citation: str
    """The citation, such as `[tool:<id>]`."""

    text: str
    """The text."""


class ShownIntent(Model):
    """An active intent in shared networks."""

    id: UUID
    """Its id."""

    member_id: UUID
    """Whose it is."""

    side: str
    """`seeking`, `offering` or `both`."""

    text: str
    """The text."""

    networks: list[UUID]
    """The networks that show it."""


class SideFacts(Model):
    """What both sides may know of one."""

    name: str
    """Its name."""

    intent: str
    """What the question is after; read from it when left out."""

    profile: str
    """The redaction profile: none, soc2, pii or hipaa."""


class SideView(Model):
    """One of the two. `yes` is whether they said that they want it."""

    member_id: UUID
    """Who it is."""

    name: str
    """What they call themselves."""

    intent_id: UUID | None
    """Their intent; null where the profile alone fits."""

    intent: str
    """What they say in it."""

    side: str | None
    """Whether they seek or offer, or both."""

    role: Literal["agent", "patient", "peer"] | str
    """What they are to the other: agent, patient or peer."""

    yes: bool
    """Whether they said yes for themselves."""


class SignInShown(Model):
    """
    How a holder's sign-in stands.

    `state` is `none`, `pending`, `denied`, `expired`, `failed`, `signed-in` or `refused`.
    `signed_in` says whether there is a token to use, whatever a later attempt became. Seconds count
    from now.
    """

    state: str
    """The state it is in."""

    signed_in: bool
    """Whether there is a token to use."""

    user_code: str | None
    """What the person types; null when nothing is under way."""

    verification_uri: str | None
    """Where the person types the code."""

    verification_uri_complete: str | None
    """The same place with the code in it, where the service offers one."""

    seconds_left: int | None
    """For how many seconds the code is good."""

    ask_again_in: int | None
    """After how many seconds it is worth asking again."""

    token_expires_at: AwareDatetime | None
    """When the token ends; it is renewed before that."""

    reason: str | None
    """Why."""


class SignedOut(Model):
    """Somebody whose sessions are over, and how many there were."""

    person: PersonView
    """Who was signed out."""

    sessions: int
    """How many sessions are over."""


class Skill(Model):
    """A memory that says what a client can do, or learns."""

    id: UUID
    """Its id."""

    text: str
    """The text."""

    confidence: float
    """How sure it is, from 0 to 1."""

    occurred_at: AwareDatetime | None
    """When it happened; when it was written, if left out."""

    evidence: list[UUID]
    """The message that it was drawn from."""

    name: str
    """Its name."""

    level: Literal["learning", "has"] | str
    """Whether the client has the skill or is learning it."""


class Skipped(Model):
    """A source that nothing was read from, and why."""

    source: str
    """The document's id or the link."""

    reason: str
    """Why nothing was read from it."""


class SpentView(Model):
    """What was spent; `unpriced_calls` cost money nobody knows the amount of."""

    tokens: int
    """How many tokens."""

    usd: float
    """US dollars."""

    seconds: float
    """Seconds of work."""

    iterations: int
    """Rounds of thinking and acting."""

    unpriced_calls: int
    """Calls of models whose price is not known."""


class Statement(Model):
    """A memory that says something of a client; `evidence` is the message it was drawn from."""

    id: UUID
    """Its id."""

    text: str
    """The text."""

    confidence: float
    """How sure it is, from 0 to 1."""

    occurred_at: AwareDatetime | None
    """When it happened; when it was written, if left out."""

    evidence: list[UUID]
    """The message that it was drawn from."""


class Stats(Model):
    """The numbers of a workspace. `storage_bytes` counts rows, without indexes."""

    nodes: int
    """How many nodes there are."""

    labels: dict[str, int]
    """Only nodes with these labels; all when empty."""

    kinds: dict[str, int]
    """Only these kinds of memory; all when empty."""

    states: dict[str, int]
    """Nodes by state."""

    categories: dict[str, int]
    """Nodes by category."""

    knowledge_categories: dict[str, int]
    """Nodes by knowledge category."""

    active_memories: int
    """Memories in the state active."""

    decayed_below_50pct: int
    """How many active facts have decayed below half of their confidence."""

    decayed: Rate
    """Facts whose confidence has decayed below half."""

    junk: Rate
    """Memories too short or empty to be of use."""

    duplicates: Rate
    """Memories like an older one."""

    contradictions: Rate
    """Memories that contradict others."""

    chain_head: ChainHead
    """Where the ledger ends."""

    storage_bytes: dict[str, int]
    """Bytes by table, without indexes."""

    vectors: dict[str, int]
    """Vectors by model."""

    outbox: dict[str, int]
    """Messages that wait to be sent, by kind."""

    feedback: list[FeedbackCount]
    """What readers said of results."""

    muted_signals: list[str]
    """Signals that are muted for a while, since readers mostly had no use of them."""


class Status(Model):
    """How much work waits in a workspace, and since when the oldest of it."""

    pending_embeddings: int
    """How many texts wait for their vector."""

    failed_embeddings: int
    """How many texts could not be embedded."""

    oldest_pending_at: AwareDatetime | None
    """Since when the oldest work waits."""

    memories: int
    """How many memories there are."""

    documents: int
    """How many documents there are."""

    ledger_position: int
    """The ledger position of the last entry."""

    intents_in_no_network: int
    """Active intents that belong to no network and do not wait to be judged."""

    failing_discovery: int
    """Intents, opportunities and negotiations whose last three runs or more have failed."""


class StepView(Model):
    """
    A line of the timeline; `seq` counts from 1, `ms` is how long it took.

    `position` is the ledger entry that holds its text.
    """

    seq: int
    """Its number, from 1."""

    state: str
    """The state it is in."""

    system: str
    """What did it: a connector, recall, the planner and so on."""

    action: str
    """What was done, in one line."""

    kind: str
    """What kind it is."""

    detail: str | None
    """More about it, in one or two sentences."""

    citations: list[str]
    """The sources, as citations."""

    ms: int
    """Milliseconds it took."""

    at: AwareDatetime
    """When it happened."""

    position: int
    """The ledger position of its entry."""

    readable: bool
    """False when the text cannot be read any more, since whom it is about was forgotten."""


class StepsView(Model):
    """Lines after a number. Ask again with `after` until `ended`."""

    items: list[StepView]
    """The items, in their order."""

    after: int
    """Ask for what comes after this."""

    state: (
        Literal[
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
        | str
    )
    """The state it is in."""

    ended: bool
    """True when no more will come."""


class SubgraphWeights(Model):
    """What the scores of a subgraph were made with."""

    hop_decay: float
    """What each edge away multiplies a score by."""

    minimum_confidence: float
    """The least confidence at which an entity counts as named."""

    second_opinion: float
    """The confidence below which a model is asked about the intent."""


class SubscriptionView(Model):
    """What an agent subscribes to. `position` is that of the entry that said so."""

    agent: str
    """The agent's name."""

    keywords: list[str]
    """The keywords it is found by."""

    position: int
    """The ledger position of its entry."""


class SummaryMeta(Model):
    """What a tree was read as of; `truncated` says that there is more."""

    as_of_position: int | None
    """The ledger position that the answer was read as of; null for now."""

    truncated: bool
    """Whether there is more than is shown."""


class SummaryView(Model):
    """
    A summary. `event_count` events, messages and memories stand behind it.

    `time_range` is from the first to the last of them. `is_extract` says that `content` is made of
    their own sentences, by rules; otherwise `model` of `provider` wrote it.
    """

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    scope: str | None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    scope_id: str | None
    """The trace, the session or the agent it is of."""

    content: str
    """The text."""

    created_at: AwareDatetime
    """When it was made."""

    event_count: int
    """How many events, messages and memories stand behind it."""

    time_range: list[str]
    """The times of its first and last source."""

    importance: int
    """How much it matters, from 1 to 10."""

    provider: str | None
    """Who ran the model."""

    model: str | None
    """The model, by name."""

    is_extract: bool
    """True when it is made of sentences of its sources, by rules."""

    occurred_at: AwareDatetime
    """When it happened; when it was written, if left out."""

    session_id: str | None
    """The session it belongs to, as its writer names it."""

    trace_id: str | None
    """The trace it belongs to, as its writer names it."""

    agent_id: str | None
    """The agent that did or said it."""

    client_id: str
    """The client it belongs to; `global` for none in particular."""

    agents: list[str]
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    state: str
    """The state it is in."""


class SyncChange(Model):
    """One item that a run changes or refuses; `reason` says why it is refused."""

    what: Literal["new", "changed", "gone", "refused"] | str
    """new, changed, gone or refused."""

    key: str
    """What the source calls it: a path, or an address."""

    reason: str | None
    """Why it was refused; null when it was not."""


class SyncReport(Model):
    """
    How far a run is, or how it ended. `bytes` are those of the items it saw.

    `skipped` items are of no kind that is read, such as pictures. `changes` are the first 200.
    """

    mode: Literal["sync", "preview", "remove"] | str
    """sync, preview, or remove."""

    started_at: AwareDatetime
    """When it started."""

    ended_at: AwareDatetime | None
    """When it ended."""

    new: int
    """Items that were not there before."""

    changed: int
    """Items that say something else."""

    gone: int
    """Items that are no more; their documents are deleted."""

    unchanged: int
    """Items that are as they were."""

    skipped: int
    """Items of no kind that is read, such as pictures."""

    refused: int
    """Items that could not be taken."""

    bytes: int
    """The bytes of the items that were seen."""

    changes: list[SyncChange]
    """What became of each item that is not as it was; the first 200."""


class TaintLifted(Model):
    """What lifting did: `restored` nodes are back. `complete` False: ask again."""

    taint_id: UUID
    """The taint's id; null in a dry run."""

    restored: int
    """How many nodes are back in recall."""

    complete: bool
    """False when there is more to do: ask again."""


class TaintView(Model):
    """
    A taint as it is shown. `source` is the URI of the documents of a tainted source.

    `nodes` counts what it holds or held, `quarantined` those of them that are out of recall now.
    """

    id: UUID
    """Its id."""

    kind: Literal["agent", "session", "source", "node"] | str
    """What kind it is."""

    value: str | None
    """What is tainted, by its name."""

    source: str | None
    """Where it comes from."""

    roots: list[UUID]
    """The ids of the nodes it begins at."""

    causes: bool
    """Whether what was caused by it is held back too."""

    reason: str
    """Why."""

    position: int
    """The ledger position of its entry."""

    applied_at: AwareDatetime
    """When it was applied."""

    lifted_position: int | None
    """The ledger position of the entry that lifted it."""

    lifted_at: AwareDatetime | None
    """When it was lifted; null while it stands."""

    nodes: int
    """How many nodes there are."""

    quarantined: int
    """How many nodes are out of recall now."""


class TaskState(Model):
    """A task, how it stands, and the ledger position of the change."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    status: Literal["running", "waiting", "completed", "failed", "cancelled"] | str
    """How it stands."""


class TicketMessageTaken(Model):
    """A message that came in, and the ledger position of its entry."""

    id: UUID
    """Its id."""

    outcome: Literal["new", "known"] | str
    """What became of it."""

    position: int
    """The ledger position of its entry."""


class TicketQueued(Model):
    """A ticket and where it stands now."""

    id: UUID
    """Its id."""

    status: (
        Literal[
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
        | str
    )
    """How it stands."""


class TicketSourceRemoved(Model):
    """The source that is gone."""

    id: UUID
    """Its id."""


class TicketSourceView(Model):
    """A help desk and how polling it goes. Webhooks go to `events_path`."""

    id: UUID
    """Its id."""

    name: str
    """Its name."""

    kind: (
        Literal[
            "api",
            "zoho-desk",
            "github-issues",
            "mail",
            "slack",
            "jira",
            "linear",
            "halopsa",
            "autotask",
            "connectwise",
            "zendesk",
            "freshdesk",
            "intercom",
            "webhook",
        ]
        | str
    )
    """What kind it is."""

    config: dict[str, Any]
    """The settings of its kind."""

    persona: str
    """The persona that works on it, by name."""

    state: Literal["active", "needs-auth", "paused"] | str
    """The state it is in."""

    poll_seconds: int
    """How many seconds lie between two polls."""

    created_at: AwareDatetime
    """When it was made."""

    polled_at: AwareDatetime | None
    """When it was last polled."""

    failures: int
    """How many polls in a row failed."""

    error: str | None
    """What went wrong, as a code or a problem; null when nothing did."""

    events_path: str
    """The path that its webhooks go to."""


class TicketTaken(Model):
    """A ticket that came in, and the ledger position of its entry."""

    id: UUID
    """Its id."""

    outcome: Literal["new", "changed", "known"] | str
    """What became of it."""

    position: int
    """The ledger position of its entry."""


class TicketView(Model):
    """A ticket in a list. `title` and `customer` are None when whom it is about was forgotten."""

    id: UUID
    """Its id."""

    source: str
    """Where it comes from."""

    external_id: str
    """Its id where it comes from: the same one again changes nothing."""

    status: (
        Literal[
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
        | str
    )
    """How it stands."""

    priority: Literal["low", "medium", "high", "critical"] | str
    """How urgent it is."""

    persona: str
    """The persona that works on it, by name."""

    position: int
    """The ledger position of its entry."""

    received_at: AwareDatetime
    """When it came in."""

    modified_at: AwareDatetime | None
    """When it was last changed where it comes from."""

    sla_at: AwareDatetime | None
    """When it must be answered."""

    queued_at: AwareDatetime | None
    """When it was queued."""

    claimed_at: AwareDatetime | None
    """When an investigation took it."""

    ended_at: AwareDatetime | None
    """When it ended."""

    investigation_id: UUID | None
    """The investigation's id."""

    waits_for: str | None
    """What has to be mended first, such as `connector:crm`."""

    screening: dict[str, Any]
    """What screening says of the text."""

    title: str | None
    """The title."""

    customer: str | None
    """The customer's name."""

    requester_email: str | None
    """The address of who asked."""


class TieView(Model):
    """Somebody of a channel, and who they are here."""

    user_id: str
    """By which id the channel knows them."""

    person_id: UUID
    """Who they are here."""

    name: str
    """Its name."""

    tied_at: AwareDatetime
    """Since when."""


class Told(Model):
    """An event as its reader gets it."""

    seq: int
    """Its number, from 1."""

    name: str
    """Its name."""

    data: dict[str, Any]
    """What is told, by name."""

    at: AwareDatetime
    """When it happened."""


class ToolAnswer(Model):
    """What a tool said."""

    text: str
    """The text."""

    is_error: bool
    """Whether it is an error."""

    truncated: bool
    """Whether there is more than is shown."""

    simulated: bool
    """Whether Cairn answered in the tool's place."""

    cached: bool
    """Whether it comes from a cache."""

    ms: int
    """Milliseconds it took."""


class ToolCallView(Model):
    """
    A tool call. `owner` is the connector the tool belongs to, `tool` is `connector.tool`.

    A call over MCP or HTTP has the owner `cairn`, no investigation, and no free texts. `input` and
    `output` are cut; `ms` is from start to end.
    """

    id: UUID
    """Its id."""

    investigation_id: UUID | None
    """The investigation's id."""

    tool: str
    """The tool, as `connector.tool`."""

    lane: str
    """Whether the tool reads or writes."""

    state: Literal["proposed", "denied", "started", "applied", "failed", "unknown"] | str
    """The state it is in."""

    dry_run: bool
    """True for a rehearsal that changes nothing."""

    is_error: bool
    """Whether it is an error."""

    proposed_at: AwareDatetime
    """When it was asked for."""

    started_at: AwareDatetime | None
    """When it started."""

    completed_at: AwareDatetime | None
    """When it ended."""

    error: str | None
    """What went wrong, as a code or a problem; null when nothing did."""

    session_id: str | None
    """The session it belongs to, as its writer names it."""

    owner: str
    """The connector that the tool belongs to; `cairn` for a call of the API."""

    input: str | None
    """What it was called with, redacted and cut."""

    output: str | None
    """What the tool said, redacted and cut."""

    ms: int | None
    """Milliseconds it took."""

    readable: bool
    """False when the text cannot be read any more, since whom it is about was forgotten."""


class ToolCoverage(Model):
    """How many tools there are, and of those that lists name how many exist: all, when well."""

    tools: int
    """How many tools there are."""

    eager: int
    """Of these, those that are listed first."""

    listed: int
    """How many names of tools stand on lists of shipped and of registered agents."""

    registered: int
    """How many of these names are tools."""


class ToolView(Model):
    """A tool as its connector lists it, and as the rules of safety read it."""

    name: str
    """Its name."""

    description: str
    """What it is, in its own words."""

    arguments: dict[str, Any]
    """The arguments of the tool, by name."""

    scope: Literal["read", "write"] | str | None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    dangerous: bool
    """Whether the tool is declared dangerous."""

    requires_approval_above_autonomy: Literal["off", "investigate", "propose", "act"] | str | None
    """Above this autonomy a person must approve each call."""

    forbidden_in_autonomy: list[Literal["off", "investigate", "propose", "act"] | str]
    """The autonomies in which agents may not call it."""

    supports_dry_run: bool
    """Whether the tool itself can be rehearsed."""

    idempotent: bool
    """Whether a call repeated under one idempotency key happens once."""

    resource: str | None
    """The path that scopes are matched with, over the arguments."""

    rollback: str | None
    """The tool that undoes this one; null when none does."""


class TurnView(Model):
    """A turn as its reader sees it. `source` is what answered: a model, or rules."""

    id: UUID
    """Its id."""

    session_id: str
    """The session it belongs to, as its writer names it."""

    state: Literal["running", "done", "refused", "aborted", "failed", "passed"] | str
    """The state it is in."""

    source: Literal["model", "rules", "person"] | str | None
    """What answered: a model, or rules."""

    answer: str | None
    """What was said, with its citations; null until it ended."""

    citations: list[str]
    """The sources, as citations."""

    conversation_id: UUID | None
    """The conversation's id."""

    message_id: UUID | None
    """The message's id."""

    labels: dict[str, Any]
    """What the gateway found in the message."""

    title: str | None
    """The chat's title, with its first turn."""

    suggestions: list[str]
    """What the person may ask next."""

    actions: list[ActionView]
    """What agents did with it, the newest first."""

    error: str | None
    """What went wrong, as a code or a problem; null when nothing did."""

    created_at: AwareDatetime
    """When it was made."""

    ended_at: AwareDatetime | None
    """When it ended."""


class UploadTicket(Model):
    """Where to PUT a large document, with all of `headers`, until when."""

    upload_id: UUID
    """The id of the upload."""

    url: str
    """Where to PUT the bytes."""

    headers: dict[str, str]
    """The headers to send with it."""

    expires_at: AwareDatetime
    """When it ends to count."""

    max_bytes: int
    """How large the upload may be."""


class UsedIn(Model):
    """An action that was executed on evidence that is tainted."""

    position: int
    """The ledger position of its entry."""

    entry_id: UUID
    """The id of the ledger entry."""

    type: str
    """The type."""

    recorded_at: AwareDatetime
    """When it was written to the ledger."""

    node_ids: list[UUID]
    """The ids of nodes."""


class Utterance(Model):
    """A piece of a transcript. `seq` is its line's, where it was said with a person there."""

    by: str
    """What a row is: a model, a purpose, a day or a workspace."""

    name: str | None
    """Its name."""

    kind: Literal["said", "requested", "accepted", "left", "returned", "closed", "ticket"] | str
    """What kind it is."""

    text: str | None
    """The text."""

    citations: list[str]
    """The sources, as citations."""

    at: AwareDatetime
    """When it happened."""

    seq: int | None
    """Its number, from 1."""


class WalkLimits(Model):
    """What a walk may be asked for at most."""

    max_nodes: int
    """How many nodes at most."""

    max_depth: int
    """How many edges away the walk may go."""

    timeout_ms: int
    """Milliseconds the walk may take."""


class WalkedEdge(Model):
    """An edge of a walk; what it does not say is left out."""

    edge_id: UUID
    """The edge's id."""

    source_id: UUID
    """The id of the node that the edge leads from."""

    target_id: UUID
    """The id of the node that the edge leads to."""

    relation: str
    """What kind of edge it is, such as SOLVES."""

    view: str
    """The part of the graph: semantic, temporal, causal or entity."""

    weight: float | None = None
    """How strong the edge is."""

    score: float | None = None
    """The score."""

    mechanism: str | None = None
    """How one caused the other."""

    role: str | None = None
    """The role."""


class WalkedNode(Model):
    """A node of a walk, with its scores and why it is there."""

    node_id: UUID
    """The node's id."""

    type: str
    """The type."""

    kind: str | None
    """What kind it is."""

    text: str
    """The text."""

    attributes: NodeAttributes
    """What is set on the node."""

    provenance: Provenance
    """The ledger entry that made the node, and who said it, when and where."""

    scores: dict[str, float]
    """The scores by signal."""

    retrieval_reason: Literal["direct", "proactive"] | str
    """`direct` for what was asked for, `proactive` for what was not."""

    depth: int | None = None
    """How many wait."""

    via: UUID | None = None
    """The id of the edge by which the walk came to it."""

    proactive_signal: (
        Literal["recurring_pattern", "entity_context", "retrieval_history"] | str | None
    ) = None
    """Why a node is shown that nobody asked for."""

    because: UUID | None = None
    """The result, entity or search it is shown because of."""


class Webhook(Model):
    """A webhook as it is shown; `waiting` and `failed` count its deliveries."""

    id: UUID
    """Its id."""

    url: str
    """The address."""

    events: list[
        Literal[
            "memory_superseded",
            "contradiction_flagged",
            "consolidation_done",
            "workflow_notice",
            "chat_hand_off",
        ]
        | str
    ]
    """The kinds of event it is told of."""

    created_at: AwareDatetime
    """When it was made."""

    disabled_at: AwareDatetime | None
    """When it was switched off."""

    waiting: int
    """How many wait."""

    failed: int
    """How many failed for good."""

    last_delivered_at: AwareDatetime | None
    """When a delivery last arrived."""


class WebhookExpected(Model):
    """Webhooks of this source arrive here."""

    status: Literal["ok"]
    """How it stands."""


class WebhookRemoved(Model):
    """The webhook that is gone."""

    id: UUID
    """Its id."""


class WebhookWithSecret(Model):
    """A new webhook, with the secret that signs its deliveries: it is in this answer only."""

    id: UUID
    """Its id."""

    url: str
    """The address."""

    events: list[
        Literal[
            "memory_superseded",
            "contradiction_flagged",
            "consolidation_done",
            "workflow_notice",
            "chat_hand_off",
        ]
        | str
    ]
    """The kinds of event it is told of."""

    created_at: AwareDatetime
    """When it was made."""

    disabled_at: AwareDatetime | None
    """When it was switched off."""

    waiting: int
    """How many wait."""

    failed: int
    """How many failed for good."""

    last_delivered_at: AwareDatetime | None
    """When a delivery last arrived."""

    secret: str
    """The secret. Keep it: it is shown this once."""


class WhoAmI(Model):
    """A key: whose it is, and what it may do."""

    workspace_id: UUID
    """The workspace's id."""

    principal_id: UUID
    """The id of who did it."""

    key_id: UUID | None
    """The key's id."""

    name: str
    """Its name."""

    role: Literal["admin", "agent", "public"] | str
    """The role."""

    scopes: list[Literal["public", "shared", "admin"] | str]
    """The scopes: public, shared, admin."""

    agent_slug: str | None
    """The agent that the key speaks for; it finds what is tagged for that agent."""

    tools: list[str] | None
    """The tools a key may call over MCP; null for no such limit."""

    client_id: str | None
    """The client it belongs to; `global` for none in particular."""

    agent: str | None
    """The registered agent that it belongs to."""

    barred: str | None
    """Why it may do little or nothing: unregistered (over MCP), disabled, or edition."""

    rate_limit: RateLimit
    """How much the key may send."""


class WidgetAllowance(Model):
    """How much is said: by an address (or whom the host signed in), and in a session."""

    per_minute: int
    """Messages a minute of an address, or of whom the host signed in."""

    per_day: int
    """The same in 24 hours."""

    per_session: int
    """Messages of a session."""

    idle_minutes: int
    """After so many minutes of silence a session is over."""

    challenge_after: int | None
    """After so many messages a browser has to show itself; null: never."""


class WidgetChallenge(Model):
    """What is to be solved; null where the page asks Turnstile."""

    kind: Literal["proof-of-work", "turnstile"] | str
    """What kind it is."""

    challenge: str | None
    """What is hashed with the answer; null for Turnstile."""

    bits: int
    """How many zero bits the SHA-256 of `challenge.answer` begins with."""


class WidgetEvent(Model):
    """A piece of an answer: `text_chunk`, `text_dropped`, or `turn_end` with all of it."""

    seq: int
    """Its number, from 1."""

    name: Literal["text_chunk", "text_dropped", "turn_end"] | str
    """What happened: words, words that are taken back, the end."""

    data: dict[str, Any]
    """The words, or the whole answer."""


class WidgetIssuer(Model):
    """Whose signature says who a customer is, and the public keys of it."""

    issuer: str
    """The `iss` of the host's tokens."""

    keys: list[dict[str, Any]]
    """Public keys (RFC 7517), each with kid and alg."""


class WidgetLine(Model):
    """What was said with a person there, or what happened; `name` is the person's."""

    seq: int
    """Its number, from 1."""

    kind: Literal["said", "requested", "accepted", "left", "returned", "closed", "ticket"] | str
    """What kind it is."""

    speaker: Literal["customer", "operator", "cairn"] | str
    """Whose turn it is, or was: source or candidate."""

    name: str | None
    """Its name."""

    text: str | None
    """The text."""

    at: AwareDatetime
    """When it happened."""


class WidgetLook(Model):
    """How the widget looks on its page."""

    primary: str
    """The colour of the button, the head and links: #rrggbb."""

    background: str
    """The colour behind the chat: #rrggbb."""

    text: str
    """The colour of words: #rrggbb."""

    font: str
    """The fonts, as CSS names them."""

    side: Literal["left", "right"] | str
    """At which side of the page it stands."""


class WidgetPersons(Model):
    """When a person is called, and for how long they are waited for."""

    wait_minutes: int
    """Nobody has accepted by then: the chat becomes a ticket."""

    away_minutes: int
    """The customer has no answer by then: the chat waits for another operator."""

    after_unanswered: int | None
    """So many answers in a row that cite nothing call a person; null: never."""


class WidgetRemoved(Model):
    """The widget that is gone."""

    id: UUID
    """The widget's id."""


class WidgetSessionView(Model):
    """A session as its customer sees it. `token` is in the answer that opens it, only."""

    kind: Literal["anonymous", "signed", "login", "channel"] | str
    """Who talks."""

    state: (
        Literal["created", "active", "resolved", "handoff_pending", "handoff_active", "closed"]
        | str
    )
    """The state it is in."""

    messages_left: int
    """How many messages the session has left."""

    challenge_due: bool
    """Whether the next message has to wait for the challenge."""

    idle_minutes: int
    """After so many minutes of silence it is over."""

    token: str | None = None
    """What says that a request is of this session; kept by the page."""


class WidgetSignIn(Model):
    """The host's own login: whose id tokens, for which clients, and how much they may say."""

    issuer: str
    """The issuer as its tokens name it; its keys are read where it publishes them."""

    audiences: list[str]
    """The ids of the host's clients there: an id token is for one of them."""

    limits: WidgetAllowance
    """What may be said by whom it signed in."""


class WidgetTurn(Model):
    """What is answered; `citations` are of public documents."""

    turn_id: UUID
    """The turn's id."""

    state: Literal["running", "done", "refused", "aborted", "failed", "passed"] | str
    """The state it is in."""

    answer: str | None
    """What is answered."""

    citations: list[str]
    """Citations of public documents."""


class WidgetWords(Model):
    """What the widget says by itself."""

    title: str
    """What stands above the chat."""

    greeting: str
    """What a customer reads first."""

    placeholder: str
    """What stands in the empty field."""

    busy: str
    """What is said where a limit is reached."""


class WorkflowRemoved(Model):
    """The workflow that is gone."""

    name: str
    """Its name."""


class WorkflowResultView(Model):
    """What came of a step; `id` is its StepResult node."""

    id: UUID
    """Its id."""

    seq: int
    """Its number, from 1."""

    step: str
    """The step's name."""

    kind: str
    """What kind it is."""

    state: Literal["done", "failed"] | str
    """The state it is in."""

    output: dict[str, Any]
    """What the tool said, redacted and cut."""

    error: str | None
    """What went wrong, as a code or a problem; null when nothing did."""

    started_at: str
    """When it started."""

    ended_at: str
    """When it ended."""


class WorkflowStepShown(Model):
    """A step as it was written; fields that it has not are left out."""

    name: str
    """Its name."""

    kind: Literal["recall", "digest", "ask", "tool", "wait", "report", "notify"] | str
    """What kind it is."""

    needs: list[str] | None = None
    """Steps that have to be done before it."""

    query: str | None = None
    """The question, in words."""

    limit: int | None = None
    """How many at most."""

    hours: int | None = None
    """How many hours it looks back, or waits."""

    prompt: str | None = None
    """What a model is asked."""

    tool: str | None = None
    """The tool, as `connector.tool`."""

    arguments: dict[str, Any] | None = None
    """The arguments of the tool, by name."""

    message: str | None = None
    """What is wrong, in words."""

    title: str | None = None
    """The title."""

    body: str | None = None
    """The text."""

    keywords: list[str] | None = None
    """The keywords it is found by."""


class WorkflowWaitView(Model):
    """What a run waits for: a person's word on `message`."""

    step: str
    """The step's name."""

    message: str
    """What is wrong, in words."""

    until: AwareDatetime | None
    """The last day (UTC)."""


class AcceptIn(Model):
    """Who may find the document."""

    scope: Literal["public", "shared", "admin"] = "admin"
    """Who may find the document."""


class AgentChangeIn(Model):
    """What is to change; `disabled` true lets the agent do nothing, false lets it work again."""

    name: str | None = None
    """Its name."""

    owner: str | None = None
    """The person whose it is."""

    description: str | None = None
    """What it does, for people."""

    specialists: list[str] | None = None
    """Slugs of registered agents that it may hand work to."""

    persona: str | None = None
    """How it works: the name of a persona."""

    edition: str | None = None
    """The edition it belongs to; offered in every one when empty."""

    tools: list[str] | None = None
    """The tools it may call over MCP, and nothing else."""

    all_tools: bool = False
    """Take its list of tools away."""

    scopes: list[Literal["public", "shared", "admin"]] | None = None
    """The scopes it may see."""

    requests_a_minute: int | None = None
    """What each of its keys may send."""

    live_memory: bool | None = None
    """Whether it may search, or knows its snapshot alone."""

    disabled: bool | None = None
    """true lets it do nothing, false lets it work again."""


class AgentKeyIn(Model):
    """The key to make for a new agent; the scopes are the agent's."""

    role: Literal["admin", "agent", "public"] = "agent"
    """The role."""

    own_memory: bool = False
    """It finds only what is tagged for the agent."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    expires_at: AwareDatetime | None = None
    """When it ends to count."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class ChannelSettings(Model):
    """
    What a channel may do. `agent` is whose public documents it answers from; null: nobody's.

    Without `hand_off` customers have no way to a person; `outsiders` lets guests and people of
    other organisations chat; without `answers` nobody chats here, and operators work all the same.
    """

    answers: bool = True
    """Whether the agent answers people there; operators work there all the same."""

    outsiders: bool = False
    """Whether guests and people of other organisations may chat."""

    limits: ChannelLimits | None = None
    """What may be asked for at most."""

    busy: str = "I'm getting a lot of messages right now, please try again in a moment."
    """What is said in a thread, once, when it is too much."""

    day_usd: float | str = "50"
    """What chats of the workspace may cost in a day (UTC), the widget's included."""

    hand_off: WidgetHandOff | None = None
    """When a person is called; null: never."""

    agent: str | None = None
    """The agent's name."""


class CompactIn(Model):
    """A transcript, whose conversation it is, and how long it may be."""

    session_id: str
    """The session it belongs to, as its writer names it."""

    messages: list[TranscriptTurnIn]
    """How many messages there are."""

    channel: Literal["webchat", "whatsapp", "telegram", "slack", "email", "api", "teams"] = "api"
    """Where it came in or goes out."""

    target_tokens: int | None = None
    """How long the result may be, in tokens."""

    share: float | None = None
    """The share, from 0 to 1."""

    method: Literal["model", "rules"] | None = None
    """How the graph leg ranks what it walks."""

    keep: bool = False
    """Whether the summary is kept in the graph."""

    client_id: str = "global"
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | None = None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    agents: list[str] | None = None
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    data_subjects: list[str] | None = None
    """Whom it is about, so that they can be forgotten."""

    infer: bool = True
    """Whether memories are drawn from what is said."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class ConditionIn(Model):
    """What a value of a memory's metadata must be."""

    path: list[str]
    """The keys that lead to the value, the outermost first."""

    op: Literal["eq", "ne", "in", "gt", "gte", "lt", "lte", "exists", "contains"] = "eq"
    """How the value is compared. `eq` of a list means any of its items; `ne` holds where there is none."""

    value: str | float | int | bool | list[str | float | int | bool | None] | None = None
    """What it is compared with: a list for `in`, true or false for `exists`."""


class ConnectorChangeIn(Model):
    """What to change; what is left out stays. Secrets are replaced one by one, null removes."""

    command: list[str] | None = None
    """What is run, word by word."""

    url: str | None = None
    """The address."""

    config: dict[str, Any] | None = None
    """The settings of its kind."""

    secrets: dict[str, str | None] | None = None
    """Its secrets by name; they are sealed and never shown."""

    scopes: str | None = None
    """The scopes of its tools, as YAML."""

    autonomy: Literal["off", "investigate", "propose", "act"] | None = None
    """How far agents may go: off, investigate, propose or act."""

    criticality: Literal["skip", "halt"] | None = None
    """What happens when the connector is not well: skip it, or stop."""


class ConnectorIn(Model):
    """A connector. One of `builtin`, `command` and `url` says what runs; secrets are sealed."""

    name: str
    """Its name."""

    transport: Literal["stdio", "http", "in_process"] = "stdio"
    """How the connector is spoken to."""

    builtin: str | None = None
    """The connector that ships with Cairn, by name; null for one of your own."""

    command: list[str] | None = None
    """What is run, word by word."""

    url: str | None = None
    """The address."""

    config: dict[str, Any] | None = None
    """The settings of its kind."""

    secrets: dict[str, str] | None = None
    """Its secrets by name; they are sealed and never shown."""

    scopes: str = ""
    """The scopes of its tools, as YAML."""

    autonomy: Literal["off", "investigate", "propose", "act"] = "investigate"
    """How far agents may go: off, investigate, propose or act."""

    criticality: Literal["skip", "halt"] = "skip"
    """What happens when the connector is not well: skip it, or stop."""


class ContextIn(Model):
    """A question, how to answer it, and how long the block may be."""

    query: str
    """The question, in words."""

    limit: int | None = None
    """How many results at most; the recipe's own when left out."""

    kinds: list[Literal["event", "fact", "decision", "status"]] | None = None
    """Only these kinds of memory; all when empty."""

    labels: list[str] | None = None
    """Only nodes with these labels; all when empty."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    scopes: list[Literal["public", "shared", "admin"]] | None = None
    """Only what is of these scopes; all of the key's when empty."""

    occurred_from: AwareDatetime | None = None
    """Only what happened at this time or later."""

    occurred_to: AwareDatetime | None = None
    """Only what happened at this time or earlier."""

    valid_at: AwareDatetime | None = None
    """Only what was valid at this time."""

    as_of: AwareDatetime | int | None = None
    """A time, or a ledger position: the answer is what was known then."""

    include_superseded: bool = False
    """Whether what a later memory replaced is found too."""

    neighbours: int = 1
    """How many messages or chunks to show on each side of a result."""

    format: Literal["full", "compact", "text"] = "full"
    """How results are written: full, compact or text."""

    recipe: str | None = None
    """The recipe of the search, by name."""

    method: Literal["intent_weighted", "ppr", "activation"] | None = None
    """How the graph leg ranks what it walks."""

    stages: dict[str, bool] | None = None
    """Stages switched on or off: keyword, vector, graph, subscriptions, gate, expansion, route, facets, decomposition, relevance, dedup, one_text, present_first, second_pass, cache, decay, access, compiled_truth, backlinks, rerank, threshold, expand_hops, proactive, rrf, signals, speaker, time, time_words, length, question, parent, specifics, words, late, whole, answers, next."""

    intent: (
        Literal["why", "when", "what", "related", "general", "who_is", "how_does", "personalize"]
        | None
    ) = None
    """What the question is after; read from it when left out."""

    history: list[TurnIn] | None = None
    """The messages before the question, the oldest first."""

    session_id: str | None = None
    """The session it belongs to, as its writer names it."""

    gate: bool | None = None
    """Whether the gate decides first if the question needs a search at all."""

    expand_hops: int | None = None
    """How many edges around each result are followed, 0 to 2."""

    min_relevance: float | None = None
    """The relevance that results must reach; 0 leaves nothing out. Without it the embedder's constants decide."""

    fields: list[str] | None = None
    """The properties wanted of each result: `text`, or names of attributes."""

    max_chars: int = 80000
    """How many characters of JSON the results may have."""

    namespace: str | None = None
    """The namespace it is in: labels with / between them, such as `users/dana`."""

    namespace_prefix: str | None = None
    """Only memories of this namespace and those below it."""

    where: list[ConditionIn] | None = None
    """What the metadata must say; all of it. Only memories have any."""

    personalize_for: str | None = None
    """The client for whom: what is known of them moves results up; null: for nobody in particular."""

    max_tokens: int = 2000
    """How many tokens at most."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class ConversationSearchIn(Model):
    """What to look for in what was said."""

    query: str
    """The question, in words."""

    limit: int = 10
    """How many at most."""

    conversation_id: UUID | None = None
    """The conversation's id."""

    role: Literal["user", "assistant", "system", "tool"] | None = None
    """The role."""

    occurred_from: AwareDatetime | None = None
    """Only what happened at this time or later."""

    occurred_to: AwareDatetime | None = None
    """Only what happened at this time or earlier."""


class DocumentIn(Model):
    """A document: exactly one of `text`, `content_base64` and `upload_id` carries its bytes."""

    source_uri: str
    """The source of the document: sending the same one again replaces what changed."""

    title: str | None = None
    """The title."""

    media_type: str | None = None
    """The media type, such as `text/markdown`; found out when left out."""

    text: str | None = None
    """The text."""

    content_base64: str | None = None
    """The bytes of the document, in base64."""

    upload_id: UUID | None = None
    """The id of the upload."""

    client_id: str = "global"
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | None = None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    agents: list[str] | None = None
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    data_subjects: list[str] | None = None
    """Whom it is about, so that they can be forgotten."""

    metadata: dict[str, Any] | None = None
    """What its writer keeps with it: any JSON object."""

    produced_by_task_id: UUID | None = None
    """The task that produced it."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class EndIn(Model):
    """How a task ended, what came of it in a few words, and the nodes it produced."""

    status: Literal["running", "waiting", "completed", "failed", "cancelled"] = "completed"
    """How it ended: completed, failed or cancelled."""

    outcome: str | None = None
    """What came of it, in words."""

    produced: list[UUID] | None = None
    """The ids of nodes that the task produced."""


class Item(Model):
    """One event to write."""

    type: str = Field(..., examples=["tool.execute"])
    """The type."""

    occurred_at: AwareDatetime | None = None
    """When it happened; when it was written, if left out."""

    session_id: str | None = None
    """The session it belongs to, as its writer names it."""

    sequence: int | None = None
    """Its place in its session."""

    agent_id: str | None = None
    """The agent that did or said it."""

    trace_id: str | None = None
    """The trace it belongs to, as its writer names it."""

    parent_id: UUID | None = None
    """The id of what it follows from."""

    parent_item: int | None = None
    """The place, from 0, of the earlier event of this batch that it follows from."""

    tool_name: str | None = None
    """The tool that was called."""

    status: str | None = None
    """How it stands."""

    payload: dict[str, Any] | None = None
    """What happened, as any JSON object."""

    text: str | None = None
    """The text."""

    importance: int | Literal["critical", "high", "medium", "low"] | None = None
    """How much it matters, from 1 to 10."""

    client_id: str = "global"
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | None = None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    agents: list[str] | None = None
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    data_subjects: list[str] | None = None
    """Whom it is about, so that they can be forgotten."""


class EventBatch(Model):
    """Up to 500 events; each is validated and answered for itself."""

    items: list[Item]
    """The items, in their order."""


class EventIn(Model):
    """One event to write."""

    type: str = Field(..., examples=["tool.execute"])
    """The type of the event, in a namespace: `tool.execute`."""

    occurred_at: AwareDatetime | None = None
    """When it happened; when it was written, if left out."""

    session_id: str | None = None
    """The session it belongs to, as its writer names it."""

    sequence: int | None = None
    """Its place in its session."""

    agent_id: str | None = None
    """The agent that did or said it."""

    trace_id: str | None = None
    """The trace it belongs to, as its writer names it."""

    parent_id: UUID | None = None
    """The id of what it follows from."""

    parent_item: int | None = None
    """The place, from 0, of the earlier event of this batch that it follows from."""

    tool_name: str | None = None
    """The tool that was called."""

    status: str | None = None
    """How it ended, such as `failed`."""

    payload: dict[str, Any] | None = None
    """What happened, as any JSON object."""

    text: str | None = None
    """What happened, in words; made of the payload when left out."""

    importance: int | Literal["critical", "high", "medium", "low"] | None = None
    """How much it matters, from 1 to 10."""

    client_id: str = "global"
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | None = None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    agents: list[str] | None = None
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    data_subjects: list[str] | None = None
    """Whom it is about, so that they can be forgotten."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class FeedbackIn(Model):
    """What a reader says of one node."""

    node_id: UUID
    """The node's id."""

    useful: bool
    """Whether it was of use."""

    retrieval_reason: Literal["direct", "proactive"] = "direct"
    """`direct` for what was asked for, `proactive` for what was not."""

    proactive_signal: Literal["recurring_pattern", "entity_context", "retrieval_history"] | None = (
        None
    )
    """Why a node is shown that nobody asked for."""


class ForgetIn(Model):
    """Who or what is to be forgotten: exactly one of subject, subject_id and source."""

    subject: SubjectIn | None = None
    """Whom or what it is about."""

    subject_id: UUID | None = None
    """The id of a data subject."""

    source: str | None = None
    """The source of documents and memories, by its URI."""

    reason: Literal["request", "retention", "mistake", "other"] = "request"
    """Why."""

    dry_run: bool = False
    """True for a rehearsal that changes nothing."""

    prove: bool = False
    """With `dry_run`: search every store now, to show that the search finds."""

    canaries: list[str] | None = None
    """Strings that only what is forgotten had; they are kept nowhere."""


class IncomingWebhookIn(Model):
    """Who will write, whose memories they are, and who may see them."""

    name: str
    """Who says what comes, where a memory names no `source_agent`."""

    client_id: str | None = None
    """Whose memories come; each says it for itself when left out."""

    scope: Literal["public", "shared", "admin"] = "admin"
    """Who may find what comes."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class IntentChangeIn(Model):
    """What changes of an intent; what is left out stays."""

    description: str | None = None
    """What is sought or offered, in the member's words."""

    side: Literal["seeking", "offering", "both"] | None = None
    """seeking, offering or both; another side makes another intent."""

    expires_at: AwareDatetime | None = None
    """Until when it is looked for."""

    client_id: str | None = None
    """Which member; needed with a key that is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class IntentIn(Model):
    """Words that may say what a member seeks or offers: a text, or a document or conversation."""

    text: str | None = None
    """What was said; instead of a document or a conversation."""

    document_id: UUID | None = None
    """A document of the member's that the words are taken from."""

    conversation_id: UUID | None = None
    """A conversation that the member's own messages are taken from."""

    mode: Literal["create", "propose"] = "create"
    """create: make, change and end intents. propose: say what would be, and write nothing."""

    infer: bool = True
    """False: the text is one intent as it stands, of the given side."""

    side: Literal["seeking", "offering", "both"] | None = None
    """What the member does by it, where nothing is inferred: seeks, offers, or both."""

    networks: list[UUID] | None = None
    """Networks that new intents belong to, unjudged; left out: those they fit."""

    expires_at: AwareDatetime | None = None
    """Until when new intents are looked for; left out: for 90 days."""

    client_id: str | None = None
    """Which member; needed with a key that is bound to nobody."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class KeyIn(Model):
    """
    A key to make. Without `scopes` the role's default holds (public keys: public only).

    A key with `tools` calls these tools over MCP, and nothing else of the API.
    """

    name: str
    """Its name."""

    role: Literal["admin", "agent", "public"] = "agent"
    """What the key may do: admin, agent or public."""

    scopes: list[Literal["public", "shared", "admin"]] | None = None
    """The scopes it sees; the role's own when left out."""

    agent_slug: str | None = None
    """The agent that the key speaks for; it finds what is tagged for that agent."""

    tools: list[str] | None = None
    """The tools it may call over MCP, and nothing else; no such limit when left out."""

    expires_at: AwareDatetime | None = None
    """When it ends to count."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    agent: str | None = None
    """The registered agent that it belongs to, whose tools, scopes and rate narrow it."""

    person: bool = False
    """A person holds it: over MCP it is not asked for an agent, as an admin key is not."""

    token_subject: str | None = None
    """Whose access tokens open it: `sub:` or `client:` and the name they say."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class KnowledgeSourceIn(Model):
    """Where documents are read of. `config` and `secrets` are its kind's: see the guide."""

    name: str
    """Its name."""

    kind: Literal["folder", "git", "bucket", "site", "confluence", "notion", "tickets"] = Field(
        ..., examples=["git"]
    )
    """What kind it is."""

    config: dict[str, Any]
    """The settings of its kind."""

    secrets: dict[str, str] | None = None
    """Its secrets by name; they are sealed and never shown."""

    client_id: str = "global"
    """Whose its documents are."""

    scope: Literal["public", "shared", "admin"] | None = None
    """Who may find its documents."""

    sync_seconds: int = 86400
    """How many seconds lie between two readings."""

    max_items: int = 5000
    """How many items it may have; above that it stops with an error."""

    max_bytes: int = 200000000
    """How many bytes its items may have together."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class Item1(Model):
    """One memory to write."""

    text: str
    """The text."""

    type: Literal["event", "fact", "decision", "status"]
    """The type."""

    client_id: str = "global"
    """The client it belongs to; `global` for none in particular."""

    key: str | None = None
    """What the memory states, such as `acme-tech-stack`: a later one with the same key replaces it."""

    subject: str | None = None
    """Whom or what it is about."""

    status_value: str | None = None
    """What a status memory says, such as `done`."""

    source_agent: str | None = None
    """The agent that said it."""

    category: Literal["semantic", "episodic", "procedural"] | None = None
    """What the memory is for: preference, procedure and so on."""

    importance: int | Literal["critical", "high", "medium", "low"] | None = None
    """How much it matters, from 1 to 10."""

    knowledge_category: Literal[
        "brand", "strategy", "meeting", "content", "technical", "relationship", "general"
    ] = "general"
    """What field of knowledge it belongs to."""

    scope: Literal["public", "shared", "admin"] | None = None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    agents: list[str] | None = None
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    occurred_at: AwareDatetime | None = None
    """When it happened; when it was written, if left out."""

    valid_from: AwareDatetime | None = None
    """From when it is true."""

    valid_to: AwareDatetime | None = None
    """Until when it is true; open when left out."""

    session_id: str | None = None
    """The session it belongs to, as its writer names it."""

    sequence: int | None = None
    """Its place in its session."""

    trace_id: str | None = None
    """The trace it belongs to, as its writer names it."""

    parent_id: UUID | None = None
    """The id of what it follows from."""

    produced_by_task_id: UUID | None = None
    """The task that produced it."""

    data_subjects: list[str] | None = None
    """Whom it is about, so that they can be forgotten."""

    confidence: float = 1.0
    """How sure it is, from 0 to 1."""

    metadata: dict[str, Any] | None = None
    """What its writer keeps with it: any JSON object."""

    namespace: str | None = None
    """The namespace it is in: labels with / between them, such as `users/dana`."""

    ttl_seconds: int | None = None
    """How many seconds it lasts after it is written or refreshed; null for ever."""


class MemoryBatch(Model):
    """Up to 500 memories; each is validated and answered for itself."""

    items: list[Item1]
    """The items, in their order."""


class MemoryIn(Model):
    """One memory to write."""

    text: str
    """What to remember, up to 32,000 characters."""

    type: Literal["event", "fact", "decision", "status"]
    """What the memory is: an event, a fact, a decision or a status."""

    client_id: str = "global"
    """The client it belongs to; `global` for none in particular."""

    key: str | None = None
    """What the memory states, such as `acme-tech-stack`: a later one with the same key replaces it."""

    subject: str | None = None
    """Whom or what it is about."""

    status_value: str | None = None
    """What a status memory says, such as `done`."""

    source_agent: str | None = None
    """The agent that said it."""

    category: Literal["semantic", "episodic", "procedural"] | None = None
    """What the memory is for: preference, procedure and so on."""

    importance: int | Literal["critical", "high", "medium", "low"] | None = None
    """How much it matters, from 1 to 10."""

    knowledge_category: Literal[
        "brand", "strategy", "meeting", "content", "technical", "relationship", "general"
    ] = "general"
    """What field of knowledge it belongs to."""

    scope: Literal["public", "shared", "admin"] | None = None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    agents: list[str] | None = None
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    occurred_at: AwareDatetime | None = None
    """When it happened; when it was written, if left out."""

    valid_from: AwareDatetime | None = None
    """From when it is true."""

    valid_to: AwareDatetime | None = None
    """Until when it is true; open when left out."""

    session_id: str | None = None
    """The session it belongs to, as its writer names it."""

    sequence: int | None = None
    """Its place in its session."""

    trace_id: str | None = None
    """The trace it belongs to, as its writer names it."""

    parent_id: UUID | None = None
    """The id of what it follows from."""

    produced_by_task_id: UUID | None = None
    """The task that produced it."""

    data_subjects: list[str] | None = None
    """Whom it is about, so that they can be forgotten."""

    confidence: float = 1.0
    """How sure it is, from 0 to 1."""

    metadata: dict[str, Any] | None = None
    """What its writer keeps with it: any JSON object."""

    namespace: str | None = None
    """The namespace it is in: labels with / between them, such as `users/dana`."""

    ttl_seconds: int | None = None
    """How many seconds it lasts after it is written or refreshed; null for ever."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class MemoryMove(Model):
    """Where a memory goes, and why. What is left out stays; no agents tags it for everyone."""

    reason: str
    """Why."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | None = None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    agents: list[str] | None = None
    """The agents it is tagged for afterwards; an empty list: every agent."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class MessageIn(Model):
    """One message of a conversation, named by its channel and the channel's session id."""

    channel: Literal["webchat", "whatsapp", "telegram", "slack", "email", "api", "teams"]
    """Where it came in or goes out."""

    session_id: str
    """The session it belongs to, as its writer names it."""

    role: Literal["user", "assistant", "system", "tool"]
    """Who said it."""

    text: str
    """The text."""

    occurred_at: AwareDatetime | None = None
    """When it happened; when it was written, if left out."""

    sender: str | None = None
    """Who said it, as the channel names them."""

    accepted: bool = True
    """False for a message that was turned away before an agent saw it."""

    gate_reason: (
        Literal["sender-not-allowed", "agent-inactive", "not-addressed", "other"] | None
    ) = None
    """Why the sender was turned away."""

    client_id: str = "global"
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | None = None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    agents: list[str] | None = None
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    data_subjects: list[str] | None = None
    """Whom it is about, so that they can be forgotten."""

    metadata: dict[str, Any] | None = None
    """What its writer keeps with it: any JSON object."""

    infer: bool = True
    """Whether memories are drawn from what is said."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class MessagingChannelChangeIn(Model):
    """What to change; what is left out stays. Secrets are replaced one by one, null removes."""

    config: dict[str, Any] | None = None
    """The settings of its kind."""

    secrets: dict[str, str | None] | None = None
    """Its secrets by name; they are sealed and never shown."""

    settings: ChannelSettings | None = None
    """All settings as they hold, by section."""

    paused: bool | None = None
    """True to stop polling, false to go on."""


class MessagingChannelIn(Model):
    """A channel. `config` and `secrets` are its kind's: see the guide to channels."""

    name: str
    """Its name."""

    kind: Literal["slack", "teams"] = Field(..., examples=["slack"])
    """What kind it is."""

    config: dict[str, Any] | None = None
    """The settings of its kind."""

    secrets: dict[str, str] | None = None
    """Its secrets by name; they are sealed and never shown."""

    settings: ChannelSettings | None = None
    """All settings as they hold, by section."""


class NegotiationTurnIn(Model):
    """A turn of a member's own agent. An agent with a key sends the salt and the signature."""

    action: Literal["propose", "counter", "accept", "reject", "question"]
    """What was done, in one line."""

    message: str
    """What is wrong, in words."""

    suggested_roles: TurnRolesIn | None = None
    """What the two are to each other, as that side sees it."""

    fit: int | None = None
    """How well the two fit, 0 to 100; of a negotiation, the mean."""

    claim: UUID | None = None
    """Names the turn that was taken up; the answer to it carries it."""

    salt: str | None = None
    """32 random bytes in hexadecimal digits."""

    signature: str | None = None
    """64 bytes in hexadecimal digits, over the header."""

    inputs: list[str] | None = None
    """Commitments to what only this side may read."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class NewWorkflowIn(Model):
    """A new workflow."""

    description: str = ""
    """What it is, in its own words."""

    steps: list[WorkflowStepIn]
    """What it does, step by step."""

    schedule: ScheduleIn | None = None
    """When it runs by itself."""

    name: str
    """Its name."""


class Item2(Model):
    """One node to write."""

    label: str = Field(..., examples=["Runbook"])
    """The label of the node."""

    labels: list[str] | None = None
    """Only nodes with these labels; all when empty."""

    kind: str | None = None
    """What kind it is."""

    properties: dict[str, Any]
    """What is set on it, as a JSON object."""

    edges: list[EdgeIn] | None = None
    """The edges."""

    client_id: str = "global"
    """The client it belongs to; `global` for none in particular."""

    source_agent: str | None = None
    """The agent that said it."""

    scope: Literal["public", "shared", "admin"] | None = None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    agents: list[str] | None = None
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    data_subjects: list[str] | None = None
    """Whom it is about, so that they can be forgotten."""

    occurred_at: AwareDatetime | None = None
    """When it happened; when it was written, if left out."""

    valid_from: AwareDatetime | None = None
    """From when it is true."""

    valid_to: AwareDatetime | None = None
    """Until when it is true; open when left out."""

    session_id: str | None = None
    """The session it belongs to, as its writer names it."""

    trace_id: str | None = None
    """The trace it belongs to, as its writer names it."""

    importance: int | Literal["critical", "high", "medium", "low"] | None = None
    """How much it matters, from 1 to 10."""

    confidence: float = 1.0
    """How sure it is, from 0 to 1."""

    produced_by_task_id: UUID | None = None
    """The task that produced it."""


class NodeBatch(Model):
    """Up to 500 nodes; each is validated and answered for itself."""

    items: list[Item2]
    """The items, in their order."""


class NodeIn(Model):
    """One node to write."""

    label: str = Field(..., examples=["Runbook"])
    """The label of the node."""

    labels: list[str] | None = None
    """What it is, too: up to 8 labels beside the first."""

    kind: str | None = None
    """What kind it is."""

    properties: dict[str, Any]
    """What is set on it, as a JSON object."""

    edges: list[EdgeIn] | None = None
    """The edges."""

    client_id: str = "global"
    """The client it belongs to; `global` for none in particular."""

    source_agent: str | None = None
    """The agent that said it."""

    scope: Literal["public", "shared", "admin"] | None = None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    agents: list[str] | None = None
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    data_subjects: list[str] | None = None
    """Whom it is about, so that they can be forgotten."""

    occurred_at: AwareDatetime | None = None
    """When it happened; when it was written, if left out."""

    valid_from: AwareDatetime | None = None
    """From when it is true."""

    valid_to: AwareDatetime | None = None
    """Until when it is true; open when left out."""

    session_id: str | None = None
    """The session it belongs to, as its writer names it."""

    trace_id: str | None = None
    """The trace it belongs to, as its writer names it."""

    importance: int | Literal["critical", "high", "medium", "low"] | None = None
    """How much it matters, from 1 to 10."""

    confidence: float = 1.0
    """How sure it is, from 0 to 1."""

    produced_by_task_id: UUID | None = None
    """The task that produced it."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class PersonChangeIn(Model):
    """What is to change; `disabled` true ends their sessions, false lets them sign in again."""

    role: Literal["owner", "admin", "operator", "reviewer", "reader"] | None = None
    """The role."""

    disabled: bool | None = None
    """true ends their sessions, false lets them sign in again."""


class PersonIn(Model):
    """Somebody who may sign in from now on."""

    login: str
    """The name somebody signs in under, in small letters."""

    name: str
    """Its name."""

    role: Literal["owner", "admin", "operator", "reviewer", "reader"]
    """The role."""


class PropertyConditionIn(Model):
    """What a property of a node must be."""

    path: list[str]
    """The property, and the keys below it that lead to the value."""

    op: Literal["eq", "ne", "in", "gt", "gte", "lt", "lte", "exists", "contains"] = "eq"
    """How the value is compared. `eq` of a list means any of its items; `ne` holds where there is none."""

    value: str | float | int | bool | list[str | float | int | bool | None] | None = None
    """What it is compared with: a list for `in`, true or false for `exists`."""

    type: Literal["text", "number", "time"] | None = None
    """Compare as this; without it, as what the values are."""


class RememberIn(Model):
    """What to remember of a line; without `text` what the line says."""

    label: Literal["fact", "observation", "resolution"] = "fact"
    """The label of the node."""

    text: str | None = None
    """The text."""


class ReportIn(Model):
    """A report to keep. Without a conversation it hangs under the workspace's admin."""

    title: str
    """The title."""

    body: str
    """The text."""

    keywords: list[str] | None = None
    """The keywords it is found by."""

    source_workflow: str | None = None
    """The workflow that made it."""

    occurred_at: AwareDatetime | None = None
    """When it happened; when it was written, if left out."""

    conversation_id: UUID | None = None
    """The conversation's id."""

    session_id: str | None = None
    """The session it belongs to, as its writer names it."""

    client_id: str = "global"
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | None = None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    agents: list[str] | None = None
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    data_subjects: list[str] | None = None
    """Whom it is about, so that they can be forgotten."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class SearchIn(Model):
    """A question and how to answer it."""

    query: str
    """The question, in words."""

    limit: int | None = None
    """How many results at most; the recipe's own when left out."""

    kinds: list[Literal["event", "fact", "decision", "status"]] | None = None
    """Only these kinds of memory; all when empty."""

    labels: list[str] | None = None
    """Only nodes with these labels; all when empty."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    scopes: list[Literal["public", "shared", "admin"]] | None = None
    """Only what is of these scopes; all of the key's when empty."""

    occurred_from: AwareDatetime | None = None
    """Only what happened at this time or later."""

    occurred_to: AwareDatetime | None = None
    """Only what happened at this time or earlier."""

    valid_at: AwareDatetime | None = None
    """Only what was valid at this time."""

    as_of: AwareDatetime | int | None = None
    """A time, or a ledger position: the answer is what was known then."""

    include_superseded: bool = False
    """Whether what a later memory replaced is found too."""

    neighbours: int = 1
    """How many messages or chunks to show on each side of a result."""

    format: Literal["full", "compact", "text"] = "full"
    """How results are written: full, compact or text."""

    recipe: str | None = None
    """The recipe of the search, by name."""

    method: Literal["intent_weighted", "ppr", "activation"] | None = None
    """How the graph leg ranks what it walks."""

    stages: dict[str, bool] | None = None
    """Stages switched on or off: keyword, vector, graph, subscriptions, gate, expansion, route, facets, decomposition, relevance, dedup, one_text, present_first, second_pass, cache, decay, access, compiled_truth, backlinks, rerank, threshold, expand_hops, proactive, rrf, signals, speaker, time, time_words, length, question, parent, specifics, words, late, whole, answers, next."""

    intent: (
        Literal["why", "when", "what", "related", "general", "who_is", "how_does", "personalize"]
        | None
    ) = None
    """What the question is after; read from it when left out."""

    history: list[TurnIn] | None = None
    """The messages before the question, the oldest first."""

    session_id: str | None = None
    """The session it belongs to, as its writer names it."""

    gate: bool | None = None
    """Whether the gate decides first if the question needs a search at all."""

    expand_hops: int | None = None
    """How many edges around each result are followed, 0 to 2."""

    min_relevance: float | None = None
    """The relevance that results must reach; 0 leaves nothing out. Without it the embedder's constants decide."""

    fields: list[str] | None = None
    """The properties wanted of each result: `text`, or names of attributes."""

    max_chars: int = 80000
    """How many characters of JSON the results may have."""

    namespace: str | None = None
    """Only memories of just this namespace."""

    namespace_prefix: str | None = None
    """Only memories of this namespace and those below it."""

    where: list[ConditionIn] | None = None
    """What the metadata must say; all of it. Only memories have any."""

    personalize_for: str | None = None
    """The client for whom: what is known of them moves results up; null: for nobody in particular."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class SourceIn(Model):
    """A help desk. `config` and `secrets` are its kind's: see the guide to tickets."""

    name: str
    """Its name."""

    kind: Literal[
        "api",
        "zoho-desk",
        "github-issues",
        "mail",
        "slack",
        "jira",
        "linear",
        "halopsa",
        "autotask",
        "connectwise",
        "zendesk",
        "freshdesk",
        "intercom",
        "webhook",
    ] = Field(..., examples=["zoho-desk"])
    """What kind it is."""

    config: dict[str, Any] | None = None
    """The settings of its kind."""

    secrets: dict[str, str] | None = None
    """Its secrets by name; they are sealed and never shown."""

    persona: str = "default"
    """The persona that works on it, by name."""

    poll_seconds: int = 300
    """How many seconds lie between two polls."""


class StepIn(Model):
    """What happened, and whether the task goes on or waits."""

    note: str
    """What happened, in words."""

    status: Literal["running", "waiting", "completed", "failed", "cancelled"] = "running"
    """Whether the task goes on or waits."""

    produced: list[UUID] | None = None
    """The ids of nodes that the task produced."""


class WidgetIn(Model):
    """
    All that the widget is to be: what is left out is as when it is new.

    `secret` is of the challenge's service; it is sealed, never shown, and stays when left out.
    """

    origins: list[str]
    """The origins of the pages that it stands on, such as https://www.example.org."""

    theme: WidgetTheme | None = None
    """How it looks."""

    texts: WidgetTexts | None = None
    """What it says by itself."""

    anonymous: WidgetLimits | None = None
    """What may be said by whoever opens the page; null: nothing."""

    signed: WidgetLimits | None = None
    """What may be said by whom the host signed in."""

    host: WidgetHost | None = None
    """Whose signature says who a customer is; null: nobody's."""

    login: WidgetLogin | None = None
    """The host's own login: an OpenID Connect issuer whose id tokens say who a customer is; null: none."""

    day_usd: float | str = "50"
    """What its answers may cost in a day (UTC), in US dollars."""

    hand_off: WidgetHandOff | None = None
    """People that are called, and for how long they are waited for; null: nobody."""

    challenge: Literal["proof-of-work", "turnstile"] = "proof-of-work"
    """How a browser shows itself."""

    site_key: str | None = None
    """The public key of the challenge's site, for Turnstile."""

    agent: str | None = None
    """The agent whose public documents it answers from; null: those tagged for nobody."""

    secret: str | None = None
    """The secret of the challenge's site; never shown."""


class WorkflowIn(Model):
    """What a workflow does, step by step."""

    description: str = ""
    """What it is, in its own words."""

    steps: list[WorkflowStepIn]
    """What it does, step by step."""

    schedule: ScheduleIn | None = None
    """When it runs by itself."""


class AgentList(Model):
    """Every agent, and whether what their lists name exists."""

    items: list[AgentView]
    """The items, in their order."""

    coverage: ToolCoverage
    """Whether what lists of tools name exists."""


class AgentWithKey(Model):
    """A new agent with the key that was made for it. The secret is in this answer only."""

    agent: AgentView
    """The agent's name."""

    key: KeyView | None
    """What the memory states, such as `acme-tech-stack`: a later one with the same key replaces it."""

    secret: str | None
    """The secret. Keep it: it is shown this once."""


class AnchorsFound(Model):
    """What the anchors are: `trusted` of them, the newest one's place and time, and the faults."""

    trusted: int
    """Whether the signatures are of a key that is trusted."""

    last_position: int | None
    """The ledger position of the last signed head."""

    last_verified_at: AwareDatetime | None
    """When the signed heads were last verified."""

    faults: list[FaultFound]
    """What is wrong with anchors, one by one."""


class ApprovalView(Model):
    """
    A question as a person decides on it.

    `arguments` have the values the tool would get. `binding` is to be sent back with a yes: it says
    what was seen. `rollback` is the tool that undoes this one, None when there is none. `rehearsal`
    is what a dry run said. `evidence_change` is None when this tool was not asked for before.
    """

    id: UUID
    """Its id."""

    investigation_id: UUID
    """The investigation's id."""

    ticket_id: UUID
    """The ticket's id."""

    action_id: UUID
    """The tool call that is asked for."""

    tool: str
    """The tool, as `connector.tool`."""

    state: Literal["pending", "granted", "used", "rejected", "edited", "expired", "void"] | str
    """The state it is in."""

    asked_at: AwareDatetime
    """When it was asked."""

    expires_at: AwareDatetime
    """When it ends to count."""

    decided_at: AwareDatetime | None
    """When it was decided."""

    decided_by: UUID | None
    """Who decided it."""

    binding: str
    """What was shown, as a hash; a yes names it."""

    policy_version: str
    """The version of the rules it was checked by."""

    decision_position: int | None
    """The ledger position of the decision."""

    arguments: dict[str, Any]
    """The arguments of the tool, by name."""

    title: str
    """What is asked, in one line."""

    why: str
    """Why, in one sentence."""

    rule: str
    """The rule that asks a person."""

    detail: str
    """More about it, in one or two sentences."""

    dangerous: bool
    """Whether the tool is declared dangerous."""

    rollback: str | None
    """The tool that undoes this one; null when none does."""

    rehearsal: str
    """What a dry run said."""

    evidence: list[ShownEvidence]
    """What speaks for the action."""

    evidence_change: EvidenceChange | None
    """What of the evidence is new since the tool was last asked for; null before."""


class EventBatchResult(Model):
    """What became of each item, in their order, and how many had which outcome."""

    results: list[EventItemResult | RejectedItem]
    """The results, in their order."""

    counts: dict[
        Literal["created", "duplicate", "corroborated", "superseded", "rejected"] | str, int
    ]
    """How many there are of each."""


class MemoryBatchResult(Model):
    """What became of each item, in their order, and how many had which outcome."""

    results: list[MemoryItemResult | RejectedItem]
    """The results, in their order."""

    counts: dict[
        Literal["created", "duplicate", "corroborated", "superseded", "rejected"] | str, int
    ]
    """How many there are of each."""


class NodeBatchResult(Model):
    """What became of each item, in their order, and how many had which outcome."""

    results: list[NodeItemResult | RejectedItem]
    """The results, in their order."""

    counts: dict[
        Literal["created", "duplicate", "corroborated", "superseded", "rejected"] | str, int
    ]
    """How many there are of each."""


class ChannelSettingsView(Model):
    """What a channel may do."""

    answers: bool
    """Whether the agent answers people there; operators work there all the same."""

    outsiders: bool
    """Whether guests and people of other organisations may chat."""

    limits: ChannelAllowance
    """What may be asked for at most."""

    busy: str
    """What is said in a thread, once, when it is too much."""

    day_usd: float
    """What chats of the workspace may cost in a day (UTC), the widget's included."""

    hand_off: WidgetPersons | None
    """When a person is called; null: never."""

    agent: str | None
    """The agent's name."""


class ChatChunks(Model):
    """Events of a turn after a number, the oldest first."""

    items: list[Told]
    """The items, in their order."""

    after: int
    """Ask for what comes after this."""

    ended: bool
    """True when no more will come."""


class ChatDetail(Model):
    """
    A chat with all that who takes it over needs, and how it was closed.

    Calls of tools are kept for a day.
    """

    id: UUID
    """Its id."""

    state: Literal["pending", "active", "returned", "closed", "ticket"] | str
    """The state it is in."""

    cause: Literal["customer", "rules", "agent", "operator"] | str
    """Why it was staged: a good rating, or nobody's dispute."""

    channel: str
    """Where it came in or goes out."""

    client_id: str | None
    """The client it belongs to; `global` for none in particular."""

    operator_id: UUID | None
    """The person or the key that answers."""

    operator: str | None
    """By which name the customer knows who answers."""

    why: str | None
    """Why, in one sentence."""

    lines: int
    """How many lines there are since a person was asked for."""

    requested_at: AwareDatetime
    """When a person was asked for."""

    accepted_at: AwareDatetime | None
    """When somebody accepted first."""

    waits_since: AwareDatetime | None
    """Since when the customer waits, for somebody or for an answer; null: for nobody."""

    due_at: AwareDatetime | None
    """When it runs next by itself; null where it does not."""

    ended_at: AwareDatetime | None
    """When it ended."""

    ticket_id: UUID | None
    """The ticket's id."""

    transcript: list[Utterance]
    """The timeline, step by step."""

    tool_calls: list[ChatToolCall]
    """The newest tool calls."""

    citations: list[str]
    """The sources, as citations."""

    memory: ChatMemory
    """The memory."""

    resolution: str | None
    """How it was closed."""


class ChatLines(Model):
    """Who answers a chat, and what was said with a person there after a number."""

    state: Literal["pending", "active", "returned", "closed", "ticket"] | str
    """The state it is in."""

    operator: str | None
    """By which name the customer knows who answers; null while nobody does."""

    items: list[Line]
    """The items, in their order."""

    after: int
    """The number of the last line."""


class CheckpointItem(Model):
    """A checkpoint with what tasks wrote after it, in the order of their paths."""

    id: UUID
    """Its id."""

    thread_id: str
    """The thread's name."""

    namespace: str
    """Which graph of the thread it is of."""

    checkpoint_id: str
    """The program's own id of it."""

    parent_id: str | None
    """The id of what it follows from."""

    run_id: str | None
    """The run that came to it."""

    data: str
    """The state, as it was put."""

    writes: list[CheckpointWriteItem]
    """What tasks wrote after it, in the order of their paths."""

    created_at: AwareDatetime
    """When it was made."""


class CompactedAnswer(Model):
    """What is left of a transcript, and where all of it is kept."""

    conversation_id: UUID
    """The conversation's id."""

    context: str
    """What stands beside the result."""

    summary: str
    """What it says, in short."""

    parts: dict[str, list[BriefItem]]
    """The summary by what its pieces are: asked, done, decided, in progress, shared."""

    kept: list[KeptMessage]
    """The last turns, in their own words."""

    dropped: int
    """What was left out because the answer would have been too large."""

    tokens: CompactedTokens
    """How many tokens."""

    message_ids: list[UUID]
    """The messages it is recorded as."""

    stored: list[UUID]
    """The messages that this call wrote."""

    summary_id: UUID | None
    """The node that the summary is kept as; null where it is not."""

    method: Literal["model", "rules"] | str
    """How the graph leg ranks what it walks."""

    failure: str | None
    """Why it failed; null when it did not."""

    warnings: list[str]
    """What its writer should know."""


class ContactInvited(Model):
    """An invite for a contact. The token is shown once; `text` can be sent with it."""

    contact: ContactView
    """Who is invited."""

    network_id: UUID
    """The network's id."""

    token: str
    """What lets them in, once; it is shown to nobody again."""

    text: str
    """What can be sent with the link."""

    expires_at: AwareDatetime
    """When it ends to count."""


class ContactsImported(Model):
    """What became of the people of a file; `refused` are those that could not be taken."""

    added: int
    """Citations that are new since then."""

    changed: int
    """How many were changed."""

    unchanged: int
    """How many were held already."""

    refused_count: int
    """How many could not be taken."""

    refused: list[Refused]
    """The first of those that could not be taken, each by its place in the file, and why."""


class ConversationMessage(Model):
    """
    One message. `accepted` False: it was turned away before an agent saw it, for `gated`.

    `infer` False: no memories are drawn from it. `utc_offset` is in minutes, where it was written.
    `labels` are what the gateway found when it came in; none for what was recorded before that.
    `memories` were drawn from it; filled where one conversation is read, not for public keys.
    """

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    conversation_id: UUID
    """The conversation's id."""

    role: str
    """The role."""

    content: str
    """The text."""

    timestamp: AwareDatetime
    """When it was said."""

    sequence: int
    """Its place in its session."""

    session_id: str
    """The session it belongs to, as its writer names it."""

    recorded_at: AwareDatetime
    """When it was written to the ledger."""

    channel: str
    """Where it came in or goes out."""

    sender: str | None
    """Who said it, as the channel names them."""

    source_agent: str | None
    """The agent that said it."""

    accepted: bool
    """False for a message that was turned away before an agent saw it."""

    gated: str | None
    """Why its sender was turned away; null when it was accepted."""

    infer: bool
    """Whether memories are drawn from what is said."""

    utc_offset: int
    """How many minutes the clock was ahead of UTC where it was written."""

    labels: dict[str, Any]
    """Only nodes with these labels; all when empty."""

    metadata: dict[str, Any]
    """What its writer keeps with it: any JSON object."""

    memories: list[DrawnMemory]
    """What was drawn from it: empty in lists, and for public keys."""


class ConversationSearchMeta(Model):
    """What a search of conversations did."""

    query_ms: float
    """Milliseconds the search took."""

    conversation_id: UUID | None
    """The conversation's id."""

    legs: dict[str, LegCount]
    """By leg of the search: what it found."""

    degraded: list[str]
    """What did not work as it should, part by part."""


class ConversationWithMessages(Model):
    """A conversation with a page of its messages, the oldest first."""

    conversation: ConversationView
    """The conversation."""

    items: list[ConversationMessage]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class CostReport(Model):
    """
    The costs of the days from `since` to `until` (UTC, both included); dearest row first.

    Days come in their order. `dropped_calls` are in the total and in no row: their details are
    gone, or, by investigation and persona, they were made for something else.
    """

    workspace_id: UUID
    """The workspace's id."""

    by: Literal["workspace", "model", "purpose", "day", "investigation", "persona"] | str
    """What a row is: a model, a purpose, a day or a workspace."""

    since: str
    """The first day (UTC)."""

    until: str
    """The last day (UTC)."""

    total: CostRow
    """All of it together."""

    rows: list[CostRow]
    """The rows, the dearest first."""

    dropped_calls: int
    """Calls whose details are gone; they are in the total alone."""


class DiscoveredShown(Model):
    """Who fits, best first. Nothing was written."""

    matches: list[MatchShown]
    """Who fits, best first."""

    by: str
    """What judged them: model where one judged any of them, else rules."""

    judged: int
    """How many wishes were judged together."""

    lenses: list[LensShown]
    """Through which hypothetical documents of an ideal match was looked; none where it was not."""

    already_accepted: list[UUID]
    """People who fit and were met before."""


class DocumentView(Model):
    """A document as its reader sees it; `sections` is empty in lists."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    source_uri: str
    """The source of the document: sending the same one again replaces what changed."""

    title: str
    """The title."""

    media_type: str
    """The media type, such as `text/markdown`; found out when left out."""

    client_id: str
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | str
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    status: Literal["accepted", "parsed", "chunked", "stored", "ready", "failed"] | str
    """How it stands."""

    recorded_at: AwareDatetime
    """When it was written to the ledger."""

    state: str
    """The state it is in."""

    ingestion_id: UUID | None
    """The ingestion's id; follow it at `GET /v1/ingestions/{id}`."""

    error: dict[str, Any] | None
    """What went wrong, as a code or a problem; null when nothing did."""

    summary: str | None
    """What it says, in short."""

    section_count: int
    """How many sections it has."""

    chunk_count: int
    """How many chunks it has."""

    embedded_count: int
    """How many chunks have a vector."""

    sections: list[SectionView]
    """The sections."""

    metadata: dict[str, Any]
    """What its writer keeps with it: any JSON object."""


class EdgeView(Model):
    """An edge as one of its ends sees it. `direction` out leads from the node, in leads to it."""

    id: UUID
    """Its id."""

    view: str
    """The part of the graph: semantic, temporal, causal or entity."""

    relation: str
    """What kind of edge it is, such as SOLVES."""

    direction: str
    """`out` leads from the node, `in` leads to it."""

    weight: float
    """How strong the edge is."""

    node: LinkedNode
    """The node at the other end."""

    properties: dict[str, Any]
    """What is set on it, as a JSON object."""


class EdgesView(Model):
    """
    A node's edges: all of them counted, the strongest shown.

    `truncated` says that the node has more edges than are looked at, so the counts are at least
    what is told.
    """

    counts: list[EdgeCount]
    """How many there are of each."""

    strongest: list[EdgeView]
    """The strongest edges."""

    truncated: bool
    """Whether there is more than is shown."""


class EntityRelation(Model):
    """How an entity relates to another one, and how strongly."""

    relation: str
    """What kind of edge it is, such as SOLVES."""

    direction: str
    """`out` leads from the node, `in` leads to it."""

    strength: float
    """How strong the relation is."""

    entity: LinkedNode
    """The entity at the other end."""


class ExplainedResult(Model):
    """
    Why a node is where it is: `contributions` sum to its score.

    `type` and `text` are there as far as the key may see the node now.
    """

    node_id: UUID
    """The node's id."""

    rank: int | None
    """Its place, from 1; null when it was not returned."""

    score: float
    """The score."""

    legs: dict[str, LegPlace]
    """By leg of the search: what it found."""

    contributions: dict[str, float]
    """Points of the score by leg and signal; they sum to it."""

    rerank: float | None
    """The reranker's score; null without one."""

    merged: list[UUID]
    """The ids it stands for."""

    type: str | None = None
    """The type."""

    text: str | None = None
    """The text."""


class ExplainedSearch(Model):
    """A search, leg by leg and signal by signal."""

    search_id: UUID
    """The search's id."""

    principal_id: UUID
    """The id of who did it."""

    asked_by: str | None
    """The name of the key or the person who asked; null for the deployment itself."""

    session_id: str | None
    """The session it belongs to, as its writer names it."""

    recipe: str
    """The recipe of the search, by name."""

    recipe_used: dict[str, Any]
    """The recipe as the workspace, the request and the question left it."""

    asked_at: AwareDatetime
    """When it was asked."""

    retrieval_class: str
    """What class of question it is."""

    intents: dict[str, float]
    """The intents read from the question, with how sure each is."""

    seeds: list[UUID]
    """The ids of the nodes that the graph leg began at."""

    as_of_position: int | None
    """The ledger position that the answer was read as of; null for now."""

    counts_as_access: bool
    """Whether the search refreshed what it returned."""

    cached_from: UUID | None
    """The search whose answer was given again."""

    duration_ms: float
    """Milliseconds until the ranking was done."""

    stages_ms: dict[str, float]
    """Milliseconds of each stage."""

    degraded: list[str]
    """What did not work as it should, part by part."""

    candidates: dict[str, int]
    """How many candidates each leg had."""

    replayed: bool
    """Whether the search, done again from what was kept, gives the same ids."""

    results: list[ExplainedResult]
    """The results, in their order."""

    others: list[ExplainedResult]
    """The best of what was scored and not returned."""

    edges: list[ExploredEdge]
    """The edges."""

    nodes: list[ExploredNode]
    """How many nodes there are."""


class ExportPage(Model):
    """A page of an export, and the ledger position at which it began."""

    items: list[NodeRecord | EdgeRecord]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""

    position: int
    """The ledger position at which the export began."""


class FeedCard(Model):
    """A card: somebody worth meeting, why, and what to do. `by` says what worded it."""

    opportunity_id: UUID
    """The opportunity it shows."""

    state: (
        Literal[
            "latent",
            "negotiating",
            "draft",
            "pending",
            "accepted",
            "rejected",
            "stalled",
            "expired",
        ]
        | str
    )
    """The state it is in."""

    score: int
    """The score."""

    member_id: UUID
    """Whom it is about."""

    name: str
    """Its name."""

    headline: str
    """Who, in a few words."""

    summary: str
    """What it says, in short."""

    why_you: str
    """Why it concerns the reader."""

    suggested_action: str
    """What to do next."""

    can: list[str]
    """What the reader may do with it now: send, accept, reject."""

    narrator: FeedNarrator
    """Who tells of it."""

    by: Literal["rules", "model"] | str
    """What a row is: a model, a purpose, a day or a workspace."""

    changed_at: AwareDatetime
    """When it was last changed."""


class FeedSection(Model):
    """Cards that belong together, the best first."""

    name: str
    """Its name."""

    title: str
    """The title."""

    cards: list[FeedCard]
    """Its cards, the best first."""


class FeedView(Model):
    """A feed. `by` says what worded it and made its sections: rules or a model."""

    sections: list[FeedSection]
    """The sections."""

    cards: int
    """How many cards there are."""

    by: Literal["rules", "model"] | str
    """What a row is: a model, a purpose, a day or a workspace."""

    made_at: AwareDatetime
    """When it was made."""


class ForgettingPlan(Model):
    """What would go. `proof` and `words` are there with `prove`."""

    dry_run: Literal[True]
    """True for a rehearsal that changes nothing."""

    subject_id: UUID | None
    """The id of the data subject."""

    kind: str
    """What kind it is."""

    keyed: bool
    """False when its older texts are encrypted with a key that stays."""

    counts: dict[str, int]
    """How many there are of each."""

    node_ids: list[UUID]
    """The ids of the nodes that would go, at most 1,000 of them."""

    proof: Proof | None = None
    """What a search of every store found."""

    words: list[str] | None = None
    """What the canaries were, word by word."""


class InvestigationView(Model):
    """An investigation in a list. `trace_id` is W3C's, of the request it began with."""

    id: UUID
    """Its id."""

    ticket_id: UUID
    """The ticket's id."""

    persona: str
    """The persona that works on it, by name."""

    state: (
        Literal[
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
        | str
    )
    """The state it is in."""

    verdict: (
        Literal[
            "auto_resolved",
            "needs_tech",
            "needs_l2",
            "needs_client",
            "skipped",
            "failed",
            "failed_budget",
        ]
        | str
        | None
    )
    """How the investigation ended; null before."""

    error: str | None
    """What went wrong, as a code or a problem; null when nothing did."""

    run: int
    """Which of its executions counts, from 1."""

    execution: str | None
    """The execution of the state machine."""

    trace_id: str | None
    """The trace it belongs to, as its writer names it."""

    spent: SpentView
    """What was spent."""

    created_at: AwareDatetime
    """When it was made."""

    moved_at: AwareDatetime
    """When it last changed its state."""

    ended_at: AwareDatetime | None
    """When it ended."""


class KnowledgeSource(Model):
    """
    A source and how reading it goes; its secrets are sealed and never shown.

    `documents`, `refused` and `bytes` are what stands of it now. `run` is under way. `error` is a
    code, `error_detail` the sentence.
    """

    id: UUID
    """Its id."""

    name: str
    """Its name."""

    kind: Literal["folder", "git", "bucket", "site", "confluence", "notion", "tickets"] | str
    """What kind it is."""

    config: dict[str, Any]
    """The settings of its kind."""

    client_id: str
    """Whose its documents are."""

    scope: str
    """Who may find its documents."""

    state: Literal["active", "paused", "removing"] | str
    """active, paused, or removing while its documents are deleted."""

    sync_seconds: int
    """How many seconds lie between two readings."""

    max_items: int
    """How many items it may have."""

    max_bytes: int
    """How many bytes its items may have together."""

    created_at: AwareDatetime
    """When it was made."""

    next_sync_at: AwareDatetime
    """When it is read next."""

    synced_at: AwareDatetime | None
    """When it was last read to its end; null before."""

    failures: int
    """How often in a row reading it has failed."""

    error: str | None
    """Why the last run failed, as a code; null when it did not."""

    error_detail: str | None
    """The same as a sentence."""

    documents: int
    """How many documents of it stand."""

    refused: int
    """How many items were refused."""

    bytes: int
    """The bytes of what stands."""

    run: SyncReport | None
    """How far the run under way is; null between two runs."""

    last_sync: SyncReport | None
    """What the last sync did."""

    last_preview: SyncReport | None
    """What a sync would have changed when that was last asked."""


class LedgerVerification(Model):
    """
    Whether a workspace's chain holds; `first_bad_position` and `reason` when it does not.

    `ok` needs the chain to hold and no key to be missing.
    """

    workspace_id: UUID
    """The workspace's id."""

    ok: bool
    """True when the chain holds and no key is missing."""

    checked: int
    """How many entries were checked."""

    first_bad_position: int | None
    """The first ledger position that does not hold; null when all do."""

    reason: str | None
    """Why."""

    head_position: int
    """The ledger position of the last entry."""

    head_hash: str
    """The hash of the ledger's last entry, in hex."""

    missing_keys: list[MissingKey]
    """Data subjects whose key is gone though nobody forgot them."""


class LineageMeta(Model):
    """How a lineage was followed."""

    query_ms: float
    """Milliseconds the search took."""

    nodes_returned: int
    """How many nodes the answer has."""

    truncated: bool
    """Whether there is more than is shown."""

    direction: str
    """`out` leads from the node, `in` leads to it."""

    intent_override: (
        Literal["why", "when", "what", "related", "general", "who_is", "how_does", "personalize"]
        | str
        | None
    )
    """The intent that the request named."""

    seed_nodes: list[UUID]
    """What the walk began at."""

    scoring_weights: LineageWeights
    """What the scores were made with."""

    capacity: LineageCapacity
    """The bounds, and what of them was used."""

    as_of_position: int | None
    """The ledger position that the answer was read as of; null for now."""


class LinkMade(Model):
    """A link that signs somebody in once, as a path of this deployment; it is shown this once."""

    person: PersonView
    """Whom it signs in."""

    path: str
    """The path of the API that mends it."""

    expires_at: AwareDatetime
    """When it ends to count."""


class KnowledgeSourceList(Model):
    """A list that is always whole."""

    items: list[KnowledgeSource]
    """The items, in their order."""


class OpinionList(Model):
    """A list that is always whole."""

    items: list[OpinionView]
    """The items, in their order."""


class PersonList(Model):
    """A list that is always whole."""

    items: list[PersonView]
    """The items, in their order."""


class PersonaVersionList(Model):
    """A list that is always whole."""

    items: list[PersonaVersionView]
    """The items, in their order."""


class PersonaList(Model):
    """A list that is always whole."""

    items: list[PersonaView]
    """The items, in their order."""


class PremiseList(Model):
    """A list that is always whole."""

    items: list[PremiseView]
    """The items, in their order."""


class PresentList(Model):
    """A list that is always whole."""

    items: list[Present]
    """The items, in their order."""


class PrivateInputList(Model):
    """A list that is always whole."""

    items: list[PrivateInput]
    """The items, in their order."""


class ReportWithBodyList(Model):
    """A list that is always whole."""

    items: list[ReportWithBody]
    """The items, in their order."""


class ScimGroupList(Model):
    """A list that is always whole."""

    items: list[ScimGroup]
    """The items, in their order."""


class ScimTokenList(Model):
    """A list that is always whole."""

    items: list[ScimToken]
    """The items, in their order."""


class SubscriptionList(Model):
    """A list that is always whole."""

    items: list[SubscriptionView]
    """The items, in their order."""


class TicketSourceList(Model):
    """A list that is always whole."""

    items: list[TicketSourceView]
    """The items, in their order."""


class TieList(Model):
    """A list that is always whole."""

    items: list[TieView]
    """The items, in their order."""


class ToolList(Model):
    """A list that is always whole."""

    items: list[ToolView]
    """The items, in their order."""


class WebhookList(Model):
    """A list that is always whole."""

    items: list[Webhook]
    """The items, in their order."""


class MemberView(Model):
    """A member as somebody sees them who is in a network with them."""

    id: UUID
    """The member's id."""

    profile: Face
    """How they describe themselves."""

    intents: list[ShownIntent]
    """Their active intents in networks that both are in."""


class MemoryView(Model):
    """
    A stored memory as its reader sees it. `position` is that of the entry that made it.

    `consolidated` says that a consolidation has looked at it; `entities` are those its text, its
    client and its author name, also for an older version of it.
    """

    key: str | None
    """What the memory states, such as `acme-tech-stack`: a later one with the same key replaces it."""

    subject: str | None
    """Whom or what it is about."""

    status_value: str | None
    """What a status memory says, such as `done`."""

    category: str | None
    """What the memory is for: preference, procedure and so on."""

    knowledge_category: str | None
    """What field of knowledge it belongs to."""

    namespace: str | None
    """The namespace it is in: labels with / between them, such as `users/dana`."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    type: Literal["event", "fact", "decision", "status"] | str
    """The type."""

    text: str
    """The text."""

    state: str
    """The state it is in."""

    client_id: str
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | str
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    recorded_at: AwareDatetime
    """When it was written to the ledger."""

    importance: int
    """How much it matters, from 1 to 10."""

    importance_band: str
    """Its importance in words: critical, high, medium or low."""

    confidence: float
    """How sure it is, from 0 to 1."""

    content_hash: str
    """SHA-256 of the text, in hex."""

    source_agent: str | None
    """The agent that said it."""

    observed_by: list[str]
    """The agents that observed it."""

    observation_count: int
    """How often it was observed."""

    agents: list[str]
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    occurred_at: AwareDatetime | None
    """When it happened; when it was written, if left out."""

    valid_from: AwareDatetime | None
    """From when it is true."""

    valid_to: AwareDatetime | None
    """Until when it is true; open when left out."""

    superseded_at: AwareDatetime | None
    """When a later one replaced it."""

    supersedes: UUID | None
    """The id of what it replaced."""

    superseded_by: UUID | None
    """The id of what replaced it."""

    session_id: str | None
    """The session it belongs to, as its writer names it."""

    sequence: int | None
    """Its place in its session."""

    trace_id: str | None
    """The trace it belongs to, as its writer names it."""

    parent_id: UUID | None
    """The id of what it follows from."""

    embedded: bool
    """Whether it has a vector."""

    access_count: int
    """How many searches have returned it."""

    last_accessed_at: AwareDatetime | None
    """When a search last returned it."""

    consolidated: bool
    """Whether a consolidation has looked at it."""

    pinned: bool
    """Whether a person pinned it: it does not age or fade, and ranks higher."""

    never_recall: bool
    """Whether it is kept from recall: no search, context or walk finds it."""

    ttl_seconds: int | None
    """How many seconds it lasts after it is written or refreshed; null for ever."""

    expires_at: AwareDatetime | None
    """From when on nobody reads it; null for one that lasts."""

    entities: list[NamedEntity]
    """Whom and what it refers to."""

    metadata: dict[str, Any]
    """What its writer keeps with it: any JSON object."""


class MessagesFound(Model):
    """Messages, best first."""

    messages: list[MessageHit]
    """How many messages there are."""

    meta: ConversationSearchMeta
    """What happened on the way."""


class MessagingChannelView(Model):
    """A messaging channel, without its secrets. What it delivers goes to `events_path`."""

    id: UUID
    """Its id."""

    name: str
    """Its name."""

    kind: Literal["slack", "teams"] | str
    """What kind it is."""

    config: dict[str, Any]
    """The settings of its kind."""

    settings: ChannelSettingsView
    """All settings as they hold, by section."""

    paused: bool
    """True to stop polling, false to go on."""

    error: str | None
    """What went wrong, as a code or a problem; null when nothing did."""

    spent_usd: float
    """What its turns have cost today (UTC)."""

    created_at: AwareDatetime
    """When it was made."""

    changed_at: AwareDatetime
    """When it was last changed."""

    events_path: str
    """The path that its webhooks go to."""


class NegotiationEvent(Model):
    """A trace event."""

    event: str
    """The kind of event."""

    data: NegotiationEventData
    """What the event says."""


class NodeView(Model):
    """
    A node of any label as its reader sees it. `position` is that of the entry that made it.

    `edges` is None in lists.
    """

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    label: str
    """The label of the node."""

    kind: str | None
    """What kind it is."""

    text: str
    """The text."""

    state: str
    """The state it is in."""

    client_id: str
    """The client it belongs to; `global` for none in particular."""

    scope: Literal["public", "shared", "admin"] | str
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    importance: int
    """How much it matters, from 1 to 10."""

    importance_band: str
    """Its importance in words: critical, high, medium or low."""

    provenance: dict[str, Any]
    """The ledger entry that made the node, and who said it, when and where."""

    title: str | None
    """The title."""

    name: str | None
    """Its name."""

    summary: str | None
    """What it says, in short."""

    slug: str | None
    """A short name for addresses."""

    keywords: list[str]
    """The keywords it is found by."""

    compiled_truth: str | None
    """What is held true of the node now, in one text."""

    confidence: float
    """How sure it is, from 0 to 1."""

    agents: list[str]
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    valid_from: AwareDatetime | None
    """From when it is true."""

    valid_to: AwareDatetime | None
    """Until when it is true; open when left out."""

    supersedes: UUID | None
    """The id of what it replaced."""

    superseded_by: UUID | None
    """The id of what replaced it."""

    document_id: UUID | None
    """The document's id."""

    parent_id: UUID | None
    """The id of what it follows from."""

    backlink_count: int
    """How many nodes refer to it."""

    access_count: int
    """How many searches have returned it."""

    embedded: bool
    """Whether it has a vector."""

    metadata: dict[str, Any]
    """What its writer keeps with it: any JSON object."""

    edges: EdgesView | None
    """The edges."""

    labels: list[str]
    """All its labels, the first before the others."""


class OpportunityView(Model):
    """An opportunity. `yours` says which part the reader has; `can` what they may do now."""

    id: UUID
    """Its id."""

    state: (
        Literal[
            "latent",
            "negotiating",
            "draft",
            "pending",
            "accepted",
            "rejected",
            "stalled",
            "expired",
        ]
        | str
    )
    """How it stands."""

    score: int
    """0 to 100: 90 must meet, 70 should meet."""

    verdict: str
    """must_meet or should_meet."""

    network_id: UUID
    """The network that the two share."""

    trigger: Literal["ambient", "orchestrator", "introducer", "caller"] | str
    """What began the search."""

    reason: str
    """Why, as a third person puts it."""

    questions: list[str]
    """What is to be asked, since nothing was said of it."""

    by: str
    """What judged it: rules or model."""

    source: SideView
    """The one who looked."""

    target: SideView
    """The other one."""

    introducer_id: UUID | None
    """The third one who proposed it."""

    yours: Literal["cairn", "source", "target", "introducer"] | str | None
    """The part that the reader has in it."""

    can: list[str]
    """What the reader may do now: send, accept, reject."""

    created_at: AwareDatetime
    """When it was made."""

    changed_at: AwareDatetime
    """When it came to stand like this."""

    expires_at: AwareDatetime
    """When it ends by itself."""


class CheckpointItemPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[CheckpointItem]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class DocumentPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[DocumentView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class InvestigationPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[InvestigationView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class MemoryPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[MemoryView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class NodePage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[NodeView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class OpportunityPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[OpportunityView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class ProposalPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[Proposal]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class QuestionPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[QuestionView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class RunPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[RunView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class SearchPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[SearchView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class SummaryPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[SummaryView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class TaintPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[TaintView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class TicketPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[TicketView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class ToolCallPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[ToolCallView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class PickedUp(Model):
    """
    A turn that an agent has taken up until `claim_until`, and what it needs to speak.

    `previous` and `seq` go into what it signs; `answers` are its own person's.
    """

    claim: UUID
    """Names the turn that was taken up; the answer to it carries it."""

    claim_until: AwareDatetime
    """Until when the turn is held."""

    seq: int
    """Its number, from 1."""

    previous: str
    """The hash of the turn before: a signature covers it."""

    own: SideFacts
    """What may be known of its own side."""

    other: SideFacts
    """What may be known of the other side."""

    answers: list[str]
    """What one's own person has answered."""

    negotiation: NegotiationView
    """The negotiation as it stands."""


class Preview(Model):
    """
    What a run would do now: up to MAX_TOLD operations; the run's counts are of all.

    With `more`, memories that the time did not suffice for.
    """

    run: RunView
    """Which of its executions counts, from 1."""

    operations: list[dict[str, Any]]
    """What would be done, one by one."""

    more: bool
    """Whether there is more to do."""


class Profile(Model):
    """What is known of a client. `truncated`: older memories or events were not looked at."""

    client_id: str
    """The client it belongs to; `global` for none in particular."""

    facts: list[Statement]
    """What is the case of the client, and who is who to them."""

    preferences: list[Statement]
    """What the client likes, wants or avoids."""

    skills: list[Skill]
    """What the client can do, or learns."""

    interests: list[Interest]
    """What the client likes or speaks of again, the strongest first."""

    patterns: list[Pattern]
    """What was done for the client again and again."""

    truncated: bool
    """Whether there is more than is shown."""


class ProfileView(Model):
    """
    A profile as a shared network shows it. `written` False: nothing was said so far.

    `missing` are the parts that nothing is said of, `changed` those that this write changed.
    """

    id: UUID | None
    """The id of its node; null until something is written."""

    client_id: str
    """The client it belongs to; `global` for none in particular."""

    written: bool
    """Whether anything was written so far."""

    name: str
    """The name as it is shown."""

    bio: str
    """Who it is, in a sentence or two."""

    location: str
    """Where they are."""

    context: str
    """What they do and have done."""

    skills: list[str]
    """What they can do."""

    interests: list[str]
    """What they care for."""

    text: str
    """All of it as it is shown and embedded."""

    by: str
    """Whether rules or a model made it of words."""

    missing: list[str]
    """The parts that nothing is said of."""

    changed: list[str]
    """The parts that this request changed."""

    skipped: list[Skipped]
    """Sources that nothing was read from."""

    premises_added: int
    """How many premises this request added."""

    position: int
    """The ledger position of its entry."""


class PublicationOut(Model):
    """What is published, and where."""

    id: UUID
    """Its id."""

    url: str | None
    """Its address; null where this deployment serves no sites any more."""

    name: str
    """The last part of its address."""

    kind: Literal["report", "document", "files"] | str
    """What it was made of."""

    title: str
    """The title."""

    node_id: UUID | None
    """The report or document; null for files."""

    files: list[PublishedPath]
    """Its files."""

    is_served: bool
    """False while what it was made of is deleted or held back: then nobody reads it."""

    published_by: UUID
    """The principal who published it."""

    published_at: AwareDatetime
    """When; what it shows is as of then."""


class Refreshed(Model):
    """The memories that were refreshed."""

    refreshed: list[RefreshedMemory]
    """The memories that were refreshed."""


class SearchMeta(Model):
    """What happened on the way to the results."""

    search_id: UUID
    """The search's id."""

    query_ms: float
    """Milliseconds the search took."""

    nodes_returned: int
    """How many nodes the answer has."""

    truncated: bool
    """Whether there is more than is shown."""

    recipe: str
    """The recipe of the search, by name."""

    mode: str
    """How the legs became one ranking."""

    legs: dict[str, LegReport]
    """By leg of the search: what it found."""

    stages: dict[str, int]
    """How many candidates each stage left."""

    degraded: list[str]
    """What did not work as it should, part by part."""

    as_of_position: int | None
    """The ledger position that the answer was read as of; null for now."""

    stages_ms: dict[str, float]
    """Milliseconds of each stage."""

    embedder: str
    """The model that made the vector of the question."""

    cost_usd: float
    """What models cost, in US dollars; null where no price is known."""

    models: list[ModelCallReport]
    """The models that were asked on the way."""

    seed_nodes: list[str]
    """What the walk began at."""

    retrieval_method: Literal["intent_weighted", "ppr", "activation"] | str | None
    """How the graph was ranked."""

    inferred_intents: dict[
        Literal["why", "when", "what", "related", "general", "who_is", "how_does", "personalize"]
        | str,
        float,
    ]
    """The intents read from the question, with how sure each is."""

    intent_override: (
        Literal["why", "when", "what", "related", "general", "who_is", "how_does", "personalize"]
        | str
        | None
    )
    """The intent that the request named."""

    proactive_nodes_count: int
    """How many nodes nobody asked for."""

    retrieval_class: str
    """What class of question it is."""

    gate: GateReport | None
    """Whether the gate decides first if the question needs a search at all."""

    scoring_weights: ScoringWeights
    """What the scores were made with."""

    capacity: SearchCapacity
    """The bounds, and what of them was used."""

    dropped: DroppedCounts
    """What was left out because the answer would have been too large."""

    answerable: bool | None
    """Whether anything stored bears on the question; null where that cannot be told."""

    relevance: RelevanceReport | None
    """What results were held to; null when nothing was looked up."""

    facets: FacetsReport | None
    """The parts of the question and what was found of each; null for a question that is one."""

    set: SetReport | None
    """All that was found of what the question asks how often, which of, or when of; null for others."""

    merged: int
    """The ids it stands for."""

    cached: UUID | None
    """Whether it comes from a cache."""

    fields: FieldsReport | None = None
    """The properties wanted of each result: `text`, or names of attributes."""


class SessionContext(Model):
    """What a session begins with, its parts and as one text for a prompt."""

    context: str
    """What stands beside the result."""

    digest: SessionDigest | None
    """The newest report of a review; null where there is none."""

    tasks: list[SessionTask]
    """Tasks that have not ended, the most important first."""

    alerts: list[SessionAlert]
    """What waits for a person, of the last 24 hours."""

    keywords: list[str]
    """The keywords it is found by."""

    earlier: str | None
    """The kept summary of the conversation; null where there is none."""

    knowledge: str | None
    """The snapshot of the key's agent; null where there is none."""


class SubgraphCapacity(Model):
    """The bounds of a walk, and what of them was used."""

    max_nodes: int
    """How many nodes at most."""

    used_nodes: int
    """How many nodes were used."""

    max_depth: int
    """How many edges away the walk may go."""

    timeout_ms: int
    """Milliseconds the walk may take."""

    explored_nodes: int
    """How many nodes the walk came to."""

    limits: WalkLimits
    """What may be asked for at most."""


class SubgraphMeta(Model):
    """What was understood of the question, and what the walk did."""

    query_ms: float
    """Milliseconds the search took."""

    nodes_returned: int
    """How many nodes the answer has."""

    edges_returned: int
    """How many edges the answer has."""

    truncated: bool
    """Whether there is more than is shown."""

    retrieval_method: Literal["intent_weighted", "ppr", "activation"] | str
    """How the graph was ranked."""

    inferred_intents: dict[
        Literal["why", "when", "what", "related", "general", "who_is", "how_does", "personalize"]
        | str,
        float,
    ]
    """The intents read from the question, with how sure each is."""

    intent_override: (
        Literal["why", "when", "what", "related", "general", "who_is", "how_does", "personalize"]
        | str
        | None
    )
    """The intent that the request named."""

    seed_nodes: list[str]
    """What the walk began at."""

    proactive_nodes_count: int
    """How many nodes nobody asked for."""

    scoring_weights: SubgraphWeights
    """What the scores were made with."""

    capacity: SubgraphCapacity
    """The bounds, and what of them was used."""

    as_of_position: int | None
    """The ledger position that the answer was read as of; null for now."""

    warnings: list[str]
    """What its writer should know."""


class TaintReport(Model):
    """A taint with what has already come of it: actions and searches that used tainted nodes."""

    taint: TaintView
    """The taint."""

    actions: list[UsedIn]
    """What agents did with it, the newest first."""

    searches: list[SeenIn]
    """Searches that returned it, the newest first."""


class Tainted(Model):
    """
    What applying did. `held` nodes went out of recall by this call.

    `complete` False: time or the bound was met; the same request again goes on. For a dry run
    there is no `taint_id`, and `held` is what would be held. `node_ids` are some of them.
    """

    taint_id: UUID | None
    """The taint's id; null in a dry run."""

    held: int
    """How many are held back."""

    complete: bool
    """Ask again with the same body while it is false."""

    dry_run: bool
    """True for a rehearsal that changes nothing."""

    node_ids: list[UUID]
    """The ids of nodes."""

    actions: list[UsedIn]
    """What agents did with it, the newest first."""

    searches: list[SeenIn]
    """Searches that returned it, the newest first."""


class TicketDetail(Model):
    """
    A ticket with everything there is to it; a `cut` body is whole in the ledger.

    `messages` are the last fifty of the requester's later ones, the oldest first.
    """

    id: UUID
    """Its id."""

    source: str
    """Where it comes from."""

    external_id: str
    """Its id where it comes from: the same one again changes nothing."""

    status: (
        Literal[
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
        | str
    )
    """How it stands."""

    priority: Literal["low", "medium", "high", "critical"] | str
    """How urgent it is."""

    persona: str
    """The persona that works on it, by name."""

    position: int
    """The ledger position of its entry."""

    received_at: AwareDatetime
    """When it came in."""

    modified_at: AwareDatetime | None
    """When it was last changed where it comes from."""

    sla_at: AwareDatetime | None
    """When it must be answered."""

    queued_at: AwareDatetime | None
    """When it was queued."""

    claimed_at: AwareDatetime | None
    """When an investigation took it."""

    ended_at: AwareDatetime | None
    """When it ended."""

    investigation_id: UUID | None
    """The investigation's id."""

    waits_for: str | None
    """What has to be mended first, such as `connector:crm`."""

    screening: dict[str, Any]
    """What screening says of the text."""

    title: str | None
    """The title."""

    customer: str | None
    """The customer's name."""

    requester_email: str | None
    """The address of who asked."""

    body: str | None
    """The text."""

    cut: bool
    """Whether the body is cut; the ledger has it whole."""

    source_metadata: dict[str, Any]
    """What its source says of it beside its text."""

    messages: list[MessageView]
    """The requester's last fifty later messages, the oldest first."""

    replies: list[ReplyView]
    """What was answered, the oldest first."""

    investigations: list[InvestigationView]
    """The investigations it had, the newest first."""


class WidgetChunks(Model):
    """Pieces of an answer after a number, the oldest first."""

    items: list[WidgetEvent]
    """The items, in their order."""

    after: int
    """The number of the last piece."""

    ended: bool
    """Whether there will be no more."""


class WidgetHandOffView(Model):
    """
    Who answers a chat, and what was said after a number, the oldest first.

    Lines are numbered anew each time that a person is asked for: then `id` is another.
    """

    id: UUID
    """Which time it is that a person was asked for: lines are numbered anew each time."""

    state: Literal["pending", "active", "returned", "closed", "ticket"] | str
    """The state it is in."""

    operator: str | None
    """By which name the customer knows who answers; null while nobody does."""

    ticket_id: UUID | None
    """The ticket's id."""

    lines: list[WidgetLine]
    """What was said with a person there, and what happened, the oldest first."""

    after: int
    """The number of the last line."""


class WidgetOut(Model):
    """The widget, what it has cost today."""

    id: UUID
    """Its id."""

    origins: list[str]
    """The origins of the pages that it stands on."""

    theme: WidgetLook
    """How it looks."""

    texts: WidgetWords
    """What it says by itself."""

    anonymous: WidgetAllowance | None
    """What may be said by whoever opens the page; null: nothing."""

    signed: WidgetAllowance
    """What may be said by whom the host signed in."""

    host: WidgetIssuer | None
    """Whose signature says who a customer is; null: nobody's."""

    login: WidgetSignIn | None
    """The host's own login: an OpenID Connect issuer whose id tokens say who a customer is; null: none."""

    day_usd: float
    """What its answers may cost in a day (UTC), in US dollars."""

    hand_off: WidgetPersons | None
    """People that are called, and for how long they are waited for; null: nobody."""

    challenge: Literal["proof-of-work", "turnstile"] | str
    """How a browser shows itself."""

    site_key: str | None
    """The public key of the challenge's site, for Turnstile."""

    agent: str | None
    """The agent whose public documents it answers from; null: those tagged for nobody."""

    has_secret: bool
    """Whether a secret of the challenge's site is kept."""

    spent_usd: float
    """What its answers have cost today (UTC)."""

    created_at: AwareDatetime
    """When it was made."""

    changed_at: AwareDatetime
    """When it was last changed."""


class WidgetPage(Model):
    """What a page is to show, whether a customer may be anonymous, and ask for a person."""

    theme: WidgetLook
    """How it looks."""

    texts: WidgetWords
    """What it says by itself."""

    anonymous: bool
    """Whether a customer may talk without being signed in by the host."""

    person: bool
    """Whether a customer may ask for a person."""

    challenge: Literal["proof-of-work", "turnstile"] | str
    """How a browser shows itself."""

    site_key: str | None
    """The public key of the challenge's site, for Turnstile."""

    max_chars: int
    """How many characters a message may have."""


class WorkflowRunView(Model):
    """A run. `next_step` is the step that is under way or failed; None at the end."""

    id: UUID
    """Its id."""

    workflow: str
    """The workflow's name."""

    version: int
    """The version."""

    state: Literal["running", "waiting", "done", "failed", "cancelled"] | str
    """The state it is in."""

    trigger: Literal["request", "schedule"] | str
    """What started it: the schedule or a request."""

    client_id: str | None
    """The client it belongs to; `global` for none in particular."""

    next_step: str | None
    """The step that is under way or failed; null at the end."""

    waiting: WorkflowWaitView | None
    """How many wait."""

    results: list[WorkflowResultView]
    """The results, in their order."""

    error: str | None
    """What went wrong, as a code or a problem; null when nothing did."""

    trace_id: str
    """The trace it belongs to, as its writer names it."""

    created_at: AwareDatetime
    """When it was made."""

    moved_at: AwareDatetime
    """When it last changed its state."""

    ended_at: AwareDatetime | None
    """When it ended."""


class WorkflowShown(Model):
    """A workflow, its steps in the order in which they run."""

    name: str
    """Its name."""

    description: str
    """What it is, in its own words."""

    steps: list[WorkflowStepShown]
    """Its steps in the order in which they run."""

    schedule: ScheduleShown | None
    """When it runs by itself."""

    due_at: AwareDatetime | None
    """When it runs next by itself; null where it does not."""

    version: int
    """The version."""

    inputs: list[str]
    """What it was started with."""

    changed_at: AwareDatetime | None
    """When it was last changed."""

    changed_by: UUID | None
    """Who changed it."""

    removed: bool
    """True when it is gone."""


class AgentIn(Model):
    """An agent to register. Without a list of tools it has those that its key's role has."""

    slug: str
    """What it is called by; it stays for good."""

    name: str
    """Its name."""

    owner: str | None = None
    """The person whose it is; forgetting the person takes this away."""

    description: str = ""
    """What it does, for people."""

    specialists: list[str] | None = None
    """Slugs of registered agents that it may hand work to."""

    persona: str = "default"
    """How it works: the name of a persona."""

    edition: str = ""
    """The edition it belongs to; offered in every one when empty."""

    tools: list[str] | None = None
    """The tools it may call over MCP, and nothing else; no such limit when left out."""

    scopes: list[Literal["public", "shared", "admin"]] | None = None
    """The scopes it may see, of those that the caller has; all of these when left out."""

    requests_a_minute: int | None = None
    """What each of its keys may send; the deployment's own limit when left out."""

    live_memory: bool = True
    """Whether it may search, or knows its snapshot alone."""

    key: AgentKeyIn | None = None
    """The key to make for it, for admins; its secret is in the answer only."""


class NodeQueryIn(Model):
    """Which nodes: of all these labels, and with properties as asked."""

    labels: list[str]
    """What the nodes are: all of these."""

    where: list[PropertyConditionIn] | None = None
    """What their properties must be; all of it."""

    kind: str | None = None
    """What kind it is."""

    client_id: str | None = None
    """The client it belongs to; `global` for none in particular."""

    limit: int = 50
    """How many at most."""

    cursor: str | None = None
    """`next_cursor` of the page before, with the same conditions."""

    user_id: str | None = None
    """The same as `client_id`, where an end user is meant."""


class AnchoredVerification(Model):
    """
    A chain's verification that also holds it to its anchors.

    `ok` needs the chain to hold, to agree with every trusted anchor, and no fault but `unsigned`.
    """

    workspace_id: UUID
    """The workspace's id."""

    ok: bool
    """True when the chain holds and no key is missing."""

    checked: int
    """How many entries were checked."""

    first_bad_position: int | None
    """The first ledger position that does not hold; null when all do."""

    reason: str | None
    """Why."""

    head_position: int
    """The ledger position of the last entry."""

    head_hash: str
    """The hash of the ledger's last entry, in hex."""

    missing_keys: list[MissingKey]
    """Data subjects whose key is gone though nobody forgot them."""

    anchors: AnchorsFound
    """How the chain compares with the signed heads outside the database."""


class ContextAnswer(Model):
    """A block of text for a prompt, with its sources."""

    context: str
    """The block, as it can be put into a prompt."""

    tokens: int
    """How many tokens the block has."""

    max_tokens: int
    """How many tokens at most."""

    left_out: int
    """How many results did not fit."""

    citations: list[ContextCitation]
    """The sources, as citations."""

    meta: SearchMeta
    """What happened on the way."""


class EntityDetail(Model):
    """
    An entity with what is known of it, counted over the mentions its reader may see.

    `mention_count` and what goes with it are of at most the first 10,000 references.
    """

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    name: str
    """Its name."""

    type: str
    """The type."""

    state: str
    """The state it is in."""

    scope: Literal["public", "shared", "admin"] | str
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    provenance: dict[str, Any]
    """The ledger entry that made the node, and who said it, when and where."""

    agents: list[str]
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    aliases: list[str]
    """Other names that mean the entity."""

    backlink_count: int
    """How many nodes refer to it."""

    mention_count: int
    """How often it is referred to, among the first 10,000 references."""

    first_seen: AwareDatetime | None
    """When it was first spoken of."""

    last_seen: AwareDatetime | None
    """When it was last spoken of."""

    roles: dict[str, int]
    """By role: how often it is referred to so."""

    relations: list[EntityRelation]
    """Only edges of these relations; all when empty."""

    summary: str | None
    """What it says, in short."""

    compiled_truth: str | None
    """What is held true of the node now, in one text."""

    superseded_by: UUID | None
    """The id of what replaced it."""

    metadata: dict[str, Any]
    """What its writer keeps with it: any JSON object."""


class HandOff(Model):
    """
    Everything whoever takes over needs: they start in the middle, not from nothing.

    `memory` is the working memory with placeholders; what stands behind them is never in it.
    """

    escalation: EscalationView
    """The channel by which a person is called: `ticket-note`, `webhook:<id>`, `slack:<name>`."""

    investigation: InvestigationView
    """The investigation."""

    transcript: list[StepView]
    """The timeline, step by step."""

    tool_calls: list[ToolCallView]
    """The newest tool calls."""

    citations: list[str]
    """The sources, as citations."""

    memory: dict[str, Any] | None
    """The working memory, with placeholders for personal values."""

    mend: list[MendView]
    """What has to be authorised again."""


class InvestigationDetail(Model):
    """An investigation with what it spent by purpose, what is left, its questions and actions."""

    investigation: InvestigationView
    """The investigation."""

    spent_by_purpose: list[CostRow]
    """What models cost, by purpose."""

    budget: LimitsView
    """What may be spent."""

    left: LimitsView
    """What of the budget is left."""

    approvals: list[QuestionView]
    """What people were asked."""

    actions: list[ToolCallView]
    """What agents did with it, the newest first."""


class Lineage(Model):
    """Where a node comes from, or what came of it: nodes, nearest first, and edges."""

    root: UUID
    """The id of the node it begins at."""

    nodes: list[WalkedNode]
    """The nodes, the nearest first."""

    edges: list[WalkedEdge]
    """The edges."""

    meta: LineageMeta
    """What happened on the way."""


class MessagingChannelList(Model):
    """A list that is always whole."""

    items: list[MessagingChannelView]
    """The items, in their order."""


class NegotiationEventList(Model):
    """A list that is always whole."""

    items: list[NegotiationEvent]
    """The items, in their order."""


class PublicationOutList(Model):
    """A list that is always whole."""

    items: list[PublicationOut]
    """The items, in their order."""


class WorkflowShownList(Model):
    """A list that is always whole."""

    items: list[WorkflowShown]
    """The items, in their order."""


class MemoryVersion(Model):
    """
    One version of a memory, held over ledger positions [from_position, to_position).

    `changed_at` and `entry_type` are of the entry at `from_position`, which made it so.
    """

    from_position: int
    """The ledger position from which the version held."""

    to_position: int | None
    """The ledger position up to which the version held; null for the present one."""

    memory: MemoryView
    """The memory."""

    changed_at: AwareDatetime | None
    """When it was last changed."""

    entry_type: str | None
    """The type of the ledger entry that made it so."""


class NodeQueryAnswer(Model):
    """Nodes, and what of the question names nothing."""

    items: list[NodeView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""

    warnings: list[str]
    """What its writer should know."""


class OpportunitiesCreated(Model):
    """Opportunities that are there now; `new` are those that were not before."""

    items: list[OpportunityView]
    """The items, in their order."""

    new: int
    """How many of them were not there before."""

    already_accepted: list[OpportunityView]
    """What there is with people who were met before."""

    left_out: list[PersonLeftOut]
    """Those who were picked and are no match."""


class WorkflowRunPage(Model):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[WorkflowRunView]
    """The items, in their order."""

    next_cursor: str | None
    """Send it as `cursor` for the next page; null at the end."""


class PickUpShown(Model):
    """The turn that was taken up; null where none waits."""

    turn: PickedUp | None
    """The turn; null where none waits."""


class SearchAnswer(Model):
    """Results in rank order and what happened. `text` holds them in the format of that name."""

    results: list[SearchResult]
    """The results, in their order."""

    meta: SearchMeta
    """What happened on the way."""

    text: str | None = None
    """The text."""


class Subgraph(Model):
    """Nodes, best first, and the edges between them."""

    nodes: list[WalkedNode]
    """The nodes, the best first."""

    edges: list[WalkedEdge]
    """The edges."""

    meta: SubgraphMeta
    """What happened on the way."""


class MemoryHistory(Model):
    """The versions of a memory, oldest first."""

    versions: list[MemoryVersion]
    """The versions, the oldest first."""


class SourceBranch(Model):
    """A source of a summary: an event, a message or a memory."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    label: str
    """The label of the node."""

    kind: str | None
    """What kind it is."""

    text: str
    """The text."""

    occurred_at: AwareDatetime
    """When it happened; when it was written, if left out."""

    session_id: str | None
    """The session it belongs to, as its writer names it."""

    trace_id: str | None
    """The trace it belongs to, as its writer names it."""

    agent_id: str | None
    """The agent that did or said it."""

    children: list[SummaryBranch | SourceBranch]
    """What it is made of, in the order of time."""


class SummaryBranch(Model):
    """A summary with what it is made of, in the order of time."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    scope: str | None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    scope_id: str | None
    """The trace, the session or the agent it is of."""

    content: str
    """The text."""

    created_at: AwareDatetime
    """When it was made."""

    event_count: int
    """How many events, messages and memories stand behind it."""

    time_range: list[str]
    """The times of its first and last source."""

    importance: int
    """How much it matters, from 1 to 10."""

    provider: str | None
    """Who ran the model."""

    model: str | None
    """The model, by name."""

    is_extract: bool
    """True when it is made of sentences of its sources, by rules."""

    occurred_at: AwareDatetime
    """When it happened; when it was written, if left out."""

    session_id: str | None
    """The session it belongs to, as its writer names it."""

    trace_id: str | None
    """The trace it belongs to, as its writer names it."""

    agent_id: str | None
    """The agent that did or said it."""

    client_id: str
    """The client it belongs to; `global` for none in particular."""

    agents: list[str]
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    state: str
    """The state it is in."""

    label: Literal["Summary"]
    """The label of the node."""

    children: list[SummaryBranch | SourceBranch]
    """What it is made of, in the order of time."""


class SummaryTreeView(Model):
    """A summary down to the events and messages it is made of."""

    id: UUID
    """Its id."""

    position: int
    """The ledger position of its entry."""

    scope: str | None
    """Who may find it: public, shared or admin; the narrowest of the key when left out."""

    scope_id: str | None
    """The trace, the session or the agent it is of."""

    content: str
    """The text."""

    created_at: AwareDatetime
    """When it was made."""

    event_count: int
    """How many events, messages and memories stand behind it."""

    time_range: list[str]
    """The times of its first and last source."""

    importance: int
    """How much it matters, from 1 to 10."""

    provider: str | None
    """Who ran the model."""

    model: str | None
    """The model, by name."""

    is_extract: bool
    """True when it is made of sentences of its sources, by rules."""

    occurred_at: AwareDatetime
    """When it happened; when it was written, if left out."""

    session_id: str | None
    """The session it belongs to, as its writer names it."""

    trace_id: str | None
    """The trace it belongs to, as its writer names it."""

    agent_id: str | None
    """The agent that did or said it."""

    client_id: str
    """The client it belongs to; `global` for none in particular."""

    agents: list[str]
    """The agents it is tagged for; nobody else finds it. Empty: for every agent."""

    state: str
    """The state it is in."""

    label: Literal["Summary"]
    """The label of the node."""

    children: list[SummaryBranch | SourceBranch]
    """What it is made of, in the order of time."""

    meta: SummaryMeta
    """What happened on the way."""


SourceBranch.model_rebuild()
