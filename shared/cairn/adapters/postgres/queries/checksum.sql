-- Content checksums of the projections, one query a table: how many rows, and the sums of both halves
-- of each row's MD5 (not against forgers: the ledger's hashes are). The order of rows does not matter,
-- that of columns is the migrations'. Times are read in UTC. Tables are named without their schema:
-- the transaction says whether the rows in use are meant or the replayed ones.

-- name: node
-- Nodes. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM node AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: node_version
-- What nodes were. Everything counts, the indexed words too: they are copies here.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM node_version AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: edge
-- Edges. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM edge AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: edge_version
-- What edges were. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM edge_version AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: entity_alias
-- Other names of entities. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM entity_alias AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: data_subject
-- Whom the random ids of data subjects stand for. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM data_subject AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: subscription
-- What agents subscribe to. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM subscription AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: key_conversation
-- Which conversation a public key sees. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM key_conversation AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: purged_node
-- What was purged, and by which entry. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM purged_node AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: embedding
-- Vectors and token vectors, bit for bit, and the copies of their nodes' guards. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(ROW(r.node_id, r.model_id, r.ordinal, halfvec_send(r.v), r.tokens,
    r.position,    r.label, r.kind, r.scope,
    r.agents, r.client_id, r.state, r.occurred_at, r.valid_from, r.valid_to))) AS h FROM embedding AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: taint
-- Taints, standing and lifted. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM taint AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: taint_node
-- What taints hold or held. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM taint_node AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests

-- name: workspace_settings
-- What the workspace has set. Everything counts.
SELECT count(*) AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) AS high,
  coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS low
  FROM (SELECT md5(record_send(r)) AS h FROM workspace_settings AS r
         WHERE r.workspace_id = %(workspace_id)s) AS digests
