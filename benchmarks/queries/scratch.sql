-- name: create
-- A database for one run of a benchmark, beside Cairn's own.
CREATE DATABASE cairn_bench_scale

-- name: disconnect
-- Disconnect who uses it. Not autovacuum, which is nobody's to stop: a drop ends it by itself.
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
 WHERE datname = 'cairn_bench_scale' AND backend_type = 'client backend'

-- name: drop
-- Drop it; it waits some seconds for those who were disconnected.
DROP DATABASE IF EXISTS cairn_bench_scale

-- name: analyse
-- Let the planner know the tables, as a running database's autovacuum would have.
ANALYZE
