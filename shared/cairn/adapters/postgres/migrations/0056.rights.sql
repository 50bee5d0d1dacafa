-- Who sees which row, and who may do what. Every table is forced: its owner sees nothing without a
-- setting either.
-- depends: 0055.connectors
-- squashes: 0044.allowances

DO $$
DECLARE
  made record;
BEGIN
  FOR made IN
    SELECT c.oid::regclass::text AS name, c.relispartition,
           EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'workspace_id')
             AS of_a_workspace
      FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
       AND c.relname !~ '^_?yoyo' AND c.relname <> 'embedding_model'
  LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', made.name);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', made.name);
    -- a partition is reached through its table's policies; asked by its own name it shows nothing
    CONTINUE WHEN made.relispartition;
    EXECUTE format('CREATE POLICY migrator ON %s TO cairn_migrator USING (true) WITH CHECK (true)', made.name);
    IF made.name IN ('node', 'node_version', 'embedding') THEN -- workspace, scope, not deleted
      EXECUTE format($p$CREATE POLICY tenant ON %s TO cairn_app
        USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid
          AND scope = ANY (string_to_array(nullif(current_setting('cairn.scopes', true), ''), ','))
          AND (state <> 'deleted' OR current_setting('cairn.sees_deleted', true) = 'on'))
        WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid
          AND scope = ANY (string_to_array(nullif(current_setting('cairn.scopes', true), ''), ',')))$p$, made.name);
    ELSIF made.name = 'entity_alias' THEN
      EXECUTE format($p$CREATE POLICY tenant ON %s TO cairn_app
        USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid
          AND scope = ANY (string_to_array(nullif(current_setting('cairn.scopes', true), ''), ',')))
        WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid
          AND scope = ANY (string_to_array(nullif(current_setting('cairn.scopes', true), ''), ',')))$p$, made.name);
    ELSIF made.of_a_workspace THEN -- the tenant floor of the tables that know no scope
      EXECUTE format($p$CREATE POLICY tenant ON %s TO cairn_app
        USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
        WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, made.name);
    END IF;
    -- Who talks to whom is seen whole by admins and agents (`all`), else in one's own conversation
    -- only; nothing set shows nothing. On top of workspace, scope and state, whatever a query forgets.
    IF made.name IN ('node', 'node_version') THEN
      EXECUTE format($p$CREATE POLICY own_conversation ON %s AS RESTRICTIVE TO cairn_app
        USING (label NOT IN ('Conversation', 'Message', 'Summary')
          OR current_setting('cairn.conversations', true) = 'all'
          OR CASE label WHEN 'Conversation' THEN id ELSE parent_id END = (SELECT own_conversation()))$p$,
        made.name);
    END IF;
  END LOOP;
END
$$;
CREATE POLICY tenant ON workspace TO cairn_app
  USING (id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);

-- The application may do this much and no more.
GRANT SELECT ON workspace, embedding_model TO cairn_app;
GRANT UPDATE (settings) ON workspace TO cairn_app;
GRANT SELECT, INSERT ON principal, ledger, llm_call, investigation_step, standing_grant,
  standing_grant_use TO cairn_app;
GRANT SELECT, INSERT, UPDATE ON workspace_settings, llm_spend, consolidation_run, forgetting, taint,
  taint_node, investigation, tool_call, investigation_slot, escalation, investigation_opinion,
  kb_candidate TO cairn_app;
GRANT SELECT, INSERT, DELETE ON data_subject, upload, embedding_cache, pending_message,
  key_conversation, search_run, escalation_channel TO cairn_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency, outbox, ingestion, node, node_version, edge,
  edge_version, embedding, entity_alias, subscription, search_feedback, search_index_state, rebuild,
  purged_node, ticket, ticket_source, ticket_delivery, ticket_write_back, ticket_reply, ticket_message,
  persona, connector, connector_state, webhook, webhook_delivery TO cairn_app;
GRANT SELECT (workspace_id, id, principal_id, prefix, created_at, expires_at, revoked_at),
  INSERT, UPDATE (revoked_at) ON api_key TO cairn_app;
GRANT SELECT, UPDATE (position, hash, recorded_at) ON ledger_head TO cairn_app;
GRANT UPDATE (node_id) ON embedding_cache TO cairn_app;
GRANT UPDATE (counted_position) ON search_run TO cairn_app;
-- a question's task token is handed out by `task_token` only
GRANT SELECT (workspace_id, id, investigation_id, ticket_id, action_id, tool, binding,
  policy_version, content, state, data_subjects, asked_at, expires_at, decided_at, decided_by,
  decision_position), INSERT, UPDATE ON approval TO cairn_app;
