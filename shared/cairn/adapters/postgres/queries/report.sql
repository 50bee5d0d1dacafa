-- name: find
-- The report of an identity, which its readers are part of.
SELECT id, created_position AS position, parent_id FROM node
 WHERE workspace_id = %(workspace_id)s AND dedup_key = %(identity)s AND label = 'Report'
   AND state IN ('active', 'provisional')

-- name: conversation
-- The conversation a report came of.
SELECT id, data_subjects FROM node
 WHERE workspace_id = %(workspace_id)s AND id = %(conversation_id)s AND label = 'Conversation'
   AND state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))

-- name: conversation_of_session
-- The newest conversation of the session a report came of.
SELECT id, data_subjects FROM node
 WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND label = 'Conversation'
   AND state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))
 ORDER BY created_position DESC LIMIT 1

-- name: latest
-- The newest reports with their bodies.
SELECT id, created_position AS position, title, keywords, scope, coalesce(agents, '{}') AS agents,
  source_agent, metadata ->> 'source_workflow' AS source_workflow, parent_id, occurred_at,
  recorded_at, text AS body
  FROM node
 WHERE workspace_id = %(workspace_id)s AND label = 'Report' AND state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))
   AND (%(keyword)s::text IS NULL OR %(keyword)s = ANY (keywords))
 ORDER BY occurred_at DESC, created_position DESC LIMIT %(limit)s

-- name: page
-- The catalogue, newest first, from after the report at a position.
SELECT id, created_position AS position, title, keywords, scope, coalesce(agents, '{}') AS agents,
  source_agent, metadata ->> 'source_workflow' AS source_workflow, parent_id, occurred_at,
  recorded_at
  FROM node
 WHERE workspace_id = %(workspace_id)s AND label = 'Report' AND state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))
   AND (%(keyword)s::text IS NULL OR %(keyword)s = ANY (keywords))
   AND (%(source_workflow)s::text IS NULL OR metadata ->> 'source_workflow' = %(source_workflow)s)
   AND (%(after)s::bigint IS NULL OR (occurred_at, created_position) < (
     SELECT p.occurred_at, p.created_position FROM node p
      WHERE p.workspace_id = %(workspace_id)s AND p.label = 'Report'
        AND p.created_position = %(after)s))
 ORDER BY occurred_at DESC, created_position DESC LIMIT %(limit)s

-- name: total
-- How many reports the catalogue has under its filter.
SELECT count(*) FROM node
 WHERE workspace_id = %(workspace_id)s AND label = 'Report' AND state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))
   AND (%(keyword)s::text IS NULL OR %(keyword)s = ANY (keywords))
   AND (%(source_workflow)s::text IS NULL OR metadata ->> 'source_workflow' = %(source_workflow)s)
