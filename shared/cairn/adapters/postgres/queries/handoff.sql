-- name: find
-- A hand-off.
-- columns: cairn.chat.handoff.HandOffRow
SELECT {columns} FROM handoff WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: open_of
-- The open hand-off of a chat.
-- columns: cairn.chat.handoff.HandOffRow
SELECT {columns} FROM handoff
 WHERE workspace_id = %(workspace_id)s AND session = %(session)s AND ended_at IS NULL

-- name: last_of
-- The last hand-off of a chat, open or not.
-- columns: cairn.chat.handoff.HandOffRow
SELECT {columns} FROM handoff
 WHERE workspace_id = %(workspace_id)s AND session = %(session)s
 ORDER BY requested_at DESC, id DESC LIMIT 1

-- name: number_of
-- How many hand-offs a chat has had.
SELECT count(*)::integer FROM handoff
 WHERE workspace_id = %(workspace_id)s AND session = %(session)s

-- name: page
-- Hand-offs before one of them, the newest first.
-- columns: cairn.chat.handoff.HandOffRow
SELECT {columns} FROM handoff
 WHERE workspace_id = %(workspace_id)s AND state = ANY (%(states)s) AND id < %(before)s
 ORDER BY id DESC LIMIT %(limit)s

-- name: waiting
-- Hand-offs that wait for somebody, whoever waits longest first.
-- columns: cairn.chat.handoff.HandOffRow
SELECT {columns} FROM handoff
 WHERE workspace_id = %(workspace_id)s AND state = 'pending' ORDER BY moved_at, id LIMIT %(limit)s

-- name: due
-- Open hand-offs whose time is up.
SELECT id FROM handoff
 WHERE workspace_id = %(workspace_id)s AND state IN ('pending', 'active') AND %(now)s >= CASE
   WHEN state = 'pending' THEN moved_at + make_interval(secs => wait_seconds)
   WHEN unanswered_since IS NOT NULL THEN unanswered_since + make_interval(secs => away_seconds)
   ELSE heard_at + %(silence)s END
 ORDER BY id LIMIT %(limit)s

-- name: numbers
-- How many wait and are answered, how long customers waited for somebody, and how chats ended.
SELECT count(*) FILTER (WHERE state = 'pending')::integer AS pending,
  count(*) FILTER (WHERE state = 'active')::integer AS active,
  min(moved_at) FILTER (WHERE state = 'pending') AS waiting_since,
  count(accepted_at)::integer AS accepted,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM accepted_at - requested_at))
    AS median_wait_seconds,
  max(extract(epoch FROM accepted_at - requested_at))::double precision AS longest_wait_seconds,
  count(*) FILTER (WHERE state = 'closed')::integer AS closed,
  count(*) FILTER (WHERE state = 'returned')::integer AS returned,
  count(*) FILTER (WHERE state = 'ticket')::integer AS tickets
  FROM handoff WHERE workspace_id = %(workspace_id)s AND requested_at > %(since)s

-- name: begin
-- A hand-off that begins; nothing when the chat has an open one.
INSERT INTO handoff (workspace_id, id, session, chat_session_id, principal_id, client_id, state, cause,
  operator_id, operator, data_subjects, sealed, wait_seconds, away_seconds, requested_at, moved_at,
  heard_at, unanswered_since, accepted_at, channel)
VALUES (%(workspace_id)s, %(id)s, %(session)s, %(chat_session_id)s, %(principal_id)s, %(client_id)s,
  %(state)s, %(cause)s, %(operator_id)s, %(operator)s, %(data_subjects)s, %(sealed)s,
  %(wait_seconds)s, %(away_seconds)s, %(requested_at)s, %(moved_at)s, %(heard_at)s,
  %(unanswered_since)s, %(accepted_at)s, %(channel)s)
ON CONFLICT DO NOTHING

-- name: move
-- Move a hand-off from the state and the operator that who moves it saw.
UPDATE handoff SET state = %(state)s, operator_id = %(operator_id)s, operator = %(operator)s,
  resolution = %(resolution)s, moved_at = %(moved_at)s, unanswered_since = %(unanswered_since)s,
  accepted_at = %(accepted_at)s, ended_at = %(ended_at)s, ticket_id = %(ticket_id)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = %(state_before)s
   AND operator_id IS NOT DISTINCT FROM %(operator_before)s

-- name: add_line
-- A line at the end of an open hand-off.
WITH moved AS (
  UPDATE handoff SET seq = seq + 1, heard_at = %(at)s, unanswered_since = CASE %(speaker)s
      WHEN 'customer' THEN coalesce(unanswered_since, %(at)s) WHEN 'operator' THEN NULL
      ELSE unanswered_since END
   WHERE workspace_id = %(workspace_id)s AND id = %(handoff_id)s AND ended_at IS NULL
  RETURNING seq)
INSERT INTO handoff_line (workspace_id, handoff_id, seq, id, kind, speaker, name, sealed, recorded, at)
SELECT %(workspace_id)s, %(handoff_id)s, moved.seq, %(id)s, %(kind)s, %(speaker)s, %(name)s,
  %(sealed)s, %(recorded)s, %(at)s FROM moved
RETURNING seq

-- name: line
-- The line of an id.
-- columns: cairn.chat.handoff.LineRow
SELECT {columns} FROM handoff_line
 WHERE workspace_id = %(workspace_id)s AND handoff_id = %(handoff_id)s AND id = %(id)s

-- name: lines
-- Lines after a number.
-- columns: cairn.chat.handoff.LineRow
SELECT {columns} FROM handoff_line
 WHERE workspace_id = %(workspace_id)s AND handoff_id = %(handoff_id)s AND seq > %(after)s
 ORDER BY seq LIMIT %(limit)s

-- name: unrecorded
-- Lines that the conversation does not have yet.
-- columns: cairn.chat.handoff.LineRow
SELECT {columns} FROM handoff_line
 WHERE workspace_id = %(workspace_id)s AND handoff_id = %(handoff_id)s AND NOT recorded
 ORDER BY seq LIMIT %(limit)s

-- name: record_line
-- The conversation has a line.
UPDATE handoff_line SET recorded = true
 WHERE workspace_id = %(workspace_id)s AND handoff_id = %(handoff_id)s AND seq = %(seq)s

-- name: behind
-- Hand-offs with lines that the conversation does not have, though they were said a while ago.
SELECT DISTINCT handoff_id FROM handoff_line
 WHERE workspace_id = %(workspace_id)s AND NOT recorded AND at < %(before)s LIMIT %(limit)s

-- name: drop_old
-- Hand-offs that were kept long enough.
DELETE FROM handoff WHERE workspace_id = %(workspace_id)s AND ended_at < %(before)s
