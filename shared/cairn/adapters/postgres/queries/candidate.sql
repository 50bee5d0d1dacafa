-- name: add
-- Keep a candidate; an investigation has one.
INSERT INTO kb_candidate (workspace_id, id, investigation_id, ticket_id, cause, state, content,
  data_subjects, staged_at, decided_at, reason)
VALUES (%(workspace_id)s, %(id)s, %(investigation_id)s, %(ticket_id)s, %(cause)s, %(state)s,
  %(content)s, %(data_subjects)s, %(staged_at)s, %(decided_at)s, %(reason)s)
ON CONFLICT (workspace_id, investigation_id) DO NOTHING

-- name: find
-- A candidate.
SELECT id, investigation_id, ticket_id, cause, state, content, data_subjects, staged_at, edited_at,
  decided_at, decided_by, reason, document_id, ingestion_id
  FROM kb_candidate WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: edit
-- Replace what a candidate says that waits.
UPDATE kb_candidate SET content = %(content)s, edited_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'staged'

-- name: decide
-- Decide a candidate that waits.
UPDATE kb_candidate
   SET state = %(state)s, decided_at = %(now)s, decided_by = %(by)s, reason = %(reason)s,
       content = coalesce(%(content)s::bytea, content)
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'staged'

-- name: stored
-- Which document a candidate became.
UPDATE kb_candidate SET document_id = %(document_id)s, ingestion_id = %(ingestion_id)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'accepted'

-- name: page
-- Candidates, the newest first.
SELECT id, investigation_id, ticket_id, cause, state, content, data_subjects, staged_at, edited_at,
  decided_at, decided_by, reason, document_id, ingestion_id
  FROM kb_candidate
 WHERE workspace_id = %(workspace_id)s
   AND (%(before)s::uuid IS NULL OR id < %(before)s)
   AND (%(state)s::text IS NULL OR state = %(state)s)
 ORDER BY id DESC LIMIT %(limit)s

-- name: unreviewed
-- Candidates that nobody decided on, the oldest first.
SELECT id, investigation_id, ticket_id, cause, state, content, data_subjects, staged_at, edited_at,
  decided_at, decided_by, reason, document_id, ingestion_id
  FROM kb_candidate
 WHERE workspace_id = %(workspace_id)s AND state = 'staged' AND staged_at < %(before)s
 ORDER BY staged_at, id LIMIT %(limit)s

-- name: due
-- Resolved investigations that may be learned from, and why: rated well, or old and undisputed;
-- none that somebody rated poorly.
SELECT i.id, CASE WHEN r.rated THEN 'rated' ELSE 'undisputed' END
  FROM investigation i
  CROSS JOIN LATERAL (
    SELECT coalesce(bool_or(o.rating >= 4), false) AS rated,
      coalesce(bool_or(o.rating IS NULL OR o.rating <= 2), false) AS disputed
      FROM investigation_opinion o
     WHERE o.workspace_id = i.workspace_id AND o.investigation_id = i.id) AS r
 WHERE i.workspace_id = %(workspace_id)s AND i.verdict = 'auto_resolved' AND i.state = 'DONE'
   AND i.ended_at IS NOT NULL AND NOT r.disputed AND (r.rated OR i.ended_at < %(before)s)
   AND NOT EXISTS (SELECT FROM kb_candidate c
     WHERE c.workspace_id = i.workspace_id AND c.investigation_id = i.id)
 ORDER BY i.ended_at, i.id LIMIT %(limit)s

-- name: observed
-- What tools did for a customer in each investigation, the newest first; no reads, no rehearsals.
SELECT t.connector || '.' || t.tool AS tool, t.state AS outcome, s.natural_key AS customer,
  t.investigation_id, max(t.completed_at) AS at
  FROM tool_call t
  JOIN investigation i ON i.workspace_id = t.workspace_id AND i.id = t.investigation_id
  JOIN ticket k ON k.workspace_id = i.workspace_id AND k.id = i.ticket_id
  JOIN data_subject s ON s.workspace_id = k.workspace_id AND s.id = ANY (k.data_subjects)
   AND s.kind = 'client'
 WHERE t.workspace_id = %(workspace_id)s AND t.completed_at >= %(since)s
   AND t.state IN ('applied', 'failed') AND NOT t.dry_run
   AND NOT (t.state = 'applied' AND t.lane = 'read')
 GROUP BY 1, 2, 3, 4
 ORDER BY 5 DESC, 1, 2, 3, 4 LIMIT %(limit)s
