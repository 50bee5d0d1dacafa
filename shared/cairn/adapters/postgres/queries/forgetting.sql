-- name: subject
-- A data subject by its name or by its id.
SELECT id, kind, natural_key FROM data_subject
 WHERE workspace_id = %(workspace_id)s
   AND (id = %(id)s::uuid OR kind = %(kind)s::text AND natural_key = %(natural_key)s::text)

-- name: find
-- A forgetting by its id, its subject or the mark of its name; the newest of several.
SELECT id, workspace_id, subject_id, kind, mark, keyed, reason, principal_id, status, position,
  begun_at, purged_position, document_ids, object_keys, counts, done_at
  FROM forgetting
 WHERE workspace_id = %(workspace_id)s
   AND (id = %(id)s::uuid OR subject_id = %(subject_id)s::uuid OR mark = %(mark)s::bytea)
 ORDER BY begun_at DESC, id DESC LIMIT 1

-- name: unfinished
-- Forgettings that were interrupted.
SELECT id, workspace_id, subject_id, kind, mark, keyed, reason, principal_id, status, position,
  begun_at, purged_position, document_ids, object_keys, counts, done_at
  FROM forgetting
 WHERE workspace_id = %(workspace_id)s AND status <> 'done'
 ORDER BY begun_at, id

-- name: newest
-- All forgettings, the newest first.
SELECT id, workspace_id, subject_id, kind, mark, keyed, reason, principal_id, status, position,
  begun_at, purged_position, document_ids, object_keys, counts, done_at
  FROM forgetting
 WHERE workspace_id = %(workspace_id)s
 ORDER BY begun_at DESC, id DESC LIMIT %(limit)s OFFSET %(offset)s

-- name: begin
-- Keep a forgetting; one of the same subject stays.
INSERT INTO forgetting (workspace_id, id, subject_id, kind, mark, keyed, reason, principal_id,
  status, position, begun_at, document_ids)
VALUES (%(workspace_id)s, %(id)s, %(subject_id)s, %(kind)s, %(mark)s, %(keyed)s, %(reason)s,
  %(principal_id)s, %(status)s, %(position)s, %(begun_at)s, %(document_ids)s)
ON CONFLICT (workspace_id, subject_id) DO NOTHING

-- name: advance
-- Move a forgetting on; what is null stays.
UPDATE forgetting
   SET status = %(status)s,
       purged_position = coalesce(%(purged_position)s, purged_position),
       object_keys = CASE WHEN %(status)s = 'done' THEN '{}' ELSE object_keys || %(object_keys)s END,
       counts = counts || %(counts)s,
       done_at = CASE WHEN %(status)s = 'done' THEN %(now)s END
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: documents
-- The documents of a source, deleted ones too.
SELECT id FROM node
 WHERE workspace_id = %(workspace_id)s AND label = 'Document' AND source_uri = %(source_uri)s
 ORDER BY id

-- name: without
-- How many nodes of documents do not name a subject.
SELECT count(*) FROM node
 WHERE workspace_id = %(workspace_id)s AND document_id = ANY (%(document_ids)s)
   AND NOT data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: doomed
-- A subject's nodes, those of documents, and all that was derived of them, entities too.
WITH RECURSIVE made AS (
  SELECT id FROM node
   WHERE workspace_id = %(workspace_id)s
     AND (data_subjects @> ARRAY[%(subject_id)s::uuid] OR document_id = ANY (%(document_ids)s)
       OR id = ANY (%(document_ids)s))
  UNION
  SELECT v.source_id FROM made
    JOIN edge_version v ON v.workspace_id = %(workspace_id)s AND v.target_id = made.id
     AND v.relation = 'DERIVED_FROM'
)
SELECT n.id, n.label = 'Entity' AND NOT n.data_subjects @> ARRAY[%(subject_id)s::uuid]
  FROM made JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = made.id
 ORDER BY n.id

-- name: revived
-- What was superseded by nodes that go and can stand again: nothing else stands in its place.
SELECT n.id FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.superseded_by = ANY (%(ids)s)
   AND n.state = 'superseded' AND n.id <> ALL (%(ids)s)
   AND NOT EXISTS (SELECT FROM node o
     WHERE o.workspace_id = n.workspace_id AND o.id <> n.id AND o.id <> ALL (%(ids)s)
       AND o.state IN ('active', 'provisional')
       AND (o.dedup_key = n.dedup_key OR o.chain_key = n.chain_key))
 ORDER BY n.id

