-- name: create
INSERT INTO indexes (principal, name, lowercase, min_length, created_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (principal, name) DO NOTHING RETURNING id

-- name: find
SELECT id, name, lowercase, min_length, created_at FROM indexes
WHERE principal = $1 AND (CAST($2 AS text) IS NULL OR name = CAST($2 AS text))

-- name: get_document
SELECT content, metadata FROM documents WHERE index_id = $1 AND doc_id = $2

-- name: list_documents
SELECT number, doc_id, content, metadata FROM documents WHERE index_id = $1 AND number > $2 ORDER BY number

-- name: put
INSERT OR REPLACE INTO documents (index_id, doc_id, content, metadata) VALUES (?, ?, ?, ?) RETURNING number
