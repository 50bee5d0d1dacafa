-- By which door a turn of a chat came, and how often a session's browser was checked elsewhere.
-- depends: 0109.thread-sessions

ALTER TABLE chat_turn ADD COLUMN door text; -- of a session: the widget, or a kind of channel
ALTER TABLE chat_session ADD COLUMN checks integer NOT NULL DEFAULT 0;