-- name: tied
-- What speaks of a subject by a stated edge, is tied to no other customer or user, and stays.
WITH own AS MATERIALIZED (
  SELECT n.id FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.data_subjects @> ARRAY[%(subject_id)s::uuid]
     AND n.key IS NOT NULL AND n.label <> 'Memory'
), near AS (
  SELECT e.target_id AS id FROM own JOIN edge e ON e.workspace_id = %(workspace_id)s
     AND e.source_id = own.id AND e.view = 'knowledge' AND e.superseded_at IS NULL
  UNION
  SELECT e.source_id FROM own JOIN edge e ON e.workspace_id = %(workspace_id)s
     AND e.target_id = own.id AND e.view = 'knowledge' AND e.superseded_at IS NULL
)
SELECT n.id FROM near JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = near.id
 WHERE n.label IN ('Fact', 'Observation', 'Resolution', 'Ticket', 'Investigation')
   AND n.state IN ('provisional', 'active') AND n.key IS NOT NULL AND n.id <> ALL (%(ids)s)
   AND NOT n.data_subjects @> ARRAY[%(subject_id)s::uuid]
   AND NOT EXISTS (SELECT FROM edge e JOIN node o ON o.workspace_id = e.workspace_id
       AND o.id = CASE WHEN e.source_id = n.id THEN e.target_id ELSE e.source_id END
     WHERE e.workspace_id = n.workspace_id AND (e.source_id = n.id OR e.target_id = n.id)
       AND e.view = 'knowledge' AND e.superseded_at IS NULL
       AND o.label IN ('Customer', 'User') AND o.state IN ('provisional', 'active')
       AND NOT o.data_subjects @> ARRAY[%(subject_id)s::uuid])
 ORDER BY n.id

-- name: sources
-- Sources of a subject's documents, purged ones too, of which nobody else has a document.
SELECT s.id, s.kind, s.natural_key FROM data_subject s
 WHERE s.workspace_id = %(workspace_id)s AND s.kind = 'source' AND s.id <> %(subject_id)s
   AND s.id IN (SELECT unnest(l.data_subjects) FROM ledger l
     WHERE l.workspace_id = %(workspace_id)s AND l.data_subjects @> ARRAY[%(subject_id)s::uuid])
   AND NOT EXISTS (SELECT FROM node o
     WHERE o.workspace_id = %(workspace_id)s AND o.label = 'Document'
       AND o.source_uri = s.natural_key AND o.id <> ALL (%(ids)s))
   AND NOT EXISTS (SELECT FROM source k
     WHERE k.workspace_id = %(workspace_id)s AND 'source://' || k.name = s.natural_key
       AND NOT k.data_subjects @> ARRAY[%(subject_id)s::uuid])
   AND NOT EXISTS (SELECT FROM node o
     WHERE o.workspace_id = %(workspace_id)s AND o.label = 'Document'
       AND o.data_subjects @> ARRAY[s.id] AND o.id <> ALL (%(ids)s))
 ORDER BY s.id

-- name: acquaintances
-- People among a member's contacts of whom nothing is held but what the member's own entries say.
WITH mine AS (
  SELECT c.person_id FROM contact c
   WHERE c.workspace_id = %(workspace_id)s AND c.member_id = %(subject_id)s),
held AS (
  SELECT DISTINCT unnest(l.data_subjects) AS id FROM ledger l
   WHERE l.workspace_id = %(workspace_id)s AND l.type <> 'data_subject.registered'
     AND l.data_subjects && (SELECT array_agg(person_id) FROM mine)
     AND NOT l.data_subjects @> ARRAY[%(subject_id)s::uuid])
SELECT s.id, s.kind, s.natural_key FROM data_subject s
 WHERE s.workspace_id = %(workspace_id)s AND s.kind = 'person' AND s.id IN (SELECT person_id FROM mine)
   AND s.id NOT IN (SELECT id FROM held)
   AND NOT EXISTS (SELECT FROM contact o WHERE o.workspace_id = s.workspace_id
     AND o.person_id = s.id AND o.member_id <> %(subject_id)s)
 ORDER BY s.id

-- name: outside_names
-- What sources call tickets and messages about a subject, or whose text was erased before.
SELECT id AS row_id, source AS place, external_id AS name FROM ticket
 WHERE workspace_id = %(workspace_id)s
   AND (data_subjects @> ARRAY[%(subject_id)s::uuid] OR sealed = '')
   AND external_id !~ '^forgotten:[0-9a-f]{64}$'
