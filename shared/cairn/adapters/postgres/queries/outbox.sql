-- name: add
-- Work to be sent after the commit.
INSERT INTO outbox (workspace_id, id, topic, node_ids, reference, position, batch, created_at, sent_at)
VALUES (%(workspace_id)s, %(id)s, %(topic)s, %(node_ids)s, %(reference)s, %(position)s, %(batch)s,
  %(now)s, %(now)s)

-- name: unsent
-- Mark rows whose message could not be sent, so that the sweep takes them at once.
UPDATE outbox SET sent_at = NULL WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s)

-- name: find
-- The rows still unfinished among these.
SELECT id, topic, node_ids, reference, position, batch FROM outbox
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s)

-- name: find_batch
-- One batch of an ingestion, while it is unfinished.
SELECT id, topic, node_ids, reference, position, batch FROM outbox
 WHERE workspace_id = %(workspace_id)s AND reference = %(reference)s AND batch = %(batch)s
   AND topic = 'embed'

-- name: done
-- Forget finished rows.
DELETE FROM outbox WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s)

-- name: failed
-- Keep why a row's work failed; it stays to be sent again.
UPDATE outbox SET error = %(error)s WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s)

-- name: claim
-- Rows of any workspace and of some topics never sent, or sent before `stale` and unfinished.
SELECT workspace_id, id, topic, node_ids, reference, position, attempts AS attempt, batch
  FROM claim_outbox(%(limit)s, %(stale)s, %(now)s, %(topics)s)

-- name: oldest
-- Topic and time of what has waited longest for a worker, of any workspace.
SELECT topic, created_at FROM oldest_outbox_row(%(prompt)s)
