-- A small workspace that shares its partition with a large one has all its rows with the words scored: up to
-- 4,000 rows the bounded ranking says the same, and is dearer. Counted in the workspace's own rows, and no
-- further than that.
-- depends: 0065.workspace-deletion

CREATE OR REPLACE FUNCTION ranked_by_rarity(parts tsquery[], visible text) RETURNS text
  LANGUAGE plpgsql STABLE
  SET search_path = pg_catalog, public, pg_temp
  SET enable_seqscan = off -- rows are counted in an index, thirty pages, and not in a thousand of the table
AS $$
DECLARE
  reach constant integer := 4000;
  pages double precision;
  large boolean := false;
BEGIN
  IF visible LIKE 'node n%' THEN
    SELECT max(pg_relation_size(format('node_p%s', part)::regclass))::double precision
           / current_setting('block_size')::integer INTO pages
      FROM generate_series(0, 15) AS part
     WHERE satisfies_hash_partition('node'::regclass, 16, part, current_workspace());
    IF pages > 1000 THEN -- the id in the text: one partition is planned, and not sixteen
      EXECUTE format('SELECT EXISTS (SELECT FROM node WHERE workspace_id = %L OFFSET %s)',
        current_workspace(), reach) INTO large;
    END IF;
  END IF;
  IF large THEN
    RETURN ranked_bounded(parts, visible, greatest(300, least(pages / 100, 2000)) / pages, reach);
  END IF;
  RETURN ranked_whole(parts, visible);
END
$$;