UNION ALL
SELECT id, ticket_id::text, external_id FROM ticket_message
 WHERE workspace_id = %(workspace_id)s
   AND (data_subjects @> ARRAY[%(subject_id)s::uuid] OR sealed = '')
   AND external_id !~ '^forgotten:[0-9a-f]{64}$'

-- name: rename_tickets
-- A name that tells nobody anything, and by which the same ticket is still known again.
UPDATE ticket t SET external_id = n.name
  FROM unnest(%(ids)s::uuid[], %(names)s::text[]) AS n (id, name)
 WHERE t.workspace_id = %(workspace_id)s AND t.id = n.id

-- name: rename_ticket_messages
-- The same of messages.
UPDATE ticket_message m SET external_id = n.name
  FROM unnest(%(ids)s::uuid[], %(names)s::text[]) AS n (id, name)
 WHERE m.workspace_id = %(workspace_id)s AND m.id = n.id

-- name: erase_write_backs
-- What a help desk calls the answers to them, which may be an address with names in it.
UPDATE ticket_write_back SET reference = NULL
 WHERE workspace_id = %(workspace_id)s AND ticket_id = ANY (%(ids)s) AND reference IS NOT NULL

-- name: count
-- How many rows of each kind a subject has.
SELECT 'node.' || label AS what, count(*)::integer FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) GROUP BY label
UNION ALL
SELECT 'ledger', count(*)::integer FROM ledger
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'edge', count(*)::integer FROM edge
 WHERE workspace_id = %(workspace_id)s AND (source_id = ANY (%(ids)s) OR target_id = ANY (%(ids)s))
UNION ALL
SELECT 'embedding', count(*)::integer FROM embedding
 WHERE workspace_id = %(workspace_id)s AND node_id = ANY (%(ids)s)
UNION ALL
SELECT 'pending_message', count(*)::integer FROM pending_message
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'chat_turn', count(*)::integer FROM chat_turn
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'chat_session', count(*)::integer FROM chat_session
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'channel_inbound', count(*)::integer FROM channel_inbound
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'handoff', count(*)::integer FROM handoff
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'checkpoint', count(*)::integer FROM checkpoint
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'checkpoint_write', count(*)::integer FROM checkpoint_write
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'workflow_run', count(*)::integer FROM workflow_run
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'publication', count(*)::integer FROM publication
 WHERE workspace_id = %(workspace_id)s AND (data_subjects @> ARRAY[%(subject_id)s::uuid]
    OR shown && (%(ids)s::uuid[] || %(document_ids)s::uuid[]))
UNION ALL
SELECT 'opportunity', count(*)::integer FROM opportunity
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'hyde_document', count(*)::integer FROM hyde_document
 WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s
UNION ALL
SELECT 'feed_wording', count(*)::integer FROM feed_wording
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'contact', count(*)::integer FROM contact
 WHERE workspace_id = %(workspace_id)s
   AND (data_subjects @> ARRAY[%(subject_id)s::uuid] OR %(subject_id)s IN (link_id, ghost_id))
UNION ALL
SELECT 'contact_integration', count(*)::integer FROM contact_integration
 WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s
UNION ALL
SELECT 'negotiation', count(*)::integer FROM negotiation
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'negotiation_turn', count(*)::integer FROM negotiation_turn
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'negotiation_private', count(*)::integer FROM negotiation_private
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'negotiator', count(*)::integer FROM negotiator
 WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s::uuid
UNION ALL
SELECT 'member', count(*)::integer FROM member
 WHERE workspace_id = %(workspace_id)s AND id = %(subject_id)s
UNION ALL
SELECT 'person_member', count(*)::integer FROM person_member
 WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s
UNION ALL
SELECT 'network_member', count(*)::integer FROM network_member
 WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s
UNION ALL
SELECT 'intent_network', count(*)::integer FROM intent_network
 WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s
UNION ALL
SELECT 'ingestion', count(*)::integer FROM ingestion
 WHERE workspace_id = %(workspace_id)s AND document_id = ANY (%(ids)s::uuid[] || %(document_ids)s::uuid[])
UNION ALL
SELECT 'investigation', count(*)::integer FROM investigation
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'approval', count(*)::integer FROM approval
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'tool_call', count(*)::integer FROM tool_call
 WHERE workspace_id = %(workspace_id)s
   AND (data_subjects @> ARRAY[%(subject_id)s::uuid] OR session_id IN (SELECT n.session_id
        FROM node n WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)))
