-- name: add
-- An accepted ingestion.
INSERT INTO ingestion (workspace_id, id, document_id, principal_id, object_key, status, position,
  created_at, updated_at)
VALUES (%(workspace_id)s, %(id)s, %(document_id)s, %(principal_id)s, %(object_key)s, %(status)s,
  %(position)s, %(created_at)s, %(created_at)s)

-- name: find
-- One ingestion.
SELECT id, document_id, principal_id, object_key, status, position, created_at, counts, error
  FROM ingestion WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: is_newest
-- Whether no later ingestion of the same document was accepted.
SELECT NOT EXISTS (SELECT FROM ingestion
  WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND position > %(position)s)

-- name: advance
-- Move an ingestion on, unless it has ended.
UPDATE ingestion
   SET status = %(status)s, counts = counts || %(counts)s, error = %(error)s,
       execution = coalesce(%(execution)s, execution), updated_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND status NOT IN ('ready', 'failed')

-- name: batches
-- The batches whose nodes still wait for vectors.
SELECT batch FROM outbox
 WHERE workspace_id = %(workspace_id)s AND reference = %(id)s AND topic = 'embed'
 ORDER BY batch

-- name: announce
-- Keep an announced upload.
INSERT INTO upload (workspace_id, id, principal_id, size, media_type, created_at, expires_at)
VALUES (%(workspace_id)s, %(id)s, %(principal_id)s, %(size)s, %(media_type)s, %(now)s, %(expires_at)s)

-- name: drop_announced
-- Announcements that are over.
DELETE FROM upload WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s)

-- name: expired
-- Uploads announced long ago, the oldest first.
SELECT id FROM upload WHERE workspace_id = %(workspace_id)s AND expires_at < %(before)s
 ORDER BY expires_at LIMIT %(limit)s

-- name: announced
-- An upload its principal announced.
SELECT id, size, media_type, expires_at FROM upload
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND principal_id = %(principal_id)s
