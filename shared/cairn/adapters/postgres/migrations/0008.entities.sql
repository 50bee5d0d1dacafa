-- An alias holds in the audience of the entity it names, so that nobody learns a name from another's.
-- depends: 0006.graph

ALTER TABLE entity_alias
  ADD COLUMN scope text NOT NULL DEFAULT 'admin' CHECK (scope IN ('public', 'shared', 'admin')),
  ADD COLUMN agents text[],
  ADD COLUMN readers text NOT NULL DEFAULT '*'; -- the agents as one text; * for everyone
ALTER TABLE entity_alias DROP CONSTRAINT entity_alias_pkey;
ALTER TABLE entity_alias ADD PRIMARY KEY (workspace_id, alias, scope, readers);
-- Folded as text compares, which PostgreSQL's lower() does not in every alphabet; folding may lengthen.
ALTER TABLE entity_alias DROP CONSTRAINT entity_alias_alias_check;
ALTER TABLE entity_alias ADD CHECK (length(alias) BETWEEN 1 AND 800);
CREATE INDEX entity_alias_of ON entity_alias (workspace_id, lower(canonical_name), entity_type);

DROP POLICY tenant ON entity_alias;
CREATE POLICY tenant ON entity_alias TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid
    AND scope = ANY (string_to_array(nullif(current_setting('cairn.scopes', true), ''), ',')))
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid
    AND scope = ANY (string_to_array(nullif(current_setting('cairn.scopes', true), ''), ',')));

-- What a merge closed, to undo it.
CREATE INDEX edge_closed_source ON edge (workspace_id, source_id, superseded_at)
  WHERE superseded_at IS NOT NULL;
CREATE INDEX edge_closed_target ON edge (workspace_id, target_id, superseded_at)
  WHERE superseded_at IS NOT NULL;
