-- Rows made anew from the ledger, what leaves every projection, and what is not trusted any more.
-- depends: 0051.consolidation
-- squashes: 0044.allowances

-- A second set of every projection, into which a ledger is replayed beside the rows in use.
-- Its tables are made by post-apply.sql after every migration, so that they always have the columns,
-- unique indexes and triggers of the ones in use. What is in them is a rebuild under way and can be
-- made again: it is unlogged, and a crash of the database empties all of it together.
CREATE SCHEMA replay;

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

-- The versions of a statement's nodes, as keep_node_version makes them one by one. For the second set
-- only: there a statement names hundreds of nodes, while one in use names a few.
CREATE FUNCTION replay.keep_node_versions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF tg_op = 'UPDATE' THEN
    DELETE FROM replay.node_version AS v USING fresh AS f
     WHERE v.workspace_id = f.workspace_id AND v.id = f.id AND v.from_position = f.position;
    UPDATE replay.node_version AS v SET to_position = f.position FROM fresh AS f
     WHERE v.workspace_id = f.workspace_id AND v.id = f.id AND v.to_position IS NULL;
  END IF;
  INSERT INTO replay.node_version SELECT f.position, NULL, f.* FROM fresh AS f;
  RETURN NULL;
END
$$;

-- Tells the planner how the second set has grown, as it grows faster than autovacuum looks. Only its
-- owner may; what is locked is left out, so nobody waits. It reads no row for its caller.
CREATE FUNCTION replay.analyse() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  ANALYZE (SKIP_LOCKED) replay.node (workspace_id, id),
    replay.node_version (workspace_id, id, from_position, to_position),
    replay.edge (workspace_id, id, source_id, target_id, view, relation, superseded_at),
    replay.edge_version (workspace_id, id, from_position, to_position),
    replay.embedding (workspace_id, node_id, model_id, ordinal);
END
$$;

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

-- Nodes that are gone from every projection: random ids, so that indexes outside the database learn
-- of it. The position is that of the entry that purged them.
CREATE TABLE purged_node (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  position bigint NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX purged_node_position ON purged_node (workspace_id, position, id);

-- One row a forgotten data subject, kept for good: it says what was done, bars writes that still hold
-- the subject's id, and lets a forgetting that was interrupted go on. Ids and counts, no names.
CREATE TABLE forgetting (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  subject_id uuid NOT NULL, -- the random id the ledger knows it by
  kind text NOT NULL CHECK (kind IN ('client', 'person', 'source')),
  mark bytea NOT NULL CHECK (length(mark) = 32), -- HMAC of the name under a key that is not in here
  keyed boolean NOT NULL, -- false: a source of before sources had keys; its bodies stay readable
  reason text NOT NULL CHECK (reason IN ('request', 'retention', 'mistake', 'other')),
  principal_id uuid NOT NULL,
  -- begun -> marked (tombstone written) -> barred (key destroyed) -> purged -> done
  status text NOT NULL CHECK (status IN ('begun', 'marked', 'barred', 'purged', 'done')),
  position bigint NOT NULL, -- the head when it was begun; the tombstone names it
  purged_position bigint, -- the last entry that purged
  document_ids uuid[] NOT NULL DEFAULT '{}', -- of a source: its documents when it was begun
  object_keys text[] NOT NULL DEFAULT '{}', -- bytes still to be deleted: names made of ids
  counts jsonb NOT NULL DEFAULT '{}',
  begun_at timestamptz NOT NULL,
  done_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, subject_id)
);
CREATE INDEX forgetting_mark ON forgetting (workspace_id, kind, mark);

-- A projection of taint.applied and taint.lifted.
CREATE TABLE taint (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('agent', 'session', 'source', 'node')),
  value text, -- an agent's slug or a session's id; null for the others
  roots uuid[] NOT NULL DEFAULT '{}', -- of a source its documents, of a node itself
  causes boolean NOT NULL, -- whether what it caused is held back too
  reason text NOT NULL,
  position bigint NOT NULL,
  applied_at timestamptz NOT NULL,
  lifted_position bigint, -- null while it stands
  lifted_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX taint_position ON taint (workspace_id, position);

-- A projection of taint.extended. Rows stay when the taint is lifted: they say what was held.
CREATE TABLE taint_node (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  taint_id uuid NOT NULL,
  node_id uuid NOT NULL,
  state text NOT NULL, -- the one to have again
  revived_for uuid, -- set: not held, but standing while this held node does not
  position bigint NOT NULL,
  PRIMARY KEY (workspace_id, taint_id, node_id)
);
CREATE INDEX taint_node_node ON taint_node (workspace_id, node_id);
