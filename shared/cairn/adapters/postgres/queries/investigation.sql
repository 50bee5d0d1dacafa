-- name: add
-- Keep a new investigation, unless its ticket has one that is in no end state.
INSERT INTO investigation (workspace_id, id, ticket_id, persona, state, snapshot, data_subjects, run,
  execution, traceparent, created_at, moved_at)
VALUES (%(workspace_id)s, %(id)s, %(ticket_id)s, %(persona)s, %(state)s, %(snapshot)s,
  %(data_subjects)s, %(run)s, %(execution)s, %(traceparent)s, %(created_at)s, %(moved_at)s)
ON CONFLICT (workspace_id, ticket_id) WHERE state NOT IN ('DONE', 'HALTED') DO NOTHING

-- name: find
-- An investigation without its working memory.
SELECT id, ticket_id, persona, state, verdict, tokens, usd, ms, iterations, unpriced_calls,
  data_subjects, run, execution, traceparent, error, created_at, moved_at, ended_at
  FROM investigation WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: snapshot
-- The sealed working memory of the last transition.
SELECT snapshot FROM investigation WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: move
-- Make a transition, if nothing has moved it since and the run is the same; what is null stays.
UPDATE investigation
   SET state = %(target)s, snapshot = %(snapshot)s, tokens = %(tokens)s, usd = %(usd)s, ms = %(ms)s,
       iterations = %(iterations)s, unpriced_calls = %(unpriced_calls)s,
       verdict = coalesce(%(verdict)s, verdict), error = coalesce(%(error)s, error),
       data_subjects = coalesce(%(data_subjects)s::uuid[], data_subjects), moved_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND run = %(run)s
   AND state = %(source)s AND moved_at = %(since)s

-- name: close
-- Everybody was told how it ended.
UPDATE investigation SET ended_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state IN ('DONE', 'HALTED')
   AND ended_at IS NULL

-- name: spend
-- Keep what a step spent that did not get to a transition.
UPDATE investigation
   SET tokens = %(tokens)s, usd = %(usd)s, ms = %(ms)s, iterations = %(iterations)s,
       unpriced_calls = %(unpriced_calls)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND run = %(run)s

-- name: rerun
-- Another execution takes it up; the one that has it already is not counted again.
UPDATE investigation
   SET run = run + CASE WHEN execution = %(execution)s THEN 0 ELSE 1 END,
       execution = %(execution)s, moved_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s
RETURNING run

-- name: add_steps
-- Append lines; those without a number are given the next ones, in their order.
INSERT INTO investigation_step (workspace_id, investigation_id, seq, state, system, action, kind, ms,
  position, line, at)
SELECT %(workspace_id)s, %(id)s,
  CASE WHEN r.seq > 0 THEN r.seq
       ELSE last.seq + count(*) FILTER (WHERE r.seq = 0) OVER (ORDER BY r.ordinal) END,
  r.state, r.system, r.action, r.kind, r.ms, r.position, r.line, r.at
  FROM ROWS FROM (jsonb_to_recordset(%(rows)s::jsonb) AS (seq integer, state text, system text,
         action text, kind text, ms bigint, position bigint, line integer, at timestamptz))
       WITH ORDINALITY AS r (seq, state, system, action, kind, ms, position, line, at, ordinal)
 CROSS JOIN (SELECT coalesce(max(s.seq), 0) AS seq FROM investigation_step s
              WHERE s.workspace_id = %(workspace_id)s AND s.investigation_id = %(id)s) AS last

-- name: steps
-- Lines of the timeline after a number.
SELECT seq, state, system, action, kind, ms, position, line, at
  FROM investigation_step
 WHERE workspace_id = %(workspace_id)s AND investigation_id = %(id)s AND seq > %(after)s
 ORDER BY seq LIMIT %(limit)s

-- name: page
-- Investigations, the newest first.
SELECT id, ticket_id, persona, state, verdict, tokens, usd, ms, iterations, unpriced_calls,
  data_subjects, run, execution, traceparent, error, created_at, moved_at, ended_at
  FROM investigation
 WHERE workspace_id = %(workspace_id)s
   AND (%(before)s::uuid IS NULL OR id < %(before)s)
   AND (%(state)s::text IS NULL OR state = %(state)s)
   AND (%(ticket_id)s::uuid IS NULL OR ticket_id = %(ticket_id)s)
 ORDER BY id DESC LIMIT %(limit)s

-- name: stale
-- Those that should be moving and have not moved, the longest first.
SELECT id, ticket_id, persona, state, verdict, tokens, usd, ms, iterations, unpriced_calls,
  data_subjects, run, execution, traceparent, error, created_at, moved_at, ended_at
  FROM investigation
 WHERE workspace_id = %(workspace_id)s
   AND ended_at IS NULL AND state <> 'WAITING_APPROVAL' AND moved_at < %(before)s
 ORDER BY moved_at LIMIT %(limit)s

-- name: progress
-- How far each of some investigations is: what has changed is looked at, nothing else.
SELECT i.id, i.moved_at, i.ended_at, coalesce(
         (SELECT max(s.seq) FROM investigation_step s
           WHERE s.workspace_id = %(workspace_id)s AND s.investigation_id = i.id), 0) AS seq
  FROM investigation i
 WHERE i.workspace_id = %(workspace_id)s AND i.id = ANY (%(ids)s::uuid[])
