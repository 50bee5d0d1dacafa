-- name: workspace_of
-- Whose a widget is; of any workspace.
SELECT workspace_of_widget(%(id)s)

-- name: find
-- The workspace's widget.
-- columns: cairn.chat.widget.WidgetRow
SELECT {columns} FROM widget WHERE workspace_id = %(workspace_id)s

-- name: keep
-- Keep what a widget may do; its id stays, and so does a secret that is not given.
INSERT INTO widget AS w (workspace_id, id, settings, secret, created_at, changed_at)
VALUES (%(workspace_id)s, %(id)s, %(settings)s, %(secret)s, %(now)s, %(now)s)
ON CONFLICT (workspace_id) DO UPDATE SET settings = excluded.settings,
  secret = coalesce(excluded.secret, w.secret), changed_at = excluded.changed_at

-- name: remove
-- Remove the widget.
DELETE FROM widget WHERE workspace_id = %(workspace_id)s

-- name: drop_sessions
-- All sessions of the widget, with it.
DELETE FROM chat_session WHERE workspace_id = %(workspace_id)s AND channel_id IS NULL

-- name: spend
-- Add what a turn has cost to its day.
UPDATE widget SET
  spent_usd = CASE WHEN spent_on = %(day)s THEN spent_usd ELSE 0 END + cost.usd, spent_on = %(day)s
  FROM (SELECT coalesce(sum(cost_usd), 0) AS usd FROM llm_call
    WHERE workspace_id = %(workspace_id)s AND run_id = %(turn_id)s) AS cost
 WHERE workspace_id = %(workspace_id)s

-- name: tidy
-- Sessions that are over: idle ones of a kind are resolved, old ones leave.
WITH gone AS (
  DELETE FROM chat_session WHERE workspace_id = %(workspace_id)s
    AND (created_at < %(before)s OR (state = 'created' AND created_at < %(unused_before)s)))
UPDATE chat_session SET state = 'resolved', ended_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND kind = %(kind)s AND state = 'active'
   AND seen_at < %(idle_before)s

-- name: lock
-- One at a time of those that are counted together, until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace_id)s::text || encode(%(counted)s, 'hex'), 0))

-- name: opened
-- How many sessions those counted together have opened since two moments.
SELECT count(*) FILTER (WHERE created_at > %(minute)s)::integer, count(*)::integer
  FROM chat_session
 WHERE workspace_id = %(workspace_id)s AND counted = %(counted)s AND created_at > %(day)s

-- name: open
-- A session that begins.
INSERT INTO chat_session (workspace_id, id, token_hash, kind, state, client_id, data_subjects, counted,
  created_at, seen_at)
VALUES (%(workspace_id)s, %(id)s, %(token_hash)s, %(kind)s, 'created', %(client_id)s,
  %(data_subjects)s, %(counted)s, %(created_at)s, %(created_at)s)

-- name: session
-- The session of a token.
-- columns: cairn.chat.widget_sessions.SessionRow
SELECT {columns} FROM chat_session
 WHERE workspace_id = %(workspace_id)s AND token_hash = %(token_hash)s

-- name: by_id
-- A session.
-- columns: cairn.chat.widget_sessions.SessionRow
SELECT {columns} FROM chat_session WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: door_of
-- By which door a session came: the widget, or a kind of channel.
SELECT coalesce(c.kind, 'widget') FROM chat_session s
  LEFT JOIN channel c ON c.workspace_id = s.workspace_id AND c.id = s.channel_id
 WHERE s.workspace_id = %(workspace_id)s AND s.id = %(id)s

-- name: agent_of
-- Whose public documents a session is answered from.
SELECT CASE WHEN s.channel_id IS NULL THEN w.settings ->> 'agent' ELSE c.settings ->> 'agent' END
  FROM chat_session s LEFT JOIN widget w ON w.workspace_id = s.workspace_id
  LEFT JOIN channel c ON c.workspace_id = s.workspace_id AND c.id = s.channel_id
 WHERE s.workspace_id = %(workspace_id)s AND s.id = %(id)s

-- name: spent
-- What chats have cost on a day, by whatever door.
SELECT coalesce(sum(usd), 0) FROM (
  SELECT spent_usd AS usd FROM widget
   WHERE workspace_id = %(workspace_id)s AND spent_on = %(day)s
  UNION ALL SELECT spent_usd FROM channel
   WHERE workspace_id = %(workspace_id)s AND spent_on = %(day)s) AS spent

-- name: say
-- Count a message of a session that talks; nothing when it is over.
UPDATE chat_session SET messages = messages + 1, seen_at = %(now)s,
  state = CASE state WHEN 'created' THEN 'active' ELSE state END
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state NOT IN ('resolved', 'closed')
RETURNING messages, passed

-- name: move
-- Move a session from one of some states to another.
UPDATE chat_session SET state = %(state)s, seen_at = %(now)s, ended_at = %(ended_at)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = ANY (%(before)s)

-- name: challenge
-- Keep what a session has to solve, in the place of the one before.
UPDATE chat_session SET challenge = %(challenge)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: take_challenge
-- Take away what a session had to solve: one answer is looked at, whatever it is.
UPDATE chat_session s SET challenge = NULL
  FROM (SELECT id, challenge FROM chat_session
    WHERE workspace_id = %(workspace_id)s AND id = %(id)s FOR UPDATE) AS before
 WHERE s.workspace_id = %(workspace_id)s AND s.id = before.id
RETURNING before.challenge

-- name: check
-- Count that an answer of a session is asked about elsewhere; nothing when that was often enough.
UPDATE chat_session SET checks = checks + 1
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND checks < %(most)s

-- name: unchecked
-- What was asked about was not answered: it does not count.
UPDATE chat_session SET checks = greatest(0, checks - 1)
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: pass
-- A session that has solved its challenge.
UPDATE chat_session SET passed = true WHERE workspace_id = %(workspace_id)s AND id = %(id)s
