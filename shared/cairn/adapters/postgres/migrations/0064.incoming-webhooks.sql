-- Incoming webhooks: services outside that write memories, each with a secret it signs them with.
-- depends: 0063.languages

CREATE TABLE incoming_webhook (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256), -- who says what comes, unless it says itself
  client_id text CHECK (length(client_id) BETWEEN 1 AND 256), -- whose memories come; null: as each says
  writes_scope text NOT NULL CHECK (writes_scope IN ('public', 'shared', 'admin')), -- of what comes
  secrets bytea NOT NULL, -- the present and the last one, sealed under the workspace's own key
  created_at timestamptz NOT NULL,
  rotated_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX incoming_webhook_id ON incoming_webhook (id); -- deliveries name nothing else

ALTER TABLE incoming_webhook ENABLE ROW LEVEL SECURITY;
ALTER TABLE incoming_webhook FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON incoming_webhook TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON incoming_webhook TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
CREATE POLICY finder ON incoming_webhook TO cairn_finder USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON incoming_webhook TO cairn_app, cairn_migrator;
GRANT SELECT (workspace_id, id) ON incoming_webhook TO cairn_finder;

-- Whose an incoming webhook is: a delivery comes without a key of ours.
CREATE FUNCTION workspace_of_incoming_webhook(webhook uuid) RETURNS uuid
  LANGUAGE sql STABLE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT w.workspace_id FROM incoming_webhook w WHERE w.id = webhook
$$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION workspace_of_incoming_webhook(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION workspace_of_incoming_webhook(uuid) TO cairn_app;
ALTER FUNCTION workspace_of_incoming_webhook(uuid) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
