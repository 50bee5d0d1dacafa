-- Nodes by the labels beside their first, and those that callers wrote by what their properties say.
-- depends: 0073.labels
-- transactional: false

CREATE INDEX IF NOT EXISTS node_labels ON ONLY node USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p0_labels ON node_p0 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p1_labels ON node_p1 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p2_labels ON node_p2 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p3_labels ON node_p3 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p4_labels ON node_p4 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p5_labels ON node_p5 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p6_labels ON node_p6 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p7_labels ON node_p7 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p8_labels ON node_p8 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p9_labels ON node_p9 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p10_labels ON node_p10 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p11_labels ON node_p11 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p12_labels ON node_p12 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p13_labels ON node_p13 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p14_labels ON node_p14 USING gin (extra_labels) WHERE extra_labels <> '{}';
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p15_labels ON node_p15 USING gin (extra_labels) WHERE extra_labels <> '{}';
ALTER INDEX node_labels ATTACH PARTITION node_p0_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p1_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p2_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p3_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p4_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p5_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p6_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p7_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p8_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p9_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p10_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p11_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p12_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p13_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p14_labels;
ALTER INDEX node_labels ATTACH PARTITION node_p15_labels;

CREATE INDEX IF NOT EXISTS node_properties ON ONLY node USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p0_properties ON node_p0 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p1_properties ON node_p1 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p2_properties ON node_p2 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p3_properties ON node_p3 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p4_properties ON node_p4 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p5_properties ON node_p5 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p6_properties ON node_p6 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p7_properties ON node_p7 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p8_properties ON node_p8 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p9_properties ON node_p9 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p10_properties ON node_p10 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p11_properties ON node_p11 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p12_properties ON node_p12 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p13_properties ON node_p13 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p14_properties ON node_p14 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
CREATE INDEX CONCURRENTLY IF NOT EXISTS node_p15_properties ON node_p15 USING gin (metadata jsonb_path_ops)
  WHERE label NOT IN ('Memory', 'Document', 'Section', 'Chunk', 'Event', 'Summary', 'Report',
    'Conversation', 'Message', 'Task');
ALTER INDEX node_properties ATTACH PARTITION node_p0_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p1_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p2_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p3_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p4_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p5_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p6_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p7_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p8_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p9_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p10_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p11_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p12_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p13_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p14_properties;
ALTER INDEX node_properties ATTACH PARTITION node_p15_properties;
