-- name: sealed_for
-- Whose keys bodies need, except of those who were forgotten: an entry says so, or a forgetting
-- whose tombstone is written.
SELECT s.id AS subject_id, count(*) AS entries, min(l.position) AS first_position
  FROM ledger l CROSS JOIN LATERAL unnest(CASE WHEN l.data_subjects = '{}'
    THEN ARRAY[l.workspace_id] ELSE l.data_subjects END) AS s (id)
 WHERE l.workspace_id = %(workspace_id)s AND octet_length(l.body) > 0
   AND s.id NOT IN (SELECT f.subject_id FROM forgetting f
     WHERE f.workspace_id = %(workspace_id)s AND f.status <> 'begun')
   AND s.id::text NOT IN (SELECT g.meta::jsonb ->> 'subject_id' FROM ledger g
     WHERE g.workspace_id = %(workspace_id)s AND g.type IN ('subject.forgotten', 'source.forgotten'))
 GROUP BY s.id ORDER BY s.id

-- name: head
-- Where the workspace's chain ends.
SELECT position, hash, recorded_at FROM ledger_head WHERE workspace_id = %(workspace_id)s

-- name: changed_since
-- Whether an entry of one of these types was appended after a position.
SELECT EXISTS (SELECT FROM ledger WHERE workspace_id = %(workspace_id)s
                 AND position > %(position)s AND type = ANY (%(types)s))

-- name: lock_head
-- Where the chain ends, held until the end of the transaction.
SELECT position, hash, recorded_at FROM ledger_head WHERE workspace_id = %(workspace_id)s FOR UPDATE

-- name: append
-- Add one sealed entry.
INSERT INTO ledger (workspace_id, position, id, type, actor_kind, actor_id, session_id, trace_id,
  parent_id, data_subjects, occurred_at, recorded_at, meta, body, prev_hash, hash)
VALUES (%(workspace_id)s, %(position)s, %(id)s, %(type)s, %(actor_kind)s, %(actor_id)s,
  %(session_id)s, %(trace_id)s, %(parent_id)s, %(data_subjects)s, %(occurred_at)s, %(recorded_at)s,
  %(meta)s, %(body)s, %(prev_hash)s, %(hash)s)

-- name: move_head
-- Let the chain end at its newest entry.
UPDATE ledger_head SET position = %(position)s, hash = %(hash)s, recorded_at = %(recorded_at)s
 WHERE workspace_id = %(workspace_id)s AND position = %(expected)s

-- name: page
-- Entries by rising position, of one type or one namespace (a name without a dot) when asked.
SELECT position, id, type, actor_kind, actor_id, session_id, trace_id, parent_id, data_subjects,
  occurred_at, recorded_at, meta AS meta_text, body, prev_hash, hash
  FROM ledger
 WHERE workspace_id = %(workspace_id)s AND position > %(after)s
   AND (%(type)s::text IS NULL OR type = %(type)s
     OR position('.' IN %(type)s) = 0 AND starts_with(type, %(type)s || '.'))
 ORDER BY position LIMIT %(limit)s

-- name: newest
-- The newest entries of some types below a position, by falling position.
SELECT l.position, l.id, l.type, l.actor_kind, l.actor_id, l.session_id, l.trace_id, l.parent_id,
  l.data_subjects, l.occurred_at, l.recorded_at, l.meta AS meta_text, l.body, l.prev_hash, l.hash
  FROM unnest(%(types)s::text[]) AS t (type) CROSS JOIN LATERAL (
    SELECT * FROM ledger
     WHERE workspace_id = %(workspace_id)s AND type = t.type AND position < %(before)s
     ORDER BY position DESC LIMIT %(limit)s) AS l
 ORDER BY l.position DESC LIMIT %(limit)s

-- name: listed
-- Entries between two positions, narrowed as a list is: by rising position.
SELECT position, id, type, actor_kind, actor_id, session_id, trace_id, parent_id, data_subjects,
  occurred_at, recorded_at, meta AS meta_text, body, prev_hash, hash
  FROM ledger
 WHERE workspace_id = %(workspace_id)s AND position > %(after)s AND position < %(before)s
   AND (%(type)s::text IS NULL OR type = %(type)s
     OR position('.' IN %(type)s) = 0 AND starts_with(type, %(type)s || '.'))
   AND (%(actor_id)s::text IS NULL OR actor_id = %(actor_id)s)
   AND (%(subject_id)s::uuid IS NULL OR %(subject_id)s = ANY (data_subjects))
 ORDER BY position LIMIT %(limit)s

-- name: listed_backwards
-- The same by falling position.
SELECT position, id, type, actor_kind, actor_id, session_id, trace_id, parent_id, data_subjects,
  occurred_at, recorded_at, meta AS meta_text, body, prev_hash, hash
  FROM ledger
 WHERE workspace_id = %(workspace_id)s AND position > %(after)s AND position < %(before)s
   AND (%(type)s::text IS NULL OR type = %(type)s
     OR position('.' IN %(type)s) = 0 AND starts_with(type, %(type)s || '.'))
   AND (%(actor_id)s::text IS NULL OR actor_id = %(actor_id)s)
   AND (%(subject_id)s::uuid IS NULL OR %(subject_id)s = ANY (data_subjects))
 ORDER BY position DESC LIMIT %(limit)s

-- name: position_at
-- The last position recorded at or before a moment; 0 before the first.
SELECT coalesce(max(position), 0) FROM ledger
 WHERE workspace_id = %(workspace_id)s AND recorded_at <= %(moment)s

-- name: moment_at
-- When the entry at a position was recorded.
SELECT recorded_at FROM ledger WHERE workspace_id = %(workspace_id)s AND position = %(position)s

-- name: snapshot
-- Let a transaction of the owner see one moment and change nothing.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY

-- name: workspaces
-- Whose chains there are.
SELECT workspace_id FROM ledger_head ORDER BY workspace_id

-- name: at
-- The entries at these positions.
SELECT position, id, type, actor_kind, actor_id, session_id, trace_id, parent_id, data_subjects,
  occurred_at, recorded_at, meta AS meta_text, body, prev_hash, hash
  FROM ledger
 WHERE workspace_id = %(workspace_id)s AND position = ANY (%(positions)s)
 ORDER BY position

-- name: trace_at
-- The trace of the entry at a position.
SELECT trace_id FROM ledger WHERE workspace_id = %(workspace_id)s AND position = %(position)s
