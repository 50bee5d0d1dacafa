-- Memories by namespace and key, by what their metadata say, and by when they expire.
-- depends: 0069.namespaces
-- transactional: false

CREATE INDEX IF NOT EXISTS node_namespace ON ONLY node USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p0_namespace ON node_p0
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p1_namespace ON node_p1
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p2_namespace ON node_p2
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p3_namespace ON node_p3
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p4_namespace ON node_p4
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p5_namespace ON node_p5
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p6_namespace ON node_p6
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p7_namespace ON node_p7
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p8_namespace ON node_p8
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p9_namespace ON node_p9
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p10_namespace ON node_p10
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p11_namespace ON node_p11
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p12_namespace ON node_p12
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p13_namespace ON node_p13
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p14_namespace ON node_p14
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p15_namespace ON node_p15
  USING btree (workspace_id, namespace, key) WHERE namespace IS NOT NULL;
ALTER INDEX node_namespace ATTACH PARTITION node_p0_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p1_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p2_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p3_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p4_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p5_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p6_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p7_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p8_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p9_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p10_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p11_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p12_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p13_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p14_namespace;
ALTER INDEX node_namespace ATTACH PARTITION node_p15_namespace;

CREATE INDEX IF NOT EXISTS node_metadata ON ONLY node USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p0_metadata ON node_p0
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p1_metadata ON node_p1
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p2_metadata ON node_p2
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p3_metadata ON node_p3
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p4_metadata ON node_p4
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p5_metadata ON node_p5
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p6_metadata ON node_p6
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p7_metadata ON node_p7
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p8_metadata ON node_p8
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p9_metadata ON node_p9
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p10_metadata ON node_p10
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p11_metadata ON node_p11
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p12_metadata ON node_p12
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p13_metadata ON node_p13
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p14_metadata ON node_p14
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p15_metadata ON node_p15
  USING gin (metadata jsonb_path_ops) WHERE label = 'Memory';
ALTER INDEX node_metadata ATTACH PARTITION node_p0_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p1_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p2_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p3_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p4_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p5_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p6_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p7_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p8_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p9_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p10_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p11_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p12_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p13_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p14_metadata;
ALTER INDEX node_metadata ATTACH PARTITION node_p15_metadata;

CREATE INDEX IF NOT EXISTS node_expiry ON ONLY node USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p0_expiry ON node_p0
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p1_expiry ON node_p1
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p2_expiry ON node_p2
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p3_expiry ON node_p3
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p4_expiry ON node_p4
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p5_expiry ON node_p5
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p6_expiry ON node_p6
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p7_expiry ON node_p7
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p8_expiry ON node_p8
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p9_expiry ON node_p9
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p10_expiry ON node_p10
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p11_expiry ON node_p11
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p12_expiry ON node_p12
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p13_expiry ON node_p13
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p14_expiry ON node_p14
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p15_expiry ON node_p15
  USING btree (workspace_id, expires_at, id) WHERE expires_at IS NOT NULL;
ALTER INDEX node_expiry ATTACH PARTITION node_p0_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p1_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p2_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p3_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p4_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p5_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p6_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p7_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p8_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p9_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p10_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p11_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p12_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p13_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p14_expiry;
ALTER INDEX node_expiry ATTACH PARTITION node_p15_expiry;
