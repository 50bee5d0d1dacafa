-- name: find
-- The answer given under a key since a moment.
SELECT body_hash, status, answer FROM idempotency
 WHERE workspace_id = %(workspace_id)s AND principal_id = %(principal_id)s AND key = %(key)s
   AND created_at > %(since)s

-- name: save
-- Keep an answer; an expired one under the same key gives way.
INSERT INTO idempotency (workspace_id, principal_id, key, body_hash, status, answer, created_at)
VALUES (%(workspace_id)s, %(principal_id)s, %(key)s, %(body_hash)s, %(status)s, %(answer)s, %(now)s)
ON CONFLICT (workspace_id, principal_id, key) DO UPDATE
   SET body_hash = excluded.body_hash, status = excluded.status, answer = excluded.answer,
       created_at = excluded.created_at
 WHERE idempotency.created_at <= %(since)s

-- name: try_lock
-- Take a key for the length of the transaction; false when another transaction has it.
SELECT pg_try_advisory_xact_lock(hashtextextended(%(name)s, 0))
