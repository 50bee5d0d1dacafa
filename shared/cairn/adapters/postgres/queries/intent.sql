-- name: add
-- Keep how a new intent stands.
INSERT INTO intent (workspace_id, id, member_id, side, state, version, created_at, changed_at,
  expires_at, discovered_at)
VALUES (%(workspace_id)s, %(id)s, %(member_id)s, %(side)s, %(state)s, %(version)s, %(created_at)s,
  %(changed_at)s, %(expires_at)s, %(discovered_at)s)
ON CONFLICT DO NOTHING

-- name: move
-- Move an intent on from the version it was seen at.
UPDATE intent
   SET side = %(side)s, state = %(state)s, version = version + 1, changed_at = %(changed_at)s,
       expires_at = %(expires_at)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND version = %(seen)s

-- name: find
-- How an intent stands.
-- columns: cairn.discovery.intents.rows.IntentRow
SELECT {columns} FROM intent WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: open
-- A member's intents that are not over, the oldest first.
-- columns: cairn.discovery.intents.rows.IntentRow
SELECT {columns} FROM intent
 WHERE workspace_id = %(workspace_id)s AND member_id = %(member_id)s AND state IN ('active', 'paused')
 ORDER BY id

-- name: page
-- A member's intents, the newest first.
-- columns: cairn.discovery.intents.rows.IntentRow
SELECT {columns} FROM intent
 WHERE workspace_id = %(workspace_id)s AND member_id = %(member_id)s
   AND (%(states)s::text[] IS NULL OR state = ANY (%(states)s::text[]))
   AND (%(before)s::uuid IS NULL OR id < %(before)s::uuid)
 ORDER BY id DESC LIMIT %(limit)s

-- name: due
-- Intents whose time is over.
-- columns: cairn.discovery.intents.rows.IntentRow
SELECT {columns} FROM intent
 WHERE workspace_id = %(workspace_id)s AND state IN ('active', 'paused') AND expires_at <= %(now)s
 ORDER BY expires_at, id LIMIT %(limit)s

-- name: texts
-- What nodes of members say.
-- columns: cairn.discovery.intents.rows.TextRow
SELECT {columns} FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s)
   AND label IN ('Intent', 'Member', 'Premise') AND state NOT IN ('deleted', 'quarantined')
 ORDER BY id

-- name: texts_as_of
-- A member's nodes of a label as they were at a ledger position.
-- columns: cairn.discovery.intents.rows.TextRow
SELECT {columns} FROM node_version
 WHERE workspace_id = %(workspace_id)s AND client_id = %(client_id)s AND label = %(label)s
   AND from_position <= %(position)s
   AND %(position)s < coalesce(to_position, 9223372036854775807)
   AND state NOT IN ('deleted', 'quarantined')
 ORDER BY id DESC LIMIT %(limit)s

-- name: premises
-- What a member says of themselves and has not retracted.
-- columns: cairn.discovery.intents.rows.TextRow
SELECT {columns} FROM node
 WHERE workspace_id = %(workspace_id)s AND parent_id = %(profile_id)s AND label = 'Premise'
   AND state = 'active' AND (expires_at IS NULL OR expires_at > %(now)s)
 ORDER BY id LIMIT %(limit)s

-- name: document
-- What a document of a client says, part by part.
SELECT n.text FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.document_id = %(id)s AND n.label = 'Chunk'
   AND n.client_id = %(client_id)s AND n.state = 'active'
   AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
 ORDER BY n.ordinal, n.id LIMIT %(limit)s

-- name: conversation
-- What a client wrote in a conversation, message by message.
SELECT n.text FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.parent_id = %(id)s AND n.label = 'Message'
   AND n.client_id = %(client_id)s AND n.kind = 'user' AND n.state = 'active'
   AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
 ORDER BY n.created_position LIMIT %(limit)s

-- name: memories
-- What is remembered of a client, the newest first.
SELECT n.text FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Memory' AND n.state = 'active'
   AND n.client_id = %(client_id)s AND n.kind = 'fact'
   AND (n.expires_at IS NULL OR n.expires_at > now())
   AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
 ORDER BY n.created_position DESC LIMIT %(limit)s

-- name: unassign
-- An intent that is over belongs to no network.
UPDATE intent_network SET removed_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND intent_id = ANY (%(ids)s) AND removed_at IS NULL

-- name: opportunities
-- Opportunities that are not ended and rest on intents.
SELECT id FROM opportunity
 WHERE workspace_id = %(workspace_id)s AND state NOT IN ('accepted', 'rejected', 'expired')
   AND (source_intent = ANY (%(ids)s) OR target_intent = ANY (%(ids)s))
 ORDER BY id

-- name: drop_lenses
-- Hypothetical documents of intents that are over.
DELETE FROM hyde_document WHERE workspace_id = %(workspace_id)s AND source_id = ANY (%(ids)s)

-- name: uncleaned
-- Intents that are over and on which something that is not ended rests.
SELECT DISTINCT i.id
  FROM opportunity o JOIN intent i ON i.workspace_id = o.workspace_id
   AND i.id IN (o.source_intent, o.target_intent) AND i.state IN ('expired', 'archived')
 WHERE o.workspace_id = %(workspace_id)s AND o.state NOT IN ('accepted', 'rejected', 'expired')
 ORDER BY i.id LIMIT %(limit)s
