-- The chat widget: what a workspace lets it do, and the sessions of the customers it talks with.
-- depends: 0089.people-rights

CREATE TABLE widget (
  workspace_id uuid PRIMARY KEY REFERENCES workspace (id),
  id uuid NOT NULL, -- public: it stands in the page of the host
  settings jsonb NOT NULL,
  secret bytea, -- of the challenge's service, sealed
  spent_on date, -- the day (UTC) that `spent_usd` is of
  spent_usd numeric NOT NULL DEFAULT 0 CHECK (spent_usd >= 0),
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL
);
-- a page names its widget and no workspace
CREATE UNIQUE INDEX widget_id ON widget (id);

CREATE TABLE chat_session (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  token_hash bytea NOT NULL CHECK (length(token_hash) = 32),
  kind text NOT NULL CHECK (kind IN ('anonymous', 'signed')),
  -- created -> active -> resolved | handoff_pending -> handoff_active -> closed
  state text NOT NULL CHECK (state IN
    ('created', 'active', 'resolved', 'handoff_pending', 'handoff_active', 'closed')),
  client_id text CHECK (length(client_id) BETWEEN 1 AND 256), -- whom the host signed in
  data_subjects uuid[] NOT NULL DEFAULT '{}',
  counted bytea NOT NULL, -- the hash of the address, or of whom the host signed in
  messages integer NOT NULL DEFAULT 0 CHECK (messages >= 0),
  challenge text, -- to be solved once; null when there is none
  passed boolean NOT NULL DEFAULT false, -- a challenge was solved
  created_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  ended_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX chat_session_token ON chat_session (workspace_id, token_hash);
CREATE INDEX chat_session_counted ON chat_session (workspace_id, counted, created_at);
CREATE INDEX chat_session_created_at ON chat_session (workspace_id, created_at);
CREATE INDEX chat_session_subjects ON chat_session USING gin (data_subjects);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['widget', 'chat_session'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cairn_app, cairn_migrator', name);
  END LOOP;
END
$$;
-- Who talks with the widget is no business of a key that is bound to a client.
CREATE POLICY no_client ON chat_session AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL);

GRANT SELECT (workspace_id, id) ON widget TO cairn_finder;
CREATE POLICY finder ON widget FOR SELECT TO cairn_finder USING (true);

-- Whose a widget is: a page of the host comes without a key of ours.
CREATE FUNCTION workspace_of_widget(wanted uuid) RETURNS uuid
  LANGUAGE sql STABLE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$ SELECT w.workspace_id FROM widget w WHERE w.id = wanted $$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION workspace_of_widget(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION workspace_of_widget(uuid) TO cairn_app;
ALTER FUNCTION workspace_of_widget(uuid) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
