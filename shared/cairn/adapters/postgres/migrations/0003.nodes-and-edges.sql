-- Everything that can be found, what it was before, and how it hangs together.
-- depends: 0002.ledger

CREATE TABLE node (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  label text NOT NULL CHECK (label ~ '^[A-Z][A-Za-z0-9]{0,63}$'), -- Memory, Document, Section, Chunk, ...
  kind text, -- event fact decision status for memories
  title text,
  text text NOT NULL,
  summary text,
  context_text text, -- what is indexed with it: earlier messages, or title and headings
  compiled_truth text,
  slug text,
  canonical_name text,
  content_hash text NOT NULL,
  dedup_key text, -- identity for exact dedup: audience, client, kind, content
  chain_key text, -- identity of a supersede chain: audience, client, kind, key or subject
  -- who may see it
  scope text NOT NULL DEFAULT 'admin' CHECK (scope IN ('public', 'shared', 'admin')),
  agents text[],
  client_id text NOT NULL DEFAULT 'global',
  data_subjects uuid[] NOT NULL,
  -- who said it
  source_agent text,
  observed_by text[] NOT NULL DEFAULT '{}' CHECK (cardinality(observed_by) <= 20),
  observation_count integer NOT NULL DEFAULT 0 CHECK (observation_count <= 20),
  session_id text,
  sequence bigint,
  trace_id text,
  -- what it is
  category text CHECK (category IN ('semantic', 'episodic', 'procedural')),
  importance smallint NOT NULL DEFAULT 5 CHECK (importance BETWEEN 1 AND 10),
  knowledge_category text,
  key text,
  subject text,
  status_value text,
  entities jsonb NOT NULL DEFAULT '[]',
  screening text NOT NULL DEFAULT 'clean' CHECK (screening IN ('clean', 'suspicious', 'discard')),
  metadata jsonb NOT NULL DEFAULT '{}',
  -- where in its document
  document_id uuid,
  parent_id uuid,
  ordinal integer,
  source_uri text,
  headings text[],
  line_from integer,
  line_to integer,
  page_from integer,
  page_to integer,
  token_count integer,
  -- life
  -- provisional -> active ; active -> superseded | expired | archived | deleted | quarantined ;
  -- quarantined -> active (lifted) ; archived -> active ; deleted -> active (source ingested again)
  state text NOT NULL CHECK (state IN
    ('provisional', 'active', 'superseded', 'expired', 'archived', 'deleted', 'quarantined')),
  consolidated boolean NOT NULL DEFAULT false,
  supersedes uuid,
  superseded_by uuid,
  confidence double precision NOT NULL DEFAULT 1 CHECK (confidence BETWEEN 0 AND 1),
  access_count integer NOT NULL DEFAULT 0,
  last_accessed_at timestamptz,
  backlink_count integer NOT NULL DEFAULT 0,
  -- two clocks: the world's and ours
  occurred_at timestamptz NOT NULL,
  valid_from timestamptz NOT NULL,
  valid_to timestamptz CHECK (valid_to >= valid_from),
  recorded_at timestamptz NOT NULL,
  superseded_at timestamptz,
  deleted_at timestamptz,
  -- the ledger entry that made the row, and the last one that changed it
  entry_id uuid NOT NULL,
  created_position bigint NOT NULL,
  position bigint NOT NULL,
  -- own words weigh 1 (A), the words around them less (B)
  search_tsv tsvector GENERATED ALWAYS AS (
    setweight(to_tsvector('english', coalesce(title, '') || ' ' || coalesce(canonical_name, '')
      || ' ' || text || ' ' || coalesce(compiled_truth, '')), 'A')
    || setweight(to_tsvector('english', coalesce(context_text, '')), 'B')) STORED,
  PRIMARY KEY (workspace_id, id)
) PARTITION BY HASH (workspace_id);

-- The position range comes first, so that a column added to both tables stays last in both.
CREATE TABLE node_version (
  from_position bigint NOT NULL,
  to_position bigint, -- null: the present
  LIKE node INCLUDING DEFAULTS,
  PRIMARY KEY (workspace_id, id, from_position)
) PARTITION BY HASH (workspace_id);

