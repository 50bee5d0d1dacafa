-- name: choose
-- What an agent's snapshot would hold: what is tagged for it and what its subscription found, of nobody
-- in particular, pinned and important ones first.
SELECT n.id FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.state = 'active' AND NOT n.never_recall
   AND n.client_id = 'global' AND n.namespace IS NULL AND n.screening = 'clean' AND n.text <> ''
   AND n.label <> ALL (%(left_out)s)
   AND (n.agents @> ARRAY[%(agent)s]::text[] OR n.id = ANY (%(subscribed)s))
 ORDER BY n.pinned DESC, n.importance DESC, n.created_position DESC, n.id DESC LIMIT %(limit)s

-- name: read
-- What a snapshot holds as its reader may see it now.
-- columns: cairn.sessions.knowledge.KnownNode
SELECT {columns} FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) AND state = 'active'
   AND NOT never_recall AND screening = 'clean' AND client_id = 'global'
 ORDER BY array_position(%(ids)s, id)

-- name: newest
-- The newest snapshot of an agent, or one version of it.
-- columns: cairn.sessions.knowledge.Snapshot
SELECT {columns} FROM agent_snapshot
 WHERE workspace_id = %(workspace_id)s AND agent = %(agent)s
   AND (%(version)s::integer IS NULL OR version = %(version)s)
 ORDER BY version DESC LIMIT 1

-- name: unchecked
-- The newest snapshots that nobody compared since a moment.
-- columns: cairn.sessions.knowledge.Snapshot
SELECT {columns} FROM (
  SELECT DISTINCT ON (agent) * FROM agent_snapshot
   WHERE workspace_id = %(workspace_id)s ORDER BY agent, version DESC) AS newest
 WHERE checked_at < %(since)s ORDER BY agent

-- name: add
-- A snapshot that was baked.
INSERT INTO agent_snapshot (workspace_id, agent, version, node_ids, summarised, max_chars, position,
  baked_at, checked_at)
VALUES (%(workspace_id)s, %(agent)s, %(version)s, %(node_ids)s, %(summarised)s, %(max_chars)s,
  %(position)s, %(baked_at)s, %(checked_at)s)

-- name: checked
-- That a snapshot holds what it would hold now.
UPDATE agent_snapshot SET checked_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND agent = %(agent)s AND version = %(version)s

-- name: prune
-- Drop an agent's snapshots up to a version.
DELETE FROM agent_snapshot
 WHERE workspace_id = %(workspace_id)s AND agent = %(agent)s AND version <= %(version)s
