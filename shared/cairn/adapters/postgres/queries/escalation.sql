-- name: add
-- Keep a call of a person; an investigation has one.
INSERT INTO escalation (workspace_id, id, investigation_id, ticket_id, verdict, channel, state, why,
  data_subjects, queued_at, updated_at)
VALUES (%(workspace_id)s, %(id)s, %(investigation_id)s, %(ticket_id)s, %(verdict)s, %(channel)s,
  'queued', %(why)s, %(data_subjects)s, %(queued_at)s, %(queued_at)s)
ON CONFLICT (workspace_id, investigation_id) DO NOTHING

-- name: find
-- A call by its id or its investigation's.
SELECT id, investigation_id, ticket_id, verdict, channel, state, why, data_subjects, attempts, noted,
  error, queued_at, updated_at, delivered_at
  FROM escalation
 WHERE workspace_id = %(workspace_id)s
   AND (id = %(id)s::uuid OR investigation_id = %(investigation_id)s::uuid)

-- name: tried
-- Count a try and keep what came of it.
UPDATE escalation
   SET state = %(state)s, channel = %(channel)s, noted = noted OR %(noted)s, error = %(error)s,
       attempts = attempts + 1, updated_at = %(now)s,
       delivered_at = CASE WHEN %(state)s = 'delivered' THEN %(now)s::timestamptz END
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'queued'

-- name: requeue
-- Queue a failed one anew.
UPDATE escalation SET state = 'queued', attempts = 0, updated_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'failed'

-- name: page
-- Calls, the newest first.
SELECT id, investigation_id, ticket_id, verdict, channel, state, why, data_subjects, attempts, noted,
  error, queued_at, updated_at, delivered_at
  FROM escalation
 WHERE workspace_id = %(workspace_id)s
   AND (%(before)s::uuid IS NULL OR id < %(before)s)
   AND (%(state)s::text IS NULL OR state = %(state)s)
 ORDER BY id DESC LIMIT %(limit)s

-- name: add_channel
-- Keep a channel with its sealed address.
INSERT INTO escalation_channel (workspace_id, name, kind, url, created_at, created_by)
VALUES (%(workspace_id)s, %(called)s, %(kind)s, %(url)s, %(created_at)s, %(created_by)s)
ON CONFLICT (workspace_id, name) DO NOTHING

-- name: channels
-- Channels by name: one, or all.
SELECT name, kind, created_at, created_by, url
  FROM escalation_channel
 WHERE workspace_id = %(workspace_id)s AND (%(called)s::text IS NULL OR name = %(called)s)
 ORDER BY name

-- name: remove_channel
-- Remove a channel.
DELETE FROM escalation_channel WHERE workspace_id = %(workspace_id)s AND name = %(called)s
