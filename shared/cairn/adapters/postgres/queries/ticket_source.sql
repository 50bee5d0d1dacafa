-- name: add
-- Keep a source with its sealed secrets; a name that is taken changes nothing.
INSERT INTO ticket_source (workspace_id, id, name, kind, config, secrets, persona, state,
  poll_seconds, created_at, next_poll_at)
VALUES (%(workspace_id)s, %(id)s, %(called)s, %(kind)s, %(config)s, %(secrets)s, %(persona)s,
  %(state)s, %(poll_seconds)s, %(created_at)s, %(created_at)s)
ON CONFLICT (workspace_id, name) DO NOTHING

-- name: find
-- A source by its id or by its name.
SELECT id, name, kind, config, persona, state, poll_seconds, created_at, polled_at, failures, error
  FROM ticket_source
 WHERE workspace_id = %(workspace_id)s
   AND (%(id)s::uuid IS NULL OR id = %(id)s) AND (%(called)s::text IS NULL OR name = %(called)s)

-- name: all
-- Every source, by name.
SELECT id, name, kind, config, persona, state, poll_seconds, created_at, polled_at, failures, error
  FROM ticket_source WHERE workspace_id = %(workspace_id)s ORDER BY name

-- name: secrets
-- The sealed secrets of a source.
SELECT secrets FROM ticket_source WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: cursor
-- How far polling got.
SELECT cursor FROM ticket_source WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: change
-- Other settings, another state; other secrets when there are any.
UPDATE ticket_source SET config = %(config)s, persona = %(persona)s, state = %(state)s,
  poll_seconds = %(poll_seconds)s, secrets = coalesce(%(secrets)s, secrets),
  failures = %(failures)s, error = %(error)s, next_poll_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: polled
-- How far polling got, and when it is due again; that it was answered mends a refused sign-in.
UPDATE ticket_source SET cursor = %(cursor)s, polled_at = %(now)s, failures = 0, error = NULL,
  state = CASE WHEN state = 'needs-auth' THEN 'active' ELSE state END,
  next_poll_at = %(now)s + poll_seconds * interval '1 second'
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: failed
-- Why polling failed; it waits twice as long each time, up to an hour or its own interval. A paused
-- one stays so.
UPDATE ticket_source SET error = %(error)s,
  state = CASE WHEN state = 'paused' THEN state ELSE %(state)s END, failures = failures + 1,
  next_poll_at = %(now)s
    + least(poll_seconds * power(2, least(failures, 10)), greatest(3600, poll_seconds))
      * interval '1 second'
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: remove
-- A source goes with what it was sent, and with what it was signed in by; its tickets stay.
WITH signed_out AS (
  DELETE FROM oauth_sign_in WHERE workspace_id = %(workspace_id)s AND holder_id = %(id)s
)
DELETE FROM ticket_source WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: event
-- Keep that a delivery arrived; one that did before changes nothing. Old ones leave.
WITH old AS (
  DELETE FROM ticket_delivery
   WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s
     AND received_at < %(now)s - interval '7 days' AND delivery_id <> %(delivery_id)s
)
INSERT INTO ticket_delivery (workspace_id, source_id, delivery_id, received_at)
VALUES (%(workspace_id)s, %(source_id)s, %(delivery_id)s, %(now)s)
ON CONFLICT DO NOTHING

-- name: workspace_of
-- Whose a source is; of any workspace.
SELECT workspace_of_source(%(id)s)

-- name: due
-- The sources that are to be polled; of every workspace.
SELECT workspace_id, id FROM sources_due(%(at)s, %(limit)s)
