-- name: named
-- Whose rows an id is for.
SELECT name, dimensions FROM embedding_model WHERE id = %(id)s

-- name: indexes
-- The statements that make the model's index in every partition, for the owner to execute.
SELECT string_agg(format('CREATE INDEX CONCURRENTLY IF NOT EXISTS %%1$s_hnsw_%%2$s ON %%1$s
    USING hnsw ((v::halfvec(%%3$s)) halfvec_cosine_ops) WHERE model_id = %%2$s;',
    c.relname, %(id)s::int, %(dimensions)s::int), E'\n')
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
 WHERE i.inhparent = 'public.embedding'::regclass

-- name: of_other_dimensions
-- Indexes that a run began for the id and other dimensions.
SELECT indexname FROM pg_indexes
 WHERE schemaname = 'public' AND indexname ~ ('^embedding_p[0-9]+_hnsw_' || %(id)s::int || '$')
   AND position('halfvec(' || %(dimensions)s::int || ')' IN indexdef) = 0

-- name: register
-- Let vectors of the model be stored; by the owner, once its indexes are there.
INSERT INTO embedding_model (id, name, dimensions) VALUES (%(id)s, %(name)s, %(dimensions)s)
