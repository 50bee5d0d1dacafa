-- name: parts
-- The parts of an investigation's write-back that were begun.
SELECT part, done, reference FROM ticket_write_back
 WHERE workspace_id = %(workspace_id)s AND investigation_id = %(investigation_id)s

-- name: begin
-- Take the sending of a part; nothing when it is done, or another sends it.
INSERT INTO ticket_write_back (workspace_id, investigation_id, part, ticket_id, begun_at,
  leased_until)
VALUES (%(workspace_id)s, %(investigation_id)s, %(part)s, %(ticket_id)s, %(now)s, %(until)s)
ON CONFLICT (workspace_id, investigation_id, part) DO UPDATE SET leased_until = %(until)s
  WHERE NOT ticket_write_back.done AND ticket_write_back.leased_until <= %(now)s

-- name: release
-- Give the sending of a part back: it failed, and may be tried again at once.
UPDATE ticket_write_back SET leased_until = %(now)s
 WHERE workspace_id = %(workspace_id)s AND investigation_id = %(investigation_id)s
   AND part = %(part)s AND NOT done AND leased_until = %(until)s

-- name: done
-- Keep that a part stands at the source.
UPDATE ticket_write_back SET done = true, reference = %(reference)s, done_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND investigation_id = %(investigation_id)s
   AND part = %(part)s AND NOT done

-- name: answered_at
-- When the answer of an investigation was begun to be sent.
SELECT begun_at FROM ticket_write_back
 WHERE workspace_id = %(workspace_id)s AND investigation_id = %(investigation_id)s
   AND part = 'reply'

-- name: add_reply
-- Keep a reply.
INSERT INTO ticket_reply (workspace_id, id, ticket_id, investigation_id, private, sealed,
  data_subjects, created_at)
VALUES (%(workspace_id)s, %(id)s, %(ticket_id)s, %(investigation_id)s, %(private)s, %(sealed)s,
  %(data_subjects)s, %(created_at)s)
ON CONFLICT DO NOTHING

-- name: replies
-- The replies to a ticket, the oldest first.
SELECT id, ticket_id, investigation_id, private, sealed, data_subjects, created_at
  FROM ticket_reply
 WHERE workspace_id = %(workspace_id)s AND ticket_id = %(ticket_id)s ORDER BY created_at, id
