-- name: add_token
-- A token of a directory.
INSERT INTO scim_token (workspace_id, id, name, token_hash, created_at, expires_at)
VALUES (%(workspace_id)s, %(id)s, %(name)s, %(token_hash)s, %(created_at)s, %(expires_at)s)

-- name: tokens
-- The tokens of directories, the newest first.
SELECT id, name, created_at, expires_at, used_at FROM scim_token
 WHERE workspace_id = %(workspace_id)s ORDER BY created_at DESC, id DESC

-- name: revoke_token
-- A token opens nothing any more.
DELETE FROM scim_token WHERE workspace_id = %(workspace_id)s AND id = %(id)s RETURNING id

-- name: see_token
-- A token was used.
UPDATE scim_token SET used_at = %(now)s WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: admit
-- Whose a token is, in whatever workspace.
SELECT workspace_id, id, used_at FROM admit_scim(%(token_hash)s, %(now)s)

-- name: users
-- People as a directory sees them, the oldest first; narrowed by what is no null.
SELECT p.id, p.login, p.name, p.role, u.external_id, p.disabled_at IS NULL AS active, p.created_at,
    greatest(p.changed_at, u.changed_at) AS changed_at, count(*) OVER () AS total,
    (SELECT coalesce(json_agg(json_build_object('id', g.id, 'name', g.name) ORDER BY g.name), '[]')
       FROM scim_member m JOIN scim_group g ON g.workspace_id = m.workspace_id AND g.id = m.group_id
      WHERE m.workspace_id = p.workspace_id AND m.person_id = p.id) AS groups
  FROM person p
  LEFT JOIN scim_user u ON u.workspace_id = p.workspace_id AND u.person_id = p.id
 WHERE p.workspace_id = %(workspace_id)s AND u.removed_at IS NULL
   AND (%(id)s::uuid IS NULL OR p.id = %(id)s)
   AND (%(login)s::text IS NULL OR p.login = %(login)s)
   AND (%(external_id)s::text IS NULL OR u.external_id = %(external_id)s)
 ORDER BY p.created_at, p.id LIMIT %(limit)s OFFSET %(offset)s

-- name: removed_user
-- Whom a directory deleted who signed in under a name.
SELECT p.id FROM person p
  JOIN scim_user u ON u.workspace_id = p.workspace_id AND u.person_id = p.id
 WHERE p.workspace_id = %(workspace_id)s AND p.login = %(login)s AND u.removed_at IS NOT NULL

-- name: keep_user
-- What a directory says of somebody.
INSERT INTO scim_user (workspace_id, person_id, external_id, removed_at, changed_at)
VALUES (%(workspace_id)s, %(person_id)s, %(external_id)s, %(removed_at)s, %(now)s)
ON CONFLICT (workspace_id, person_id) DO UPDATE SET external_id = EXCLUDED.external_id,
  removed_at = EXCLUDED.removed_at, changed_at = EXCLUDED.changed_at

-- name: groups
-- Groups of directories, by name; narrowed by what is no null.
SELECT g.id, g.name, g.external_id, g.role, g.created_at, g.changed_at, count(*) OVER () AS total,
    (SELECT count(*) FROM scim_member m
      WHERE m.workspace_id = g.workspace_id AND m.group_id = g.id) AS members
  FROM scim_group g
 WHERE g.workspace_id = %(workspace_id)s AND (%(id)s::uuid IS NULL OR g.id = %(id)s)
   AND (%(called)s::text IS NULL OR lower(g.name) = lower(%(called)s))
   AND (%(external_id)s::text IS NULL OR g.external_id = %(external_id)s)
 ORDER BY lower(g.name), g.id LIMIT %(limit)s OFFSET %(offset)s

-- name: keep_group
-- A group as it is now; nothing where another has its name.
INSERT INTO scim_group (workspace_id, id, name, external_id, role, created_at, changed_at)
SELECT %(workspace_id)s, %(id)s, %(called)s, %(external_id)s, %(role)s, %(created_at)s, %(now)s
 WHERE NOT EXISTS (SELECT FROM scim_group g WHERE g.workspace_id = %(workspace_id)s
   AND lower(g.name) = lower(%(called)s) AND g.id <> %(id)s)
ON CONFLICT (workspace_id, id) DO UPDATE SET name = EXCLUDED.name,
  external_id = EXCLUDED.external_id, changed_at = EXCLUDED.changed_at
RETURNING id

-- name: give_role
-- The role that a group gives; null for none.
UPDATE scim_group SET role = %(role)s, changed_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s RETURNING id

-- name: remove_group
-- A group is no more.
DELETE FROM scim_group WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: members
-- Who is in groups, by login.
SELECT m.group_id, p.id, p.login FROM scim_member m
  JOIN person p ON p.workspace_id = m.workspace_id AND p.id = m.person_id
 WHERE m.workspace_id = %(workspace_id)s AND m.group_id = ANY (%(groups)s) ORDER BY p.login

-- name: seen_people
-- Those of people whom a directory sees.
SELECT p.id FROM person p
  LEFT JOIN scim_user u ON u.workspace_id = p.workspace_id AND u.person_id = p.id
 WHERE p.workspace_id = %(workspace_id)s AND p.id = ANY (%(people)s) AND u.removed_at IS NULL

-- name: add_members
-- People who are in a group from now on; says which were not in it yet.
INSERT INTO scim_member (workspace_id, group_id, person_id)
SELECT %(workspace_id)s, %(group_id)s, p.id FROM person p
 WHERE p.workspace_id = %(workspace_id)s AND p.id = ANY (%(people)s)
ON CONFLICT DO NOTHING RETURNING person_id

-- name: remove_members
-- People who are in a group no more; says which were in it.
DELETE FROM scim_member WHERE workspace_id = %(workspace_id)s AND group_id = %(group_id)s
   AND person_id = ANY (%(people)s) RETURNING person_id

-- name: leave_groups
-- Somebody is in no group any more.
DELETE FROM scim_member WHERE workspace_id = %(workspace_id)s AND person_id = %(person_id)s

-- name: roles
-- The roles that people have by their groups.
SELECT m.person_id, array_agg(DISTINCT g.role) AS roles FROM scim_member m
  JOIN scim_group g ON g.workspace_id = m.workspace_id AND g.id = m.group_id AND g.role IS NOT NULL
 WHERE m.workspace_id = %(workspace_id)s AND m.person_id = ANY (%(people)s) GROUP BY m.person_id
