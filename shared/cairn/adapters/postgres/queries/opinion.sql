-- name: put
-- Keep the last word of a principal on an investigation.
INSERT INTO investigation_opinion (workspace_id, investigation_id, principal_id, id, rating, content,
  data_subjects, said_at)
VALUES (%(workspace_id)s, %(investigation_id)s, %(principal_id)s, %(id)s, %(rating)s, %(content)s,
  %(data_subjects)s, %(said_at)s)
ON CONFLICT (workspace_id, investigation_id, principal_id) DO UPDATE
   SET id = excluded.id, rating = excluded.rating, content = excluded.content,
       data_subjects = excluded.data_subjects, said_at = excluded.said_at

-- name: of
-- What people said of an investigation last, the oldest first.
SELECT id, investigation_id, principal_id, rating, content, data_subjects, said_at
  FROM investigation_opinion
 WHERE workspace_id = %(workspace_id)s AND investigation_id = %(investigation_id)s
 ORDER BY said_at, id