UNION ALL
SELECT 'standing_grant', count(*)::integer FROM standing_grant
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'escalation', count(*)::integer FROM escalation
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'investigation_opinion', count(*)::integer FROM investigation_opinion
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'agent', count(*)::integer FROM agent
 WHERE workspace_id = %(workspace_id)s AND owner_subject = %(subject_id)s
UNION ALL
SELECT 'kb_candidate', count(*)::integer FROM kb_candidate
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'ticket', count(*)::integer FROM ticket
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'ticket_message', count(*)::integer FROM ticket_message
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
UNION ALL
SELECT 'ticket_reply', count(*)::integer FROM ticket_reply
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: object_keys
-- Where bytes of documents may lie: what an ingestion keeps, what it was given, what was published.
SELECT DISTINCT key FROM ingestion i,
  LATERAL (VALUES ('ingestions/' || i.workspace_id || '/' || i.id || '/'), (i.object_key)) AS k (key)
 WHERE i.workspace_id = %(workspace_id)s AND i.document_id = ANY (%(ids)s::uuid[] || %(document_ids)s::uuid[])
UNION
SELECT 'sites/' || p.workspace_id || '/' || p.id || '/' FROM publication p
 WHERE p.workspace_id = %(workspace_id)s AND (p.data_subjects @> ARRAY[%(subject_id)s::uuid]
    OR p.shown && (%(ids)s::uuid[] || %(document_ids)s::uuid[]))
 ORDER BY key

-- name: erase_ingestions
-- Runs of documents through the machine, and work that waits for them.
WITH gone AS (
  DELETE FROM ingestion
   WHERE workspace_id = %(workspace_id)s AND document_id = ANY (%(ids)s::uuid[] || %(document_ids)s::uuid[])
  RETURNING id
)
DELETE FROM outbox
 WHERE workspace_id = %(workspace_id)s
   AND (reference IN (SELECT id FROM gone) OR topic = 'embed' AND node_ids && %(ids)s)

-- name: erase_publications
-- What the web shows of a subject; its files go by their prefixes.
DELETE FROM publication
 WHERE workspace_id = %(workspace_id)s AND (data_subjects @> ARRAY[%(subject_id)s::uuid]
    OR shown && (%(ids)s::uuid[] || %(document_ids)s::uuid[]))

-- name: erase_investigations
-- What investigations about a subject know; that they were stays.
UPDATE investigation SET snapshot = ''
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
   AND snapshot <> ''

-- name: erase_approvals
-- What people were asked about a subject.
UPDATE approval SET content = ''
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
   AND content <> ''

-- name: erase_tool_calls
-- What tools were given and said about a subject, and the sessions that it was spoken of in.
UPDATE tool_call SET input = '', output = '', session_id = NULL
 WHERE workspace_id = %(workspace_id)s
   AND (data_subjects @> ARRAY[%(subject_id)s::uuid] AND (input <> '' OR output <> '')
     OR session_id IN (SELECT n.session_id FROM node n
        WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)))

-- name: erase_escalations
-- Why people were called about a subject; that they were stays.
UPDATE escalation SET why = ''
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_opinions
-- What people wrote about investigations of a subject; their ratings stay.
UPDATE investigation_opinion SET content = ''
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_owners
-- That agents are a subject's; what they may do stays.
UPDATE agent SET owner = NULL, owner_subject = NULL
 WHERE workspace_id = %(workspace_id)s AND owner_subject = %(subject_id)s

-- name: erase_candidates
-- What may be learned of a subject's tickets; nobody can accept it any more.
UPDATE kb_candidate SET content = ''
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_grants
-- What was allowed in advance about a subject: a grant without content covers nothing.
UPDATE standing_grant SET content = ''
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
   AND content <> ''

-- name: erase_tickets
-- What tickets about a subject say; that they were stays, so that an old delivery brings none back.
UPDATE ticket SET sealed = '', mark = '',
  data_subjects = array_remove(data_subjects, %(subject_id)s::uuid),
  status = CASE WHEN status IN ('new', 'queued') THEN 'discarded' ELSE status END
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
   AND sealed <> ''

-- name: erase_ticket_messages
-- What requesters wrote to them later; that they did stays, so that no old delivery brings it back.
UPDATE ticket_message SET sealed = '',
  data_subjects = array_remove(data_subjects, %(subject_id)s::uuid)
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
   AND sealed <> ''

