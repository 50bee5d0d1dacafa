-- name: put
-- A checkpoint, or another state of one.
INSERT INTO checkpoint (workspace_id, id, agent, client_id, thread, namespace, checkpoint_id, parent_id,
  run_id, data_subjects, body, created_at)
VALUES (%(workspace_id)s, %(id)s, %(agent)s, %(client_id)s, %(thread)s, %(namespace)s, %(checkpoint_id)s,
  %(parent_id)s, %(run_id)s, %(data_subjects)s, %(body)s, %(created_at)s)
ON CONFLICT (workspace_id, thread, namespace, checkpoint_id) DO UPDATE
  SET (id, parent_id, run_id, data_subjects, body, created_at) =
    (excluded.id, excluded.parent_id, excluded.run_id, excluded.data_subjects, excluded.body,
     excluded.created_at)

-- name: put_write
-- What a task wrote: the first time counts, but of what stands below zero the last.
INSERT INTO checkpoint_write (workspace_id, id, agent, client_id, thread, namespace, checkpoint_id, task_id,
  idx, data_subjects, body, created_at)
VALUES (%(workspace_id)s, %(id)s, %(agent)s, %(client_id)s, %(thread)s, %(namespace)s, %(checkpoint_id)s,
  %(task_id)s, %(idx)s, %(data_subjects)s, %(body)s, %(created_at)s)
ON CONFLICT (workspace_id, thread, namespace, checkpoint_id, task_id, idx) DO UPDATE
  SET (id, data_subjects, body, created_at) =
    (excluded.id, excluded.data_subjects, excluded.body, excluded.created_at)
  WHERE checkpoint_write.idx < 0

-- name: written
-- How many bytes tasks wrote beside a checkpoint.
SELECT coalesce(sum(octet_length(body)), 0)::bigint FROM checkpoint_write
 WHERE workspace_id = %(workspace_id)s AND thread = %(thread)s AND namespace = %(namespace)s
   AND checkpoint_id = %(checkpoint_id)s

-- name: use
-- Let a thread that was written to last from now on, and say how much it and all threads have.
WITH changed AS (
  UPDATE checkpoint_usage
     SET ttl_seconds = coalesce(%(ttl_seconds)s::integer, ttl_seconds),
         expires_at = %(now)s::timestamptz + make_interval(secs =>
           coalesce(%(ttl_seconds)s::integer, ttl_seconds, %(default_seconds)s::integer))
   WHERE workspace_id = %(workspace_id)s AND thread = %(thread)s
  RETURNING bytes)
SELECT (SELECT bytes FROM changed) AS thread_bytes, bytes AS workspace_bytes
  FROM checkpoint_usage WHERE workspace_id = %(workspace_id)s AND thread = ''

-- name: has_expired
-- Whether there is a thread that has expired.
SELECT EXISTS (SELECT FROM checkpoint_usage
  WHERE workspace_id = %(workspace_id)s AND expires_at <= %(now)s)

-- name: hold
-- Hold the count of all threads, which whoever writes a checkpoint holds first.
SELECT bytes FROM checkpoint_usage WHERE workspace_id = %(workspace_id)s AND thread = '' FOR UPDATE

-- name: remove_expired
-- Take away threads that have expired, this one before the others.
WITH expired AS (
  SELECT thread FROM checkpoint_usage WHERE workspace_id = %(workspace_id)s AND expires_at <= %(now)s
   ORDER BY thread = %(first)s::bytea DESC NULLS LAST, expires_at, thread LIMIT %(limit)s),
writes AS (
  DELETE FROM checkpoint_write
   WHERE workspace_id = %(workspace_id)s AND thread IN (SELECT thread FROM expired)),
states AS (
  DELETE FROM checkpoint WHERE workspace_id = %(workspace_id)s AND thread IN (SELECT thread FROM expired))
SELECT count(*)::integer FROM expired

-- name: sizes
-- Checkpoints, the newest first, and how large each is with what was written beside it.
SELECT id, octet_length(body) + (
    SELECT coalesce(sum(octet_length(w.body)), 0) FROM checkpoint_write AS w
     WHERE (w.workspace_id, w.thread, w.namespace, w.checkpoint_id)
       = (c.workspace_id, c.thread, c.namespace, c.checkpoint_id))::bigint AS size
  FROM checkpoint AS c
 WHERE workspace_id = %(workspace_id)s AND agent IS NOT DISTINCT FROM %(agent)s
   AND client_id IS NOT DISTINCT FROM %(client_id)s
   AND (%(thread)s::bytea IS NULL OR thread = %(thread)s)
   AND (%(namespace)s::text IS NULL OR namespace = %(namespace)s)
   AND (%(checkpoint_id)s::text IS NULL OR checkpoint_id = %(checkpoint_id)s)
   AND (%(before)s::text IS NULL OR checkpoint_id < %(before)s)
   AND (%(run_id)s::text IS NULL OR run_id = %(run_id)s)
   AND (%(after)s::text IS NULL OR (checkpoint_id, id) < (%(after)s, %(after_id)s::uuid))
   AND NOT EXISTS (SELECT FROM checkpoint_usage AS u
     WHERE (u.workspace_id, u.thread) = (c.workspace_id, c.thread) AND u.expires_at <= %(now)s)
 ORDER BY checkpoint_id DESC, id DESC LIMIT %(limit)s

-- name: of_ids
-- Checkpoints, the newest first.
-- columns: cairn.checkpoints.rows.CheckpointRow
SELECT {columns} FROM checkpoint
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) ORDER BY checkpoint_id DESC, id DESC

-- name: writes_of
-- What tasks wrote beside checkpoints.
-- columns: cairn.checkpoints.rows.WriteRow
SELECT {columns} FROM checkpoint_write
 WHERE workspace_id = %(workspace_id)s AND (thread, namespace, checkpoint_id) IN (
   SELECT thread, namespace, checkpoint_id FROM checkpoint
    WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s))

-- name: remove
-- Take checkpoints away with what was written beside them; of a whole thread, what has none, too.
WITH gone AS (
  DELETE FROM checkpoint
   WHERE workspace_id = %(workspace_id)s AND agent IS NOT DISTINCT FROM %(agent)s
     AND client_id IS NOT DISTINCT FROM %(client_id)s
     AND (%(thread)s::bytea IS NULL OR thread = %(thread)s)
     AND (%(namespace)s::text IS NULL OR namespace = %(namespace)s)
     AND (%(checkpoint_id)s::text IS NULL OR checkpoint_id = %(checkpoint_id)s)
     AND (%(before)s::text IS NULL OR checkpoint_id < %(before)s)
     AND (%(run_id)s::text IS NULL OR run_id = %(run_id)s)
  RETURNING thread, namespace, checkpoint_id),
writes AS (
  DELETE FROM checkpoint_write
   WHERE workspace_id = %(workspace_id)s
     AND ((thread, namespace, checkpoint_id) IN (SELECT thread, namespace, checkpoint_id FROM gone)
       OR (%(whole)s AND thread = %(thread)s)))
SELECT count(*)::integer FROM gone
