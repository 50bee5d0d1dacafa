-- Messaging channels: what comes in from them, what is posted there, and who their people are here.
-- depends: 0102.ties

CREATE TABLE channel (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  kind text NOT NULL CHECK (kind IN ('slack', 'teams')),
  config jsonb NOT NULL, -- the kind's own
  settings jsonb NOT NULL,
  secrets bytea NOT NULL, -- sealed under the workspace's own key
  paused boolean NOT NULL DEFAULT false,
  error text, -- why it could not be asked, the last time
  spent_on date, -- the day (UTC) that `spent_usd` is of
  spent_usd numeric NOT NULL DEFAULT 0 CHECK (spent_usd >= 0),
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, name)
);
CREATE UNIQUE INDEX channel_id ON channel (id); -- a delivery names its channel and no workspace

-- A session of a thread is one of the widget's, with a place.
ALTER TABLE chat_session
  DROP CONSTRAINT chat_session_kind_check,
  ADD CONSTRAINT chat_session_kind_check CHECK (kind IN ('anonymous', 'signed', 'channel')),
  ADD COLUMN channel_id uuid,
  ADD COLUMN thread bytea CHECK (length(thread) = 32), -- of one person
  ADD COLUMN place jsonb,
  ADD COLUMN told_busy boolean NOT NULL DEFAULT false; -- that there are too many messages was said
-- by which door the chat came; null as before: the widget's, or a key's
ALTER TABLE handoff ADD COLUMN channel text;

CREATE TABLE channel_inbound (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  channel_id uuid NOT NULL,
  known_as text NOT NULL CHECK (length(known_as) BETWEEN 1 AND 500),
  thread bytea NOT NULL CHECK (length(thread) = 32),
  client_id text NOT NULL CHECK (length(client_id) BETWEEN 1 AND 256),
  data_subjects uuid[] NOT NULL,
  sealed bytea NOT NULL, -- who, where and what
  -- pending -> done | refused | failed
  state text NOT NULL CHECK (state IN ('pending', 'done', 'refused', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  leased_until timestamptz, -- somebody works at it
  received_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, channel_id) REFERENCES channel (workspace_id, id) ON DELETE CASCADE
);
-- the same message, told of any number of times, is one
CREATE UNIQUE INDEX channel_inbound_known ON channel_inbound (workspace_id, channel_id, known_as);
CREATE INDEX channel_inbound_thread ON channel_inbound (workspace_id, thread, received_at);
CREATE INDEX channel_inbound_pending ON channel_inbound (workspace_id, received_at)
  WHERE state = 'pending';
CREATE INDEX channel_inbound_old ON channel_inbound (workspace_id, received_at);
CREATE INDEX channel_inbound_subjects ON channel_inbound USING gin (data_subjects);

CREATE TABLE channel_post (
  workspace_id uuid NOT NULL,
  channel_id uuid NOT NULL,
  about uuid NOT NULL, -- an approval, or a hand-off
  role text NOT NULL CHECK (role IN ('approval', 'hand_off', 'customer')),
  place jsonb NOT NULL,
  message_id text, -- null until it is known to be there
  shown text NOT NULL DEFAULT '', -- the form that stands there
  seq integer NOT NULL DEFAULT 0, -- the last line that was told
  leased_until timestamptz, -- somebody works at it
  stirred boolean NOT NULL DEFAULT false, -- and is to look again
  posted_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, channel_id, about, role),
  FOREIGN KEY (workspace_id, channel_id) REFERENCES channel (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX channel_post_about ON channel_post (workspace_id, about);
CREATE INDEX channel_post_message ON channel_post (workspace_id, channel_id, message_id);

CREATE TABLE channel_tie (
  workspace_id uuid NOT NULL,
  channel_id uuid NOT NULL,
  user_id text NOT NULL CHECK (length(user_id) BETWEEN 1 AND 256),
  person_id uuid NOT NULL,
  tied_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, channel_id, user_id), -- nobody there is two people here
  FOREIGN KEY (workspace_id, channel_id) REFERENCES channel (workspace_id, id) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX channel_tie_person ON channel_tie (workspace_id, channel_id, person_id);

CREATE TABLE channel_code (
  workspace_id uuid NOT NULL,
  channel_id uuid NOT NULL,
  person_id uuid NOT NULL,
  code_hash bytea NOT NULL CHECK (length(code_hash) = 32),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, channel_id, person_id), -- a new one takes the place of the one before
  FOREIGN KEY (workspace_id, channel_id) REFERENCES channel (workspace_id, id) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['channel', 'channel_inbound', 'channel_post', 'channel_tie',
    'channel_code'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
    -- what is said there is no business of a key that is bound to a client
    EXECUTE format('CREATE POLICY no_client ON %I AS RESTRICTIVE TO cairn_app
      USING ((SELECT current_client()) IS NULL)', name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cairn_app, cairn_migrator', name);
  END LOOP;
  -- People set a channel as admins do; nobody but Cairn says who is whom.
  FOREACH name IN ARRAY ARRAY['channel', 'channel_tie', 'channel_code'] LOOP
    EXECUTE format($p$CREATE POLICY setting_adds ON %I AS RESTRICTIVE FOR INSERT TO cairn_app
      WITH CHECK ((SELECT current_person()) IN ('', 'owner', 'admin'))$p$, name);
    EXECUTE format($p$CREATE POLICY setting_changes ON %I AS RESTRICTIVE FOR UPDATE TO cairn_app
      USING ((SELECT current_person()) IN ('', 'owner', 'admin'))$p$, name);
    EXECUTE format($p$CREATE POLICY setting_removes ON %I AS RESTRICTIVE FOR DELETE TO cairn_app
      USING ((SELECT current_person()) IN ('', 'owner', 'admin'))$p$, name);
  END LOOP;
END
$$;

GRANT SELECT (workspace_id, id) ON channel TO cairn_finder;
CREATE POLICY finder ON channel FOR SELECT TO cairn_finder USING (true);

-- Whose a channel is: a delivery comes without a key of ours.
CREATE FUNCTION workspace_of_channel(wanted uuid) RETURNS uuid
  LANGUAGE sql STABLE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$ SELECT c.workspace_id FROM channel c WHERE c.id = wanted $$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION workspace_of_channel(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION workspace_of_channel(uuid) TO cairn_app;
ALTER FUNCTION workspace_of_channel(uuid) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
