-- Sessions of threads beside those of the widget's three kinds.
-- depends: 0107.search-readers

ALTER TABLE chat_session DROP CONSTRAINT chat_session_kind_check;
ALTER TABLE chat_session ADD CONSTRAINT chat_session_kind_check
  CHECK (kind IN ('anonymous', 'signed', 'login', 'channel'));
