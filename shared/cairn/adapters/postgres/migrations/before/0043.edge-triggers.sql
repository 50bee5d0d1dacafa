-- The triggers of edges find rows by their keys. A join with a statement's rows was planned once a
-- connection, for a thousand of them and tables as small as they were then, and read whole what had
-- grown since: tens of milliseconds a statement in a new database, with the ledger's head held.
-- Arrays are taken to be of ten rows, and rows of ten are looked up.
-- depends: 0042.workspace-settings

-- What closes or opens edges that do not count as backlinks, likenesses above all, asks no node.
CREATE OR REPLACE FUNCTION count_backlinks() RETURNS trigger LANGUAGE plpgsql
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

CREATE OR REPLACE FUNCTION keep_edge_versions() RETURNS trigger LANGUAGE plpgsql
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
