-- name: tables
-- What members are filled from: as many sentences with real vectors as are mixed, and the members.
CREATE TABLE bench_motif (n integer PRIMARY KEY, text text NOT NULL, v halfvec NOT NULL, tokens bytea);
CREATE TABLE bench_member (
  workspace_id uuid, n bigint, member_id uuid, profile_id uuid, intent_id uuid, network_id uuid,
  PRIMARY KEY (workspace_id, n));
GRANT SELECT ON bench_motif, bench_member TO cairn_app

-- name: copy_motifs
-- The sentences.
COPY bench_motif (n, text, v, tokens) FROM STDIN

-- name: copy_members
-- The members.
COPY bench_member (workspace_id, n, member_id, profile_id, intent_id, network_id) FROM STDIN

-- name: vector_indexes
-- The indexes of one model's vectors, with what makes them again.
SELECT indexname, indexdef FROM pg_indexes
 WHERE schemaname = 'public' AND indexname ~ ('^embedding_p\d+_hnsw_' || %(model_id)s || '$')

-- name: networks
-- The networks of a workspace's members.
INSERT INTO network (workspace_id, id, name, join_policy, created_at, changed_at)
SELECT DISTINCT workspace_id, network_id, 'bench ' || network_id, 'anyone', now(), now()
  FROM bench_member WHERE workspace_id = %(workspace_id)s

-- name: members
-- Members, each in their network.
INSERT INTO member (workspace_id, id, client_id, since)
SELECT workspace_id, member_id, 'm' || n, now()
  FROM bench_member WHERE workspace_id = %(workspace_id)s AND n BETWEEN %(first)s AND %(last)s

-- name: places
-- That they are in it.
INSERT INTO network_member (workspace_id, network_id, member_id, joined_at)
SELECT workspace_id, network_id, member_id, now()
  FROM bench_member WHERE workspace_id = %(workspace_id)s AND n BETWEEN %(first)s AND %(last)s

-- name: nodes
-- A profile and an intent of each: a sentence that many others begin with, and a number of their own.
INSERT INTO node (workspace_id, id, label, kind, title, text, content_hash, scope, client_id,
  data_subjects, metadata, state, occurred_at, valid_from, recorded_at, entry_id, created_position,
  position)
SELECT b.workspace_id, x.id, x.label, x.kind, x.title, x.text, md5(x.text || b.n), 'shared', 'm' || b.n,
  ARRAY[b.member_id], x.metadata, 'active', now(), now(), now(), x.id, 1, 1
  FROM bench_member b
  JOIN bench_motif i ON i.n = (b.n * 7919) %% %(motifs)s
  JOIN bench_motif p ON p.n = (b.n * 104729 + 13) %% %(motifs)s
 CROSS JOIN LATERAL (VALUES
   (b.intent_id, 'Intent', CASE b.n / 7 %% 2 WHEN 0 THEN 'seeking' ELSE 'offering' END, NULL,
    i.text || ' ' || b.n, '{}'::jsonb),
   (b.profile_id, 'Member', NULL, 'Member ' || b.n, p.text || ' ' || b.n,
    jsonb_build_object('name', 'Member ' || b.n, 'location', 'Town ' || b.n %% 50))
 ) AS x (id, label, kind, title, text, metadata)
 WHERE b.workspace_id = %(workspace_id)s AND b.n BETWEEN %(first)s AND %(last)s

-- name: vectors
-- Their vectors: of the sentence's, less of another one's, and a third's as noise.
INSERT INTO embedding (workspace_id, node_id, model_id, v, tokens, position, label, kind, scope,
  client_id, state, occurred_at, valid_from)
SELECT b.workspace_id, x.id, %(model_id)s,
  l2_normalize(x.v + o.v * array_fill(0.6::real, ARRAY[vector_dims(x.v)])::halfvec
    + z.v * array_fill(0.2::real, ARRAY[vector_dims(x.v)])::halfvec),
  x.tokens, 1, x.label, x.kind, 'shared', 'm' || b.n, 'active', now(), now()
  FROM bench_member b
  JOIN bench_motif i ON i.n = (b.n * 7919) %% %(motifs)s
  JOIN bench_motif p ON p.n = (b.n * 104729 + 13) %% %(motifs)s
  JOIN bench_motif o ON o.n = (b.n / %(motifs)s * 31 + b.n * 17) %% %(motifs)s
  JOIN bench_motif z ON z.n = (b.n * 6151 + b.n / 7) %% %(motifs)s
 CROSS JOIN LATERAL (VALUES
   (b.intent_id, 'Intent', CASE b.n / 7 %% 2 WHEN 0 THEN 'seeking' ELSE 'offering' END, i.v, i.tokens),
   (b.profile_id, 'Member', NULL, p.v, p.tokens)
 ) AS x (id, label, kind, v, tokens)
 WHERE b.workspace_id = %(workspace_id)s AND b.n BETWEEN %(first)s AND %(last)s

-- name: intents
-- What each seeks or offers.
INSERT INTO intent (workspace_id, id, member_id, side, state, created_at, changed_at, discovered_at)
SELECT workspace_id, intent_id, member_id, CASE n / 7 %% 2 WHEN 0 THEN 'seeking' ELSE 'offering' END,
  'active', now(), now(), now()
  FROM bench_member WHERE workspace_id = %(workspace_id)s AND n BETWEEN %(first)s AND %(last)s

-- name: assigned
-- That it belongs to their network.
INSERT INTO intent_network (workspace_id, network_id, intent_id, member_id, score, direct, assigned_at)
SELECT workspace_id, network_id, intent_id, member_id, 1, true, now()
  FROM bench_member WHERE workspace_id = %(workspace_id)s AND n BETWEEN %(first)s AND %(last)s
