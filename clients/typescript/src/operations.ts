/** Every operation of the API, as a call. Made by scripts/clients.py: do not edit. */

import type { Call } from "./call.js";
import type { components } from "./schema.js";

type M = components["schemas"];

function present(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as {
    [name: string]: string;
  };
}

/** Is the process up? */
export function getHealth(): Call<M["Health"]> {
  return { method: "GET", path: "/healthz" };
}

/** Can it serve? */
export function getReadiness(): Call<M["Readiness"]> {
  return { method: "GET", path: "/readyz" };
}

/** List agents. */
export function listAgents(): Call<M["AgentList"]> {
  return { method: "GET", path: "/v1/agents" };
}

/** Register an agent. */
export function registerAgent(
  body: M["AgentIn"],
): Call<M["AgentWithKey"]> {
  return { method: "POST", path: "/v1/agents", body };
}

/** Register an agent's public key. */
export function registerNegotiationKey(
  agent: string,
  body: M["PublicKeyIn"],
): Call<M["PublicKeyShown"]> {
  return { method: "PUT", path: `/v1/agents/${encodeURIComponent(agent)}/negotiations/key`, body };
}

/** Take up a turn. */
export function pickUpTurn(
  agent: string,
  body: M["PickUpIn"],
): Call<M["PickUpShown"]> {
  return { method: "POST", path: `/v1/agents/${encodeURIComponent(agent)}/negotiations/pickup`, body };
}

/** Take one's turn. */
export function respondToNegotiation(
  agent: string,
  negotiationId: string,
  body: M["NegotiationTurnIn"],
): Call<M["NegotiationView"]> {
  return { method: "POST", path: `/v1/agents/${encodeURIComponent(agent)}/negotiations/${encodeURIComponent(negotiationId)}/respond`, body };
}

/** Show an agent. */
export function getAgent(
  slug: string,
): Call<M["AgentView"]> {
  return { method: "GET", path: `/v1/agents/${encodeURIComponent(slug)}` };
}

/** Change an agent. */
export function changeAgent(
  slug: string,
  body: M["AgentChangeIn"],
): Call<M["AgentView"]> {
  return { method: "PATCH", path: `/v1/agents/${encodeURIComponent(slug)}`, body };
}

/** Bake what an agent is given. */
export function bakeKnowledge(
  slug: string,
  body: M["KnowledgeIn"],
): Call<M["KnowledgeView"]> {
  return { method: "POST", path: `/v1/agents/${encodeURIComponent(slug)}/knowledge`, body };
}

/** Read what an agent is given. */
export function readKnowledge(
  slug: string,
  query: { version?: number | undefined; form?: M["Form"] | undefined } = {},
): Call<M["KnowledgeView"]> {
  return { method: "GET", path: `/v1/agents/${encodeURIComponent(slug)}/knowledge`, query };
}