-- name: erase_ticket_replies
-- What was answered to tickets about a subject.
UPDATE ticket_reply SET sealed = '',
  data_subjects = array_remove(data_subjects, %(subject_id)s::uuid)
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]
   AND sealed <> ''

-- name: erase_intents
-- How a member's intents stood; what they said were nodes.
DELETE FROM intent WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s

-- name: erase_sources
-- A source of knowledge that is forgotten, or whose client is; with what it was known to hold.
DELETE FROM source
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_source_reports
-- What runs say of sources of documents that go; a worker that has such a report loses its run.
UPDATE source SET last_sync = jsonb_set(last_sync, '{changes}', '[]'), lease = NULL,
  last_preview = jsonb_set(last_preview, '{changes}', '[]'),
  run_report = jsonb_set(run_report, '{changes}', '[]')
 WHERE workspace_id = %(workspace_id)s
   AND id IN (SELECT source_id FROM source_item
     WHERE workspace_id = %(workspace_id)s AND document_id = ANY (%(ids)s))

-- name: erase_source_items
-- What sources call documents that go.
DELETE FROM source_item
 WHERE workspace_id = %(workspace_id)s AND document_id = ANY (%(ids)s)

-- name: erase_subject
-- The name a subject was known by.
DELETE FROM data_subject WHERE workspace_id = %(workspace_id)s AND id = %(subject_id)s

-- name: erase_pending_messages
-- What was said and is no conversation yet.
DELETE FROM pending_message
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_chats
-- Turns of chats, with what was told of them and what waits for a yes.
DELETE FROM chat_turn
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_chat_sessions
-- Sessions of a customer whom a host signed in, or a messaging channel names.
DELETE FROM chat_session
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_hand_offs
-- Chats that people took over, with all lines of them, and which messages of channels are of them.
WITH posts AS (
  DELETE FROM channel_post p USING handoff h
   WHERE p.workspace_id = %(workspace_id)s AND h.workspace_id = p.workspace_id AND h.id = p.about
     AND h.data_subjects @> ARRAY[%(subject_id)s::uuid])
DELETE FROM handoff
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_channel_inbound
-- What somebody said and clicked in messaging channels, as it came in.
DELETE FROM channel_inbound
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_checkpoints
-- States of programs.
DELETE FROM checkpoint
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_checkpoint_writes
-- What tasks of programs wrote.
DELETE FROM checkpoint_write
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_workflow_runs
-- What runs of workflows were given, and whose they are; those that have not ended fail for it.
UPDATE workflow_run SET input = '', client_id = NULL,
  data_subjects = array_remove(data_subjects, %(subject_id)s::uuid),
  code = CASE WHEN state IN ('running', 'waiting') THEN 'forgotten' ELSE code END,
  ended_at = CASE WHEN state IN ('running', 'waiting') THEN moved_at ELSE ended_at END,
  deadline = NULL,
  state = CASE WHEN state IN ('running', 'waiting') THEN 'failed' ELSE state END
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_opportunities
-- Meetings that were proposed with a subject, and how they stood.
DELETE FROM opportunity
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_hyde_documents
-- What ideal matches of a subject would say.
DELETE FROM hyde_document WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s

-- name: erase_feed_wordings
-- What models worded of a subject.
DELETE FROM feed_wording
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_feed_health
-- How a subject's feed did.
DELETE FROM feed_health WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s

-- name: erase_contacts
-- A member's contacts, and what others hold of them, as whomever they know or have invited them.
DELETE FROM contact c
 WHERE c.workspace_id = %(workspace_id)s
   AND (c.data_subjects @> ARRAY[%(subject_id)s::uuid] OR %(subject_id)s IN (c.link_id, c.ghost_id)
     OR c.invite_id IN (SELECT i.id FROM network_invite i
       WHERE i.workspace_id = c.workspace_id AND i.used_by = %(subject_id)s))

-- name: erase_contact_integrations
-- Where a member's contacts were read from.
DELETE FROM contact_integration
 WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s

