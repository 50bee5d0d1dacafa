-- name: find
-- The present version of a workflow.
-- columns: cairn.workflows.rows.WorkflowRow
SELECT {columns} FROM workflow
 WHERE workspace_id = %(workspace_id)s AND name = %(called)s AND present

-- name: all
-- The present versions of all, by name.
-- columns: cairn.workflows.rows.WorkflowRow
SELECT {columns} FROM workflow WHERE workspace_id = %(workspace_id)s AND present ORDER BY name

-- name: versions
-- Every version of a name, the newest first.
-- columns: cairn.workflows.rows.WorkflowRow
SELECT {columns} FROM workflow
 WHERE workspace_id = %(workspace_id)s AND name = %(called)s ORDER BY version DESC

-- name: version
-- One version of a name.
-- columns: cairn.workflows.rows.WorkflowRow
SELECT {columns} FROM workflow
 WHERE workspace_id = %(workspace_id)s AND name = %(called)s AND version = %(version)s

-- name: versions_of
-- The versions of these names and numbers.
-- columns: cairn.workflows.rows.WorkflowRow
SELECT {columns} FROM workflow
 WHERE workspace_id = %(workspace_id)s
   AND (name, version) IN (SELECT * FROM unnest(%(names)s::text[], %(numbers)s::integer[]))

-- name: retire
-- What was the present version is so no longer.
UPDATE workflow SET present = false
 WHERE workspace_id = %(workspace_id)s AND name = %(called)s AND present

-- name: add
-- Keep a version; it is the present one unless it says that the workflow was removed.
INSERT INTO workflow (workspace_id, name, version, id, body, changed_at, changed_by, present, removed,
  due_at)
VALUES (%(workspace_id)s, %(name)s, %(version)s, %(id)s, %(body)s, %(changed_at)s, %(changed_by)s,
  NOT %(removed)s, %(removed)s, %(due_at)s)

-- name: due
-- Workflows that are due.
-- columns: cairn.workflows.rows.WorkflowRow
SELECT {columns} FROM workflow
 WHERE workspace_id = %(workspace_id)s AND present AND due_at <= %(now)s ORDER BY due_at, name

-- name: reschedule
-- When a workflow is due next; nothing when somebody else has begun its run.
UPDATE workflow SET due_at = %(next)s
 WHERE workspace_id = %(workspace_id)s AND name = %(called)s AND present AND due_at = %(due_at)s

-- name: begin
-- A run that begins; nothing when its id is known.
INSERT INTO workflow_run (workspace_id, id, workflow_id, workflow, version, state, step, seq,
  execution, trigger, client_id, principal_id, data_subjects, input, traceparent, created_at, moved_at)
VALUES (%(workspace_id)s, %(id)s, %(workflow_id)s, %(workflow)s, %(version)s, %(state)s, %(step)s,
  %(seq)s, %(execution)s, %(trigger)s, %(client_id)s, %(principal_id)s, %(data_subjects)s, %(input)s,
  %(traceparent)s, %(created_at)s, %(moved_at)s)
ON CONFLICT DO NOTHING

-- name: run
-- A run.
-- columns: cairn.workflows.rows.RunRow
SELECT {columns} FROM workflow_run WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: runs
-- Runs, of one workflow or in one state when asked for, the newest first.
-- columns: cairn.workflows.rows.RunRow
SELECT {columns} FROM workflow_run
 WHERE workspace_id = %(workspace_id)s AND (%(before)s::uuid IS NULL OR id < %(before)s)
   AND (%(called)s::text IS NULL OR workflow = %(called)s)
   AND (%(state)s::text IS NULL OR state = %(state)s)
 ORDER BY id DESC LIMIT %(limit)s

-- name: open
-- How many runs have not ended.
SELECT count(*)::integer FROM workflow_run
 WHERE workspace_id = %(workspace_id)s AND state IN ('running', 'waiting')

-- name: still
-- Runs that should be moving and have not since a moment, and those that have waited long enough.
-- columns: cairn.workflows.rows.RunRow
SELECT {columns} FROM workflow_run
 WHERE workspace_id = %(workspace_id)s
   AND (state = 'running' AND moved_at < %(since)s OR state = 'waiting' AND deadline <= %(now)s)
 ORDER BY moved_at LIMIT 1000

-- name: move
-- Move a run on from where it was seen; nothing when something else has moved it meanwhile.
UPDATE workflow_run SET state = %(to_state)s, step = %(to_step)s, seq = %(to_seq)s, code = %(code)s,
  execution = %(to_execution)s, began = %(to_began)s, approval = %(approval)s, deadline = %(deadline)s, data_subjects = %(about)s, input = %(input)s,
  moved_at = %(now)s,
  ended_at = CASE WHEN %(to_state)s IN ('done', 'cancelled', 'failed') THEN %(now)s END
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = %(state)s AND step = %(step)s
   AND seq = %(seq)s AND execution = %(execution)s AND began = %(began)s

-- name: results
-- What came of steps, by ids; those that are gone are left out.
SELECT id, metadata, position FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) AND label = 'StepResult'
   AND deleted_at IS NULL

-- name: counts
-- How much was written after a place in the ledger, by label.
SELECT label, count(*)::integer AS nodes FROM node
 WHERE workspace_id = %(workspace_id)s AND state = 'active' AND created_position > %(after)s
   AND label = ANY (ARRAY['Memory', 'Document', 'Event', 'Message', 'Report'])
   AND (%(clients)s::text[] IS NULL OR client_id = ANY (%(clients)s))
 GROUP BY label

-- name: newest
-- What matters most of the memories that were written after a place in the ledger.
-- columns: cairn.workflows.rows.NewNode
SELECT {columns} FROM node
 WHERE workspace_id = %(workspace_id)s AND state = 'active' AND created_position > %(after)s
   AND label = 'Memory' AND (%(clients)s::text[] IS NULL OR client_id = ANY (%(clients)s))
 ORDER BY importance DESC, created_position DESC, id DESC LIMIT %(limit)s
