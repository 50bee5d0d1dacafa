-- name: create
-- A database for one run of a benchmark, beside Cairn's own.
CREATE DATABASE cairn_bench_scale

-- name: drop
-- Drop it and disconnect who uses it.
DROP DATABASE IF EXISTS cairn_bench_scale WITH (FORCE)

-- name: analyse
-- Let the planner know the tables, as a running database's autovacuum would have.
ANALYZE
