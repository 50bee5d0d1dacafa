-- name: around
-- The events just before and just after each place of one session and audience, each once.
SELECT DISTINCT near.id, near.occurred_at, near.sequence, f.id AS follows_edge
  FROM unnest(%(moments)s::timestamptz[], %(sequences)s::bigint[], %(ids)s::uuid[])
    AS asked (occurred_at, sequence, id)
 CROSS JOIN LATERAL (
   (SELECT n.id, n.occurred_at, coalesce(n.sequence, -1) AS sequence FROM node n
     WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Event'
       AND n.session_id = %(session_id)s AND n.state IN ('active', 'provisional')
       AND n.scope = %(scope)s AND n.agents IS NOT DISTINCT FROM %(agents)s::text[]
       AND n.data_subjects = %(data_subjects)s::uuid[]
       AND (n.occurred_at, coalesce(n.sequence, -1), n.id)
         < (asked.occurred_at, asked.sequence, asked.id)
     ORDER BY n.occurred_at DESC, coalesce(n.sequence, -1) DESC, n.id DESC LIMIT 1)
   UNION ALL
   (SELECT n.id, n.occurred_at, coalesce(n.sequence, -1) AS sequence FROM node n
     WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Event'
       AND n.session_id = %(session_id)s AND n.state IN ('active', 'provisional')
       AND n.scope = %(scope)s AND n.agents IS NOT DISTINCT FROM %(agents)s::text[]
       AND n.data_subjects = %(data_subjects)s::uuid[]
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
   AND (current_agent() IS NULL OR current_agent() = ANY (n.agents))
