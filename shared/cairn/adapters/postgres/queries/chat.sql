-- name: close_interrupted
-- Turns of a session that nobody works on any more.
UPDATE chat_turn SET state = 'failed', ended_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND session = %(session)s AND state = 'running'
   AND deadline <= %(now)s

-- name: drop_old
-- Turns and events that were kept long enough.
WITH events AS (
  DELETE FROM chat_event WHERE workspace_id = %(workspace_id)s AND at < %(events_before)s)
DELETE FROM chat_turn WHERE workspace_id = %(workspace_id)s AND created_at < %(turns_before)s

-- name: begin
-- A turn that begins; nothing when its id is known or its session has one that runs.
INSERT INTO chat_turn (workspace_id, id, principal_id, client_id, session, address, state,
  data_subjects, question, digest, created_at, deadline, ended_at, door)
VALUES (%(workspace_id)s, %(id)s, %(principal_id)s, %(client_id)s, %(session)s, %(address)s, %(state)s,
  %(data_subjects)s, %(question)s, %(digest)s, %(created_at)s, %(deadline)s, %(ended_at)s, %(door)s)
ON CONFLICT DO NOTHING

-- name: keep
-- Let a turn that is worked on go on for a while; one that runs for too long does not.
UPDATE chat_turn SET deadline = %(until)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'running'
   AND deadline < %(until)s AND created_at > %(begun_after)s

-- name: find
-- A turn of the caller.
-- columns: cairn.chat.rows.TurnRow
SELECT {columns} FROM chat_turn
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND principal_id = %(principal_id)s

-- name: earlier
-- The last answered turns of a session, the newest first.
-- columns: cairn.chat.rows.TurnRow
SELECT {columns} FROM chat_turn
 WHERE workspace_id = %(workspace_id)s AND session = %(session)s AND answer IS NOT NULL
 ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- name: said
-- How many turns a session has had, and an address since two moments.
SELECT count(*) FILTER (WHERE session = %(session)s)::integer,
  count(*) FILTER (WHERE address = %(address)s AND created_at > %(minute)s)::integer,
  count(*) FILTER (WHERE address = %(address)s AND created_at > %(day)s)::integer
  FROM chat_turn
 WHERE workspace_id = %(workspace_id)s AND (session = %(session)s OR address = %(address)s)

-- name: counted
-- How many turns an address has had since two moments.
SELECT count(*) FILTER (WHERE created_at > %(minute)s)::integer, count(*)::integer
  FROM chat_turn
 WHERE workspace_id = %(workspace_id)s AND address = %(address)s AND created_at > %(day)s

-- name: tell
-- Events at the end of a turn that runs; nothing when it does not (any more).
WITH moved AS (
  UPDATE chat_turn SET seq = seq + jsonb_array_length(%(rows)s::jsonb)
   WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'running'
  RETURNING seq - jsonb_array_length(%(rows)s::jsonb) AS before)
INSERT INTO chat_event (workspace_id, turn_id, seq, name, data, sealed, at)
SELECT %(workspace_id)s, %(id)s, moved.before + row.ordinality, row.value->>'name', row.value->'data',
  decode(row.value->>'sealed', 'base64'), (row.value->>'at')::timestamptz
  FROM moved, jsonb_array_elements(%(rows)s::jsonb) WITH ORDINALITY AS row
RETURNING seq

-- name: runs
-- Whether a turn runs.
SELECT state = 'running' FROM chat_turn WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: end
-- The end of a turn that runs, with its answer.
UPDATE chat_turn SET state = %(state)s, source = %(source)s, answer = %(answer)s, ended_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'running'

-- name: abort
-- Stop a turn of the caller.
UPDATE chat_turn SET state = 'aborted', ended_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND principal_id = %(principal_id)s
   AND state = 'running'

-- name: events
-- What was told of a turn after a number.
-- columns: cairn.chat.rows.EventRow
SELECT {columns} FROM chat_event
 WHERE workspace_id = %(workspace_id)s AND turn_id = %(id)s AND seq > %(after)s
 ORDER BY seq LIMIT %(limit)s

