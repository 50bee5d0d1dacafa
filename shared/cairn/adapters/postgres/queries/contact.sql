-- name: find
-- A contact, and who took the invite.
-- columns: cairn.discovery.contacts.rows.ContactRow
SELECT {c.columns}, (SELECT i.used_by FROM network_invite i WHERE i.workspace_id = c.workspace_id
    AND i.ghost_id = c.ghost_id AND i.used_by IS NOT NULL ORDER BY i.id LIMIT 1) AS used_by
  FROM contact c
 WHERE c.workspace_id = %(workspace_id)s AND c.id = %(id)s

-- name: of_people
-- Contacts of a member about some people.
-- columns: cairn.discovery.contacts.rows.ContactRow
SELECT {c.columns}, NULL::uuid AS used_by FROM contact c
 WHERE c.workspace_id = %(workspace_id)s AND c.member_id = %(member_id)s AND c.person_id = ANY (%(ids)s)

-- name: page
-- Contacts of a member, the newest first.
-- columns: cairn.discovery.contacts.rows.ContactRow
SELECT {c.columns}, (SELECT i.used_by FROM network_invite i WHERE i.workspace_id = c.workspace_id
    AND i.ghost_id = c.ghost_id AND i.used_by IS NOT NULL ORDER BY i.id LIMIT 1) AS used_by
  FROM contact c
 WHERE c.workspace_id = %(workspace_id)s AND c.member_id = %(member_id)s
   AND (%(before)s::uuid IS NULL OR c.id < %(before)s)
 ORDER BY c.id DESC LIMIT %(limit)s

-- name: count
-- How many contacts a member has.
SELECT count(*)::integer FROM contact
 WHERE workspace_id = %(workspace_id)s AND member_id = %(member_id)s

-- name: add
-- A new contact.
INSERT INTO contact (workspace_id, id, member_id, person_id, data_subjects, body, met, met_at, link_id,
  created_at, changed_at)
VALUES (%(workspace_id)s, %(id)s, %(member_id)s, %(person_id)s, %(data_subjects)s, %(body)s, %(met)s,
  %(met_at)s, %(link_id)s, %(created_at)s, %(changed_at)s)
ON CONFLICT DO NOTHING

-- name: change
-- What is held of a contact now.
UPDATE contact SET body = %(body)s, met = %(met)s, met_at = %(met_at)s, link_id = %(link_id)s,
  changed_at = %(changed_at)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: invite
-- That a contact was invited, as whom, and by which link.
UPDATE contact SET ghost_id = %(ghost_id)s, invite_id = %(invite_id)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: remove
-- A contact that is not wanted any more.
DELETE FROM contact WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: members_known
-- Members among the contacts of a member, those met most often first.
SELECT m.id FROM (
  SELECT coalesce(c.link_id, i.used_by) AS id, c.met FROM contact c
    LEFT JOIN network_invite i ON i.workspace_id = c.workspace_id AND i.id = c.invite_id
   WHERE c.workspace_id = %(workspace_id)s AND c.member_id = %(member_id)s
     AND (c.link_id IS NOT NULL OR c.invite_id IS NOT NULL)
) m
 WHERE m.id IS NOT NULL AND m.id <> %(member_id)s
 GROUP BY m.id ORDER BY max(m.met) DESC, m.id LIMIT %(limit)s

-- name: integrations
-- Where contacts of a member are read from.
-- columns: cairn.discovery.contacts.rows.IntegrationRow
SELECT {columns} FROM contact_integration
 WHERE workspace_id = %(workspace_id)s AND member_id = %(member_id)s ORDER BY id

-- name: integration
-- One of them.
-- columns: cairn.discovery.contacts.rows.IntegrationRow
SELECT {columns} FROM contact_integration WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: add_integration
-- Where contacts are to be read from.
INSERT INTO contact_integration (workspace_id, id, member_id, kind, data_subjects, body, created_at)
VALUES (%(workspace_id)s, %(id)s, %(member_id)s, %(kind)s, %(data_subjects)s, %(body)s, %(created_at)s)
ON CONFLICT DO NOTHING

-- name: synced
-- How reading went; what was found before stays when it failed.
UPDATE contact_integration
   SET synced_at = %(now)s, problem = %(problem)s, people = coalesce(%(people)s, people)
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: remove_integration
-- Contacts are not read from there any more; those that were stay.
DELETE FROM contact_integration WHERE workspace_id = %(workspace_id)s AND id = %(id)s
