-- name: make
-- Make as many slots as could be free at all: one more than are taken, up to the limit.
INSERT INTO investigation_slot (workspace_id, slot)
SELECT %(workspace_id)s, n
  FROM generate_series(1, least(%(most)s, 1 + (SELECT count(*)::integer FROM investigation_slot s
         WHERE s.workspace_id = %(workspace_id)s AND s.investigation_id IS NOT NULL))) AS n
ON CONFLICT (workspace_id, slot) DO NOTHING

-- name: take
-- Take the first free slot that nobody is taking, unless the investigation has one.
WITH mine AS (
  SELECT slot FROM investigation_slot
   WHERE workspace_id = %(workspace_id)s AND investigation_id = %(id)s
), free AS (
  SELECT slot FROM investigation_slot
   WHERE workspace_id = %(workspace_id)s AND investigation_id IS NULL AND slot <= %(most)s
     AND NOT EXISTS (SELECT FROM mine)
   ORDER BY slot LIMIT 1 FOR UPDATE SKIP LOCKED
), taken AS (
  UPDATE investigation_slot AS s SET investigation_id = %(id)s, taken_at = %(now)s
    FROM free WHERE s.workspace_id = %(workspace_id)s AND s.slot = free.slot
  RETURNING s.slot
)
SELECT slot FROM taken UNION ALL SELECT slot FROM mine

-- name: free
-- Give the slot of an investigation back.
UPDATE investigation_slot SET investigation_id = NULL, taken_at = NULL
 WHERE workspace_id = %(workspace_id)s AND investigation_id = %(id)s

-- name: taken
-- How many slots are held.
SELECT count(*) FROM investigation_slot
 WHERE workspace_id = %(workspace_id)s AND investigation_id IS NOT NULL
