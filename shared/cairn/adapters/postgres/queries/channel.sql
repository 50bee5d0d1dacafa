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