CREATE TABLE embedding_model (
  id smallint PRIMARY KEY,
  name text NOT NULL UNIQUE,
  dimensions integer NOT NULL CHECK (dimensions BETWEEN 1 AND 4000)
);
INSERT INTO embedding_model (id, name, dimensions) VALUES
  (1, 'all-MiniLM-L6-v2-int8', 384),
  (2, 'text-embedding-3-small', 1536),
  (3, 'text-embedding-3-large', 3072),
  (4, 'nomic-embed-text', 768),
  (5, 'mxbai-embed-large', 1024);

-- One vector a node and model (a window each for texts longer than the model reads).
-- The guard columns are copies, kept equal by a trigger.
CREATE TABLE embedding (
  workspace_id uuid NOT NULL,
  node_id uuid NOT NULL,
  model_id smallint NOT NULL REFERENCES embedding_model (id),
  ordinal smallint NOT NULL DEFAULT 0, -- the window of a text longer than the model reads
  v halfvec NOT NULL,
  position bigint NOT NULL,
  label text NOT NULL,
  kind text,
  scope text NOT NULL,
  agents text[],
  client_id text NOT NULL,
  state text NOT NULL,
  occurred_at timestamptz NOT NULL,
  valid_from timestamptz NOT NULL,
  valid_to timestamptz,
  PRIMARY KEY (workspace_id, node_id, model_id, ordinal)
) PARTITION BY HASH (workspace_id);

-- Not a projection: it survives a rebuild, not forgetting.
CREATE TABLE embedding_cache (
  workspace_id uuid NOT NULL,
  text_hash bytea NOT NULL CHECK (length(text_hash) = 32),
  model_id smallint NOT NULL REFERENCES embedding_model (id),
  v halfvec NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, text_hash, model_id)
);

