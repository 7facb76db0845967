-- name: by_outcome
SELECT outcome, count(*) FROM pages
WHERE outcome IS NOT NULL GROUP BY outcome ORDER BY count(*) DESC, outcome

-- name: examples
SELECT coalesce(url, key), coalesce(message, '') FROM pages WHERE outcome = ? ORDER BY id LIMIT ?

-- name: by_method
SELECT CASE WHEN cached THEN 'cache' ELSE coalesce(method, 'none') END AS read_by, count(*) FROM pages
WHERE outcome = 'ok' GROUP BY read_by ORDER BY count(*) DESC

-- name: by_host
SELECT hosts.name, count(*), sum(outcome <> 'ok'), avg(seconds), sum(bytes)
FROM pages JOIN hosts ON hosts.id = pages.host
WHERE outcome IS NOT NULL AND hosts.name <> ''
GROUP BY pages.host ORDER BY count(*) DESC, hosts.name LIMIT ?

-- name: slowest
SELECT coalesce(url, key), seconds, outcome FROM pages
WHERE outcome IS NOT NULL ORDER BY seconds DESC, id LIMIT ?
