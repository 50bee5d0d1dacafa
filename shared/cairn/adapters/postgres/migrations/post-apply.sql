-- Runs after every migration: the second set of projections is made anew like the one in use.
DO $$
DECLARE
  name text;
  made text;
  -- what stands beside the ledger and is replayed to be compared: its rights stay as they are
  beside text[] := ARRAY['member', 'network', 'network_member', 'network_invite', 'intent', 'intent_network',
    'opportunity', 'opportunity_change', 'contact', 'contact_integration', 'negotiation', 'negotiation_turn',
    'negotiation_private', 'negotiator', 'persona'];
BEGIN
  IF to_regnamespace('replay') IS NULL THEN
    RETURN;
  END IF;
  -- The projections, in the order in which they are put in place: adapters/postgres/projections.py
  FOREACH name IN ARRAY ARRAY['edge_version', 'edge', 'node_version', 'node', 'embedding',
    'entity_alias', 'data_subject', 'subscription', 'key_conversation', 'purged_node', 'taint',
    'taint_node', 'workspace_settings'] || beside LOOP
    EXECUTE format('DROP TABLE IF EXISTS replay.%I', name);
    CONTINUE WHEN to_regclass(format('public.%I', name)) IS NULL;
    IF name <> ALL (beside) THEN
      EXECUTE format('GRANT DELETE ON public.%I TO cairn_app', name); -- what is no more is removed
    END IF;
    EXECUTE format('CREATE UNLOGGED TABLE replay.%1$I
      (LIKE public.%1$I INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING STORAGE)', name);
    -- unique indexes only: what finds rows quickly is the work of the set in use
    FOR made IN SELECT CASE WHEN i.indisprimary
        THEN format('ALTER TABLE replay.%I ADD %s', name,
          (SELECT pg_get_constraintdef(c.oid) FROM pg_constraint c
            WHERE c.conindid = i.indexrelid AND c.contype = 'p'))
        ELSE regexp_replace(pg_get_indexdef(i.indexrelid), ' ON (ONLY )?public\.', ' ON replay.') END
      FROM pg_index i WHERE i.indrelid = format('public.%I', name)::regclass AND i.indisunique LOOP
      EXECUTE made;
    END LOOP;
    FOR made IN SELECT regexp_replace(pg_get_triggerdef(t.oid), ' ON public\.', ' ON replay.')
      FROM pg_trigger t WHERE t.tgrelid = format('public.%I', name)::regclass
        AND NOT t.tgisinternal LOOP
      EXECUTE made;
    END LOOP;
  END LOOP;
  -- A statement of a replay names hundreds of nodes: their versions are kept together.
  IF to_regprocedure('replay.keep_node_versions()') IS NOT NULL THEN
    DROP TRIGGER node_keeps_versions ON replay.node;
    CREATE TRIGGER node_keeps_versions AFTER INSERT ON replay.node
      REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT
      EXECUTE FUNCTION replay.keep_node_versions();
    CREATE TRIGGER node_keeps_changed_versions AFTER UPDATE ON replay.node
      REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT
      EXECUTE FUNCTION replay.keep_node_versions();
  END IF;
  CREATE INDEX node_document ON replay.node (workspace_id, document_id) WHERE document_id IS NOT NULL;
  CREATE INDEX edge_source ON replay.edge (workspace_id, source_id);
  CREATE INDEX edge_target ON replay.edge (workspace_id, target_id);
  IF to_regclass('replay.intent_network') IS NOT NULL THEN
    CREATE INDEX intent_network_of ON replay.intent_network (workspace_id, intent_id);
  END IF;

  -- How far a workspace's replay is.
  DROP TABLE IF EXISTS replay.progress;
  CREATE UNLOGGED TABLE replay.progress (
    workspace_id uuid PRIMARY KEY,
    version text NOT NULL, -- of the code that replays: what another made is not gone on with
    since bigint NOT NULL, -- where the chain ended when it began
    position bigint NOT NULL,
    hash bytea NOT NULL, -- of the entry at the position
    recorded_at timestamptz NOT NULL, -- its
    entries bigint NOT NULL,
    unreadable bigint NOT NULL -- entries whose key is destroyed
  );
  -- Nodes whose vector the cache no longer has.
  DROP TABLE IF EXISTS replay.lacking;
  CREATE UNLOGGED TABLE replay.lacking (
    workspace_id uuid NOT NULL, node_id uuid NOT NULL, PRIMARY KEY (workspace_id, node_id)
  );
  -- Whose keys entries could not be read without.
  DROP TABLE IF EXISTS replay.keyless;
  CREATE UNLOGGED TABLE replay.keyless (
    workspace_id uuid NOT NULL, subject_id uuid NOT NULL, PRIMARY KEY (workspace_id, subject_id)
  );
  FOR name IN SELECT c.relname FROM pg_class c
    WHERE c.relnamespace = 'replay'::regnamespace AND c.relkind = 'r' LOOP
    EXECUTE format('ALTER TABLE replay.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE replay.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON replay.%I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON replay.%I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON replay.%I TO cairn_app, cairn_migrator', name);
  END LOOP;
END
$$;
