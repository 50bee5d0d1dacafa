-- Token vectors: what the content words of a text mean in it, for late interaction. One bit a number,
-- dimensions / 8 bytes a word piece, in the row of the window they are of. Null: made before, or by a
-- model that gives none.
-- depends: 0058.messages-in-recall

ALTER TABLE embedding ADD COLUMN tokens bytea;
ALTER TABLE embedding ALTER COLUMN tokens SET STORAGE EXTERNAL; -- bits of nearly no pattern
ALTER TABLE embedding_cache ADD COLUMN tokens bytea;
ALTER TABLE embedding_cache ALTER COLUMN tokens SET STORAGE EXTERNAL;
GRANT UPDATE (tokens) ON embedding_cache TO cairn_app;
