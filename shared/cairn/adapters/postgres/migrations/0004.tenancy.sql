-- Who sees which row. Every table here is forced: its owner sees nothing without a setting either.
-- depends: 0003.nodes-and-edges

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['principal', 'api_key', 'rate_limit', 'idempotency', 'data_subject',
    'outbox', 'upload', 'ingestion', 'ledger', 'ledger_head', 'node', 'node_version', 'embedding',
    'embedding_cache', 'edge', 'edge_version', 'search_run', 'workspace', 'claim'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
  END LOOP;

  -- a partition is reached through its table's policies; asked by its own name it shows nothing
  FOR name IN SELECT inhrelid::regclass::text FROM pg_inherits
    WHERE inhparent IN ('node'::regclass, 'node_version'::regclass, 'embedding'::regclass) LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
  END LOOP;

  -- the tenant floor of the tables that know no scope
  FOREACH name IN ARRAY ARRAY['principal', 'api_key', 'rate_limit', 'idempotency', 'data_subject',
    'outbox', 'upload', 'ingestion', 'ledger', 'ledger_head', 'embedding_cache', 'edge',
    'edge_version', 'search_run'] LOOP
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
  END LOOP;

  -- and of those that do: workspace, scope, not deleted
  FOREACH name IN ARRAY ARRAY['node', 'node_version', 'embedding'] LOOP
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid
        AND scope = ANY (string_to_array(nullif(current_setting('cairn.scopes', true), ''), ','))
        AND (state <> 'deleted' OR current_setting('cairn.sees_deleted', true) = 'on'))
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid
        AND scope = ANY (string_to_array(nullif(current_setting('cairn.scopes', true), ''), ',')))$p$, name);
  END LOOP;
END
$$;

CREATE POLICY tenant ON workspace TO cairn_app
  USING (id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);

-- The application may do this much and no more.
GRANT SELECT ON workspace, embedding_model TO cairn_app;
GRANT SELECT, INSERT ON principal TO cairn_app;
GRANT SELECT (workspace_id, id, principal_id, prefix, created_at, expires_at, revoked_at),
  INSERT, UPDATE (revoked_at) ON api_key TO cairn_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency TO cairn_app;
GRANT SELECT, INSERT ON data_subject TO cairn_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox TO cairn_app;
GRANT SELECT, INSERT, DELETE ON upload TO cairn_app;
GRANT SELECT, INSERT, UPDATE ON ingestion TO cairn_app;
GRANT SELECT, INSERT ON ledger TO cairn_app;
GRANT SELECT, UPDATE ON ledger_head TO cairn_app;
GRANT SELECT, INSERT, UPDATE ON node, edge TO cairn_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON node_version, edge_version, embedding TO cairn_app;
GRANT SELECT, INSERT, DELETE ON embedding_cache TO cairn_app;
GRANT SELECT, INSERT ON search_run TO cairn_app;

GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO cairn_migrator;
REVOKE INSERT, UPDATE, DELETE ON ledger FROM cairn_migrator;
GRANT INSERT ON ledger TO cairn_migrator;

-- The finder reads ids, guards and index columns of every tenant; its functions hold the tenant.
GRANT SELECT (workspace_id, id, label, kind, scope, agents, client_id, state, occurred_at,
  valid_from, valid_to, search_tsv) ON node TO cairn_finder;
GRANT SELECT (workspace_id, id, label, kind, scope, agents, client_id, state, occurred_at,
  valid_from, valid_to, search_tsv, from_position, to_position) ON node_version TO cairn_finder;
GRANT SELECT (workspace_id, node_id, model_id, ordinal, v, label, kind, scope, agents,
  client_id, state, occurred_at, valid_from, valid_to) ON embedding TO cairn_finder;
GRANT SELECT ON embedding_model, api_key, principal TO cairn_finder;
GRANT SELECT (id) ON workspace TO cairn_finder;
GRANT SELECT, INSERT, UPDATE ON rate_limit TO cairn_finder;
GRANT SELECT (workspace_id, id, topic, node_ids, reference, position, created_at, sent_at, attempts),
  UPDATE (sent_at, attempts) ON outbox TO cairn_finder;
CREATE POLICY finder ON node TO cairn_finder USING (true);
CREATE POLICY finder ON node_version TO cairn_finder USING (true);
CREATE POLICY finder ON embedding TO cairn_finder USING (true);
CREATE POLICY finder ON api_key FOR SELECT TO cairn_finder USING (true);
CREATE POLICY finder ON principal FOR SELECT TO cairn_finder USING (true);
CREATE POLICY finder ON workspace FOR SELECT TO cairn_finder USING (true);
CREATE POLICY finder ON outbox TO cairn_finder USING (true) WITH CHECK (true);
-- Its one function that writes: the first run's token becomes a workspace.
GRANT SELECT, UPDATE (used_at) ON claim TO cairn_finder;
GRANT INSERT ON workspace, ledger_head TO cairn_finder;
CREATE POLICY finder ON rate_limit TO cairn_finder USING (true) WITH CHECK (true);
CREATE POLICY finder ON claim TO cairn_finder USING (true) WITH CHECK (true);
CREATE POLICY finder_opens ON workspace FOR INSERT TO cairn_finder WITH CHECK (true);
CREATE POLICY finder_opens ON ledger_head FOR INSERT TO cairn_finder WITH CHECK (true);
