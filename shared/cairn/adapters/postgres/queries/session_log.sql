-- name: askers
-- Whose chats there are: the hash of a chat's session is of these, and of its name.
SELECT DISTINCT principal_id, coalesce(client_id, '') AS client_id FROM chat_turn
 WHERE workspace_id = %(workspace_id)s

-- name: page
-- What is logged of a session before a line, the newest first: no texts.
SELECT id, at, source, subject_id, name, state, error, duration_ms
  FROM (
    SELECT r.id, r.recorded_at AS at, 'search' AS source, r.id AS subject_id, 'recall' AS name,
      CASE WHEN r.degraded = '{}' THEN 'done' ELSE 'degraded' END AS state,
      nullif(array_to_string(r.degraded, ','), '') AS error, r.duration_ms
      FROM search_run r
     WHERE r.workspace_id = %(workspace_id)s AND r.session_id = %(session_id)s
    UNION ALL
    SELECT c.id, c.proposed_at, 'tool', c.id, c.connector || '.' || c.tool, c.state,
      coalesce(c.error, CASE WHEN c.is_error THEN 'tool-error' END),
      extract(epoch FROM c.completed_at - c.started_at) * 1000
      FROM tool_call c
     WHERE c.workspace_id = %(workspace_id)s AND c.session_id = %(session_id)s
    UNION ALL
    SELECT md5(e.turn_id::text || e.seq)::uuid, e.at, 'chat', e.turn_id,
      concat_ws(' ', e.name, coalesce(e.data ->> 'tool', e.data ->> 'name')),
      e.data ->> 'state', e.data ->> 'error', (e.data ->> 'duration_ms')::double precision
      FROM chat_turn t
      JOIN chat_event e ON e.workspace_id = t.workspace_id AND e.turn_id = t.id
     WHERE t.workspace_id = %(workspace_id)s AND t.session = ANY (%(sessions)s)
       AND e.name <> 'text_chunk'
    UNION ALL
    SELECT n.id, n.recorded_at, lower(n.label), n.id, n.kind, n.state, NULL, NULL
      FROM node n
     WHERE n.workspace_id = %(workspace_id)s AND n.session_id = %(session_id)s
       AND n.label IN ('Event', 'Message') AND n.state <> 'deleted'
  ) AS line
 WHERE (%(stream)s = 'all'
        OR %(stream)s = 'errors' AND error IS NOT NULL
        OR %(stream)s = 'events' AND source IN ('event', 'chat'))
   AND (%(before)s::timestamptz IS NULL OR (at, id) < (%(before)s, %(before_id)s::uuid))
 ORDER BY at DESC, id DESC LIMIT %(limit)s
