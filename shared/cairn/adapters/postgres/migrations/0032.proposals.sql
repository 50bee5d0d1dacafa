-- Nodes that wait for a person's yes, read label by label in the order in which they were made.
-- depends: 0026.replay-sets

CREATE INDEX node_provisional ON node (workspace_id, label COLLATE "C", id)
  WHERE state = 'provisional' AND key IS NOT NULL AND label <> 'Memory';
