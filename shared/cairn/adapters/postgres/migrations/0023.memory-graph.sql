-- Nodes with a natural key: one of each label and key, and read in that order.
-- depends: 0022.webhooks

CREATE UNIQUE INDEX node_natural_key ON node (workspace_id, label COLLATE "C", key COLLATE "C")
  WHERE key IS NOT NULL AND label <> 'Memory';