-- name: erase_negotiations
-- Who a negotiation was with, and about which intents; one that has not ended ends. What was signed
-- stays: it has hashes alone.
UPDATE negotiation SET source_intent = NULL, candidate_intent = NULL, claimed_by = NULL,
  source_id = nullif(source_id, %(subject_id)s::uuid),
  candidate_id = nullif(candidate_id, %(subject_id)s::uuid),
  data_subjects = array_remove(data_subjects, %(subject_id)s::uuid),
  outcome = CASE WHEN state = 'ended' THEN outcome ELSE 'expired' END,
  ended_at = coalesce(ended_at, changed_at), deadline = NULL, claim = NULL, claim_until = NULL,
  version = version + 1, state = 'ended'
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_negotiation_turns
-- What was said by or to a subject; its hashes and signatures still verify.
UPDATE negotiation_turn SET body = '',
  data_subjects = array_remove(data_subjects, %(subject_id)s::uuid)
 WHERE workspace_id = %(workspace_id)s AND data_subjects @> ARRAY[%(subject_id)s::uuid]

-- name: erase_negotiation_privates
-- What a side kept to itself, and what its person was asked.
DELETE FROM negotiation_private
 WHERE workspace_id = %(workspace_id)s
   AND (member_id = %(subject_id)s::uuid OR data_subjects @> ARRAY[%(subject_id)s::uuid])

-- name: erase_negotiators
-- The agents that a member brought.
DELETE FROM negotiator
 WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s::uuid

-- name: erase_intent_networks
-- Where a member's intents belonged.
DELETE FROM intent_network
 WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s

-- name: erase_places
-- Where a member was, and what they said belongs there.
DELETE FROM network_member
 WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s

-- name: close_invites
-- Invites that a member made let nobody in any more; who used one was somebody.
UPDATE network_invite SET revoked_at = CASE WHEN made_by = %(subject_id)s AND used_at IS NULL
    THEN coalesce(revoked_at, now()) ELSE revoked_at END,
  made_by = nullif(made_by, %(subject_id)s::uuid), used_by = nullif(used_by, %(subject_id)s::uuid)
 WHERE workspace_id = %(workspace_id)s AND %(subject_id)s IN (made_by, used_by)

-- name: leave_networks
-- A member's networks are the workspace's now.
UPDATE network SET owner_id = NULL
 WHERE workspace_id = %(workspace_id)s AND owner_id = %(subject_id)s

-- name: erase_ties
-- That somebody who signs in was the member.
DELETE FROM person_member WHERE workspace_id = %(workspace_id)s AND member_id = %(subject_id)s

-- name: erase_member
-- Who the member was.
DELETE FROM member WHERE workspace_id = %(workspace_id)s AND id = %(subject_id)s

-- name: erase_key_conversations
-- Which public keys were bound to conversations that go.
DELETE FROM key_conversation
 WHERE workspace_id = %(workspace_id)s AND conversation_id = ANY (%(ids)s)

-- name: erase_answers
-- Answers kept for repeated requests that name nodes that go; the keys were the caller's words.
DELETE FROM idempotency AS i
 WHERE i.workspace_id = %(workspace_id)s
   AND EXISTS (SELECT FROM regexp_matches(i.answer::text,
       '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'g') AS named (id)
     WHERE named.id[1]::uuid = ANY (%(ids)s::uuid[] || %(document_ids)s::uuid[]))

-- name: erase_searches
-- Searches that considered nodes that go, or were made in their sessions. Ids are packed: 16 bytes each.
DELETE FROM search_run AS r
 WHERE r.workspace_id = %(workspace_id)s
   AND (r.returned && %(ids)s OR r.seeds && %(ids)s
     OR r.session_id = ANY (ARRAY(SELECT DISTINCT n.session_id FROM node n
          WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
            AND n.session_id IS NOT NULL))
     OR EXISTS (SELECT FROM jsonb_each(r.candidates) AS leg (name, packed),
            LATERAL (SELECT CASE WHEN jsonb_typeof(leg.packed) = 'object'
              THEN decode(leg.packed ->> 'nodes', 'base64') END) AS b (ids),
            generate_series(0, coalesce(length(b.ids), 0) / 16 - 1) AS at
          WHERE encode(substring(b.ids FROM at * 16 + 1 FOR 16), 'hex')::uuid = ANY (%(ids)s)))

-- name: erase_feedback
-- What was said of results that go.
DELETE FROM search_feedback WHERE workspace_id = %(workspace_id)s AND node_id = ANY (%(ids)s)

-- name: discard_replay
-- A rebuild under way has what goes in its rows: it begins again.
SELECT replay.discard()

-- name: erase_cached_vectors
-- Vectors made for texts that go; those of unknown texts too.
DELETE FROM embedding_cache
 WHERE workspace_id = %(workspace_id)s AND (node_id = ANY (%(ids)s) OR node_id IS NULL)
