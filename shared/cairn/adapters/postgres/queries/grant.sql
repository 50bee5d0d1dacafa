-- name: add
-- Keep a grant.
INSERT INTO standing_grant (workspace_id, id, tool, declaration, content, data_subjects, expires_at,
  max_uses, uses, made_by, made_at, approval_id)
VALUES (%(workspace_id)s, %(id)s, %(tool)s, %(declaration)s, %(content)s, %(data_subjects)s,
  %(expires_at)s, %(max_uses)s, %(uses)s, %(made_by)s, %(made_at)s, %(approval_id)s)

-- name: find
-- One grant.
SELECT id, tool, declaration, content, data_subjects, expires_at, max_uses, made_by, made_at, uses,
  revoked_at, approval_id
  FROM standing_grant WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: page
-- Grants, the newest first.
SELECT id, tool, declaration, content, data_subjects, expires_at, max_uses, made_by, made_at, uses,
  revoked_at, approval_id
  FROM standing_grant
 WHERE workspace_id = %(workspace_id)s AND (%(before)s::uuid IS NULL OR id < %(before)s)
 ORDER BY id DESC LIMIT %(limit)s

-- name: in_force
-- Grants for a tool that may be used once more, the oldest first.
SELECT id, tool, declaration, content, data_subjects, expires_at, max_uses, made_by, made_at, uses,
  revoked_at, approval_id
  FROM standing_grant
 WHERE workspace_id = %(workspace_id)s AND tool = %(tool)s AND revoked_at IS NULL
   AND uses < max_uses AND expires_at > %(now)s
 ORDER BY id

-- name: open_count
-- How many may be used once more.
SELECT count(*) FROM standing_grant
 WHERE workspace_id = %(workspace_id)s AND revoked_at IS NULL AND uses < max_uses
   AND expires_at > %(now)s

-- name: revoke
-- End a grant.
UPDATE standing_grant SET revoked_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND revoked_at IS NULL

-- name: used_by
-- Whether an action has used a grant.
SELECT 1 FROM standing_grant_use
 WHERE workspace_id = %(workspace_id)s AND grant_id = %(id)s AND action_id = %(action_id)s

-- name: use
-- Count a use, if there is one left; the row's lock lets one in at a time.
WITH counted AS (
  UPDATE standing_grant SET uses = uses + 1
   WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND revoked_at IS NULL
     AND uses < max_uses AND expires_at > %(now)s
  RETURNING workspace_id, id
)
INSERT INTO standing_grant_use (workspace_id, grant_id, action_id, used_at)
SELECT workspace_id, id, %(action_id)s, %(now)s FROM counted
