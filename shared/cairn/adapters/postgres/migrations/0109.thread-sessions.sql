-- A thread has one session at a time.
-- depends: 0108.channel-sessions
-- transactional: false

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS chat_session_thread
  ON chat_session (workspace_id, channel_id, thread)
  WHERE channel_id IS NOT NULL AND state NOT IN ('resolved', 'closed');