/** List approvals. */
export function listApprovals(
  query: { state?: M["ApprovalState"] | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["QuestionPage"]> {
  return { method: "GET", path: "/v1/approvals", query };
}

/** Show an approval. */
export function getApproval(
  approvalId: string,
): Call<M["ApprovalView"]> {
  return { method: "GET", path: `/v1/approvals/${encodeURIComponent(approvalId)}` };
}

/** Approve an action. */
export function approveAction(
  approvalId: string,
  body: M["ApproveIn"],
): Call<M["Decided"]> {
  return { method: "POST", path: `/v1/approvals/${encodeURIComponent(approvalId)}/approve`, body };
}

/** Approve an action with other arguments. */
export function editAction(
  approvalId: string,
  body: M["EditActionIn"],
): Call<M["Decided"]> {
  return { method: "POST", path: `/v1/approvals/${encodeURIComponent(approvalId)}/edit`, body };
}

/** Reject an action. */
export function rejectAction(
  approvalId: string,
  body: M["RejectActionIn"],
): Call<M["Decided"]> {
  return { method: "POST", path: `/v1/approvals/${encodeURIComponent(approvalId)}/reject`, body };
}

/** List what may be learned. */
export function listCandidates(
  query: { state?: M["CandidateState"] | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["CandidatePage"]> {
  return { method: "GET", path: "/v1/candidates", query };
}

/** Show a candidate. */
export function getCandidate(
  candidateId: string,
): Call<M["CandidateView"]> {
  return { method: "GET", path: `/v1/candidates/${encodeURIComponent(candidateId)}` };
}

/** Accept a candidate. */
export function acceptCandidate(
  candidateId: string,
  body: M["AcceptIn"],
): Call<M["CandidateView"]> {
  return { method: "POST", path: `/v1/candidates/${encodeURIComponent(candidateId)}/accept`, body };
}

/** Edit a candidate. */
export function editCandidate(
  candidateId: string,
  body: M["EditIn"],
): Call<M["CandidateView"]> {
  return { method: "POST", path: `/v1/candidates/${encodeURIComponent(candidateId)}/edit`, body };
}

/** Reject a candidate. */
export function rejectCandidate(
  candidateId: string,
  body: M["RejectIn"],
): Call<M["CandidateView"]> {
  return { method: "POST", path: `/v1/candidates/${encodeURIComponent(candidateId)}/reject`, body };
}

/** List messaging channels. */
export function listChannels(): Call<M["MessagingChannelList"]> {
  return { method: "GET", path: "/v1/channels" };
}

/** Add a messaging channel. */
export function addChannel(
  body: M["MessagingChannelIn"],
): Call<M["MessagingChannelView"]> {
  return { method: "POST", path: "/v1/channels", body };
}

/** Show a messaging channel. */
export function getChannel(
  channelId: string,
): Call<M["MessagingChannelView"]> {
  return { method: "GET", path: `/v1/channels/${encodeURIComponent(channelId)}` };
}

/** Change a messaging channel. */
export function changeChannel(
  channelId: string,
  body: M["MessagingChannelChangeIn"],
): Call<M["MessagingChannelView"]> {
  return { method: "PATCH", path: `/v1/channels/${encodeURIComponent(channelId)}`, body };
}

/** Remove a messaging channel. */
export function removeChannel(
  channelId: string,
): Call<M["MessagingChannelRemoved"]> {
  return { method: "DELETE", path: `/v1/channels/${encodeURIComponent(channelId)}` };
}

/** Ask a messaging channel whether its keys are good. */
export function checkChannel(
  channelId: string,
): Call<M["ChannelChecked"]> {
  return { method: "POST", path: `/v1/channels/${encodeURIComponent(channelId)}/check` };
}

/** Make a code that ties somebody of a messaging channel. */
export function makeChannelCode(
  channelId: string,
  body: M["ChannelCodeIn"],
): Call<M["ChannelCode"]> {
  return { method: "POST", path: `/v1/channels/${encodeURIComponent(channelId)}/codes`, body };
}

/** Take what a messaging channel delivers. */
export function receiveChannelEvent(
  channelId: string,
): Call<M["ChannelHeard"]> {
  return { method: "POST", path: `/v1/channels/${encodeURIComponent(channelId)}/events` };
}

/** List who of a messaging channel is who here. */
export function listChannelTies(
  channelId: string,
): Call<M["TieList"]> {
  return { method: "GET", path: `/v1/channels/${encodeURIComponent(channelId)}/ties` };
}

/** Untie a person from a messaging channel. */
export function untieChannelPerson(
  channelId: string,
  personId: string,
): Call<M["MessagingChannelRemoved"]> {
  return { method: "DELETE", path: `/v1/channels/${encodeURIComponent(channelId)}/ties/${encodeURIComponent(personId)}` };
}

/** Say something and get an answer. */
export function chat(
  body: M["ChatIn"],
): Call<M["TurnView"]> {
  return { method: "POST", path: "/v1/chat", body };
}

/** Show what waits for the person. */
export function getChatAction(
  actionId: string,
): Call<M["ActionView"]> {
  return { method: "GET", path: `/v1/chat/actions/${encodeURIComponent(actionId)}` };
}

/** Confirm or cancel what waits. */
export function decideChatAction(
  actionId: string,
  body: M["DecisionIn"],
): Call<M["ActionView"]> {
  return { method: "POST", path: `/v1/chat/actions/${encodeURIComponent(actionId)}`, body };
}

/** Show a turn. */
export function getChatTurn(
  turnId: string,
): Call<M["TurnView"]> {
  return { method: "GET", path: `/v1/chat/${encodeURIComponent(turnId)}` };
}

/** Stop a turn. */
export function abortChatTurn(
  turnId: string,
): Call<M["TurnView"]> {
  return { method: "POST", path: `/v1/chat/${encodeURIComponent(turnId)}/abort` };
}

/** Poll a turn's events. */
export function listChatChunks(
  turnId: string,
  query: { after?: number | undefined; limit?: number | undefined } = {},
): Call<M["ChatChunks"]> {
  return { method: "GET", path: `/v1/chat/${encodeURIComponent(turnId)}/chunks`, query };
}

/** Follow a turn live, or again (server-sent events). */
export function followChatTurn(
  turnId: string,
  query: { after?: number | undefined } = {},
  headers: { "last-event-id"?: string | undefined } = {},
): Call<string> {
  return { method: "GET", path: `/v1/chat/${encodeURIComponent(turnId)}/events`, query, headers: present(headers) };
}

/** Poll what a person says. */
export function listChatLines(
  turnId: string,
  query: { after?: number | undefined } = {},
): Call<M["ChatLines"]> {
  return { method: "GET", path: `/v1/chat/${encodeURIComponent(turnId)}/lines`, query };
}

/** List chats that go to people. */
export function listChats(
  query: { state?: M["HandOffState"] | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["ChatPage"]> {
  return { method: "GET", path: "/v1/chats", query };
}

/** Take a chat over from the agent. */
export function takeChat(
  body: M["TakeIn"],
): Call<M["ChatView"]> {
  return { method: "POST", path: "/v1/chats", body };
}

/** List chats that the agent answers. */
export function listLiveChats(
  query: { limit?: number | undefined } = {},
): Call<M["LiveChats"]> {
  return { method: "GET", path: "/v1/chats/live", query };
}

/** See how long customers wait. */
export function getChatNumbers(): Call<M["ChatNumbers"]> {
  return { method: "GET", path: "/v1/chats/numbers" };
}

/** Show a chat with all that whoever takes it over needs. */
export function getChat(
  chatId: string,
): Call<M["ChatDetail"]> {
  return { method: "GET", path: `/v1/chats/${encodeURIComponent(chatId)}` };
}

/** Answer a chat. */
export function acceptChat(
  chatId: string,
  body: M["AcceptChatIn"],
): Call<M["ChatView"]> {
  return { method: "POST", path: `/v1/chats/${encodeURIComponent(chatId)}/accept`, body };
}

/** Close a chat. */
export function closeChat(
  chatId: string,
  body: M["CloseIn"],
): Call<M["ChatView"]> {
  return { method: "POST", path: `/v1/chats/${encodeURIComponent(chatId)}/close`, body };
}

/** Poll a chat. */
export function listLinesOfChat(
  chatId: string,
  query: { after?: number | undefined } = {},
): Call<M["LinesOfChat"]> {
  return { method: "GET", path: `/v1/chats/${encodeURIComponent(chatId)}/lines`, query };
}

/** Leave a chat to another operator. */
export function releaseChat(
  chatId: string,
): Call<M["ChatView"]> {
  return { method: "POST", path: `/v1/chats/${encodeURIComponent(chatId)}/release` };
}

/** Give a chat back to the agent. */
export function returnChat(
  chatId: string,
): Call<M["ChatView"]> {
  return { method: "POST", path: `/v1/chats/${encodeURIComponent(chatId)}/return` };
}

/** Say something to the customer. */
export function sayInChat(
  chatId: string,
  body: M["SayIn"],
): Call<M["Line"]> {
  return { method: "POST", path: `/v1/chats/${encodeURIComponent(chatId)}/say`, body };
}

/** Make a ticket of a chat. */
export function ticketOfChat(
  chatId: string,
): Call<M["ChatView"]> {
  return { method: "POST", path: `/v1/chats/${encodeURIComponent(chatId)}/ticket` };
}

/** Keep a checkpoint. */
export function putCheckpoint(
  body: M["CheckpointIn"],
): Call<M["CheckpointKept"]> {
  return { method: "PUT", path: "/v1/checkpoints", body };
}

/** List checkpoints. */
export function listCheckpoints(
  query: { thread_id?: string | undefined; namespace?: string | undefined; checkpoint_id?: string | undefined; before?: string | undefined; run_id?: string | undefined; limit?: number | undefined; cursor?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["CheckpointItemPage"]> {
  return { method: "GET", path: "/v1/checkpoints", query };
}

/** Take checkpoints away. */
export function removeCheckpoints(
  query: { thread_id?: string | undefined; namespace?: string | undefined; checkpoint_id?: string | undefined; before?: string | undefined; run_id?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["CheckpointsRemoved"]> {
  return { method: "DELETE", path: "/v1/checkpoints", query };
}

/** Keep what a task wrote after a checkpoint. */
export function putCheckpointWrites(
  body: M["CheckpointWritesIn"],
): Call<M["CheckpointKept"]> {
  return { method: "PUT", path: "/v1/checkpoints/writes", body };
}

/** Claim a new deployment. */
export function claim(
  body: M["ClaimIn"],
): Call<M["KeyWithSecret"]> {
  return { method: "POST", path: "/v1/claim", body };
}

/** List connectors. */
export function listConnectors(): Call<M["ConnectorList"]> {
  return { method: "GET", path: "/v1/connectors" };
}

/** Register a connector. */
export function registerConnector(
  body: M["ConnectorIn"],
): Call<M["ConnectorView"]> {
  return { method: "POST", path: "/v1/connectors", body };
}

/** Show how connectors are. */
export function getConnectorHealth(): Call<M["ConnectorsHealth"]> {
  return { method: "GET", path: "/v1/connectors/health" };
}

/** Show a connector. */
export function getConnector(
  connector: string,
): Call<M["ConnectorView"]> {
  return { method: "GET", path: `/v1/connectors/${encodeURIComponent(connector)}` };
}

/** Change a connector. */
export function changeConnector(
  connector: string,
  body: M["ConnectorChangeIn"],
): Call<M["ConnectorView"]> {
  return { method: "PATCH", path: `/v1/connectors/${encodeURIComponent(connector)}`, body };
}

/** Remove a connector. */
export function removeConnector(
  connector: string,
): Call<M["ConnectorRemoved"]> {
  return { method: "DELETE", path: `/v1/connectors/${encodeURIComponent(connector)}` };
}

/** Look how a connector is. */
export function checkConnector(
  connector: string,
): Call<M["ConnectorView"]> {
  return { method: "POST", path: `/v1/connectors/${encodeURIComponent(connector)}/check` };
}

/** Restart a connector. */
export function restartConnector(
  connector: string,
): Call<M["ConnectorView"]> {
  return { method: "POST", path: `/v1/connectors/${encodeURIComponent(connector)}/restart` };
}

/** Begin to sign in to a connector. */
export function beginConnectorSignIn(
  connector: string,
): Call<M["SignInShown"]> {
  return { method: "POST", path: `/v1/connectors/${encodeURIComponent(connector)}/sign-in` };
}

/** Show how signing in to a connector stands. */
export function getConnectorSignIn(
  connector: string,
): Call<M["SignInShown"]> {
  return { method: "GET", path: `/v1/connectors/${encodeURIComponent(connector)}/sign-in` };
}

/** Sign out of a connector. */
export function endConnectorSignIn(
  connector: string,
): Call<M["ConnectorRemoved"]> {
  return { method: "DELETE", path: `/v1/connectors/${encodeURIComponent(connector)}/sign-in` };
}

/** Ask whether a sign-in to a connector is done. */
export function pollConnectorSignIn(
  connector: string,
): Call<M["SignInShown"]> {
  return { method: "POST", path: `/v1/connectors/${encodeURIComponent(connector)}/sign-in/poll` };
}

/** List a connector's tools. */
export function listConnectorTools(
  connector: string,
): Call<M["ToolList"]> {
  return { method: "GET", path: `/v1/connectors/${encodeURIComponent(connector)}/tools` };
}

/** Try a tool out. */
export function callConnectorTool(
  connector: string,
  tool: string,
  body: M["ToolCallIn"],
): Call<M["ToolAnswer"]> {
  return { method: "POST", path: `/v1/connectors/${encodeURIComponent(connector)}/tools/${encodeURIComponent(tool)}`, body };
}

/** Consolidate memories. */
export function startConsolidation(
  body: M["ConsolidationIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["RunAccepted"] | M["Preview"]> {
  return { method: "POST", path: "/v1/consolidations", body, headers: present(headers), keyed: true };
}

/** List runs of the consolidation. */
export function listConsolidations(
  query: { limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["RunPage"]> {
  return { method: "GET", path: "/v1/consolidations", query };
}

/** Follow one run. */
export function getConsolidation(
  runId: string,
): Call<M["RunView"]> {
  return { method: "GET", path: `/v1/consolidations/${encodeURIComponent(runId)}` };
}

/** Add a contact. */
export function addContact(
  body: M["ContactIn"],
): Call<M["ContactView"]> {
  return { method: "POST", path: "/v1/contacts", body };
}

/** List contacts. */
export function listContacts(
  query: { limit?: number | undefined; cursor?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["ContactPage"]> {
  return { method: "GET", path: "/v1/contacts", query };
}

/** Import contacts from a file. */
export function importContacts(
  body: M["ContactImportIn"],
): Call<M["ContactsImported"]> {
  return { method: "POST", path: "/v1/contacts/import", body };
}

/** Search contacts. */
export function searchContacts(
  body: M["ContactSearchIn"],
): Call<M["ContactList"]> {
  return { method: "POST", path: "/v1/contacts/search", body };
}

/** Show a contact. */
export function getContact(
  contactId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["ContactView"]> {
  return { method: "GET", path: `/v1/contacts/${encodeURIComponent(contactId)}`, query };
}

/** Remove a contact. */
export function removeContact(
  contactId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["ContactGone"]> {
  return { method: "DELETE", path: `/v1/contacts/${encodeURIComponent(contactId)}`, query };
}

/** Invite a contact into a network. */
export function inviteContact(
  contactId: string,
  body: M["ContactInviteIn"],
): Call<M["ContactInvited"]> {
  return { method: "POST", path: `/v1/contacts/${encodeURIComponent(contactId)}/invite`, body };
}

/** Recall for a prompt. */
export function context(
  body: M["ContextIn"],
): Call<M["ContextAnswer"]> {
  return { method: "POST", path: "/v1/context", body, reads: true };
}

/** Make a transcript shorter. */
export function compact(
  body: M["CompactIn"],
): Call<M["CompactedAnswer"]> {
  return { method: "POST", path: "/v1/context/compact", body };
}

/** Begin a session. */
export function beginSession(
  body: M["SessionIn"],
): Call<M["SessionContext"]> {
  return { method: "POST", path: "/v1/context/session", body };
}

/** List conversations, newest first. */
export function listConversations(
  query: { channel?: M["Channel"] | undefined; session_id?: string | undefined; agent?: string | undefined; sender?: string | undefined; opened_from?: string | undefined; opened_to?: string | undefined; limit?: number | undefined; cursor?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["ConversationPage"]> {
  return { method: "GET", path: "/v1/conversations", query };
}

/** Record a message. */
export function recordMessage(
  body: M["MessageIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["MessageRecorded"]> {
  return { method: "POST", path: "/v1/conversations/messages", body, headers: present(headers), keyed: true };
}

/** Search what was said. */
export function searchConversations(
  body: M["ConversationSearchIn"],
): Call<M["MessagesFound"]> {
  return { method: "POST", path: "/v1/conversations/search", body, reads: true };
}

/** Read a conversation. */
export function getConversation(
  conversationId: string,
  query: { limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["ConversationWithMessages"]> {
  return { method: "GET", path: `/v1/conversations/${encodeURIComponent(conversationId)}`, query };
}

/** Say whether memories are drawn from a conversation. */
export function changeConversation(
  conversationId: string,
  body: M["ConversationChange"],
): Call<M["ConversationChanged"]> {
  return { method: "PATCH", path: `/v1/conversations/${encodeURIComponent(conversationId)}`, body };
}

/** Bind a public key to a conversation. */
export function bindConversationKey(
  conversationId: string,
  keyId: string,
): Call<M["KeyBound"]> {
  return { method: "PUT", path: `/v1/conversations/${encodeURIComponent(conversationId)}/keys/${encodeURIComponent(keyId)}` };
}

/** Report what models have cost. */
export function getCosts(
  query: { by?: M["CostBy"] | undefined; since?: string | undefined; until?: string | undefined } = {},
): Call<M["CostReport"]> {
  return { method: "GET", path: "/v1/costs", query };
}

/** Look for who fits. */
export function discover(
  body: M["DiscoverQueryIn"],
): Call<M["DiscoveredShown"]> {
  return { method: "POST", path: "/v1/discover", body };
}

/** Ingest a document. */
export function ingestDocument(
  body: M["DocumentIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["DocumentTaken"]> {
  return { method: "POST", path: "/v1/documents", body, headers: present(headers), keyed: true };
}

/** List documents, newest first. */
export function listDocuments(
  query: { source_uri?: string | undefined; limit?: number | undefined; cursor?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["DocumentPage"]> {
  return { method: "GET", path: "/v1/documents", query };
}

/** Read one document. */
export function getDocument(
  documentId: string,
): Call<M["DocumentView"]> {
  return { method: "GET", path: `/v1/documents/${encodeURIComponent(documentId)}` };
}

/** Delete one document softly. */
export function deleteDocument(
  documentId: string,
): Call<M["Deleted"]> {
  return { method: "DELETE", path: `/v1/documents/${encodeURIComponent(documentId)}` };
}

/** List entities by name. */
export function listEntities(
  query: { q?: string | undefined; type?: string | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["EntityPage"]> {
  return { method: "GET", path: "/v1/entities", query };
}

/** Read one entity: names, mentions, relations. */
export function getEntity(
  entityId: string,
): Call<M["EntityDetail"]> {
  return { method: "GET", path: `/v1/entities/${encodeURIComponent(entityId)}` };
}

/** Give an entity one more name. */
export function addAlias(
  entityId: string,
  body: M["AliasIn"],
): Call<M["EntityChanged"]> {
  return { method: "POST", path: `/v1/entities/${encodeURIComponent(entityId)}/aliases`, body };
}

/** Take a name from an entity. */
export function removeAlias(
  entityId: string,
  query: { alias: string },
): Call<M["EntityChanged"]> {
  return { method: "DELETE", path: `/v1/entities/${encodeURIComponent(entityId)}/aliases`, query };
}

/** Make an entity part of another one. */
export function mergeEntity(
  entityId: string,
  body: M["MergeIn"],
): Call<M["EntityChanged"]> {
  return { method: "POST", path: `/v1/entities/${encodeURIComponent(entityId)}/merge`, body };
}

/** Undo a merge, or part mentions of two things. */
export function splitEntity(
  entityId: string,
  body: M["SplitIn"],
): Call<M["EntityChanged"]> {
  return { method: "POST", path: `/v1/entities/${encodeURIComponent(entityId)}/split`, body };
}

/** List escalation channels. */
export function listEscalationChannels(): Call<M["EscalationChannelList"]> {
  return { method: "GET", path: "/v1/escalation-channels" };
}

/** Add an escalation channel. */
export function addEscalationChannel(
  body: M["ChannelIn"],
): Call<M["EscalationChannel"]> {
  return { method: "POST", path: "/v1/escalation-channels", body };
}

/** Remove an escalation channel. */
export function removeEscalationChannel(
  name: string,
): Call<M["ChannelRemoved"]> {
  return { method: "DELETE", path: `/v1/escalation-channels/${encodeURIComponent(name)}` };
}

/** List escalations. */
export function listEscalations(
  query: { state?: M["EscalationState"] | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["EscalationPage"]> {
  return { method: "GET", path: "/v1/escalations", query };
}

/** Show an escalation with its hand-off. */
export function getEscalation(
  escalationId: string,
): Call<M["HandOff"]> {
  return { method: "GET", path: `/v1/escalations/${encodeURIComponent(escalationId)}` };
}

/** Retry an escalation. */
export function retryEscalation(
  escalationId: string,
): Call<M["EscalationView"]> {
  return { method: "POST", path: `/v1/escalations/${encodeURIComponent(escalationId)}/retry` };
}

/** Observe one event or a batch. */
export function observeEvents(
  body: M["EventIn"] | M["EventBatch"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["EventResult"] | M["EventBatchResult"]> {
  return { method: "POST", path: "/v1/events", body, headers: present(headers), keyed: true };
}

/** List events, newest first. */
export function listEvents(
  query: { type?: string | undefined; session_id?: string | undefined; agent_id?: string | undefined; trace_id?: string | undefined; limit?: number | undefined; cursor?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["EventPage"]> {
  return { method: "GET", path: "/v1/events", query };
}

/** Read one event. */
export function getEvent(
  eventId: string,
): Call<M["EventView"]> {
  return { method: "GET", path: `/v1/events/${encodeURIComponent(eventId)}` };
}

/** Export the memory graph. */
export function exportGraph(
  query: { limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["ExportPage"]> {
  return { method: "GET", path: "/v1/export", query };
}

/** Show the feed. */
export function getFeed(
  query: { limit?: number | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["FeedView"]> {
  return { method: "GET", path: "/v1/feed", query };
}

/** Show how the feed does. */
export function getFeedHealth(
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["FeedHealth"]> {
  return { method: "GET", path: "/v1/feed/health", query };
}

/** Look after every feed now. */
export function maintainFeeds(): Call<M["MaintenanceRun"]> {
  return { method: "POST", path: "/v1/feed/maintenance" };
}

/** Forget a data subject or a source. */
export function forget(
  body: M["ForgetIn"],
): Call<M["ForgettingDone"] | M["ForgettingPlan"]> {
  return { method: "POST", path: "/v1/forget", body };
}

/** How a forgetting went. */
export function getForgetting(
  forgettingId: string,
): Call<M["ForgettingView"]> {
  return { method: "GET", path: `/v1/forget/${encodeURIComponent(forgettingId)}` };
}

/** Search every store for what was forgotten, by its ids. */
export function proveForgetting(
  forgettingId: string,
): Call<M["Proof"]> {
  return { method: "GET", path: `/v1/forget/${encodeURIComponent(forgettingId)}/proof` };
}

/** Search every store for canary strings, too. */
export function proveForgettingByStrings(
  forgettingId: string,
  body: M["ProofIn"],
): Call<M["Proof"]> {
  return { method: "POST", path: `/v1/forget/${encodeURIComponent(forgettingId)}/proof`, body };
}

/** Make a standing grant. */
export function makeGrant(
  body: M["GrantIn"],
): Call<M["GrantView"]> {
  return { method: "POST", path: "/v1/grants", body };
}

/** List standing grants. */
export function listGrants(
  query: { limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["GrantPage"]> {
  return { method: "GET", path: "/v1/grants", query };
}

/** Revoke a standing grant. */
export function revokeGrant(
  grantId: string,
): Call<M["GrantView"]> {
  return { method: "DELETE", path: `/v1/grants/${encodeURIComponent(grantId)}` };
}

/** Import into the memory graph. */
export function importGraph(
  body: M["ImportIn"],
): Call<M["Imported"]> {
  return { method: "POST", path: "/v1/import", body };
}

/** List incoming webhooks. */
export function listIncomingWebhooks(): Call<M["IncomingWebhookList"]> {
  return { method: "GET", path: "/v1/incoming-webhooks" };
}

/** Make an incoming webhook. */
export function createIncomingWebhook(
  body: M["IncomingWebhookIn"],
): Call<M["IncomingWebhookWithSecret"]> {
  return { method: "POST", path: "/v1/incoming-webhooks", body };
}

/** Remove an incoming webhook. */
export function removeIncomingWebhook(
  incomingId: string,
): Call<M["IncomingWebhookRemoved"]> {
  return { method: "DELETE", path: `/v1/incoming-webhooks/${encodeURIComponent(incomingId)}` };
}

/** Take a signed delivery of memories. */
export function receiveMemories(
  incomingId: string,
  body: M["MemoryIn"] | M["MemoryBatch"],
): Call<M["MemoryResult"] | M["MemoryBatchResult"]> {
  return { method: "POST", path: `/v1/incoming-webhooks/${encodeURIComponent(incomingId)}/memories`, body };
}

/** Give an incoming webhook a new secret. */
export function rotateIncomingWebhook(
  incomingId: string,
): Call<M["IncomingWebhookWithSecret"]> {
  return { method: "POST", path: `/v1/incoming-webhooks/${encodeURIComponent(incomingId)}/rotate` };
}

/** Follow one ingestion. */
export function getIngestion(
  ingestionId: string,
): Call<M["IngestionView"]> {
  return { method: "GET", path: `/v1/ingestions/${encodeURIComponent(ingestionId)}` };
}

/** List integrations. */
export function listIntegrations(
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["IntegrationList"]> {
  return { method: "GET", path: "/v1/integrations", query };
}

/** Add an integration. */
export function addIntegration(
  body: M["IntegrationIn"],
): Call<M["IntegrationView"]> {
  return { method: "POST", path: "/v1/integrations", body };
}

/** Remove an integration. */
export function removeIntegration(
  integrationId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["ContactGone"]> {
  return { method: "DELETE", path: `/v1/integrations/${encodeURIComponent(integrationId)}`, query };
}

/** Synchronise an integration. */
export function syncIntegration(
  integrationId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["ContactsImported"]> {
  return { method: "POST", path: `/v1/integrations/${encodeURIComponent(integrationId)}/sync`, query };
}

/** Say what a member seeks or offers. */
export function submitIntents(
  body: M["IntentIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["IntentsSubmitted"]> {
  return { method: "POST", path: "/v1/intents", body, headers: present(headers), keyed: true };
}

/** List a member's intents. */
export function listIntents(
  query: { state?: M["IntentState"] | undefined; as_of?: string | undefined; limit?: number | undefined; cursor?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["IntentPage"]> {
  return { method: "GET", path: "/v1/intents", query };
}

/** Show an intent. */
export function getIntent(
  intentId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["IntentView"]> {
  return { method: "GET", path: `/v1/intents/${encodeURIComponent(intentId)}`, query };
}

/** Change an intent. */
export function updateIntent(
  intentId: string,
  body: M["IntentChangeIn"],
): Call<M["IntentView"]> {
  return { method: "PATCH", path: `/v1/intents/${encodeURIComponent(intentId)}`, body };
}

/** Delete an intent. */
export function deleteIntent(
  intentId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["IntentView"]> {
  return { method: "DELETE", path: `/v1/intents/${encodeURIComponent(intentId)}`, query };
}

/** Say whether an intent is a change of another. */
export function answerIntent(
  intentId: string,
  body: M["IntentAnswerIn"],
): Call<M["IntentView"]> {
  return { method: "POST", path: `/v1/intents/${encodeURIComponent(intentId)}/answer`, body };
}

/** List the networks of an intent. */
export function listIntentNetworks(
  intentId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["AssignmentList"]> {
  return { method: "GET", path: `/v1/intents/${encodeURIComponent(intentId)}/networks`, query };
}

/** Assign an intent to networks. */
export function assignIntent(
  intentId: string,
  body: M["AssignIn"],
): Call<M["AssignmentList"]> {
  return { method: "POST", path: `/v1/intents/${encodeURIComponent(intentId)}/networks`, body };
}

/** Take an intent out of a network. */
export function unassignIntent(
  intentId: string,
  networkId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["AssignmentList"]> {
  return { method: "DELETE", path: `/v1/intents/${encodeURIComponent(intentId)}/networks/${encodeURIComponent(networkId)}`, query };
}

/** Pause an intent. */
export function pauseIntent(
  intentId: string,
  body: M["IntentMoveIn"],
): Call<M["IntentView"]> {
  return { method: "POST", path: `/v1/intents/${encodeURIComponent(intentId)}/pause`, body };
}

/** Let an intent last anew. */
export function refreshIntent(
  intentId: string,
  body: M["IntentRefreshIn"],
): Call<M["IntentView"]> {
  return { method: "POST", path: `/v1/intents/${encodeURIComponent(intentId)}/refresh`, body };
}

/** Resume an intent. */
export function resumeIntent(
  intentId: string,
  body: M["IntentMoveIn"],
): Call<M["IntentView"]> {
  return { method: "POST", path: `/v1/intents/${encodeURIComponent(intentId)}/resume`, body };
}

/** Investigate a ticket. */
export function startInvestigation(
  body: M["InvestigationIn"],
): Call<M["InvestigationStarted"] | M["InvestigationQueued"]> {
  return { method: "POST", path: "/v1/investigations", body };
}

/** List investigations. */
export function listInvestigations(
  query: { state?: M["State"] | undefined; ticket_id?: string | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["InvestigationPage"]> {
  return { method: "GET", path: "/v1/investigations", query };
}

/** Take up every investigation that has stopped moving. */
export function resumeInvestigations(): Call<M["PresentList"]> {
  return { method: "POST", path: "/v1/investigations/resume" };
}

/** Show an investigation. */
export function getInvestigation(
  investigationId: string,
): Call<M["InvestigationDetail"]> {
  return { method: "GET", path: `/v1/investigations/${encodeURIComponent(investigationId)}` };
}

/** Dispute how an investigation ended. */
export function disputeInvestigation(
  investigationId: string,
  body: M["DisputeIn"],
): Call<M["OpinionView"]> {
  return { method: "POST", path: `/v1/investigations/${encodeURIComponent(investigationId)}/dispute`, body };
}

/** Follow an investigation live (server-sent events). */
export function followInvestigation(
  investigationId: string,
  query: { after?: number | undefined } = {},
  headers: { "last-event-id"?: string | undefined } = {},
): Call<string> {
  return { method: "GET", path: `/v1/investigations/${encodeURIComponent(investigationId)}/events`, query, headers: present(headers) };
}

/** List what people said of an investigation. */
export function listOpinions(
  investigationId: string,
): Call<M["OpinionList"]> {
  return { method: "GET", path: `/v1/investigations/${encodeURIComponent(investigationId)}/opinions` };
}

/** Rate an investigation. */
export function rateInvestigation(
  investigationId: string,
  body: M["RatingIn"],
): Call<M["OpinionView"]> {
  return { method: "POST", path: `/v1/investigations/${encodeURIComponent(investigationId)}/rating`, body };
}

/** Take up an investigation. */
export function resumeInvestigation(
  investigationId: string,
): Call<M["Present"]> {
  return { method: "POST", path: `/v1/investigations/${encodeURIComponent(investigationId)}/resume` };
}

/** List an investigation's steps, and poll for new ones. */
export function listInvestigationSteps(
  investigationId: string,
  query: { after?: number | undefined; limit?: number | undefined } = {},
): Call<M["StepsView"]> {
  return { method: "GET", path: `/v1/investigations/${encodeURIComponent(investigationId)}/steps`, query };
}

/** Remember a step. */
export function rememberStep(
  investigationId: string,
  seq: string,
  body: M["RememberIn"],
): Call<M["Remembered"]> {
  return { method: "POST", path: `/v1/investigations/${encodeURIComponent(investigationId)}/steps/${encodeURIComponent(seq)}/remember`, body };
}

/** List API keys. */
export function listKeys(): Call<M["KeyList"]> {
  return { method: "GET", path: "/v1/keys" };
}

/** Make an API key. */
export function createKey(
  body: M["KeyIn"],
): Call<M["KeyWithSecret"]> {
  return { method: "POST", path: "/v1/keys", body };
}

/** Revoke an API key. */
export function revokeKey(
  keyId: string,
): Call<M["KeyView"]> {
  return { method: "DELETE", path: `/v1/keys/${encodeURIComponent(keyId)}` };
}

/** Read the ledger. */
export function listLedger(
  query: { type?: string | undefined; from_position?: number | undefined; actor_id?: string | undefined; subject_id?: string | undefined; recorded_from?: string | undefined; recorded_to?: string | undefined; newest_first?: boolean | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["LedgerEntryPage"]> {
  return { method: "GET", path: "/v1/ledger", query };
}

/** Verify the ledger. */
export function verifyLedger(
  query: { anchors?: boolean | undefined } = {},
): Call<M["LedgerVerification"] | M["AnchoredVerification"]> {
  return { method: "GET", path: "/v1/ledger/verify", query };
}

/** Read what is logged of a session. */
export function readSessionLog(
  query: { session_id: string; stream?: M["LogStream"] | undefined; limit?: number | undefined; cursor?: string | undefined },
): Call<M["LogLinePage"]> {
  return { method: "GET", path: "/v1/logs", query };
}

/** Show a member. */
export function getMember(
  memberId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["MemberView"]> {
  return { method: "GET", path: `/v1/members/${encodeURIComponent(memberId)}`, query };
}

/** Remember one memory or a batch. */
export function remember(
  body: M["MemoryIn"] | M["MemoryBatch"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["MemoryResult"] | M["MemoryBatchResult"]> {
  return { method: "POST", path: "/v1/memories", body, headers: present(headers), keyed: true };
}

/** List memories, newest first. */
export function listMemories(
  query: { type?: M["MemoryKind"] | undefined; key?: string | undefined; subject?: string | undefined; session_id?: string | undefined; state?: "provisional" | "active" | "superseded" | "expired" | "archived" | "quarantined" | "any" | undefined; id_prefix?: string | undefined; namespace?: string | undefined; namespace_prefix?: string | undefined; where?: string | undefined; occurred_from?: string | undefined; occurred_to?: string | undefined; as_of?: string | number | undefined; limit?: number | undefined; cursor?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["MemoryPage"]> {
  return { method: "GET", path: "/v1/memories", query };
}

/** Refresh memories that last for a time. */
export function refreshMemories(
  body: M["RefreshIn"],
): Call<M["Refreshed"]> {
  return { method: "POST", path: "/v1/memories/refresh", body, reads: true };
}

/** Read one memory. */
export function getMemory(
  memoryId: string,
): Call<M["MemoryView"]> {
  return { method: "GET", path: `/v1/memories/${encodeURIComponent(memoryId)}` };
}

/** Delete one memory softly. */
export function deleteMemory(
  memoryId: string,
): Call<M["Deleted"]> {
  return { method: "DELETE", path: `/v1/memories/${encodeURIComponent(memoryId)}` };
}

/** Correct a memory. */
export function correctMemory(
  memoryId: string,
  body: M["MemoryCorrection"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["EditResult"]> {
  return { method: "PATCH", path: `/v1/memories/${encodeURIComponent(memoryId)}`, body, headers: present(headers), keyed: true };
}

/** Follow one memory through the ledger. */
export function getMemoryHistory(
  memoryId: string,
): Call<M["MemoryHistory"]> {
  return { method: "GET", path: `/v1/memories/${encodeURIComponent(memoryId)}/history` };
}

/** Merge two memories. */
export function mergeMemories(
  memoryId: string,
  body: M["MemoryMerge"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["EditResult"]> {
  return { method: "POST", path: `/v1/memories/${encodeURIComponent(memoryId)}/merge`, body, headers: present(headers), keyed: true };
}

/** Move a memory to other readers. */
export function moveMemory(
  memoryId: string,
  body: M["MemoryMove"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["EditResult"]> {
  return { method: "POST", path: `/v1/memories/${encodeURIComponent(memoryId)}/move`, body, headers: present(headers), keyed: true };
}

/** Keep a memory from recall. */
export function keepMemoryFromRecall(
  memoryId: string,
  body: M["NeverRecall"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["EditResult"]> {
  return { method: "PUT", path: `/v1/memories/${encodeURIComponent(memoryId)}/never-recall`, body, headers: present(headers), keyed: true };
}

/** Let a memory be recalled again. */
export function letMemoryBeRecalled(
  memoryId: string,
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["EditResult"]> {
  return { method: "DELETE", path: `/v1/memories/${encodeURIComponent(memoryId)}/never-recall`, headers: present(headers), keyed: true };
}

/** Pin a memory. */
export function pinMemory(
  memoryId: string,
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["EditResult"]> {
  return { method: "PUT", path: `/v1/memories/${encodeURIComponent(memoryId)}/pin`, headers: present(headers), keyed: true };
}

/** Unpin a memory. */
export function unpinMemory(
  memoryId: string,
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["EditResult"]> {
  return { method: "DELETE", path: `/v1/memories/${encodeURIComponent(memoryId)}/pin`, headers: present(headers), keyed: true };
}

/** Take the deletion of a memory back. */
export function restoreMemory(
  memoryId: string,
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["EditResult"]> {
  return { method: "POST", path: `/v1/memories/${encodeURIComponent(memoryId)}/restore`, headers: present(headers), keyed: true };
}

/** List the namespaces of memories. */
export function listNamespaces(
  query: { prefix?: string | undefined; suffix?: string | undefined; max_depth?: number | undefined; limit?: number | undefined; offset?: number | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["NamespaceList"]> {
  return { method: "GET", path: "/v1/namespaces", query };
}

/** Begin a negotiation. */
export function beginNegotiation(
  body: M["NegotiationIn"],
): Call<M["NegotiationView"]> {
  return { method: "POST", path: "/v1/negotiations", body };
}

/** List negotiations. */
export function listNegotiations(
  query: { state?: M["NegotiationState"] | undefined; my_turn?: boolean | undefined; limit?: number | undefined; cursor?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["NegotiationPage"]> {
  return { method: "GET", path: "/v1/negotiations", query };
}

/** Show how negotiations end. */
export function measureNegotiations(): Call<M["NegotiationMeasures"]> {
  return { method: "GET", path: "/v1/negotiations/measures" };
}

/** Show a negotiation. */
export function getNegotiation(
  negotiationId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["NegotiationView"]> {
  return { method: "GET", path: `/v1/negotiations/${encodeURIComponent(negotiationId)}`, query };
}

/** Go on with a negotiation. */
export function advanceNegotiation(
  negotiationId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["NegotiationView"]> {
  return { method: "POST", path: `/v1/negotiations/${encodeURIComponent(negotiationId)}/advance`, query };
}

/** Answer for one's agent. */
export function answerNegotiation(
  negotiationId: string,
  body: M["PersonAnswerIn"],
): Call<M["NegotiationView"]> {
  return { method: "POST", path: `/v1/negotiations/${encodeURIComponent(negotiationId)}/answer`, body };
}

/** Show the trace of a negotiation. */
export function listNegotiationEvents(
  negotiationId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["NegotiationEventList"]> {
  return { method: "GET", path: `/v1/negotiations/${encodeURIComponent(negotiationId)}/events`, query };
}

/** Export a negotiation. */
export function exportNegotiation(
  negotiationId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["NegotiationExport"]> {
  return { method: "GET", path: `/v1/negotiations/${encodeURIComponent(negotiationId)}/export`, query };
}

/** Show what weighed in one's turns. */
export function listNegotiationInputs(
  negotiationId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["PrivateInputList"]> {
  return { method: "GET", path: `/v1/negotiations/${encodeURIComponent(negotiationId)}/inputs`, query };
}

/** Make a network. */
export function createNetwork(
  body: M["NetworkIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["NetworkView"]> {
  return { method: "POST", path: "/v1/networks", body, headers: present(headers), keyed: true };
}

/** List networks. */
export function listNetworks(
  query: { joined?: boolean | undefined; as_of?: string | undefined; limit?: number | undefined; cursor?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["NetworkPage"]> {
  return { method: "GET", path: "/v1/networks", query };
}

/** Join a network by an invite. */
export function joinByInvite(
  body: M["JoinByInviteIn"],
): Call<M["NetworkView"]> {
  return { method: "POST", path: "/v1/networks/join", body };
}

/** Show a network. */
export function getNetwork(
  networkId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["NetworkView"]> {
  return { method: "GET", path: `/v1/networks/${encodeURIComponent(networkId)}`, query };
}

/** Change a network. */
export function updateNetwork(
  networkId: string,
  body: M["NetworkChangesIn"],
): Call<M["NetworkView"]> {
  return { method: "PATCH", path: `/v1/networks/${encodeURIComponent(networkId)}`, body };
}

/** Remove a network. */
export function removeNetwork(
  networkId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["NetworkLeft"]> {
  return { method: "DELETE", path: `/v1/networks/${encodeURIComponent(networkId)}`, query };
}

/** Invite somebody to a network. */
export function createInvite(
  networkId: string,
  body: M["InviteIn"],
): Call<M["InviteMade"]> {
  return { method: "POST", path: `/v1/networks/${encodeURIComponent(networkId)}/invites`, body };
}

/** List invites to a network. */
export function listInvites(
  networkId: string,
  query: { limit?: number | undefined; cursor?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["InviteRowPage"]> {
  return { method: "GET", path: `/v1/networks/${encodeURIComponent(networkId)}/invites`, query };
}

/** Withdraw an invite. */
export function revokeInvite(
  networkId: string,
  inviteId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["NetworkLeft"]> {
  return { method: "DELETE", path: `/v1/networks/${encodeURIComponent(networkId)}/invites/${encodeURIComponent(inviteId)}`, query };
}

/** Join a network. */
export function joinNetwork(
  networkId: string,
  body: M["JoinIn"],
): Call<M["NetworkView"]> {
  return { method: "POST", path: `/v1/networks/${encodeURIComponent(networkId)}/join`, body };
}

/** Leave a network. */
export function leaveNetwork(
  networkId: string,
  body: M["LeaveIn"],
): Call<M["NetworkLeft"]> {
  return { method: "POST", path: `/v1/networks/${encodeURIComponent(networkId)}/leave`, body };
}

/** List who is in a network. */
export function listNetworkMembers(
  networkId: string,
  query: { as_of?: string | undefined; limit?: number | undefined; cursor?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["InNetworkPage"]> {
  return { method: "GET", path: `/v1/networks/${encodeURIComponent(networkId)}/members`, query };
}

/** Let somebody be in a network no longer. */
export function removeNetworkMember(
  networkId: string,
  memberId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["NetworkLeft"]> {
  return { method: "DELETE", path: `/v1/networks/${encodeURIComponent(networkId)}/members/${encodeURIComponent(memberId)}`, query };
}

/** Say what of a member's belongs to a network. */
export function setMemberPrompt(
  networkId: string,
  body: M["MemberPromptIn"],
): Call<M["NetworkView"]> {
  return { method: "PUT", path: `/v1/networks/${encodeURIComponent(networkId)}/prompt`, body };
}

/** Write one node or a batch, with typed edges. */
export function writeNodes(
  body: M["NodeIn"] | M["NodeBatch"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["NodeResult"] | M["NodeBatchResult"]> {
  return { method: "POST", path: "/v1/nodes", body, headers: present(headers), keyed: true };
}

/** List the nodes of a label, newest first. */
export function listNodes(
  query: { label: string; kind?: string | undefined; limit?: number | undefined; cursor?: string | undefined; client_id?: string | undefined; user_id?: string | undefined },
): Call<M["NodePage"]> {
  return { method: "GET", path: "/v1/nodes", query };
}

/** Read one node of any label, with its edges. */
export function getNode(
  nodeId: string,
): Call<M["NodeView"]> {
  return { method: "GET", path: `/v1/nodes/${encodeURIComponent(nodeId)}` };
}

/** Delete one node softly. */
export function deleteNode(
  nodeId: string,
): Call<M["Deleted"]> {
  return { method: "DELETE", path: `/v1/nodes/${encodeURIComponent(nodeId)}` };
}

/** Set what is held true of a node. */
export function replaceCompiledTruth(
  nodeId: string,
  body: M["TruthIn"],
): Call<M["NodeChanged"]> {
  return { method: "PUT", path: `/v1/nodes/${encodeURIComponent(nodeId)}/compiled-truth`, body };
}

/** Set what a node is beside its first label. */
export function replaceLabels(
  nodeId: string,
  body: M["LabelsIn"],
): Call<M["NodeChanged"]> {
  return { method: "PUT", path: `/v1/nodes/${encodeURIComponent(nodeId)}/labels`, body };
}

/** Trace a node. */
export function getLineage(
  nodeId: string,
  query: { direction?: M["Direction"] | undefined; max_depth?: number | undefined; intent?: M["Intent"] | undefined; as_of?: string | number | undefined; format?: M["LineageFormat"] | undefined } = {},
): Call<M["Lineage"] | M["ProvDocument"]> {
  return { method: "GET", path: `/v1/nodes/${encodeURIComponent(nodeId)}/lineage`, query };
}

/** Propose meetings. */
export function createOpportunities(
  body: M["DiscoverIn"],
): Call<M["OpportunitiesCreated"]> {
  return { method: "POST", path: "/v1/opportunities", body };
}

/** List a member's opportunities. */
export function listOpportunities(
  query: { state?: M["OpportunityState"] | undefined; as_of?: string | undefined; limit?: number | undefined; cursor?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["OpportunityPage"]> {
  return { method: "GET", path: "/v1/opportunities", query };
}

/** Introduce two others. */
export function introduce(
  body: M["IntroduceIn"],
): Call<M["OpportunityView"]> {
  return { method: "POST", path: "/v1/opportunities/introduce", body };
}

/** Show an opportunity. */
export function getOpportunity(
  opportunityId: string,
  query: { as_of?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["OpportunityView"]> {
  return { method: "GET", path: `/v1/opportunities/${encodeURIComponent(opportunityId)}`, query };
}

/** Accept an opportunity. */
export function acceptOpportunity(
  opportunityId: string,
  body: M["ActIn"],
): Call<M["OpportunityView"]> {
  return { method: "POST", path: `/v1/opportunities/${encodeURIComponent(opportunityId)}/accept`, body };
}

/** Reject an opportunity. */
export function rejectOpportunity(
  opportunityId: string,
  body: M["ActIn"],
): Call<M["OpportunityView"]> {
  return { method: "POST", path: `/v1/opportunities/${encodeURIComponent(opportunityId)}/reject`, body };
}

/** Send an opportunity. */
export function sendOpportunity(
  opportunityId: string,
  body: M["ActIn"],
): Call<M["OpportunityView"]> {
  return { method: "POST", path: `/v1/opportunities/${encodeURIComponent(opportunityId)}/send`, body };
}

/** List who signs in. */
export function listPeople(): Call<M["PersonList"]> {
  return { method: "GET", path: "/v1/people" };
}

/** Let somebody sign in. */
export function addPerson(
  body: M["PersonIn"],
): Call<M["LinkMade"]> {
  return { method: "POST", path: "/v1/people", body };
}

/** Change what somebody may do. */
export function changePerson(
  personId: string,
  body: M["PersonChangeIn"],
): Call<M["PersonView"]> {
  return { method: "PATCH", path: `/v1/people/${encodeURIComponent(personId)}`, body };
}

/** Remove somebody who signs in. */
export function removePerson(
  personId: string,
): Call<M["PersonView"]> {
  return { method: "DELETE", path: `/v1/people/${encodeURIComponent(personId)}` };
}

/** Make a link that signs somebody in once. */
export function linkPerson(
  personId: string,
): Call<M["LinkMade"]> {
  return { method: "POST", path: `/v1/people/${encodeURIComponent(personId)}/link` };
}

/** Say which member somebody is. */
export function tiePerson(
  personId: string,
  body: M["TieIn"],
): Call<M["PersonView"]> {
  return { method: "PUT", path: `/v1/people/${encodeURIComponent(personId)}/member`, body };
}

/** Let somebody be no member. */
export function untiePerson(
  personId: string,
): Call<M["PersonView"]> {
  return { method: "DELETE", path: `/v1/people/${encodeURIComponent(personId)}/member` };
}

/** Sign somebody out everywhere. */
export function signPersonOut(
  personId: string,
): Call<M["SignedOut"]> {
  return { method: "POST", path: `/v1/people/${encodeURIComponent(personId)}/sign-out` };
}

/** List personas. */
export function listPersonas(): Call<M["PersonaList"]> {
  return { method: "GET", path: "/v1/personas" };
}

/** Make a persona. */
export function createPersona(
  body: M["NewPersonaIn"],
): Call<M["PersonaView"]> {
  return { method: "POST", path: "/v1/personas", body };
}

/** Show a persona. */
export function getPersona(
  persona: string,
): Call<M["PersonaView"]> {
  return { method: "GET", path: `/v1/personas/${encodeURIComponent(persona)}` };
}

/** Change a persona. */
export function replacePersona(
  persona: string,
  body: M["PersonaIn"],
): Call<M["PersonaView"]> {
  return { method: "PUT", path: `/v1/personas/${encodeURIComponent(persona)}`, body };
}

/** Remove a persona. */
export function removePersona(
  persona: string,
): Call<M["PersonaRemoved"]> {
  return { method: "DELETE", path: `/v1/personas/${encodeURIComponent(persona)}` };
}

/** Show how a persona changed. */
export function listPersonaVersions(
  persona: string,
): Call<M["PersonaVersionList"]> {
  return { method: "GET", path: `/v1/personas/${encodeURIComponent(persona)}/versions` };
}

/** Show what is known of a client. */
export function getProfile(
  query: { about?: M["About"] | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["Profile"]> {
  return { method: "GET", path: "/v1/profile", query };
}

/** Show a member's own profile. */
export function getMemberProfile(
  query: { as_of?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["ProfileView"]> {
  return { method: "GET", path: "/v1/profiles/me", query };
}

/** Write a member's profile. */
export function replaceMemberProfile(
  body: M["MemberProfileIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["ProfileView"]> {
  return { method: "PUT", path: "/v1/profiles/me", body, headers: present(headers), keyed: true };
}

/** Change a member's profile. */
export function updateMemberProfile(
  body: M["MemberProfileChangeIn"],
): Call<M["ProfileView"]> {
  return { method: "PATCH", path: "/v1/profiles/me", body };
}

/** Make a member's profile from sources. */
export function generateMemberProfile(
  body: M["MemberProfileSourcesIn"],
): Call<M["ProfileView"]> {
  return { method: "POST", path: "/v1/profiles/me/generate", body };
}

/** List what a member says of themselves. */
export function listPremises(
  query: { as_of?: string | undefined; client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["PremiseList"]> {
  return { method: "GET", path: "/v1/profiles/me/premises", query };
}

/** State premises. */
export function addPremises(
  body: M["PremisesIn"],
): Call<M["PremiseList"]> {
  return { method: "POST", path: "/v1/profiles/me/premises", body };
}

/** Retract a premise. */
export function retractPremise(
  premiseId: string,
  query: { client_id?: string | undefined; user_id?: string | undefined } = {},
): Call<M["PremiseRetracted"]> {
  return { method: "DELETE", path: `/v1/profiles/me/premises/${encodeURIComponent(premiseId)}`, query };
}

/** List proposed nodes. */
export function listProposals(
  query: { state?: M["ProposalState"] | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["ProposalPage"]> {
  return { method: "GET", path: "/v1/proposals", query };
}

/** Accept a proposed node. */
export function acceptProposal(
  nodeId: string,
): Call<M["Proposal"]> {
  return { method: "POST", path: `/v1/proposals/${encodeURIComponent(nodeId)}/accept` };
}

/** Reject a proposed node. */
export function rejectProposal(
  nodeId: string,
): Call<M["Proposal"]> {
  return { method: "POST", path: `/v1/proposals/${encodeURIComponent(nodeId)}/reject` };
}

/** List what is published. */
export function listPublications(): Call<M["PublicationOutList"]> {
  return { method: "GET", path: "/v1/publications" };
}

/** Publish a report, a document or files. */
export function publish(
  body: M["PublicationIn"],
): Call<M["PublicationOut"]> {
  return { method: "POST", path: "/v1/publications", body };
}

/** Tell where sites are served. */
export function publicHost(): Call<M["PublicHostOut"]> {
  return { method: "GET", path: "/v1/publications/host" };
}

/** Withdraw what is published. */
export function withdrawPublication(
  publicationId: string,
): Call<M["PublicationWithdrawn"]> {
  return { method: "DELETE", path: `/v1/publications/${encodeURIComponent(publicationId)}` };
}

/** Query nodes by label and property. */
export function queryNodes(
  body: M["NodeQueryIn"],
): Call<M["NodeQueryAnswer"]> {
  return { method: "POST", path: "/v1/query/nodes", body, reads: true };
}

/** Query the graph. */
export function querySubgraph(
  body: M["SubgraphIn"],
): Call<M["Subgraph"]> {
  return { method: "POST", path: "/v1/query/subgraph", body, reads: true };
}

/** Make the projections anew from the ledger. */
export function startRebuild(
  body: M["RebuildIn"],
): Call<M["RebuildView"]> {
  return { method: "POST", path: "/v1/rebuilds", body };
}

/** Follow one rebuild. */
export function getRebuild(
  rebuildId: string,
): Call<M["RebuildView"]> {
  return { method: "GET", path: `/v1/rebuilds/${encodeURIComponent(rebuildId)}` };
}

/** Show the redaction profile. */
export function getRedaction(): Call<M["RedactionProfile"]> {
  return { method: "GET", path: "/v1/redaction" };
}

/** Choose the redaction profile. */
export function chooseRedaction(
  body: M["ProfileIn"],
): Call<M["RedactionProfile"]> {
  return { method: "PUT", path: "/v1/redaction", body };
}

/** How many nodes have no vector of the present model. */
export function countMissingVectors(): Call<M["MissingVectors"]> {
  return { method: "GET", path: "/v1/reindex" };
}

/** Queue nodes that have no vector of the present model. */
export function reindex(
  query: { after?: string | undefined } = {},
): Call<M["Reindexed"]> {
  return { method: "POST", path: "/v1/reindex", query };
}

/** State a relation between two nodes. */
export function relateNodes(
  body: M["RelationshipIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["NodeChanged"]> {
  return { method: "POST", path: "/v1/relationships", body, headers: present(headers), keyed: true };
}

/** Write a report. */
export function writeReport(
  body: M["ReportIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["ReportKept"]> {
  return { method: "POST", path: "/v1/reports", body, headers: present(headers), keyed: true };
}

/** List reports, newest first. */
export function listReports(
  query: { keyword?: string | undefined; source_workflow?: string | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["ReportPage"]> {
  return { method: "GET", path: "/v1/reports", query };
}

/** Read the newest report. */
export function getLatestReports(
  query: { keyword?: string | undefined; limit?: number | undefined } = {},
): Call<M["ReportWithBodyList"]> {
  return { method: "GET", path: "/v1/reports/latest", query };
}

/** List groups of directories. */
export function listScimGroups(): Call<M["ScimGroupList"]> {
  return { method: "GET", path: "/v1/scim/groups" };
}

/** Let a group give a role. */
export function setScimRole(
  groupId: string,
  body: M["ScimRoleIn"],
): Call<M["ScimGroup"]> {
  return { method: "PUT", path: `/v1/scim/groups/${encodeURIComponent(groupId)}`, body };
}

/** List tokens of directories. */
export function listScimTokens(): Call<M["ScimTokenList"]> {
  return { method: "GET", path: "/v1/scim/tokens" };
}

/** Make a token for a directory. */
export function makeScimToken(
  body: M["ScimTokenIn"],
): Call<M["ScimTokenMade"]> {
  return { method: "POST", path: "/v1/scim/tokens", body };
}

/** Revoke a directory's token. */
export function revokeScimToken(
  tokenId: string,
): Call<M["ScimToken"]> {
  return { method: "DELETE", path: `/v1/scim/tokens/${encodeURIComponent(tokenId)}` };
}

/** Recall. */
export function search(
  body: M["SearchIn"],
): Call<M["SearchAnswer"]> {
  return { method: "POST", path: "/v1/search", body, reads: true };
}

/** List searches. */
export function listSearches(
  query: { node_id?: string | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["SearchPage"]> {
  return { method: "GET", path: "/v1/searches", query };
}

/** Explain a search. */
export function getSearch(
  searchId: string,
  query: { format?: "json" | "svg" | undefined } = {},
): Call<M["ExplainedSearch"]> {
  return { method: "GET", path: `/v1/searches/${encodeURIComponent(searchId)}`, query };
}

/** Say whether a result was of use. */
export function giveFeedback(
  searchId: string,
  body: M["FeedbackIn"],
): Call<M["Feedback"]> {
  return { method: "POST", path: `/v1/searches/${encodeURIComponent(searchId)}/feedback`, body };
}

/** Show the settings. */
export function getSettings(): Call<M["SettingsView"]> {
  return { method: "GET", path: "/v1/settings" };
}

/** Change the settings. */
export function changeSettings(
  body: M["SettingsIn"],
  headers: { "if-match"?: string | undefined } = {},
): Call<M["SettingsView"]> {
  return { method: "PATCH", path: "/v1/settings", body, headers: present(headers) };
}

/** List sources of knowledge. */
export function listSources(): Call<M["KnowledgeSourceList"]> {
  return { method: "GET", path: "/v1/sources" };
}

/** Add a source of knowledge. */
export function addSource(
  body: M["KnowledgeSourceIn"],
): Call<M["KnowledgeSource"]> {
  return { method: "POST", path: "/v1/sources", body };
}

/** Show a source of knowledge. */
export function getSource(
  knowledgeId: string,
): Call<M["KnowledgeSource"]> {
  return { method: "GET", path: `/v1/sources/${encodeURIComponent(knowledgeId)}` };
}

/** Change or pause a source of knowledge. */
export function changeSource(
  knowledgeId: string,
  body: M["KnowledgeSourceChangeIn"],
): Call<M["KnowledgeSource"]> {
  return { method: "PATCH", path: `/v1/sources/${encodeURIComponent(knowledgeId)}`, body };
}

/** Remove a source of knowledge. */
export function removeSource(
  knowledgeId: string,
  query: { documents?: boolean | undefined } = {},
): Call<M["KnowledgeSource"]> {
  return { method: "DELETE", path: `/v1/sources/${encodeURIComponent(knowledgeId)}`, query };
}

/** Find out what a sync would change. */
export function previewSource(
  knowledgeId: string,
): Call<M["KnowledgeSource"]> {
  return { method: "POST", path: `/v1/sources/${encodeURIComponent(knowledgeId)}/preview` };
}

/** Read a source of knowledge now. */
export function syncSource(
  knowledgeId: string,
  body: M["SourceSyncIn"],
): Call<M["KnowledgeSource"]> {
  return { method: "POST", path: `/v1/sources/${encodeURIComponent(knowledgeId)}/sync`, body };
}

/** What the workspace holds and how good it is. */
export function getStats(): Call<M["Stats"]> {
  return { method: "GET", path: "/v1/stats" };
}

/** Rows that lost what they belong to. */
export function findOrphans(): Call<M["OrphansByKind"]> {
  return { method: "GET", path: "/v1/stats/orphans" };
}

/** How much work waits. */
export function getStatus(): Call<M["Status"]> {
  return { method: "GET", path: "/v1/status" };
}

/** What agents subscribe to. */
export function getSubscriptions(
  query: { agent?: string | undefined } = {},
): Call<M["SubscriptionList"]> {
  return { method: "GET", path: "/v1/subscriptions", query };
}

/** Subscribe an agent to keywords. */
export function replaceSubscription(
  body: M["SubscriptionIn"],
): Call<M["SubscriptionView"]> {
  return { method: "PUT", path: "/v1/subscriptions", body };
}

/** Let an agent subscribe to nothing. */
export function clearSubscription(
  query: { agent?: string | undefined } = {},
): Call<M["SubscriptionView"]> {
  return { method: "DELETE", path: "/v1/subscriptions", query };
}

/** List summaries. */
export function listSummaries(
  query: { scope?: M["SummaryScope"] | undefined; scope_id?: string | undefined; limit?: number | undefined; cursor?: string | undefined; as_of?: string | number | undefined } = {},
): Call<M["SummaryPage"]> {
  return { method: "GET", path: "/v1/summaries", query };
}

/** Show what a summary is made of. */
export function getSummary(
  summaryId: string,
  query: { depth?: number | undefined; as_of?: string | number | undefined } = {},
): Call<M["SummaryTreeView"]> {
  return { method: "GET", path: `/v1/summaries/${encodeURIComponent(summaryId)}`, query };
}

/** Hold back an agent, a session, a source or a node, and all that was made of it. */
export function applyTaint(
  body: M["TaintIn"],
): Call<M["Tainted"]> {
  return { method: "POST", path: "/v1/taint", body };
}

/** List taints. */
export function listTaints(
  query: { limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["TaintPage"]> {
  return { method: "GET", path: "/v1/taints", query };
}

/** Read a taint. */
export function getTaint(
  taintId: string,
): Call<M["TaintReport"]> {
  return { method: "GET", path: `/v1/taints/${encodeURIComponent(taintId)}` };
}

/** Lift a taint. */
export function liftTaint(
  taintId: string,
): Call<M["TaintLifted"]> {
  return { method: "POST", path: `/v1/taints/${encodeURIComponent(taintId)}/lift` };
}

/** Start a task. */
export function startTask(
  body: M["TaskIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["TaskState"]> {
  return { method: "POST", path: "/v1/tasks", body, headers: present(headers), keyed: true };
}

/** Say how a task goes. */
export function updateTask(
  taskId: string,
  body: M["StepIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["TaskState"]> {
  return { method: "PATCH", path: `/v1/tasks/${encodeURIComponent(taskId)}`, body, headers: present(headers), keyed: true };
}

/** End a task. */
export function completeTask(
  taskId: string,
  body: M["EndIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["TaskState"]> {
  return { method: "POST", path: `/v1/tasks/${encodeURIComponent(taskId)}/complete`, body, headers: present(headers), keyed: true };
}

/** List ticket sources. */
export function listTicketSources(): Call<M["TicketSourceList"]> {
  return { method: "GET", path: "/v1/ticket-sources" };
}

/** Register a ticket source. */
export function registerTicketSource(
  body: M["SourceIn"],
): Call<M["TicketSourceView"]> {
  return { method: "POST", path: "/v1/ticket-sources", body };
}

/** Show a ticket source. */
export function getTicketSource(
  sourceId: string,
): Call<M["TicketSourceView"]> {
  return { method: "GET", path: `/v1/ticket-sources/${encodeURIComponent(sourceId)}` };
}

/** Change a ticket source. */
export function changeTicketSource(
  sourceId: string,
  body: M["SourceChangeIn"],
): Call<M["TicketSourceView"]> {
  return { method: "PATCH", path: `/v1/ticket-sources/${encodeURIComponent(sourceId)}`, body };
}

/** Remove a ticket source. */
export function removeTicketSource(
  sourceId: string,
): Call<M["TicketSourceRemoved"]> {
  return { method: "DELETE", path: `/v1/ticket-sources/${encodeURIComponent(sourceId)}` };
}

/** Say that a source's webhooks arrive here. */
export function confirmTicketWebhook(
  sourceId: string,
): Call<M["WebhookExpected"]> {
  return { method: "GET", path: `/v1/ticket-sources/${encodeURIComponent(sourceId)}/events` };
}

/** Take a help desk's webhook. */
export function receiveTicketWebhook(
  sourceId: string,
): Call<M["EventsTaken"] | M["ChallengeAnswered"]> {
  return { method: "POST", path: `/v1/ticket-sources/${encodeURIComponent(sourceId)}/events` };
}

/** Fetch a source's new tickets now. */
export function pollTicketSource(
  sourceId: string,
): Call<M["PollResult"]> {
  return { method: "POST", path: `/v1/ticket-sources/${encodeURIComponent(sourceId)}/poll` };
}

/** Begin to sign in to a ticket source. */
export function beginSourceSignIn(
  sourceId: string,
): Call<M["SignInShown"]> {
  return { method: "POST", path: `/v1/ticket-sources/${encodeURIComponent(sourceId)}/sign-in` };
}

/** Show how signing in to a ticket source stands. */
export function getSourceSignIn(
  sourceId: string,
): Call<M["SignInShown"]> {
  return { method: "GET", path: `/v1/ticket-sources/${encodeURIComponent(sourceId)}/sign-in` };
}

/** Sign out of a ticket source. */
export function endSourceSignIn(
  sourceId: string,
): Call<M["TicketSourceRemoved"]> {
  return { method: "DELETE", path: `/v1/ticket-sources/${encodeURIComponent(sourceId)}/sign-in` };
}

/** Ask whether a sign-in to a ticket source is done. */
export function pollSourceSignIn(
  sourceId: string,
): Call<M["SignInShown"]> {
  return { method: "POST", path: `/v1/ticket-sources/${encodeURIComponent(sourceId)}/sign-in/poll` };
}

/** Add a ticket. */
export function addTicket(
  body: M["TicketIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["TicketTaken"]> {
  return { method: "POST", path: "/v1/tickets", body, headers: present(headers), keyed: true };
}

/** List tickets. */
export function listTickets(
  query: { status?: M["TicketStatus"] | undefined; source?: string | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["TicketPage"]> {
  return { method: "GET", path: "/v1/tickets", query };
}

/** See the queue. */
export function getTicketQueue(): Call<M["QueueView"]> {
  return { method: "GET", path: "/v1/tickets/queue" };
}

/** Show a ticket. */
export function getTicket(
  ticketId: string,
): Call<M["TicketDetail"]> {
  return { method: "GET", path: `/v1/tickets/${encodeURIComponent(ticketId)}` };
}

/** Add a requester's message to a ticket. */
export function addTicketMessage(
  ticketId: string,
  body: M["TicketMessageIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["TicketMessageTaken"]> {
  return { method: "POST", path: `/v1/tickets/${encodeURIComponent(ticketId)}/messages`, body, headers: present(headers), keyed: true };
}

/** Put a ticket back into the queue. */
export function requeueTicket(
  ticketId: string,
): Call<M["TicketQueued"]> {
  return { method: "POST", path: `/v1/tickets/${encodeURIComponent(ticketId)}/requeue` };
}

/** List tool calls. */
export function listToolCalls(
  query: { investigation_id?: string | undefined; connector?: string | undefined; session_id?: string | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["ToolCallPage"]> {
  return { method: "GET", path: "/v1/tool-calls", query };
}

/** Show a tool call. */
export function getToolCall(
  actionId: string,
): Call<M["ToolCallView"]> {
  return { method: "GET", path: `/v1/tool-calls/${encodeURIComponent(actionId)}` };
}

/** Prepare the upload of a large document. */
export function createUpload(
  body: M["UploadIn"],
): Call<M["UploadTicket"]> {
  return { method: "POST", path: "/v1/uploads", body };
}

/** List webhooks. */
export function listWebhooks(): Call<M["WebhookList"]> {
  return { method: "GET", path: "/v1/webhooks" };
}

/** Make a webhook. */
export function createWebhook(
  body: M["WebhookIn"],
): Call<M["WebhookWithSecret"]> {
  return { method: "POST", path: "/v1/webhooks", body };
}

/** Remove a webhook. */
export function removeWebhook(
  webhookId: string,
): Call<M["WebhookRemoved"]> {
  return { method: "DELETE", path: `/v1/webhooks/${encodeURIComponent(webhookId)}` };
}

/** List the newest deliveries of a webhook. */
export function listWebhookDeliveries(
  webhookId: string,
): Call<M["DeliveryList"]> {
  return { method: "GET", path: `/v1/webhooks/${encodeURIComponent(webhookId)}/deliveries` };
}

/** Who this key is. */
export function whoami(): Call<M["WhoAmI"]> {
  return { method: "GET", path: "/v1/whoami" };
}

/** Show the chat widget. */
export function getWidget(): Call<M["WidgetOut"]> {
  return { method: "GET", path: "/v1/widget" };
}

/** Set the chat widget. */
export function setWidget(
  body: M["WidgetIn"],
): Call<M["WidgetOut"]> {
  return { method: "PUT", path: "/v1/widget", body };
}

/** Remove the chat widget. */
export function removeWidget(): Call<M["WidgetRemoved"]> {
  return { method: "DELETE", path: "/v1/widget" };
}

/** What the widget's page shows. */
export function getWidgetPage(
  widgetId: string,
): Call<M["WidgetPage"]> {
  return { method: "GET", path: `/v1/widget/${encodeURIComponent(widgetId)}` };
}

/** Ask what is to be solved. */
export function getWidgetChallenge(
  widgetId: string,
): Call<M["WidgetChallenge"]> {
  return { method: "GET", path: `/v1/widget/${encodeURIComponent(widgetId)}/challenge` };
}

/** Solve the challenge. */
export function solveWidgetChallenge(
  widgetId: string,
  body: M["WidgetSolutionIn"],
): Call<M["WidgetSessionView"]> {
  return { method: "POST", path: `/v1/widget/${encodeURIComponent(widgetId)}/challenge`, body };
}

/** Ask for a person. */
export function askWidgetPerson(
  widgetId: string,
): Call<M["WidgetHandOffView"]> {
  return { method: "POST", path: `/v1/widget/${encodeURIComponent(widgetId)}/hand-off` };
}

/** Poll what a person says. */
export function getWidgetHandOff(
  widgetId: string,
  query: { after?: number | undefined } = {},
): Call<M["WidgetHandOffView"]> {
  return { method: "GET", path: `/v1/widget/${encodeURIComponent(widgetId)}/hand-off`, query };
}

/** Hear what a person says (server-sent events). */
export function hearWidgetPerson(
  widgetId: string,
  query: { after?: number | undefined } = {},
): Call<string> {
  return { method: "GET", path: `/v1/widget/${encodeURIComponent(widgetId)}/hand-off/events`, query };
}

/** Say something to the widget. */
export function sayToWidget(
  widgetId: string,
  body: M["WidgetMessageIn"],
): Call<M["WidgetTurn"]> {
  return { method: "POST", path: `/v1/widget/${encodeURIComponent(widgetId)}/messages`, body };
}

/** End a session that is solved. */
export function resolveWidgetSession(
  widgetId: string,
): Call<M["WidgetSessionView"]> {
  return { method: "POST", path: `/v1/widget/${encodeURIComponent(widgetId)}/resolve` };
}

/** Show a session of the widget. */
export function getWidgetSession(
  widgetId: string,
): Call<M["WidgetSessionView"]> {
  return { method: "GET", path: `/v1/widget/${encodeURIComponent(widgetId)}/session` };
}

/** Open a session of the widget. */
export function openWidgetSession(
  widgetId: string,
  body: M["WidgetSessionIn"],
): Call<M["WidgetSessionView"]> {
  return { method: "POST", path: `/v1/widget/${encodeURIComponent(widgetId)}/sessions`, body };
}

/** Poll an answer of the widget. */
export function listWidgetChunks(
  turnId: string,
  widgetId: string,
  query: { after?: number | undefined } = {},
): Call<M["WidgetChunks"]> {
  return { method: "GET", path: `/v1/widget/${encodeURIComponent(widgetId)}/turns/${encodeURIComponent(turnId)}`, query };
}

/** List runs of workflows. */
export function listWorkflowRuns(
  query: { workflow?: string | undefined; state?: M["RunState"] | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
): Call<M["WorkflowRunPage"]> {
  return { method: "GET", path: "/v1/workflow-runs", query };
}

/** Show a run of a workflow. */
export function getWorkflowRun(
  workflowRunId: string,
): Call<M["WorkflowRunView"]> {
  return { method: "GET", path: `/v1/workflow-runs/${encodeURIComponent(workflowRunId)}` };
}

/** Cancel a run. */
export function cancelWorkflowRun(
  workflowRunId: string,
): Call<M["WorkflowRunView"]> {
  return { method: "POST", path: `/v1/workflow-runs/${encodeURIComponent(workflowRunId)}/cancel` };
}

/** Approve or reject what a run waits for. */
export function decideWorkflowRun(
  workflowRunId: string,
  body: M["WorkflowWordIn"],
): Call<M["WorkflowRunView"]> {
  return { method: "POST", path: `/v1/workflow-runs/${encodeURIComponent(workflowRunId)}/decide`, body };
}

/** Follow a run live (server-sent events). */
export function followWorkflowRun(
  workflowRunId: string,
  headers: { "last-event-id"?: string | undefined } = {},
): Call<string> {
  return { method: "GET", path: `/v1/workflow-runs/${encodeURIComponent(workflowRunId)}/events`, headers: present(headers) };
}

/** Try a run's failed step again. */
export function resumeWorkflowRun(
  workflowRunId: string,
): Call<M["WorkflowRunView"]> {
  return { method: "POST", path: `/v1/workflow-runs/${encodeURIComponent(workflowRunId)}/resume` };
}

/** List workflows. */
export function listWorkflows(): Call<M["WorkflowShownList"]> {
  return { method: "GET", path: "/v1/workflows" };
}

/** Make a workflow. */
export function createWorkflow(
  body: M["NewWorkflowIn"],
): Call<M["WorkflowShown"]> {
  return { method: "POST", path: "/v1/workflows", body };
}

/** Show a workflow. */
export function getWorkflow(
  workflow: string,
): Call<M["WorkflowShown"]> {
  return { method: "GET", path: `/v1/workflows/${encodeURIComponent(workflow)}` };
}

/** Change a workflow. */
export function replaceWorkflow(
  workflow: string,
  body: M["WorkflowIn"],
): Call<M["WorkflowShown"]> {
  return { method: "PUT", path: `/v1/workflows/${encodeURIComponent(workflow)}`, body };
}

/** Remove a workflow. */
export function removeWorkflow(
  workflow: string,
): Call<M["WorkflowRemoved"]> {
  return { method: "DELETE", path: `/v1/workflows/${encodeURIComponent(workflow)}` };
}

/** Run a workflow. */
export function runWorkflow(
  workflow: string,
  body: M["WorkflowRunIn"],
  headers: { "idempotency-key"?: string | undefined } = {},
): Call<M["WorkflowRunView"]> {
  return { method: "POST", path: `/v1/workflows/${encodeURIComponent(workflow)}/runs`, body, headers: present(headers), keyed: true };
}

/** Show how a workflow changed. */
export function listWorkflowVersions(
  workflow: string,
): Call<M["WorkflowShownList"]> {
  return { method: "GET", path: `/v1/workflows/${encodeURIComponent(workflow)}/versions` };
}
