-- A second set of every projection, into which a ledger is replayed beside the rows in use.
-- depends: 0014.search-run-retention

-- Its tables are made by post-apply.sql after every migration, so that they always have the columns,
-- unique indexes and triggers of the ones in use. What is in them is a rebuild under way and can be
-- made again: it is unlogged, and a crash of the database empties all of it together.
CREATE SCHEMA replay;
GRANT USAGE ON SCHEMA replay TO cairn_app, cairn_migrator;

-- History and counts are kept by triggers, except while rows that have their history are put in place.
DROP TRIGGER node_keeps_versions ON node;
CREATE TRIGGER node_keeps_versions AFTER INSERT OR UPDATE ON node FOR EACH ROW
  WHEN (current_setting('cairn.in_place', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION keep_node_version();
DROP TRIGGER edge_keeps_new_versions ON edge;
CREATE TRIGGER edge_keeps_new_versions AFTER INSERT ON edge
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT
  WHEN (current_setting('cairn.in_place', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION keep_edge_versions();
DROP TRIGGER edge_counts_new_backlinks ON edge;
CREATE TRIGGER edge_counts_new_backlinks AFTER INSERT ON edge
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT
  WHEN (current_setting('cairn.in_place', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION count_backlinks();

-- They look up rows by key, one at a time: planning that anew for every row costs more than doing it.
ALTER FUNCTION keep_node_version() SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION copy_guards() SET plan_cache_mode = force_generic_plan;

-- Makes one projection of the transaction's workspace equal to its replayed rows, touching only
-- rows that differ. Runs as who calls it: row security holds here as everywhere.
CREATE FUNCTION replay.put_in_place(name text, OUT removed bigint, OUT added bigint)
  LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
  workspace uuid := current_workspace();
  same_key text;
  columns text;
BEGIN
  SELECT string_agg(format('r.%1$I = l.%1$I', a.attname), ' AND ') INTO STRICT same_key
    FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
   WHERE i.indrelid = format('replay.%I', name)::regclass AND i.indisprimary;
  SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO STRICT columns
    FROM pg_attribute a
   WHERE a.attrelid = format('public.%I', name)::regclass AND a.attnum > 0
     AND NOT a.attisdropped AND a.attgenerated = '';
  PERFORM set_config('cairn.in_place', 'on', true);
  EXECUTE format('DELETE FROM public.%1$I AS l WHERE l.workspace_id = $1 AND NOT EXISTS
      (SELECT FROM replay.%1$I AS r WHERE r.workspace_id = $1 AND %2$s AND r *= l)',
    name, same_key) USING workspace;
  GET DIAGNOSTICS removed = ROW_COUNT;
  EXECUTE format('INSERT INTO public.%1$I (%3$s) SELECT %3$s FROM replay.%1$I AS r
      WHERE r.workspace_id = $1 AND NOT EXISTS
      (SELECT FROM public.%1$I AS l WHERE l.workspace_id = $1 AND %2$s)',
    name, same_key, columns) USING workspace;
  GET DIAGNOSTICS added = ROW_COUNT;
  PERFORM set_config('cairn.in_place', '', true);
END
$$;

-- Forgets the rebuild under way of the transaction's workspace, with every row it has made.
CREATE FUNCTION replay.discard() RETURNS void
  LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
  name text;
BEGIN
  FOR name IN SELECT c.relname FROM pg_class c
    WHERE c.relnamespace = 'replay'::regnamespace AND c.relkind = 'r' LOOP
    EXECUTE format('DELETE FROM replay.%I WHERE workspace_id = $1', name)
      USING current_workspace();
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION replay.put_in_place(text), replay.discard() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION replay.put_in_place(text), replay.discard() TO cairn_app, cairn_migrator;

-- What a rebuild may remove from the projections in use.
GRANT DELETE ON node, edge, data_subject, subscription, key_conversation TO cairn_app;

-- Rebuilds and checks that were asked for, and what became of them.
CREATE TABLE rebuild (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  only_check boolean NOT NULL,
  -- running -> finished | failed
  state text NOT NULL CHECK (state IN ('running', 'finished', 'failed')),
  entries bigint NOT NULL DEFAULT 0, -- replayed so far
  head bigint NOT NULL DEFAULT 0, -- the last position when it was last looked at
  result jsonb, -- of one that finished: counts and checksums, no texts
  error text, -- of one that failed: a reason
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
ALTER TABLE rebuild ENABLE ROW LEVEL SECURITY;
ALTER TABLE rebuild FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON rebuild TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON rebuild TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON rebuild TO cairn_app, cairn_migrator;
