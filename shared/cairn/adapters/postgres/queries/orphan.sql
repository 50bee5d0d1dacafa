-- name: node_without_entry
-- Nodes that no entry of the ledger made.
SELECT n.id FROM node n
 WHERE n.workspace_id = %(workspace_id)s
   AND NOT EXISTS (SELECT FROM ledger e
     WHERE e.workspace_id = %(workspace_id)s AND e.position = n.created_position)
 LIMIT %(limit)s

-- name: edge_without_end
-- Edges that hold between nodes of which one is not there.
SELECT e.id FROM edge e
 WHERE e.workspace_id = %(workspace_id)s AND e.superseded_at IS NULL
   AND (NOT EXISTS (SELECT FROM node s WHERE s.workspace_id = %(workspace_id)s AND s.id = e.source_id)
     OR NOT EXISTS (SELECT FROM node t WHERE t.workspace_id = %(workspace_id)s AND t.id = e.target_id))
 LIMIT %(limit)s

-- name: vector_without_node
-- Nodes that have a vector and are not there.
SELECT DISTINCT v.node_id FROM embedding v
 WHERE v.workspace_id = %(workspace_id)s
   AND NOT EXISTS (SELECT FROM node n WHERE n.workspace_id = %(workspace_id)s AND n.id = v.node_id)
 LIMIT %(limit)s

-- name: entity_without_reference
-- Entities found in texts that nothing but other entities refers to.
SELECT n.id FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Entity' AND n.state = 'active'
   AND EXISTS (SELECT FROM ledger e
     WHERE e.workspace_id = %(workspace_id)s AND e.position = n.created_position
       AND e.type NOT IN ('node.written', 'entity.split'))
   AND NOT EXISTS (SELECT FROM edge r
      JOIN node s ON s.workspace_id = %(workspace_id)s AND s.id = r.source_id
     WHERE r.workspace_id = %(workspace_id)s AND r.target_id = n.id AND r.superseded_at IS NULL
       AND (s.label <> 'Entity' OR r.view <> 'entity'))
   AND NOT EXISTS (SELECT FROM edge r
      JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = r.target_id
     WHERE r.workspace_id = %(workspace_id)s AND r.source_id = n.id AND r.superseded_at IS NULL
       AND (t.label <> 'Entity' OR r.view <> 'entity'))
 LIMIT %(limit)s

-- name: entry_without_row
-- Entries that made one node, which is neither there nor purged.
SELECT e.id FROM ledger e
 WHERE e.workspace_id = %(workspace_id)s
   AND e.type IN ('memory.remembered', 'memory.corrected', 'memory.merged', 'memory.moved', 'event.observed', 'message.recorded', 'report.written')
   AND NOT EXISTS (SELECT FROM node n
     WHERE n.workspace_id = %(workspace_id)s AND n.id = (e.meta::jsonb ->> 'node_id')::uuid)
   AND NOT EXISTS (SELECT FROM purged_node p
     WHERE p.workspace_id = %(workspace_id)s AND p.id = (e.meta::jsonb ->> 'node_id')::uuid)
   AND e.meta::jsonb ? 'node_id'
 LIMIT %(limit)s
