-- What a replay does for many rows at once.
-- depends: 0025.vector-indexes

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
REVOKE ALL ON FUNCTION replay.analyse() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION replay.analyse() TO cairn_app, cairn_migrator;
