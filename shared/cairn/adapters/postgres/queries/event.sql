-- name: around
-- The events just before and just after each place of one session and audience, each once. The time
-- is compared alone too: under row security only that condition may go through the index.
SELECT DISTINCT near.id, near.occurred_at, near.sequence, f.id AS follows_edge
  FROM unnest(%(moments)s::timestamptz[], %(sequences)s::bigint[], %(ids)s::uuid[])
    AS asked (occurred_at, sequence, id)
 CROSS JOIN LATERAL (
   (SELECT n.id, n.occurred_at, coalesce(n.sequence, -1) AS sequence FROM node n
     WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Event'
       AND n.session_id = %(session_id)s AND n.state IN ('active', 'provisional')
       AND n.scope = %(scope)s AND n.agents IS NOT DISTINCT FROM %(agents)s::text[]
       AND n.data_subjects = %(data_subjects)s::uuid[]
       AND n.occurred_at <= asked.occurred_at
       AND (n.occurred_at, coalesce(n.sequence, -1), n.id)
         < (asked.occurred_at, asked.sequence, asked.id)
     ORDER BY n.occurred_at DESC, coalesce(n.sequence, -1) DESC, n.id DESC LIMIT 1)
   UNION ALL
   (SELECT n.id, n.occurred_at, coalesce(n.sequence, -1) AS sequence FROM node n
     WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Event'
       AND n.session_id = %(session_id)s AND n.state IN ('active', 'provisional')
       AND n.scope = %(scope)s AND n.agents IS NOT DISTINCT FROM %(agents)s::text[]
       AND n.data_subjects = %(data_subjects)s::uuid[]
       AND n.occurred_at >= asked.occurred_at
       AND (n.occurred_at, coalesce(n.sequence, -1), n.id)
         > (asked.occurred_at, asked.sequence, asked.id)
     ORDER BY n.occurred_at, coalesce(n.sequence, -1), n.id LIMIT 1)
 ) AS near
  LEFT JOIN edge f ON f.workspace_id = %(workspace_id)s AND f.source_id = near.id
   AND f.view = 'temporal' AND f.relation = 'FOLLOWS' AND f.superseded_at IS NULL

-- name: visible
-- Those of the nodes that the asking agent may see.
SELECT n.id FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND n.state NOT IN ('deleted', 'quarantined')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))

-- name: one
-- One event.
SELECT n.id, n.created_position AS position, n.kind AS type, n.text, n.state, n.client_id, n.scope,
  n.occurred_at, n.recorded_at, n.importance, n.source_agent AS agent_id, n.session_id, n.sequence,
  n.trace_id, n.parent_id, n.metadata, coalesce(n.agents, '{}') AS agents, n.keywords, n.summary,
  EXISTS (SELECT FROM embedding e
           WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.id) AS embedded
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = %(id)s AND n.label = 'Event'
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))

-- name: page
-- Events, newest first, below a ledger position when asked; a type is also the namespace of others.
SELECT n.id, n.created_position AS position, n.kind AS type, n.text, n.state, n.client_id, n.scope,
  n.occurred_at, n.recorded_at, n.importance, n.source_agent AS agent_id, n.session_id, n.sequence,
  n.trace_id, n.parent_id, n.metadata, coalesce(n.agents, '{}') AS agents, n.keywords, n.summary,
  EXISTS (SELECT FROM embedding e
           WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.id) AS embedded
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Event'
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND (%(after)s::bigint IS NULL OR n.created_position < %(after)s)
   AND (%(type)s::text IS NULL OR n.kind = %(type)s OR starts_with(n.kind, %(type)s || '.'))
   AND (%(session_id)s::text IS NULL OR n.session_id = %(session_id)s)
   AND (%(agent_id)s::text IS NULL OR n.source_agent = %(agent_id)s)
   AND (%(trace_id)s::text IS NULL OR n.trace_id = %(trace_id)s)
   AND (%(client_id)s::text IS NULL OR n.client_id = %(client_id)s)
 ORDER BY n.created_position DESC, n.id DESC LIMIT %(limit)s
