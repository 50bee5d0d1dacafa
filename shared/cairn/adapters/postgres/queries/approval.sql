-- name: add
-- Keep a question.
INSERT INTO approval (workspace_id, id, investigation_id, ticket_id, action_id, tool, binding,
  policy_version, content, state, data_subjects, asked_at, expires_at, decided_at, decided_by,
  decision_position)
VALUES (%(workspace_id)s, %(id)s, %(investigation_id)s, %(ticket_id)s, %(action_id)s, %(tool)s,
  %(binding)s, %(policy_version)s, %(content)s, %(state)s, %(data_subjects)s, %(asked_at)s,
  %(expires_at)s, %(decided_at)s, %(decided_by)s, %(decision_position)s)

-- name: find
-- A question.
SELECT id, investigation_id, ticket_id, action_id, tool, binding, policy_version, content, state,
  data_subjects, asked_at, expires_at, decided_at, decided_by, decision_position
  FROM approval WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: granted
-- Unused approvals of an investigation that have not expired, the newest first.
SELECT id, investigation_id, ticket_id, action_id, tool, binding, policy_version, content, state,
  data_subjects, asked_at, expires_at, decided_at, decided_by, decision_position
  FROM approval
 WHERE workspace_id = %(workspace_id)s AND investigation_id = %(investigation_id)s
   AND state = 'granted' AND expires_at > %(now)s
 ORDER BY id DESC

-- name: of
-- The questions of an investigation, the newest first.
SELECT id, investigation_id, ticket_id, action_id, tool, binding, policy_version, content, state,
  data_subjects, asked_at, expires_at, decided_at, decided_by, decision_position
  FROM approval
 WHERE workspace_id = %(workspace_id)s AND investigation_id = %(investigation_id)s
 ORDER BY id DESC

-- name: due
-- Pending questions that have expired, the longest first.
SELECT id, investigation_id, ticket_id, action_id, tool, binding, policy_version, content, state,
  data_subjects, asked_at, expires_at, decided_at, decided_by, decision_position
  FROM approval
 WHERE workspace_id = %(workspace_id)s AND state = 'pending' AND expires_at <= %(now)s
 ORDER BY expires_at LIMIT %(limit)s

-- name: decide
-- Decide a pending question. An expired one can only expire or be void.
UPDATE approval
   SET state = %(state)s, decided_at = %(now)s, decided_by = %(by)s,
       decision_position = %(position)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'pending'
   AND (expires_at > %(now)s OR %(state)s IN ('expired', 'void'))

-- name: use
-- Use an approval up.
UPDATE approval SET state = 'used'
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'granted'

-- name: keep_token
-- Keep the token of the execution that waits.
UPDATE approval SET task_token = %(token)s WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: token
-- The token of a question that is decided.
SELECT task_token(%(id)s)

-- name: page
-- Questions, the newest first.
SELECT id, investigation_id, ticket_id, action_id, tool, binding, policy_version, content, state,
  data_subjects, asked_at, expires_at, decided_at, decided_by, decision_position
  FROM approval
 WHERE workspace_id = %(workspace_id)s
   AND (%(before)s::uuid IS NULL OR id < %(before)s)
   AND (%(state)s::text IS NULL OR state = %(state)s)
 ORDER BY id DESC LIMIT %(limit)s

-- name: pending
-- How many wait.
SELECT count(*) FROM approval WHERE workspace_id = %(workspace_id)s AND state = 'pending'
