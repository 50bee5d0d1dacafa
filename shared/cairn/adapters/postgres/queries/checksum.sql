-- Content checksums of the projections, one query a table: how many rows, and the sums of both halves
-- of each row's MD5 (not against forgers: the ledger's hashes are). The order of rows does not matter,
-- that of columns is the migrations'. Times are read in UTC. Tables are named without their schema:
-- the transaction says whether the rows in use are meant or the replayed ones.

-- name: node
-- Nodes. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM node AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: node_version
-- What nodes were. Everything counts, the indexed words too: they are copies here.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM node_version AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: edge
-- Edges. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM edge AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: edge_version
-- What edges were. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM edge_version AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: entity_alias
-- Other names of entities. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM entity_alias AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: data_subject
-- Whom the random ids of data subjects stand for. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM data_subject AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: subscription
-- What agents subscribe to. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM subscription AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: key_conversation
-- Which conversation a public key sees. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM key_conversation AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: purged_node
-- What was purged, and by which entry. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM purged_node AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: embedding
-- Vectors and token vectors, bit for bit, and the copies of their nodes' guards. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(ROW(r.node_id, r.model_id, r.ordinal, halfvec_send(r.v), r.tokens,
    r.position,    r.label, r.kind, r.scope,
    r.agents, r.client_id, r.state, r.occurred_at, r.valid_from, r.valid_to))) AS h FROM embedding AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: taint
-- Taints, standing and lifted. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM taint AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: taint_node
-- What taints hold or held. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM taint_node AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: workspace_settings
-- What the workspace has set. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM workspace_settings AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: member
-- Members. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM member AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: network
-- Networks. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM network AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: network_member
-- Who was in which network when. Not since when their intents wait to be judged.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(ROW(r.network_id, r.member_id, r.role,
    r.prompt, r.joined_at, r.left_at))) AS h FROM network_member AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: network_invite
-- Invites. When one was withdrawn does not count: forgetting whom it is of withdraws it, too.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(ROW(r.id, r.network_id, r.token_hash,
    r.made_by, r.ghost_id, r.created_at, r.expires_at, r.revoked_at IS NULL, r.used_at, r.used_by))) AS h FROM network_invite AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: intent
-- How intents stand. Not when they were looked for and how that went.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(ROW(r.id, r.member_id, r.side, r.state,
    r.version, r.created_at, r.changed_at, r.expires_at))) AS h FROM intent AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: intent_network
-- Where intents belong. A score counts as far as its entry says it.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(ROW(r.network_id, r.intent_id, r.member_id,
    round(r.score::numeric, 3), r.direct, r.assigned_at, r.removed_at))) AS h FROM intent_network AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: opportunity
-- Opportunities. Of the sealed body only that there is one, and nothing of how runs went.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(ROW(r.id, r.pair, r.network_id,
    r.source_id, r.target_id, r.introducer_id, r.source_intent, r.target_intent, r.source_role,
    r.target_role, r.score, r.trigger, r.state, r.data_subjects, r.body = '', r.created_at, r.changed_at,
    r.expires_at, r.source_yes_at, r.target_yes_at, r.target_found_at))) AS h FROM opportunity AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: opportunity_change
-- The states that opportunities had. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM opportunity_change AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: contact
-- Contacts. Of the sealed body only that there is one.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(ROW(r.id, r.member_id, r.person_id,
    r.data_subjects, r.body = '', r.met, r.met_at, r.link_id, r.ghost_id, r.invite_id, r.created_at,
    r.changed_at))) AS h FROM contact AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: contact_integration
-- Where contacts are read from. Not how that went.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(ROW(r.id, r.member_id, r.kind,
    r.data_subjects, r.body = '', r.created_at))) AS h FROM contact_integration AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: negotiation
-- How negotiations stand. Not turns that were taken up or failed, and when one goes on by itself.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(ROW(r.id, r.opportunity_id,
    r.network_id, r.source_id, r.candidate_id, r.source_intent, r.candidate_intent, r.source_role,
    r.candidate_role, r.score, r.trigger, r.state, r.outcome, r.cap, r.seq, r.speaker, r.head, r.undecided,
    r.fit_total, r.fit_count, r.people_asked, r.data_subjects, r.begun_at))) AS h FROM negotiation AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: negotiation_turn
-- Turns, with what was signed. Of the sealed body only that there is one.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(ROW(r.negotiation_id, r.seq, r.header,
    r.signature, r.public_key, r.position, r.data_subjects, r.body = '', r.said_at))) AS h FROM negotiation_turn AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: negotiation_private
-- What a side keeps to itself. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM negotiation_private AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: negotiator
-- Public keys of agents that members bring. Not who is there now.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(ROW(r.member_id, r.agent, r.public_key))) AS h FROM negotiator AS r
         WHERE r.workspace_id = %(workspace_id)s AND r.public_key IS NOT NULL) AS digests

-- name: persona
-- Personas. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM persona AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests
