-- name: add
-- Keep a new ticket; one of its source and external id stays as it is.
INSERT INTO ticket (workspace_id, id, source, external_id, status, rank, persona, sealed, mark,
  data_subjects, position, received_at, modified_at, sla_at, screening)
VALUES (%(workspace_id)s, %(id)s, %(source)s, %(external_id)s, %(status)s, %(rank)s, %(persona)s,
  %(sealed)s, %(mark)s, %(data_subjects)s, %(position)s, %(received_at)s, %(modified_at)s,
  %(sla_at)s, %(screening)s)
ON CONFLICT (workspace_id, source, external_id) DO NOTHING

-- name: find
-- A ticket.
SELECT id, source, external_id, status, rank, persona, sealed, mark, data_subjects, position,
  received_at, modified_at, sla_at, queued_at, claimed_at, ended_at, investigation_id, waits_for,
  screening
  FROM ticket WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: known
-- Those of a source that there are.
SELECT id, source, external_id, status, rank, persona, sealed, mark, data_subjects, position,
  received_at, modified_at, sla_at, queued_at, claimed_at, ended_at, investigation_id, waits_for,
  screening
  FROM ticket
 WHERE workspace_id = %(workspace_id)s AND source = %(source)s
   AND external_id = ANY (%(external_ids)s)

-- name: change
-- What a ticket says now; where it stands stays.
UPDATE ticket SET sealed = %(sealed)s, mark = %(mark)s, rank = %(rank)s,
  data_subjects = %(data_subjects)s, position = %(position)s, modified_at = %(modified_at)s,
  sla_at = %(sla_at)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: screened
-- What screening found, and where a new ticket goes.
UPDATE ticket SET screening = screening || %(screening)s, status = %(status)s,
  queued_at = CASE WHEN %(status)s = 'queued' THEN %(now)s ELSE queued_at END,
  ended_at = CASE WHEN %(status)s = 'queued' THEN NULL ELSE %(now)s END
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND status = 'new'

-- name: resolved
-- What stands resolved without a person since a moment, by id; not what somebody spoke against.
SELECT t.id, t.source, t.investigation_id, t.data_subjects, t.ended_at FROM ticket t
 WHERE t.workspace_id = %(workspace_id)s AND t.status = 'auto_resolved' AND t.id > %(after)s
   AND t.investigation_id IS NOT NULL AND t.sealed <> '' AND t.ended_at <= %(until)s
   AND (cardinality(%(sources)s::text[]) = 0 OR t.source = ANY (%(sources)s::text[]))
   AND NOT EXISTS (SELECT FROM investigation_opinion o
     WHERE o.workspace_id = t.workspace_id AND o.investigation_id = t.investigation_id
       AND (o.rating IS NULL OR o.rating <= %(poor)s))
 ORDER BY t.id LIMIT %(limit)s

-- name: unscreened
-- What nobody has looked at.
SELECT id FROM ticket WHERE workspace_id = %(workspace_id)s AND status = 'new'
 ORDER BY received_at LIMIT %(limit)s

-- name: claim
-- The next of the queue goes to an investigation; what somebody else is taking is passed over, and
-- so are tickets of personas that are off. One that is none works as the default one.
WITH on_duty AS (
  SELECT coalesce(array_agg(name), '{}') AS known,
    coalesce(array_agg(name) FILTER (WHERE autonomy <> 'off'), '{}') AS names,
    coalesce(bool_and(autonomy <> 'off') FILTER (WHERE name = 'default'), true) AS others
    FROM persona WHERE workspace_id = %(workspace_id)s AND present
), next AS (
  SELECT id FROM ticket
   WHERE workspace_id = %(workspace_id)s AND status = 'queued'
     AND (persona = ANY ((SELECT names FROM on_duty)::text[]) OR ((SELECT others FROM on_duty)
         AND persona <> ALL ((SELECT known FROM on_duty)::text[])))
   ORDER BY rank DESC, received_at, id
   LIMIT 1
   FOR UPDATE SKIP LOCKED
)
UPDATE ticket t SET status = 'investigating', claimed_at = %(now)s, ended_at = NULL,
  waits_for = NULL, investigation_id = %(investigation_id)s
  FROM next WHERE t.workspace_id = %(workspace_id)s AND t.id = next.id
RETURNING t.id, t.source, t.external_id, t.status, t.rank, t.persona, t.sealed, t.mark,
  t.data_subjects, t.position, t.received_at, t.modified_at, t.sla_at, t.queued_at, t.claimed_at,
  t.ended_at, t.investigation_id, t.waits_for, t.screening

-- name: settle
-- An investigation is done with a ticket, or gives it back.
UPDATE ticket SET status = %(status)s,
  queued_at = CASE WHEN %(status)s = 'queued' THEN %(now)s ELSE queued_at END,
  ended_at = CASE WHEN %(status)s = 'queued' THEN NULL ELSE %(now)s END
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND status = 'investigating'
   AND investigation_id = %(investigation_id)s

-- name: park
-- What has to be mended before a ticket goes back to the queue.
UPDATE ticket SET waits_for = %(waits_for)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND status NOT IN ('new', 'queued')

-- name: waiting
-- Tickets that wait for something to be mended, and are done with until then.
SELECT id FROM ticket
 WHERE workspace_id = %(workspace_id)s AND waits_for = %(waits_for)s AND status <> 'investigating'
 ORDER BY rank DESC, received_at, id LIMIT %(limit)s

-- name: mended
-- What ended tickets wait for though it was mended while they were investigated.
SELECT DISTINCT t.waits_for FROM ticket t
 WHERE t.workspace_id = %(workspace_id)s AND t.waits_for IS NOT NULL
   AND t.status NOT IN ('new', 'queued', 'investigating')
   AND (EXISTS (SELECT FROM connector c
                 WHERE c.workspace_id = t.workspace_id AND t.waits_for = 'connector:' || c.name
                   AND (c.changed_at > t.claimed_at OR EXISTS (
                     SELECT FROM oauth_sign_in o WHERE o.workspace_id = c.workspace_id
                      AND o.holder_id = c.id AND o.signed_in_at > t.claimed_at)))
     OR EXISTS (SELECT FROM ticket_source s
                 WHERE s.workspace_id = t.workspace_id AND t.waits_for = 'source:' || s.name
                   AND s.state = 'active'))
 ORDER BY t.waits_for

-- name: requeue
-- A ticket goes back to the queue; its messages may put it back as often as at the beginning.
WITH moved AS (
  UPDATE ticket SET status = 'queued', queued_at = %(now)s, ended_at = NULL, waits_for = NULL
   WHERE workspace_id = %(workspace_id)s AND id = %(id)s
     AND status NOT IN ('new', 'queued', 'investigating')
  RETURNING id
), counted AS (
  UPDATE ticket_message SET reopened = false
   WHERE workspace_id = %(workspace_id)s AND ticket_id IN (SELECT id FROM moved) AND reopened
)
SELECT id FROM moved

-- name: reopen
-- Its requester answered: a ticket that waited for that, or was done, is as one that came in.
UPDATE ticket SET status = 'new', ended_at = NULL, waits_for = NULL
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND sealed <> ''
   AND status IN ('needs_client', 'auto_resolved')

-- name: page
-- Tickets, the newest first.
SELECT id, source, external_id, status, rank, persona, sealed, mark, data_subjects, position,
  received_at, modified_at, sla_at, queued_at, claimed_at, ended_at, investigation_id, waits_for,
  screening
  FROM ticket
 WHERE workspace_id = %(workspace_id)s
   AND (%(status)s::text IS NULL OR status = %(status)s)
   AND (%(source)s::text IS NULL OR source = %(source)s)
   AND (%(before)s::uuid IS NULL OR id < %(before)s)
 ORDER BY id DESC LIMIT %(limit)s

-- name: since
-- What was received since a moment, the newest first.
SELECT id, source, external_id, status, rank, persona, sealed, mark, data_subjects, position,
  received_at, modified_at, sla_at, queued_at, claimed_at, ended_at, investigation_id, waits_for,
  screening
  FROM ticket
 WHERE workspace_id = %(workspace_id)s AND received_at >= %(moment)s
 ORDER BY received_at DESC, id DESC LIMIT %(limit)s

-- name: depth
-- How many wait that may be taken, counted as far as it matters.
WITH on_duty AS (
  SELECT coalesce(array_agg(name), '{}') AS known,
    coalesce(array_agg(name) FILTER (WHERE autonomy <> 'off'), '{}') AS names,
    coalesce(bool_and(autonomy <> 'off') FILTER (WHERE name = 'default'), true) AS others
    FROM persona WHERE workspace_id = %(workspace_id)s AND present
)
SELECT count(*) FROM (
  SELECT FROM ticket
   WHERE workspace_id = %(workspace_id)s AND status = 'queued'
     AND (persona = ANY ((SELECT names FROM on_duty)::text[]) OR ((SELECT others FROM on_duty)
         AND persona <> ALL ((SELECT known FROM on_duty)::text[])))
   ORDER BY rank DESC, received_at, id LIMIT %(most)s) AS waiting

-- name: numbers
-- What the queue looks like; the average is of the last fifty that were investigated to an end.
WITH on_duty AS (
  SELECT coalesce(array_agg(name), '{}') AS known,
    coalesce(array_agg(name) FILTER (WHERE autonomy <> 'off'), '{}') AS names,
    coalesce(bool_and(autonomy <> 'off') FILTER (WHERE name = 'default'), true) AS others
    FROM persona WHERE workspace_id = %(workspace_id)s AND present
)
SELECT count(*) FILTER (WHERE status = 'queued' AND NOT held) AS depth,
  count(*) FILTER (WHERE held) AS held,
  count(*) FILTER (WHERE status = 'new') AS new,
  count(*) FILTER (WHERE status = 'investigating') AS investigating,
  count(*) FILTER (WHERE status = 'discarded') AS discarded,
  (SELECT avg(extract(epoch FROM last.ended_at - last.claimed_at))::double precision
     FROM (SELECT ended_at, claimed_at FROM ticket
            WHERE workspace_id = %(workspace_id)s AND ended_at IS NOT NULL
              AND claimed_at IS NOT NULL AND ended_at >= claimed_at AND status <> 'discarded'
            ORDER BY ended_at DESC LIMIT 50) AS last) AS average_s
  FROM (SELECT status, status = 'queued' AND NOT
         (persona = ANY ((SELECT names FROM on_duty)::text[]) OR ((SELECT others FROM on_duty)
         AND persona <> ALL ((SELECT known FROM on_duty)::text[]))) AS held
          FROM ticket
         WHERE workspace_id = %(workspace_id)s
           AND status IN ('queued', 'new', 'investigating', 'discarded')) AS waiting

-- name: workspaces
-- Where tickets wait; of every workspace.
SELECT workspaces_with_tickets()
