-- name: find
-- A member by id.
-- columns: cairn.discovery.networks.rows.MemberRow
SELECT {columns} FROM member WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: of_client
-- The member that a client is.
-- columns: cairn.discovery.networks.rows.MemberRow
SELECT {columns} FROM member WHERE workspace_id = %(workspace_id)s AND client_id = %(client_id)s

-- name: listed
-- Those of some ids.
-- columns: cairn.discovery.networks.rows.MemberRow
SELECT {columns} FROM member
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) ORDER BY id

-- name: add
-- A member; nothing when there is one of this id.
INSERT INTO member (workspace_id, id, client_id, ghost, since)
VALUES (%(workspace_id)s, %(id)s, %(client_id)s, %(ghost)s, %(since)s)
ON CONFLICT DO NOTHING

-- name: arrive
-- Somebody who was named by others before is here themselves now.
UPDATE member SET ghost = false, since = %(since)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND ghost
