-- name: workspace_of
-- Whose a channel is; of any workspace.
SELECT workspace_of_channel(%(id)s)

-- name: add
-- Keep a channel with its sealed secrets; a name that is taken changes nothing.
INSERT INTO channel (workspace_id, id, name, kind, config, settings, secrets, paused, created_at,
  changed_at)
VALUES (%(workspace_id)s, %(id)s, %(called)s, %(kind)s, %(config)s, %(settings)s, %(secrets)s,
  %(paused)s, %(created_at)s, %(created_at)s)
ON CONFLICT (workspace_id, name) DO NOTHING

-- name: find
-- A channel.
-- columns: cairn.channels.channel.ChannelRow
SELECT {columns} FROM channel WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: all
-- Every channel, by name.
-- columns: cairn.channels.channel.ChannelRow
SELECT {columns} FROM channel WHERE workspace_id = %(workspace_id)s ORDER BY name

-- name: secrets
-- The sealed secrets of a channel.
SELECT secrets FROM channel WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: change
-- Other settings; other secrets when there are any.
UPDATE channel SET config = %(config)s, settings = %(settings)s, paused = %(paused)s,
  error = %(error)s, secrets = coalesce(%(secrets)s, secrets), changed_at = %(changed_at)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: remove
-- A channel goes with what came in, what was posted and its ties; its sessions are over.
WITH over AS (
  DELETE FROM chat_session WHERE workspace_id = %(workspace_id)s AND channel_id = %(id)s)
DELETE FROM channel WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: any
-- Whether the workspace has a channel that works.
SELECT EXISTS (SELECT FROM channel WHERE workspace_id = %(workspace_id)s AND NOT paused)

-- name: failed
-- Why a channel could not be asked; null: it answered.
UPDATE channel SET error = %(error)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND error IS DISTINCT FROM %(error)s

-- name: spend
-- Add what a turn has cost to the day of its channel.
UPDATE channel SET
  spent_usd = CASE WHEN spent_on = %(day)s THEN spent_usd ELSE 0 END + cost.usd, spent_on = %(day)s
  FROM (SELECT coalesce(sum(cost_usd), 0) AS usd FROM llm_call
    WHERE workspace_id = %(workspace_id)s AND run_id = %(turn_id)s) AS cost
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: keep_inbound
-- Keep what came in; the same, told of again, changes nothing. Old ones leave.
WITH old AS (
  DELETE FROM channel_inbound WHERE (workspace_id, id) IN (
    SELECT workspace_id, id FROM channel_inbound
     WHERE workspace_id = %(workspace_id)s AND received_at < %(before)s LIMIT 100
       FOR UPDATE SKIP LOCKED))
INSERT INTO channel_inbound (workspace_id, id, channel_id, known_as, thread, client_id, data_subjects,
  sealed, state, received_at)
VALUES (%(workspace_id)s, %(id)s, %(channel_id)s, %(known_as)s, %(thread)s, %(client_id)s,
  %(data_subjects)s, %(sealed)s, %(state)s, %(received_at)s)
ON CONFLICT DO NOTHING

-- name: inbound
-- What came in, by its id.
-- columns: cairn.channels.channel.InboundRow
SELECT {columns} FROM channel_inbound WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: inbound_known
-- Whether something came in already.
SELECT EXISTS (SELECT FROM channel_inbound
  WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s AND known_as = %(known_as)s)

-- name: thread_known
-- Whether something came in in a thread of somebody.
SELECT EXISTS (SELECT FROM channel_inbound
  WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s AND thread = %(thread)s)

-- name: waiting_in
-- What waits in a thread, the oldest first; who else asks for it waits.
-- columns: cairn.channels.channel.InboundRow
SELECT {columns} FROM channel_inbound
 WHERE workspace_id = %(workspace_id)s AND thread = %(thread)s AND state = 'pending'
 ORDER BY received_at, id LIMIT 20 FOR UPDATE

-- name: lease_inbound
-- Somebody works at it from now on.
UPDATE channel_inbound SET leased_until = %(until)s, attempts = attempts + 1
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: end_inbound
-- What became of what came in.
UPDATE channel_inbound SET state = %(state)s, leased_until = NULL
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: free_inbound
-- Nobody works at it any more; it is to be tried again.
UPDATE channel_inbound SET leased_until = NULL
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: refused_in
-- How often somebody was refused in a thread since a moment.
SELECT count(*)::integer FROM channel_inbound
 WHERE workspace_id = %(workspace_id)s AND thread = %(thread)s AND state = 'refused'
   AND received_at > %(since)s

-- name: session
-- The session of somebody in a thread, while it is not over.
-- columns: cairn.chat.widget_sessions.SessionRow
SELECT {columns} FROM chat_session
 WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s AND thread = %(thread)s
   AND state NOT IN ('resolved', 'closed')

-- name: open_session
-- A session of a thread that begins.
INSERT INTO chat_session (workspace_id, id, token_hash, kind, state, client_id, data_subjects, counted,
  created_at, seen_at, channel_id, thread, place)
VALUES (%(workspace_id)s, %(id)s, %(token_hash)s, %(kind)s, 'created', %(client_id)s,
  %(data_subjects)s, %(counted)s, %(created_at)s, %(created_at)s, %(channel_id)s, %(thread)s,
  %(place)s)
