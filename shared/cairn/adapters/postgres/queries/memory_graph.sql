-- name: find
-- Nodes of the memory graph by their ids.
SELECT n.id, n.label, n.key, n.metadata, n.state, n.data_subjects FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND n.key IS NOT NULL AND n.label <> 'Memory'

-- name: named
-- Nodes of the memory graph by what names them.
SELECT n.id, n.label, n.key, n.metadata, n.state, n.data_subjects
  FROM unnest(%(labels)s::text[], %(keys)s::text[]) AS w (label, key)
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.label COLLATE "C" = w.label
   AND n.key COLLATE "C" = w.key AND n.key IS NOT NULL AND n.label <> 'Memory'

-- name: owned_by
-- Nodes of the memory graph that are data of some subjects.
SELECT n.id FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.data_subjects && %(subjects)s::uuid[]
   AND n.key IS NOT NULL AND n.label <> 'Memory'

-- name: edges
-- The stated edges that hold between some nodes.
SELECT e.id, e.source_id, e.target_id, e.relation, e.weight, e.properties,
  e.valid_from AS observed_at, s.label AS source_label, s.key AS source_key,
  t.label AS target_label, t.key AS target_key
  FROM unnest(%(sources)s::uuid[], %(targets)s::uuid[], %(relations)s::text[])
    AS w (source_id, target_id, relation)
  JOIN edge e ON e.workspace_id = %(workspace_id)s AND e.view = 'knowledge'
   AND e.relation = w.relation AND e.source_id = w.source_id AND e.target_id = w.target_id
   AND e.superseded_at IS NULL
  JOIN node s ON s.workspace_id = %(workspace_id)s AND s.id = e.source_id
  JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = e.target_id

-- name: touching
-- Stated edges at some nodes with the visible node at the other end, the strongest first.
SELECT one.id, one.source_id, one.target_id, one.relation, one.weight, one.properties,
  one.valid_from AS observed_at, s.label AS source_label, s.key AS source_key,
  t.label AS target_label, t.key AS target_key, far.id AS far_id, far.label AS far_label,
  far.key AS far_key, far.metadata, far.state
  FROM (
    SELECT e.*, e.target_id AS far_id FROM edge e
     WHERE e.workspace_id = %(workspace_id)s AND e.source_id = ANY (%(ids)s)
       AND e.view = 'knowledge' AND e.superseded_at IS NULL
    UNION ALL
    SELECT e.*, e.source_id AS far_id FROM edge e
     WHERE e.workspace_id = %(workspace_id)s AND e.target_id = ANY (%(ids)s)
       AND e.view = 'knowledge' AND e.superseded_at IS NULL
  ) AS one
  JOIN node s ON s.workspace_id = %(workspace_id)s AND s.id = one.source_id
  JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = one.target_id
  JOIN node far ON far.workspace_id = %(workspace_id)s AND far.id = one.far_id
 WHERE (%(relations)s::text[] IS NULL OR one.relation = ANY (%(relations)s))
   AND s.key IS NOT NULL AND s.label <> 'Memory' AND t.key IS NOT NULL AND t.label <> 'Memory'
   AND far.state IN ('provisional', 'active')
 ORDER BY one.weight DESC, far.label COLLATE "C", far.key COLLATE "C", s.label COLLATE "C",
   s.key COLLATE "C", t.label COLLATE "C", t.key COLLATE "C", one.relation COLLATE "C"
 LIMIT %(limit)s

-- name: by_labels
-- Visible nodes of some labels by what names them.
SELECT n.id, n.label, n.key, n.metadata, n.state FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.label COLLATE "C" = ANY (%(labels)s)
   AND n.key IS NOT NULL AND n.label <> 'Memory' AND n.state IN ('provisional', 'active')
 ORDER BY n.label COLLATE "C", n.key COLLATE "C" LIMIT %(limit)s

-- name: provisional
-- Provisional nodes made before one, the newest first: label by label by the index.
SELECT n.id, n.label, n.key, n.metadata, n.state
  FROM (SELECT DISTINCT p.label FROM node p
     WHERE p.workspace_id = %(workspace_id)s AND p.key IS NOT NULL AND p.label <> 'Memory'
       AND p.state = 'provisional') AS w
 CROSS JOIN LATERAL (
    SELECT one.id, one.label, one.key, one.metadata, one.state FROM node one
     WHERE one.workspace_id = %(workspace_id)s AND one.label COLLATE "C" = w.label
       AND one.key IS NOT NULL AND one.label <> 'Memory' AND one.state = 'provisional'
       AND (%(before)s::uuid IS NULL OR one.id < %(before)s)
     ORDER BY one.id DESC LIMIT %(limit)s
  ) AS n
 ORDER BY n.id DESC LIMIT %(limit)s

-- name: remembered
-- Nodes that a person made of lines of timelines, before one, the newest first: their keys say so.
SELECT n.id, n.label, n.key, n.metadata, n.state
  FROM unnest(%(labels)s::text[]) AS w (label)
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.label COLLATE "C" = w.label
   AND n.key COLLATE "C" >= lower(w.label) || ':investigation:'
   AND n.key COLLATE "C" < lower(w.label) || ':investigation;'
 WHERE n.state = 'active' AND (%(before)s::uuid IS NULL OR n.id < %(before)s)
 ORDER BY n.id DESC LIMIT %(limit)s

-- name: node_page
-- Nodes made up to a position by what names them, from after one on.
SELECT n.id, n.label, n.key, n.metadata, n.state FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.key IS NOT NULL AND n.label <> 'Memory'
   AND n.state IN ('provisional', 'active', 'archived') AND n.created_position <= %(position)s
   AND (n.label COLLATE "C", n.key COLLATE "C") > (%(label)s, %(key)s)
 ORDER BY n.label COLLATE "C", n.key COLLATE "C" LIMIT %(limit)s

-- name: edge_page
-- Stated edges between nodes made up to a position, by the names of their ends, from after one on.
-- Source by source in the order of the index, so that a page reads about as many rows as it has.
SELECT e.id, e.source_id, e.target_id, e.relation, e.weight, e.properties,
  e.valid_from AS observed_at, s.label AS source_label, s.key AS source_key, e.target_label,
  e.target_key
  FROM node s
 CROSS JOIN LATERAL (
    SELECT e.*, t.label AS target_label, t.key AS target_key
      FROM edge e
      JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = e.target_id
       AND t.key IS NOT NULL AND t.label <> 'Memory'
       AND t.state IN ('provisional', 'active', 'archived') AND t.created_position <= %(position)s
     WHERE e.workspace_id = %(workspace_id)s AND e.source_id = s.id
       AND e.view = 'knowledge' AND e.superseded_at IS NULL
    OFFSET 0
  ) AS e
 WHERE s.workspace_id = %(workspace_id)s AND s.key IS NOT NULL AND s.label <> 'Memory'
   AND s.state IN ('provisional', 'active', 'archived') AND s.created_position <= %(position)s
   AND (s.label COLLATE "C", s.key COLLATE "C") >= (%(source_label)s, %(source_key)s)
   AND ((s.label COLLATE "C", s.key COLLATE "C") > (%(source_label)s, %(source_key)s)
     OR (e.target_label COLLATE "C", e.target_key COLLATE "C", e.relation COLLATE "C")
      > (%(target_label)s, %(target_key)s, %(relation)s))
 ORDER BY s.label COLLATE "C", s.key COLLATE "C", e.target_label COLLATE "C",
   e.target_key COLLATE "C", e.relation COLLATE "C"
 LIMIT %(limit)s