CREATE TABLE edge (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  view text NOT NULL CHECK (view ~ '^[a-z][a-z_]{0,31}$'), -- temporal causal semantic entity hierarchical document
  relation text NOT NULL CHECK (relation ~ '^[A-Z][A-Z_]{0,63}$'),
  source_id uuid NOT NULL,
  target_id uuid NOT NULL,
  weight double precision NOT NULL DEFAULT 1,
  properties jsonb NOT NULL DEFAULT '{}',
  valid_from timestamptz NOT NULL,
  valid_to timestamptz,
  recorded_at timestamptz NOT NULL,
  superseded_at timestamptz, -- null: the edge holds now
  position bigint NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
-- Between two nodes an edge of one view and relation holds once.
CREATE UNIQUE INDEX edge_holds_once ON edge (workspace_id, view, relation, source_id, target_id)
  WHERE superseded_at IS NULL;
CREATE INDEX edge_target ON edge (workspace_id, target_id) WHERE superseded_at IS NULL;

CREATE TABLE edge_version (
  from_position bigint NOT NULL,
  to_position bigint,
  LIKE edge INCLUDING DEFAULTS,
  PRIMARY KEY (workspace_id, id, from_position)
);

DO $$
BEGIN
  FOR part IN 0..15 LOOP
    EXECUTE format('CREATE TABLE node_p%s PARTITION OF node
      FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 90)', part, part);
    EXECUTE format('CREATE TABLE node_version_p%s PARTITION OF node_version
      FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
    EXECUTE format('CREATE TABLE embedding_p%s PARTITION OF embedding
      FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 90)', part, part);
    EXECUTE format('CREATE INDEX embedding_p%s_hnsw_1 ON embedding_p%s
      USING hnsw ((v::halfvec(384)) halfvec_cosine_ops) WHERE model_id = 1', part, part);
  END LOOP;
END
$$;

CREATE INDEX node_search ON node USING gin (search_tsv) WITH (fastupdate = off);
-- The same content said again by the same audience is one active memory.
CREATE UNIQUE INDEX node_dedup ON node (workspace_id, dedup_key)
  WHERE dedup_key IS NOT NULL AND state IN ('active', 'provisional');
CREATE INDEX node_identity ON node (workspace_id, dedup_key) WHERE dedup_key IS NOT NULL;
-- A chain has exactly one active end.
CREATE UNIQUE INDEX node_chain_end ON node (workspace_id, chain_key)
  WHERE chain_key IS NOT NULL AND state IN ('active', 'provisional');
CREATE INDEX node_chain ON node (workspace_id, chain_key, valid_from) WHERE chain_key IS NOT NULL;
CREATE INDEX node_session ON node (workspace_id, session_id, sequence) WHERE session_id IS NOT NULL;
CREATE INDEX node_document ON node (workspace_id, document_id, ordinal) WHERE document_id IS NOT NULL;
CREATE INDEX node_source ON node (workspace_id, source_uri) WHERE label = 'Document';
CREATE INDEX node_listing ON node (workspace_id, label, created_position);
CREATE INDEX node_version_present ON node_version (workspace_id, id) WHERE to_position IS NULL;
CREATE INDEX edge_version_source ON edge_version (workspace_id, source_id, from_position);

-- History is kept here and nowhere else: whoever writes a node, its versions are true.
-- Two changes by one ledger position are one version.
CREATE FUNCTION keep_node_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF tg_op = 'UPDATE' THEN
    IF NEW.position = OLD.position THEN
      DELETE FROM node_version
       WHERE workspace_id = OLD.workspace_id AND id = OLD.id AND from_position = OLD.position;
    ELSE
      UPDATE node_version SET to_position = NEW.position
       WHERE workspace_id = OLD.workspace_id AND id = OLD.id AND to_position IS NULL;
    END IF;
  END IF;
  INSERT INTO node_version SELECT NEW.position, NULL, NEW.*;
  RETURN NULL;
END
$$;
CREATE TRIGGER node_keeps_versions AFTER INSERT OR UPDATE ON node
  FOR EACH ROW EXECUTE FUNCTION keep_node_version();

CREATE FUNCTION keep_edge_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF tg_op = 'UPDATE' THEN
    IF NEW.position = OLD.position THEN
      DELETE FROM edge_version
       WHERE workspace_id = OLD.workspace_id AND id = OLD.id AND from_position = OLD.position;
    ELSE
      UPDATE edge_version SET to_position = NEW.position
       WHERE workspace_id = OLD.workspace_id AND id = OLD.id AND to_position IS NULL;
    END IF;
  END IF;
  INSERT INTO edge_version SELECT NEW.position, NULL, NEW.*;
  RETURN NULL;
END
$$;
CREATE TRIGGER edge_keeps_versions AFTER INSERT OR UPDATE ON edge
  FOR EACH ROW EXECUTE FUNCTION keep_edge_version();

-- An embedding is guarded by copies of its node's columns; they change together.
CREATE FUNCTION copy_guards() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE embedding
     SET label = NEW.label, kind = NEW.kind, scope = NEW.scope, agents = NEW.agents,
         client_id = NEW.client_id, state = NEW.state, occurred_at = NEW.occurred_at,
         valid_from = NEW.valid_from, valid_to = NEW.valid_to
   WHERE workspace_id = NEW.workspace_id AND node_id = NEW.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER node_guards_its_embeddings AFTER UPDATE ON node
  FOR EACH ROW
  WHEN ((OLD.label, OLD.kind, OLD.scope, OLD.agents, OLD.client_id, OLD.state, OLD.occurred_at,
         OLD.valid_from, OLD.valid_to)
    IS DISTINCT FROM
        (NEW.label, NEW.kind, NEW.scope, NEW.agents, NEW.client_id, NEW.state, NEW.occurred_at,
         NEW.valid_from, NEW.valid_to))
  EXECUTE FUNCTION copy_guards();

-- What a search considered and returned; replay and explain read it. Written once, counted later.
CREATE TABLE search_run (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  principal_id uuid NOT NULL,
  recipe text NOT NULL,
  recorded_at timestamptz NOT NULL,
  returned uuid[] NOT NULL,
  candidates jsonb NOT NULL, -- leg -> [[node, score], ...]
  signals jsonb NOT NULL, -- node -> signal -> value
  degraded text[] NOT NULL,
  duration_ms double precision NOT NULL,
  counts_as_access boolean NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX search_run_recorded_at ON search_run (recorded_at);