ON CONFLICT DO NOTHING

-- name: end_sessions
-- Sessions of a channel in which no person answers are over; the next message begins another.
UPDATE chat_session SET state = 'resolved', ended_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s
   AND state IN ('created', 'active')

-- name: place_of
-- Where a session's thread is, of which channel.
SELECT channel_id, place FROM chat_session
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND channel_id IS NOT NULL

-- name: is_busy
-- Whether somebody was told that there are too many messages.
SELECT told_busy FROM chat_session WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: tell_busy
-- That there are too many messages is said once, until one is answered again.
UPDATE chat_session SET told_busy = %(busy)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND told_busy <> %(busy)s

-- name: begin_post
-- A message of ours that is to be posted; one that is known changes nothing.
INSERT INTO channel_post (workspace_id, channel_id, about, role, place, posted_at)
VALUES (%(workspace_id)s, %(channel_id)s, %(about)s, %(role)s, %(place)s, %(now)s)
ON CONFLICT DO NOTHING

-- name: posts_of
-- What we posted about something.
-- columns: cairn.channels.channel.PostRow
SELECT {columns} FROM channel_post WHERE workspace_id = %(workspace_id)s AND about = %(about)s
 ORDER BY channel_id, role

-- name: post_of_message
-- What a message of ours is about.
-- columns: cairn.channels.channel.PostRow
SELECT {columns} FROM channel_post
 WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s
   AND message_id = %(message_id)s AND role <> 'customer'

-- name: hold_post
-- Let one at a time work at a message; whoever comes meanwhile is noted.
UPDATE channel_post p SET stirred = busy.it,
  leased_until = CASE WHEN busy.it THEN p.leased_until ELSE %(until)s END
  FROM (SELECT channel_id, about, role, coalesce(leased_until > %(now)s, false) AS it,
      leased_until IS NOT NULL AS again
    FROM channel_post WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s
      AND about = %(about)s AND role = %(role)s FOR UPDATE) AS busy
 WHERE p.workspace_id = %(workspace_id)s AND p.channel_id = busy.channel_id
   AND p.about = busy.about AND p.role = busy.role
RETURNING busy.it AS busy, busy.again

-- name: keep_post
-- What stands there now.
UPDATE channel_post SET message_id = %(message_id)s, shown = %(shown)s, seq = %(seq)s
 WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s AND about = %(about)s
   AND role = %(role)s

-- name: free_post
-- Nobody works at a message any more; whether somebody came meanwhile.
WITH before AS (SELECT channel_id, about, role, stirred FROM channel_post
  WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s AND about = %(about)s
    AND role = %(role)s FOR UPDATE)
UPDATE channel_post p SET leased_until = NULL, stirred = false FROM before
 WHERE p.workspace_id = %(workspace_id)s AND p.channel_id = before.channel_id
   AND p.about = before.about AND p.role = before.role
RETURNING before.stirred

-- name: expire_post
-- Who worked at a message has left it unfinished.
UPDATE channel_post SET leased_until = %(now)s
 WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s AND about = %(about)s
   AND role = %(role)s

-- name: wrote_line
-- Whether a line of a chat was written in a channel: it has the id of what came in.
SELECT EXISTS (SELECT FROM handoff_line l JOIN channel_inbound i
    ON i.workspace_id = l.workspace_id AND i.id = l.id AND i.channel_id = %(channel_id)s
  WHERE l.workspace_id = %(workspace_id)s AND l.handoff_id = %(handoff_id)s AND l.seq = %(seq)s)

-- name: keep_code
-- A one-time code of somebody, in the place of the one before.
INSERT INTO channel_code (workspace_id, channel_id, person_id, code_hash, expires_at)
VALUES (%(workspace_id)s, %(channel_id)s, %(person_id)s, %(code_hash)s, %(expires_at)s)
ON CONFLICT (workspace_id, channel_id, person_id) DO UPDATE SET code_hash = excluded.code_hash,
  expires_at = excluded.expires_at

-- name: take_code
-- Take a code away, and say whose it is.
DELETE FROM channel_code WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s
   AND code_hash = %(code_hash)s AND expires_at > %(now)s
RETURNING person_id

-- name: tie
-- Who somebody of the channel is; whoever they were, or who was they, before is so no more.
WITH before AS (
  DELETE FROM channel_tie WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s
    AND (person_id = %(person_id)s) AND user_id <> %(user_id)s)
INSERT INTO channel_tie (workspace_id, channel_id, user_id, person_id, tied_at)
VALUES (%(workspace_id)s, %(channel_id)s, %(user_id)s, %(person_id)s, %(now)s)
ON CONFLICT (workspace_id, channel_id, user_id) DO UPDATE SET person_id = excluded.person_id,
  tied_at = excluded.tied_at

-- name: person_of
-- Who somebody of the channel is.
SELECT person_id FROM channel_tie
 WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s AND user_id = %(user_id)s

-- name: ties
-- Who is whom in a channel.
-- columns: cairn.channels.channel.TieRow
SELECT {columns} FROM channel_tie
 WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s ORDER BY tied_at, user_id

-- name: untie
-- Somebody of the channel is nobody here any more.
DELETE FROM channel_tie WHERE workspace_id = %(workspace_id)s AND channel_id = %(channel_id)s
   AND person_id = %(person_id)s
