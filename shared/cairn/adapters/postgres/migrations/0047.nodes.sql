-- Everything that can be found, what it was before, and how it hangs together.
-- depends: 0046.ledger
-- squashes: 0044.allowances

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
  keywords text[] NOT NULL DEFAULT '{}', -- casefolded
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
  (5, 'mxbai-embed-large', 1024),
  (6, 'bge-small-en-v1.5-int8', 384);

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

-- A partition has an index for the vectors of each model, so that another model can be filled and
-- compared beside the present one. One that holds no vector is two pages, and costs a write nothing but
-- the look at its condition. Up to 4,000 dimensions can be indexed as halfvec.
DO $$
DECLARE
  model record;
BEGIN
  FOR part IN 0..15 LOOP
    EXECUTE format('CREATE TABLE node_p%s PARTITION OF node
      FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 90)', part, part);
    EXECUTE format('CREATE TABLE node_version_p%s PARTITION OF node_version
      FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
    EXECUTE format('CREATE TABLE embedding_p%s PARTITION OF embedding
      FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 90)', part, part);
    FOR model IN SELECT m.id, m.dimensions FROM embedding_model m LOOP
      EXECUTE format('CREATE INDEX embedding_p%1$s_hnsw_%2$s ON embedding_p%1$s
        USING hnsw ((v::halfvec(%3$s)) halfvec_cosine_ops) WHERE model_id = %2$s',
        part, model.id, model.dimensions);
    END LOOP;
  END LOOP;
END
$$;

-- Not a projection: it survives a rebuild, not forgetting.
CREATE TABLE embedding_cache (
  workspace_id uuid NOT NULL,
  text_hash bytea NOT NULL CHECK (length(text_hash) = 32),
  model_id smallint NOT NULL REFERENCES embedding_model (id),
  v halfvec NOT NULL,
  created_at timestamptz NOT NULL,
  -- whose text it was made for first, so that it goes with it; the first forgetting of a workspace takes
  -- all rows that do not know
  node_id uuid,
  PRIMARY KEY (workspace_id, text_hash, model_id)
);
CREATE INDEX embedding_cache_node ON embedding_cache (workspace_id, node_id);

CREATE TABLE edge (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  -- temporal causal semantic entity hierarchical document
  view text NOT NULL CHECK (view ~ '^[a-z][a-z_]{0,31}$'),
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
-- From either end, now and in the past; what a merge closed, to undo it.
CREATE INDEX edge_source ON edge (workspace_id, source_id) WHERE superseded_at IS NULL;
CREATE INDEX edge_target ON edge (workspace_id, target_id) WHERE superseded_at IS NULL;
CREATE INDEX edge_closed_source ON edge (workspace_id, source_id, superseded_at)
  WHERE superseded_at IS NOT NULL;
CREATE INDEX edge_closed_target ON edge (workspace_id, target_id, superseded_at)
  WHERE superseded_at IS NOT NULL;

CREATE TABLE edge_version (
  from_position bigint NOT NULL,
  to_position bigint,
  LIKE edge INCLUDING DEFAULTS,
  PRIMARY KEY (workspace_id, id, from_position)
);
CREATE INDEX edge_version_source ON edge_version (workspace_id, source_id, from_position);
CREATE INDEX edge_version_target ON edge_version (workspace_id, target_id, from_position);

-- Other names of entities. Which entity nodes a name means is decided by what its reader may see. An
-- alias holds in the audience of the entity it names, so that nobody learns a name from another's.
CREATE TABLE entity_alias (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  -- folded as text compares, which PostgreSQL's lower() does not in every alphabet; folding may lengthen
  alias text NOT NULL CHECK (length(alias) BETWEEN 1 AND 800),
  canonical_name text NOT NULL CHECK (length(canonical_name) BETWEEN 1 AND 200),
  entity_type text NOT NULL,
  origin text NOT NULL CHECK (origin IN ('manual', 'merge', 'consolidation')),
  position bigint NOT NULL,
  scope text NOT NULL DEFAULT 'admin' CHECK (scope IN ('public', 'shared', 'admin')),
  agents text[],
  readers text NOT NULL DEFAULT '*', -- the agents as one text; * for everyone
  PRIMARY KEY (workspace_id, alias, scope, readers)
);
CREATE INDEX entity_alias_of ON entity_alias (workspace_id, lower(canonical_name), entity_type);

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
CREATE INDEX node_keywords ON node USING gin (keywords) WHERE keywords <> '{}';
-- A session's events in their order; those of a trace in theirs.
CREATE INDEX node_event_session
  ON node (workspace_id, session_id, occurred_at, (coalesce(sequence, -1)), id)
  WHERE label = 'Event' AND session_id IS NOT NULL;
CREATE INDEX node_event_trace ON node (workspace_id, trace_id, occurred_at)
  WHERE label = 'Event' AND trace_id IS NOT NULL;
-- The messages of a conversation in their order.
CREATE INDEX node_message ON node (workspace_id, parent_id, sequence) WHERE label = 'Message';
-- The summaries of a trace and of an agent; those of a session are in the index of sessions.
CREATE INDEX node_summary_trace ON node (workspace_id, trace_id)
  WHERE label = 'Summary' AND trace_id IS NOT NULL;
CREATE INDEX node_summary_agent ON node (workspace_id, source_agent)
  WHERE label = 'Summary' AND kind = 'agent';
-- Entities by their name.
CREATE INDEX node_entity ON node (workspace_id, lower(canonical_name)) WHERE label = 'Entity';
CREATE UNIQUE INDEX node_natural_key ON node (workspace_id, label COLLATE "C", key COLLATE "C")
  WHERE key IS NOT NULL AND label <> 'Memory';
CREATE INDEX node_provisional ON node (workspace_id, label COLLATE "C", id)
  WHERE state = 'provisional' AND key IS NOT NULL AND label <> 'Memory';
-- What no consolidation has looked at, by client, audience and age. Audiences of any length stay
-- short here; two of one hash are told apart by whoever reads the rows.
CREATE INDEX node_unconsolidated ON node (workspace_id, client_id, scope,
    (agents IS NULL), hash_array_extended(coalesce(agents, '{}'), 0),
    hash_array_extended(data_subjects, 0), created_position)
  WHERE label = 'Memory' AND NOT consolidated AND screening = 'clean'
    AND state IN ('active', 'provisional');
-- What is active by what it is and when it was recorded. What a search changes (access_count,
-- last_accessed_at) must not stand in any index, or counting an access would index texts again.
CREATE INDEX node_ageing ON node (workspace_id, label, kind, recorded_at, id) WHERE state = 'active';
CREATE INDEX node_deleted ON node (workspace_id, deleted_at, id) WHERE state = 'deleted';
CREATE INDEX node_archived ON node (workspace_id, document_id)
  WHERE state = 'archived' AND document_id IS NOT NULL;

CREATE INDEX node_version_present ON node_version (workspace_id, id) WHERE to_position IS NULL;
-- Nodes by when they changed last. On the versions, because a node's own updates would have to touch
-- every index of its table if `position` were in one.
CREATE INDEX node_version_changed ON node_version (workspace_id, from_position, id)
  WHERE to_position IS NULL;

-- History is kept here and nowhere else: whoever writes a node, its versions are true.
-- Two changes by one ledger position are one version. Not while rows that have their history are put in
-- place. It looks up rows by key, one at a time: planning that anew for every row costs more than doing it.
CREATE FUNCTION keep_node_version() RETURNS trigger LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan AS $$
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
CREATE TRIGGER node_keeps_versions AFTER INSERT OR UPDATE ON node FOR EACH ROW
  WHEN (current_setting('cairn.in_place', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION keep_node_version();

-- An embedding is guarded by copies of its node's columns; they change together.
CREATE FUNCTION copy_guards() RETURNS trigger LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan AS $$
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

-- The triggers of edges find rows by their keys. A join with a statement's rows was planned once a
-- connection, for a thousand of them and tables as small as they were then, and read whole what had
-- grown since: tens of milliseconds a statement in a new database, with the ledger's head held.
-- Arrays are taken to be of ten rows, and rows of ten are looked up.

-- The history of a statement's edges together: a row at a time it was the dearest part of writing edges.
CREATE FUNCTION keep_edge_versions() RETURNS trigger LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE many record;
BEGIN
  IF tg_op = 'UPDATE' THEN
    FOR many IN SELECT workspace_id, array_agg(id) AS ids, array_agg(position) AS positions
                  FROM fresh GROUP BY workspace_id LOOP
      DELETE FROM edge_version AS v USING unnest(many.ids, many.positions) AS f (id, position)
       WHERE v.workspace_id = many.workspace_id AND v.id = f.id AND v.from_position = f.position;
      UPDATE edge_version AS v SET to_position = f.position
        FROM unnest(many.ids, many.positions) AS f (id, position)
       WHERE v.workspace_id = many.workspace_id AND v.id = f.id AND v.to_position IS NULL;
    END LOOP;
  END IF;
  INSERT INTO edge_version SELECT f.position, NULL, f.* FROM fresh AS f;
  RETURN NULL;
END
$$;
CREATE TRIGGER edge_keeps_new_versions AFTER INSERT ON edge
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT
  WHEN (current_setting('cairn.in_place', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION keep_edge_versions();
CREATE TRIGGER edge_keeps_changed_versions AFTER UPDATE ON edge
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION keep_edge_versions();

-- A backlink is an edge somebody meant: order, nesting, likeness and co-occurrence are none.
CREATE FUNCTION is_backlink(relation text) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN relation NOT IN ('FOLLOWS', 'PART_OF', 'SIMILAR_TO', 'CO_OCCURRENCE', 'SUPERSEDES');

-- Adds up a statement's edges by target, so a hub changes once. Changed by the edge's position,
-- so that the node's versions know what the count was before. What closes or opens edges that do not
-- count as backlinks, likenesses above all, asks no node.
CREATE FUNCTION count_backlinks() RETURNS trigger LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE c record;
BEGIN
  IF NOT EXISTS (SELECT FROM fresh WHERE is_backlink(relation)) THEN
    RETURN NULL;
  END IF;
  IF tg_op = 'INSERT' THEN
    FOR c IN SELECT workspace_id, target_id, count(*)::integer AS more, max(position) AS position
               FROM fresh WHERE superseded_at IS NULL AND is_backlink(relation)
              GROUP BY workspace_id, target_id ORDER BY workspace_id, target_id LOOP
      UPDATE node AS n
         SET backlink_count = n.backlink_count + c.more,
             position = greatest(n.position, c.position)
       WHERE n.workspace_id = c.workspace_id AND n.id = c.target_id;
    END LOOP;
  ELSE
    FOR c IN SELECT f.workspace_id, f.target_id, max(f.position) AS position,
                    (count(*) FILTER (WHERE f.superseded_at IS NULL)
                      - count(*) FILTER (WHERE o.superseded_at IS NULL))::integer AS more
               FROM fresh AS f JOIN old AS o USING (workspace_id, id)
              WHERE is_backlink(f.relation)
              GROUP BY f.workspace_id, f.target_id ORDER BY f.workspace_id, f.target_id LOOP
      UPDATE node AS n
         SET backlink_count = greatest(0, n.backlink_count + c.more),
             position = greatest(n.position, c.position)
       WHERE n.workspace_id = c.workspace_id AND n.id = c.target_id AND c.more <> 0;
    END LOOP;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER edge_counts_new_backlinks AFTER INSERT ON edge
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT
  WHEN (current_setting('cairn.in_place', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION count_backlinks();
CREATE TRIGGER edge_counts_closed_backlinks AFTER UPDATE ON edge
  REFERENCING OLD TABLE AS old NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION count_backlinks();