-- name: propose
-- What waits for the person.
INSERT INTO chat_action (workspace_id, id, turn_id, principal_id, session, tool, arguments,
  arguments_hash, data_subjects, state, created_at, expires_at)
VALUES (%(workspace_id)s, %(id)s, %(turn_id)s, %(principal_id)s, %(session)s, %(tool)s, %(arguments)s,
  %(arguments_hash)s, %(data_subjects)s, 'pending', %(created_at)s, %(expires_at)s)

-- name: action
-- One that the caller was asked about.
-- columns: cairn.chat.rows.ActionRow
SELECT {columns} FROM chat_action
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND principal_id = %(principal_id)s

-- name: waiting
-- What waits in a session, the newest first.
-- columns: cairn.chat.rows.ActionRow
SELECT {columns} FROM chat_action
 WHERE workspace_id = %(workspace_id)s AND session = %(session)s AND state = 'pending'
   AND expires_at > %(now)s
 ORDER BY created_at DESC, id DESC

-- name: of_turn
-- What a turn asked the person for.
-- columns: cairn.chat.rows.ActionRow
SELECT {columns} FROM chat_action
 WHERE workspace_id = %(workspace_id)s AND turn_id = %(turn_id)s ORDER BY created_at, id

-- name: decide
-- The person's word on one that waits; nothing when it was decided before or has expired.
UPDATE chat_action SET state = %(state)s, decided_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND principal_id = %(principal_id)s
   AND state = 'pending' AND expires_at > %(now)s

-- name: done
-- What came of one that ran.
UPDATE chat_action SET state = %(state)s, result = %(result)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'running'

-- name: any
-- A turn of anybody, for the operator who looks at its chat.
-- columns: cairn.chat.rows.TurnRow
SELECT {columns} FROM chat_turn WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: of_session
-- All turns of a chat, the oldest first.
-- columns: cairn.chat.rows.TurnRow
SELECT {columns} FROM chat_turn
 WHERE workspace_id = %(workspace_id)s AND session = %(session)s
 ORDER BY created_at, id LIMIT %(limit)s

-- name: did
-- What was told of the tools and the screening of some turns.
SELECT turn_id, seq, name, data, sealed, at FROM chat_event
 WHERE workspace_id = %(workspace_id)s AND turn_id = ANY (%(turns)s)
   AND name IN ('tool_activity', 'agent_end')
 ORDER BY at, turn_id, seq LIMIT %(limit)s

-- name: last_passed
-- The last message of a chat that a person is to answer.
-- columns: cairn.chat.rows.TurnRow
SELECT {columns} FROM chat_turn
 WHERE workspace_id = %(workspace_id)s AND session = %(session)s AND state = 'passed'
 ORDER BY created_at DESC, id DESC LIMIT 1

-- name: pass_on
-- The turn of a chat that runs goes to a person.
UPDATE chat_turn SET state = 'passed', ended_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND session = %(session)s AND state = 'running'
RETURNING id, question

-- name: answer_by_person
-- What a person has said to a turn that was passed on to them.
UPDATE chat_turn SET answer = %(answer)s, source = 'person', ended_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'passed'

-- name: live
-- The last turns of chats that the agent answers, the newest first: none that is over, or a person's.
-- columns: cairn.chat.rows.TurnRow
SELECT {columns} FROM (
  SELECT DISTINCT ON (t.session) t.* FROM chat_turn t
   WHERE t.workspace_id = %(workspace_id)s AND t.created_at > %(since)s
   ORDER BY t.session, t.created_at DESC, t.id DESC) AS t
 WHERE NOT EXISTS (SELECT FROM handoff h
     WHERE h.workspace_id = t.workspace_id AND h.session = t.session AND h.ended_at IS NULL)
   AND NOT EXISTS (SELECT FROM chat_session s WHERE s.workspace_id = t.workspace_id
     AND s.id = t.principal_id AND s.state <> 'active')
 ORDER BY created_at DESC, id DESC LIMIT %(limit)s
