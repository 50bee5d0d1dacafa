-- name: add
-- Keep a webhook with its sealed secret.
INSERT INTO webhook (workspace_id, id, url, events, secret, created_at)
VALUES (%(workspace_id)s, %(id)s, %(url)s, %(events)s, %(secret)s, %(now)s)

-- name: all
-- Every webhook, newest first, with what waits and what failed.
SELECT w.id, w.url, w.events, w.created_at, w.disabled_at,
  count(d.id) FILTER (WHERE d.state = 'waiting') AS waiting,
  count(d.id) FILTER (WHERE d.state = 'failed') AS failed,
  max(d.updated_at) FILTER (WHERE d.state = 'delivered') AS last_delivered_at
  FROM webhook w
  LEFT JOIN webhook_delivery d ON d.workspace_id = w.workspace_id AND d.webhook_id = w.id
 WHERE w.workspace_id = %(workspace_id)s
 GROUP BY w.workspace_id, w.id ORDER BY w.id DESC

-- name: remove
-- Remove a webhook with its deliveries.
DELETE FROM webhook WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: disable
-- Let a webhook rest whose receiver is gone.
UPDATE webhook SET disabled_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND disabled_at IS NULL

-- name: subscribed
-- Which active webhooks ask for which of these events.
SELECT w.id, event FROM webhook w, unnest(w.events) AS event
 WHERE w.workspace_id = %(workspace_id)s AND w.disabled_at IS NULL AND event = ANY (%(events)s)
 ORDER BY w.id, event

-- name: deliver
-- Keep deliveries that are to be made.
INSERT INTO webhook_delivery (
  workspace_id, id, webhook_id, event, entry_id, position, occurred_at, data, created_at, updated_at)
SELECT %(workspace_id)s, d.id, d.webhook_id, d.event, d.entry_id, d.position, d.occurred_at, d.data,
  %(now)s, %(now)s
  FROM jsonb_to_recordset(%(rows)s::jsonb) AS d (
    id uuid, webhook_id uuid, event text, entry_id uuid, position bigint, occurred_at timestamptz,
    data jsonb)

-- name: due
-- A delivery that waits, and where it goes.
SELECT d.id, d.webhook_id, d.event, d.entry_id, d.position, d.occurred_at, d.data, d.attempts,
  w.url, w.secret
  FROM webhook_delivery d
  JOIN webhook w ON w.workspace_id = d.workspace_id AND w.id = d.webhook_id
 WHERE d.workspace_id = %(workspace_id)s AND d.id = %(id)s AND d.state = 'waiting'
   AND w.disabled_at IS NULL

-- name: target
-- Where an active webhook leads, and its sealed secret.
SELECT url, secret FROM webhook
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND disabled_at IS NULL

-- name: record
-- What became of one try.
UPDATE webhook_delivery SET state = %(state)s, attempts = attempts + 1, status = %(status)s,
  error = %(error)s, updated_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'waiting'

-- name: deliveries
-- The newest deliveries of a webhook.
SELECT id, webhook_id, event, position, occurred_at, state, attempts, status, error, updated_at
  FROM webhook_delivery
 WHERE workspace_id = %(workspace_id)s AND webhook_id = %(webhook_id)s
 ORDER BY id DESC LIMIT %(limit)s

-- name: drop_deliveries
-- Deliveries that ended long ago leave; those of any workspace.
SELECT drop_webhook_deliveries(%(before)s, %(limit)s)
