-- name: add
-- Keep a message.
INSERT INTO ticket_message (workspace_id, id, ticket_id, external_id, sealed, data_subjects,
  position, written_at, received_at, small_talk)
VALUES (%(workspace_id)s, %(id)s, %(ticket_id)s, %(external_id)s, %(sealed)s, %(data_subjects)s,
  %(position)s, %(written_at)s, %(received_at)s, %(small_talk)s)
ON CONFLICT DO NOTHING

-- name: known
-- Those of a ticket that there are.
SELECT id, ticket_id, external_id, sealed, data_subjects, position, written_at, received_at,
  reopened, small_talk
  FROM ticket_message
 WHERE workspace_id = %(workspace_id)s AND ticket_id = %(ticket_id)s
   AND external_id = ANY (%(external_ids)s)

-- name: newest
-- The messages of a ticket, the last written first; on demand only those that say something.
SELECT id, ticket_id, external_id, sealed, data_subjects, position, written_at, received_at,
  reopened, small_talk
  FROM ticket_message
 WHERE workspace_id = %(workspace_id)s AND ticket_id = %(ticket_id)s
   AND NOT (%(asking)s AND small_talk)
 ORDER BY written_at DESC, id DESC LIMIT %(limit)s

-- name: reopens
-- A message put its ticket back.
UPDATE ticket_message SET reopened = true WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: reopenings
-- How many messages put a ticket back since somebody last did.
SELECT count(*) FROM ticket_message
 WHERE workspace_id = %(workspace_id)s AND ticket_id = %(ticket_id)s AND reopened
