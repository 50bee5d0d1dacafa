-- name: add
-- Keep a proposed or denied action; the same again changes nothing.
INSERT INTO tool_call (workspace_id, id, investigation_id, connector, tool, lane, digest, state,
  dry_run, is_error, input, output, data_subjects, proposed_at, started_at, completed_at, error,
  session_id, principal_id)
VALUES (%(workspace_id)s, %(id)s, %(investigation_id)s, %(connector)s, %(tool)s, %(lane)s,
  %(digest)s, %(state)s, %(dry_run)s, %(is_error)s, %(input)s, %(output)s, %(data_subjects)s,
  %(proposed_at)s, %(started_at)s, %(completed_at)s, %(error)s, %(session_id)s,
  %(principal_id)s)
ON CONFLICT (workspace_id, id) DO NOTHING

-- name: find
-- An action.
SELECT id, investigation_id, connector, tool, lane, digest, state, dry_run, is_error, input, output,
  data_subjects, proposed_at, started_at, completed_at, error, session_id, principal_id
  FROM tool_call WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: same
-- The newest action of a digest that was not denied.
SELECT id, investigation_id, connector, tool, lane, digest, state, dry_run, is_error, input, output,
  data_subjects, proposed_at, started_at, completed_at, error, session_id, principal_id
  FROM tool_call
 WHERE workspace_id = %(workspace_id)s AND investigation_id = %(investigation_id)s
   AND digest = %(digest)s AND state <> 'denied'
 ORDER BY id DESC LIMIT 1

-- name: earlier
-- Writes by a tool that other investigations of a ticket made, or may have made, the newest first.
SELECT c.id, c.investigation_id, c.connector, c.tool, c.lane, c.digest, c.state, c.dry_run,
  c.is_error, c.input, c.output, c.data_subjects, c.proposed_at, c.started_at, c.completed_at,
  c.error, c.session_id, c.principal_id
  FROM investigation i
  JOIN tool_call c ON c.workspace_id = i.workspace_id AND c.investigation_id = i.id
 WHERE i.workspace_id = %(workspace_id)s AND i.ticket_id = %(ticket_id)s AND i.id <> %(but)s
   AND c.connector = %(connector)s AND c.tool = %(tool)s AND c.lane <> 'read' AND NOT c.dry_run
   AND c.state IN ('started', 'applied', 'unknown')
 ORDER BY c.id DESC LIMIT %(limit)s

-- name: recent
-- Reads of late that brought a result, by other investigations of a ticket or of a data subject's
-- tickets, the newest first. Both the ticket and the call have to be about the data subject.
SELECT c.id, c.investigation_id, c.connector, c.tool, c.lane, c.digest, c.state, c.dry_run,
  c.is_error, c.input, c.output, c.data_subjects, c.proposed_at, c.started_at, c.completed_at,
  c.error, c.session_id, c.principal_id
  FROM tool_call c
  JOIN investigation i ON i.workspace_id = c.workspace_id AND i.id = c.investigation_id
  JOIN ticket t ON t.workspace_id = i.workspace_id AND t.id = i.ticket_id
 WHERE c.workspace_id = %(workspace_id)s AND c.completed_at >= %(since)s
   AND c.lane = 'read' AND c.state = 'applied' AND NOT c.dry_run AND NOT c.is_error
   AND c.output <> '' AND c.investigation_id <> %(but)s
   AND (%(owner)s::uuid IS NULL OR %(owner)s = ANY (c.data_subjects))
   AND (t.id = %(ticket_id)s OR %(owner)s = ANY (t.data_subjects)
        AND (NOT %(alone)s OR t.data_subjects <@ ARRAY[%(owner)s::uuid]))
 ORDER BY c.completed_at DESC, c.id DESC LIMIT %(limit)s

-- name: open
-- What was started and has no end.
SELECT id, investigation_id, connector, tool, lane, digest, state, dry_run, is_error, input, output,
  data_subjects, proposed_at, started_at, completed_at, error, session_id, principal_id
  FROM tool_call
 WHERE workspace_id = %(workspace_id)s AND investigation_id = %(investigation_id)s
   AND state = 'started'
 ORDER BY id

-- name: deny
-- Deny a proposed action: the rules changed before it started.
UPDATE tool_call SET state = 'denied', error = %(error)s, completed_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'proposed'

-- name: start
-- Start a proposed action.
UPDATE tool_call SET state = 'started', dry_run = %(dry_run)s, started_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'proposed'

-- name: end
-- End a started action.
UPDATE tool_call
   SET state = %(state)s, output = %(output)s, is_error = %(is_error)s, error = %(error)s,
       completed_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'started'

-- name: page
-- Actions, the newest first.
SELECT id, investigation_id, connector, tool, lane, digest, state, dry_run, is_error, input, output,
  data_subjects, proposed_at, started_at, completed_at, error, session_id, principal_id
  FROM tool_call
 WHERE workspace_id = %(workspace_id)s
   AND (%(before)s::uuid IS NULL OR id < %(before)s)
   AND (%(investigation_id)s::uuid IS NULL OR investigation_id = %(investigation_id)s)
   AND (%(caller)s::uuid IS NULL OR principal_id = %(caller)s)
   AND (%(connector)s::text IS NULL OR connector = %(connector)s)
   AND (%(session_id)s::text IS NULL OR session_id = %(session_id)s)
 ORDER BY id DESC LIMIT %(limit)s
