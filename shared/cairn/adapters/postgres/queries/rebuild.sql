-- name: among_replayed
-- From here on unqualified projections mean the replayed ones. Their tables grow from nothing, so a
-- plan is good for one statement only, and what looks up rows never reads a table from its beginning.
SELECT set_config('search_path', 'replay, public', true), set_config('timezone', 'UTC', true),
  set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true),
  set_config('work_mem', '32MB', true), set_config('enable_seqscan', 'off', true)

-- name: for_whole_tables
-- From here on tables are read from their beginning to their end, by several processes where there
-- are some.
SELECT set_config('enable_seqscan', 'on', true), set_config('parallel_setup_cost', '100', true),
  set_config('parallel_tuple_cost', '0.01', true), set_config('min_parallel_table_scan_size', '1MB', true)

-- name: among_live
-- From here on they mean the ones in use.
SELECT set_config('search_path', 'public', true)

-- name: progress
-- How far the replay is; held until the end of the transaction.
SELECT workspace_id, version, since, position, hash, recorded_at, entries, unreadable FROM replay.progress
 WHERE workspace_id = %(workspace_id)s FOR UPDATE

-- name: begin
-- Begin a replay; one that another process has just begun stays.
INSERT INTO replay.progress (workspace_id, version, since, position, hash, recorded_at, entries,
  unreadable)
VALUES (%(workspace_id)s, %(version)s, %(since)s, 0, %(hash)s, %(recorded_at)s, 0, 0)
ON CONFLICT DO NOTHING

-- name: advance
-- Keep how far it is.
UPDATE replay.progress SET position = %(position)s, hash = %(hash)s, recorded_at = %(recorded_at)s,
  entries = entries + %(entries)s, unreadable = unreadable + %(unreadable)s
 WHERE workspace_id = %(workspace_id)s RETURNING entries

-- name: analyse
-- Let the planner know how large the replayed tables have become.
SELECT replay.analyse()

-- name: discard
-- Forget the replay of this workspace.
SELECT replay.discard()

-- name: texts
-- The texts of nodes as they are at this point of the replay.
SELECT id, text FROM node WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s)

-- name: lack
-- Keep which nodes need the embedder.
INSERT INTO replay.lacking (workspace_id, node_id)
SELECT %(workspace_id)s, id FROM unnest(%(ids)s::uuid[]) AS id
ON CONFLICT DO NOTHING

-- name: keyless
-- Keep whose keys entries could not be read without.
INSERT INTO replay.keyless (workspace_id, subject_id)
SELECT %(workspace_id)s, id FROM unnest(%(ids)s::uuid[]) AS id
ON CONFLICT DO NOTHING

-- name: unforgotten
-- Those of them whom no entry says to be forgotten, and no forgetting whose tombstone is written.
SELECT k.subject_id FROM replay.keyless k
 WHERE k.workspace_id = %(workspace_id)s
   AND NOT EXISTS (SELECT FROM forgetting f
     WHERE f.workspace_id = k.workspace_id AND f.subject_id = k.subject_id AND f.status <> 'begun')
   AND NOT EXISTS (SELECT FROM ledger l
     WHERE l.workspace_id = k.workspace_id AND l.type IN ('subject.forgotten', 'source.forgotten')
       AND l.meta::jsonb ->> 'subject_id' = k.subject_id::text)
 ORDER BY k.subject_id

-- name: supplied
-- They have got their vectors after all.
DELETE FROM replay.lacking WHERE workspace_id = %(workspace_id)s AND node_id = ANY (%(ids)s)

-- name: lacking
-- Which nodes need the embedder, of those that are to be found.
SELECT n.id FROM replay.lacking l
  JOIN replay.node n ON n.workspace_id = l.workspace_id AND n.id = l.node_id
 WHERE l.workspace_id = %(workspace_id)s AND n.state IN ('active', 'provisional', 'superseded')
 ORDER BY n.id

-- name: put_in_place
-- Make a projection in use equal to its replayed rows.
SELECT removed, added FROM replay.put_in_place(%(projection)s)

-- name: complete
-- Add those replayed rows of a table beside the ledger that are not among the ones in use.
SELECT replay.complete(%(beside)s)

-- name: settle
-- Nobody's intents wait to be judged anew: where they belong was replayed.
UPDATE network_member SET judge_since = NULL
 WHERE workspace_id = %(workspace_id)s AND judge_since IS NOT NULL

-- name: use_invite
-- Who took an invite, as `take_invite` does it to the rows in use.
WITH taken AS (
  UPDATE network_invite SET used_at = %(now)s, used_by = %(member_id)s
   WHERE workspace_id = %(workspace_id)s AND token_hash = %(token_hash)s
  RETURNING ghost_id
)
DELETE FROM member m USING taken t
 WHERE m.workspace_id = %(workspace_id)s AND m.id = t.ghost_id AND m.ghost AND m.id <> %(member_id)s

-- name: erase_changes
-- What went with its opportunity: the replayed tables have no foreign keys.
DELETE FROM opportunity_change c
 WHERE c.workspace_id = %(workspace_id)s AND NOT EXISTS (SELECT FROM opportunity o
   WHERE o.workspace_id = c.workspace_id AND o.id = c.opportunity_id)

-- name: index_again
-- What changed without a new position is behind in the search indexes.
UPDATE search_index_state SET position = 0 WHERE workspace_id = %(workspace_id)s

-- name: add
-- A rebuild or a check that begins.
INSERT INTO rebuild (workspace_id, id, only_check, state, created_at, updated_at)
VALUES (%(workspace_id)s, %(id)s, %(only_check)s, 'running', %(now)s, %(now)s)

-- name: get
-- A rebuild as it stands.
SELECT id, only_check AS "check", state, entries, head, result, error, created_at, updated_at FROM rebuild
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: keep_progress
-- How far a rebuild is.
UPDATE rebuild SET entries = %(entries)s, head = %(head)s, updated_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: end
-- How a rebuild ended; the first end counts.
UPDATE rebuild
   SET state = CASE WHEN %(error)s::text IS NULL THEN 'finished' ELSE 'failed' END,
       result = %(result)s, error = %(error)s, updated_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'running'
