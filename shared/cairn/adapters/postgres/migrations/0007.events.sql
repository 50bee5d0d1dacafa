-- Events in their order, likeness among what is stored, and edge versions kept a statement at a time.
-- depends: 0006.graph

-- A session's events in their order; those of a trace in theirs.
CREATE INDEX node_event_session
  ON node (workspace_id, session_id, occurred_at, (coalesce(sequence, -1)), id)
  WHERE label = 'Event' AND session_id IS NOT NULL;
CREATE INDEX node_event_trace ON node (workspace_id, trace_id, occurred_at)
  WHERE label = 'Event' AND trace_id IS NOT NULL;

-- The same history as before, for a statement's edges together: a row at a time it was the dearest
-- part of writing edges.
DROP TRIGGER edge_keeps_versions ON edge;
DROP FUNCTION keep_edge_version();
CREATE FUNCTION keep_edge_versions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF tg_op = 'UPDATE' THEN
    DELETE FROM edge_version AS v USING fresh AS f
     WHERE v.workspace_id = f.workspace_id AND v.id = f.id AND v.from_position = f.position;
    UPDATE edge_version AS v SET to_position = f.position FROM fresh AS f
     WHERE v.workspace_id = f.workspace_id AND v.id = f.id AND v.to_position IS NULL;
  END IF;
  INSERT INTO edge_version SELECT f.position, NULL, f.* FROM fresh AS f;
  RETURN NULL;
END
$$;
CREATE TRIGGER edge_keeps_new_versions AFTER INSERT ON edge
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION keep_edge_versions();
CREATE TRIGGER edge_keeps_changed_versions AFTER UPDATE ON edge
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION keep_edge_versions();

-- hnsw.* may be set on a function only once the library that defines it is loaded.
DO $$ BEGIN PERFORM '[1]'::vector; END $$;

-- What is like each of these nodes, given by their vectors: within a node's own audience, as near as
-- `minimum`. A few rows of the index are enough, since only what is very near is wanted; the audience is
-- looked at after them, because as a condition of the search it would talk the planner out of the index.
CREATE FUNCTION find_similar(
  asked uuid[], vectors halfvec[], model smallint, minimum real, wanted integer
) RETURNS TABLE (node_id uuid, other_id uuid, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET hnsw.ef_search = 40
  SET hnsw.iterative_scan = relaxed_order
  SET hnsw.max_scan_tuples = 2000
AS $$
DECLARE
  dimensions integer;
BEGIN
  SELECT m.dimensions INTO dimensions FROM embedding_model m WHERE m.id = model;
  IF current_workspace() IS NULL OR current_scopes() IS NULL OR dimensions IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE format($query$
    SELECT q.id, near.node_id, (1 - near.distance)::real
      FROM unnest($1, $2) AS q (id, v)
      JOIN node n ON n.workspace_id = $5 AND n.id = q.id AND n.scope = ANY ($6)
       AND ($7 IS NULL OR $7 = ANY (n.agents))
     CROSS JOIN LATERAL (
       SELECT e.node_id, e.scope, e.agents, e.v::halfvec(%1$s) <=> q.v::halfvec(%1$s) AS distance
         FROM embedding e
        WHERE e.workspace_id = $5 AND e.model_id = %2$s
          AND e.state IN ('active', 'provisional')
        ORDER BY e.v::halfvec(%1$s) <=> q.v::halfvec(%1$s)
        LIMIT 4 * $4) AS near
     WHERE 1 - near.distance >= $3 AND near.node_id <> n.id
       AND near.scope = n.scope AND near.agents IS NOT DISTINCT FROM n.agents
    $query$, dimensions, model)
    USING asked, vectors, minimum, wanted, current_workspace(), current_scopes(), current_agent();
END
$$;

DO $$
BEGIN
  GRANT CREATE ON SCHEMA public TO cairn_finder;
  REVOKE ALL ON FUNCTION find_similar(uuid[], halfvec[], smallint, real, integer) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION find_similar(uuid[], halfvec[], smallint, real, integer) TO cairn_app;
  ALTER FUNCTION find_similar(uuid[], halfvec[], smallint, real, integer) OWNER TO cairn_finder;
  REVOKE CREATE ON SCHEMA public FROM cairn_finder;
END
$$;
