-- name: find
-- The random ids that stand for these natural keys.
SELECT s.kind, s.natural_key, s.id
  FROM data_subject s
  JOIN unnest(%(kinds)s::text[], %(natural_keys)s::text[]) AS asked (kind, natural_key)
    ON s.kind = asked.kind AND s.natural_key = asked.natural_key
 WHERE s.workspace_id = %(workspace_id)s

-- name: add
-- Project a registered subject.
INSERT INTO data_subject (workspace_id, id, kind, natural_key, position)
VALUES (%(workspace_id)s, %(id)s, %(kind)s, %(natural_key)s, %(position)s)
ON CONFLICT DO NOTHING

-- name: forgotten
-- Those of the subjects whose forgetting was begun.
SELECT subject_id FROM forgetting
 WHERE workspace_id = %(workspace_id)s AND subject_id = ANY (%(ids)s)

-- name: barred
-- The subjects whose forgetting is under way, by the marks of their names.
SELECT subject_id FROM forgetting
 WHERE workspace_id = %(workspace_id)s AND mark = ANY (%(marks)s) AND status <> 'done'
