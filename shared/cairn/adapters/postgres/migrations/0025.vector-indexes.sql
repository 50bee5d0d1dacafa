-- depends: 0024.model-call-retention
-- Vectors of every registered model are found by an index, so that another model can be filled and
-- compared beside the present one. An index that holds no vector is two pages, and costs a write
-- nothing but the look at its condition. Up to 4,000 dimensions can be indexed as halfvec.
DO $$
DECLARE
  model record;
BEGIN
  FOR model IN SELECT m.id, m.dimensions FROM embedding_model m WHERE m.id IN (2, 3, 4, 5) LOOP
    FOR part IN 0..15 LOOP
      EXECUTE format('CREATE INDEX embedding_p%1$s_hnsw_%2$s ON embedding_p%1$s
        USING hnsw ((v::halfvec(%3$s)) halfvec_cosine_ops) WHERE model_id = %2$s',
        part, model.id, model.dimensions);
    END LOOP;
  END LOOP;
END
$$;
