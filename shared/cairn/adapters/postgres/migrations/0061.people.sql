-- What people say about memories: pinned ones, and those that no recall may find again.
-- depends: 0060.bounded-keywords

ALTER TABLE node ADD COLUMN pinned boolean NOT NULL DEFAULT false,
  ADD COLUMN never_recall boolean NOT NULL DEFAULT false; -- kept in quarantine, without a taint
ALTER TABLE node_version ADD COLUMN pinned boolean NOT NULL DEFAULT false,
  ADD COLUMN never_recall boolean NOT NULL DEFAULT false; -- of all its versions, whenever it was said

-- A question about the past finds it no more than any other; writers and admins who follow a history do.
CREATE POLICY never_recall ON node_version AS RESTRICTIVE FOR SELECT TO cairn_app
  USING (NOT never_recall OR current_setting('cairn.sees_deleted', true) = 'on');
