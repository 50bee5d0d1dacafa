-- Rows that stand beside the ledger come back with an import.
-- depends: 0095.slack-sources

-- Adds the replayed rows of a table that are not among the ones in use of the transaction's workspace.
-- Nothing that is there changes. Runs as who calls it: row security holds here as everywhere.
CREATE FUNCTION replay.complete(name text, OUT added bigint)
  LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
  EXECUTE format('INSERT INTO public.%1$I SELECT * FROM replay.%1$I AS r WHERE r.workspace_id = $1
    ON CONFLICT DO NOTHING', name) USING current_workspace();
  GET DIAGNOSTICS added = ROW_COUNT;
END
$$;