-- what was granted cannot be widened afterwards: only uses, the end and the sealed content change
GRANT UPDATE (uses, revoked_at, content) ON standing_grant TO cairn_app;

-- Data-changing migrations may not rewrite the ledger either.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO cairn_migrator;
REVOKE UPDATE, DELETE ON ledger FROM cairn_migrator;

GRANT USAGE ON SCHEMA replay TO cairn_app, cairn_migrator;
REVOKE ALL ON FUNCTION replay.put_in_place(text), replay.discard(), replay.analyse() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION replay.put_in_place(text), replay.discard(), replay.analyse()
  TO cairn_app, cairn_migrator;

-- The finder reads ids, guards and index columns of every tenant; its functions hold the tenant.
GRANT SELECT (workspace_id, id, label, kind, scope, agents, client_id, state, occurred_at, valid_from,
  valid_to, search_tsv, keywords, compiled_truth, canonical_name) ON node TO cairn_finder;
GRANT SELECT (workspace_id, id, label, kind, scope, agents, client_id, state, occurred_at, valid_from,
  valid_to, search_tsv, keywords, compiled_truth, from_position, to_position)
  ON node_version TO cairn_finder;
GRANT SELECT (workspace_id, node_id, model_id, ordinal, v, label, kind, scope, agents,
  client_id, state, occurred_at, valid_from, valid_to) ON embedding TO cairn_finder;
GRANT SELECT ON embedding_model, api_key, principal TO cairn_finder;
GRANT SELECT (id), INSERT ON workspace TO cairn_finder;
GRANT INSERT ON ledger_head TO cairn_finder;
GRANT SELECT, INSERT, UPDATE ON rate_limit TO cairn_finder;
GRANT SELECT, UPDATE (used_at) ON claim TO cairn_finder;
GRANT SELECT (workspace_id, id, topic, node_ids, reference, position, created_at, sent_at, attempts,
  batch, error), UPDATE (sent_at, attempts) ON outbox TO cairn_finder;
GRANT SELECT (workspace_id, agent_slug, keywords) ON subscription TO cairn_finder;
GRANT SELECT (expires_at), DELETE ON pending_message TO cairn_finder;
GRANT SELECT (workspace_id, id, recorded_at, counts_as_access, counted_position), DELETE
  ON search_run TO cairn_finder;
GRANT SELECT (workspace_id, id, started_at), DELETE ON llm_call TO cairn_finder;
GRANT SELECT (workspace_id, id, state, task_token) ON approval TO cairn_finder;
GRANT SELECT (workspace_id, status) ON ticket TO cairn_finder;
GRANT SELECT (workspace_id, id, state, next_poll_at) ON ticket_source TO cairn_finder;
GRANT SELECT (workspace_id, id, name, autonomy) ON connector TO cairn_finder;
GRANT SELECT (workspace_id, connector_id, checked_at) ON connector_state TO cairn_finder;
GRANT SELECT (workspace_id, id, updated_at, state), DELETE ON webhook_delivery TO cairn_finder;
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['node', 'node_version', 'embedding', 'pending_message', 'search_run',
    'llm_call', 'approval', 'ticket', 'ticket_source', 'connector', 'connector_state',
    'webhook_delivery'] LOOP
    EXECUTE format('CREATE POLICY finder ON %I TO cairn_finder USING (true)', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['api_key', 'principal', 'workspace', 'subscription'] LOOP
    EXECUTE format('CREATE POLICY finder ON %I FOR SELECT TO cairn_finder USING (true)', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['outbox', 'rate_limit', 'claim'] LOOP
    EXECUTE format('CREATE POLICY finder ON %I TO cairn_finder USING (true) WITH CHECK (true)', name);
  END LOOP;
  -- the first run's token becomes a workspace
  FOREACH name IN ARRAY ARRAY['workspace', 'ledger_head'] LOOP
    EXECUTE format('CREATE POLICY finder_opens ON %I FOR INSERT TO cairn_finder WITH CHECK (true)', name);
  END LOOP;

  -- the definer functions are the finder's, and the application's to call
  GRANT CREATE ON SCHEMA public TO cairn_finder;
  FOR name IN
    SELECT p.oid::regprocedure::text FROM pg_proc p
     WHERE p.prosecdef AND p.pronamespace = 'public'::regnamespace
  LOOP
    -- before it changes hands: afterwards this role may grant nothing on it
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cairn_app', name);
    EXECUTE format('ALTER FUNCTION %s OWNER TO cairn_finder', name);
  END LOOP;
  REVOKE CREATE ON SCHEMA public FROM cairn_finder;
END
$$;
