-- Who was given a node is found without reading every search that a workspace keeps.
-- depends: 0106.search-stages
-- transactional: false

CREATE INDEX CONCURRENTLY IF NOT EXISTS search_run_returned ON search_run USING gin (returned);
