-- Sessions of customers whom the host's own login names.
-- depends: 0103.channels

ALTER TABLE chat_session DROP CONSTRAINT chat_session_kind_check;
ALTER TABLE chat_session ADD CONSTRAINT chat_session_kind_check
  CHECK (kind IN ('anonymous', 'signed', 'login'));
