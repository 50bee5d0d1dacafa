-- The graph as data arrives: keywords, entities' other names, backlinks counted where edges change.
-- depends: 0005.finders

ALTER TABLE node ADD COLUMN keywords text[] NOT NULL DEFAULT '{}'; -- casefolded
ALTER TABLE node_version ADD COLUMN keywords text[] NOT NULL DEFAULT '{}';
CREATE INDEX node_keywords ON node USING gin (keywords) WHERE keywords <> '{}';
GRANT SELECT (keywords) ON node, node_version TO cairn_finder;

-- Entities by their name, and from an edge's either end; the past from its either end too.
CREATE INDEX node_entity ON node (workspace_id, lower(canonical_name)) WHERE label = 'Entity';
CREATE INDEX edge_source ON edge (workspace_id, source_id) WHERE superseded_at IS NULL;
CREATE INDEX edge_version_target ON edge_version (workspace_id, target_id, from_position);

-- Other names of entities. Which entity nodes a name means is decided by what its reader may see.
CREATE TABLE entity_alias (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  alias text NOT NULL CHECK (alias = lower(alias) AND length(alias) BETWEEN 1 AND 200),
  canonical_name text NOT NULL CHECK (length(canonical_name) BETWEEN 1 AND 200),
  entity_type text NOT NULL,
  origin text NOT NULL CHECK (origin IN ('manual', 'merge', 'consolidation')),
  position bigint NOT NULL,
  PRIMARY KEY (workspace_id, alias)
);
ALTER TABLE entity_alias ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity_alias FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON entity_alias TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON entity_alias TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON entity_alias TO cairn_app, cairn_migrator;

-- A backlink is an edge somebody meant: order, nesting, likeness and co-occurrence are none.
CREATE FUNCTION is_backlink(relation text) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN relation NOT IN ('FOLLOWS', 'PART_OF', 'SIMILAR_TO', 'CO_OCCURRENCE', 'SUPERSEDES');

-- Adds up a statement's edges by target, so a hub changes once. Changed by the edge's position,
-- so that the node's versions know what the count was before.
CREATE FUNCTION count_backlinks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF tg_op = 'INSERT' THEN
    UPDATE node AS n
       SET backlink_count = n.backlink_count + c.more, position = greatest(n.position, c.position)
      FROM (SELECT workspace_id, target_id, count(*)::integer AS more, max(position) AS position
              FROM fresh WHERE superseded_at IS NULL AND is_backlink(relation)
             GROUP BY workspace_id, target_id) AS c
     WHERE n.workspace_id = c.workspace_id AND n.id = c.target_id;
  ELSE
    UPDATE node AS n
       SET backlink_count = greatest(0, n.backlink_count + c.more),
           position = greatest(n.position, c.position)
      FROM (SELECT f.workspace_id, f.target_id, max(f.position) AS position,
                   (count(*) FILTER (WHERE f.superseded_at IS NULL)
                     - count(*) FILTER (WHERE o.superseded_at IS NULL))::integer AS more
              FROM fresh AS f JOIN old AS o USING (workspace_id, id)
             WHERE is_backlink(f.relation)
             GROUP BY f.workspace_id, f.target_id) AS c
     WHERE n.workspace_id = c.workspace_id AND n.id = c.target_id AND c.more <> 0;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER edge_counts_new_backlinks AFTER INSERT ON edge
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION count_backlinks();
CREATE TRIGGER edge_counts_closed_backlinks AFTER UPDATE ON edge
  REFERENCING OLD TABLE AS old NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION count_backlinks();
