-- Those few intents that are due are found without reading all that a workspace has.
-- depends: 0087.meetings
-- transactional: false

CREATE INDEX CONCURRENTLY IF NOT EXISTS intent_due ON intent (workspace_id, changed_at)
  WHERE state = 'active' AND (discovered_at IS NULL OR discovered_at < changed_at);
CREATE INDEX CONCURRENTLY IF NOT EXISTS opportunity_latent ON opportunity (workspace_id, created_at)
  WHERE state = 'latent';
CREATE INDEX CONCURRENTLY IF NOT EXISTS opportunity_introducer ON opportunity (workspace_id, introducer_id)
  WHERE introducer_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS network_invite_ghost ON network_invite (workspace_id, ghost_id)
  WHERE ghost_id IS NOT NULL;
