-- The keyword leg in large workspaces: rows that have rare words are scored all, those of common words
-- only as far as they can still be among the best. Where and why: docs/decisions/0043.
-- depends: 0059.token-vectors

ALTER FUNCTION ranked_by_rarity(tsquery[], text) RENAME TO ranked_whole;

-- The least conjunctions of words that together weigh `level` or more, as one query: what it does not
-- match has words that weigh less. It tells the eight heaviest words apart, and takes every row to have
-- all others, or where these weigh enough by themselves, as many of them as of the heaviest. NULL when all
-- words together weigh less.
CREATE FUNCTION weighing_at_least(level double precision, words tsquery[], weights double precision[])
  RETURNS tsquery
  LANGUAGE plpgsql IMMUTABLE
  SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
  heaviest integer := least(cardinality(words), 8);
  others double precision;
  together double precision;
  lightest double precision;
  conjunction text;
  conjunctions text[];
BEGIN
  IF level IS NULL OR words IS NULL THEN
    RETURN NULL;
  END IF;
  SELECT array_agg(word ORDER BY weight DESC, word::text), array_agg(weight ORDER BY weight DESC, word::text)
    INTO words, weights FROM unnest(words, weights) AS asked (word, weight);
  IF level <= 0 THEN
    RETURN (SELECT string_agg(word::text, ' | ') FROM unnest(words) AS word)::tsquery;
  END IF;
  SELECT coalesce(sum(weight) FILTER (WHERE place > heaviest), 0), sum(weight) INTO others, together
    FROM unnest(weights) WITH ORDINALITY AS asked (weight, place);
  IF others >= level THEN -- any word would do: instead as large a share of the heaviest as of all
    level := level * (1 - others / together);
    others := 0;
  END IF;
  FOR subset IN 1 .. (1 << heaviest) - 1 LOOP
    together := others;
    conjunction := NULL;
    FOR place IN 1 .. heaviest LOOP
      IF subset >> (place - 1) & 1 = 1 THEN
        together := together + weights[place];
        lightest := weights[place];
        conjunction := concat_ws(' & ', conjunction, format('(%s)', words[place]));
      END IF;
    END LOOP;
    IF together >= level AND together - lightest < level THEN
      conjunctions := conjunctions || conjunction;
    END IF;
  END LOOP;
  RETURN array_to_string(conjunctions, ' | ')::tsquery;
END
$$;

-- The ranking of `ranked_whole`, bounded. How many rows have which of the words (`seen`) is told from the
-- same pages each time, a `share` of the table: only from rows of theirs that are `visible`, so a
-- frequency tells nobody of others. Words of at most `reach` rows together are rare: their rows are read
-- and counted all (`first`); when all words are, the score is exact. A word's rank is 1 at most, so a row
-- without rare words matters when its words weigh as much as the last of the best: these are read next
-- (`second`; and `third`, when those found before were too few to say how much that is), as many levels
-- as have at most `reach` rows by estimate.
CREATE FUNCTION ranked_bounded(parts tsquery[], visible text, share double precision, reach integer)
  RETURNS text
  LANGUAGE sql IMMUTABLE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT format($query$
    WITH seen AS MATERIALIZED (
      SELECT has, count(*) / %1$L::double precision AS rows
        FROM (SELECT %2$s AS has FROM %3$s AND n.search_tsv @@ %4$L::tsquery) AS drawn
       GROUP BY has
    ), word AS MATERIALIZED (
      SELECT place::integer, word,
        coalesce((SELECT sum(rows) FROM seen WHERE has >> (place - 1)::integer & 1 = 1), 0) AS df
        FROM unnest(%5$L::tsquery[]) WITH ORDINALITY AS asked (word, place)
    ), rare AS MATERIALIZED (
      SELECT coalesce(bit_or(1::bigint << (place - 1)), 0) AS has,
        string_agg(word::text, ' | ')::tsquery AS query
        FROM (SELECT place, word, sum(df) OVER (ORDER BY df, place) AS together FROM word) AS rarest
       WHERE together <= %6$s OR (SELECT sum(rows) FROM seen) <= %6$s
    ), first AS MATERIALIZED (
      SELECT n.id, %7$s FROM %8$s AND n.search_tsv @@ (SELECT query FROM rare)
    ), weighed AS MATERIALIZED (
      SELECT %9$s FROM (
        SELECT %10$s,
          count(*) + (SELECT coalesce(sum(rows), 0) FROM seen, rare WHERE seen.has & rare.has = 0) AS n
          FROM first) AS counted
    ), total AS MATERIALIZED (
      SELECT %11$s AS weight, ARRAY[%12$s] AS weights FROM weighed
    ), common AS MATERIALIZED (
      SELECT array_agg(word ORDER BY place) AS words,
        array_agg(weights[place] / total.weight ORDER BY place) AS weights
        FROM word, rare, total WHERE rare.has >> (place - 1) & 1 = 0
    ), above AS MATERIALIZED (
      SELECT weight, sum(sum(rows)) OVER (ORDER BY weight DESC) AS rows
        FROM (SELECT seen.rows, (SELECT sum(weights[place]) / total.weight FROM word
                                  WHERE seen.has >> (place - 1) & 1 = 1) AS weight
                FROM seen, rare, total WHERE seen.has & rare.has = 0) AS likely
       GROUP BY weight
    ), lowest AS MATERIALIZED (
      SELECT CASE WHEN coalesce(max(rows), 0) <= %6$s THEN 0
          ELSE coalesce(min(weight) FILTER (WHERE rows <= %6$s), max(weight)) END AS level,
        max(weight) FILTER (WHERE rows >= 3 * $1) AS enough
        FROM above
    ), best AS MATERIALIZED (
      SELECT first.id, ((%13$s) / (%11$s))::real AS score FROM first, weighed
       ORDER BY score DESC, first.id LIMIT $1
    ), second_level AS MATERIALIZED (
      SELECT greatest(lowest.level,
          CASE WHEN last.found = $1 THEN last.score ELSE lowest.enough END) AS level
        FROM lowest, (SELECT count(*) AS found, min(score) * 0.999999 AS score FROM best) AS last
    ), second AS MATERIALIZED (
      SELECT asked.id, ((%13$s) / (%11$s))::real AS score
        FROM weighed, (SELECT n.id, %7$s FROM %8$s AND n.search_tsv @@ (
          SELECT weighing_at_least(level, words, weights) && coalesce(!!query, '')
            FROM second_level, common, rare) LIMIT 2 * %6$s) AS asked
    ), better AS MATERIALIZED (
      SELECT id, score FROM (SELECT * FROM best UNION ALL SELECT * FROM second) AS found
       ORDER BY score DESC, id LIMIT $1
    ), third_level AS MATERIALIZED (
      SELECT greatest(lowest.level, CASE WHEN last.found = $1 THEN last.score ELSE 0 END) AS level
        FROM lowest, (SELECT count(*) AS found, min(score) * 0.999999 AS score FROM better) AS last
    ), third AS MATERIALIZED (
      SELECT asked.id, ((%13$s) / (%11$s))::real AS score
        FROM weighed, (SELECT n.id, %7$s FROM %8$s AND n.search_tsv @@ (
          SELECT weighing_at_least(third_level.level, words, weights) && coalesce(!!query, '')
            FROM second_level, third_level, common, rare
           WHERE third_level.level < second_level.level) LIMIT 2 * %6$s) AS asked
    )
    SELECT id, score FROM (SELECT * FROM better UNION SELECT * FROM third) AS found
     ORDER BY score DESC, id LIMIT $1$query$,
    share,
    string_agg(format('((n.search_tsv @@ %L::tsquery)::integer::bigint << %s)', part, i - 1), ' | '),
    regexp_replace(visible, '^node n', format('node n TABLESAMPLE SYSTEM (%s) REPEATABLE (0)', 100 * share)),
    string_agg(part::text, ' | '),
    parts,
    reach,
    string_agg(format('ts_rank(''{0.0, 0.0, 0.6, 1.0}'', n.search_tsv, %L::tsquery) AS r%s', part, i), ', '),
    visible,
    string_agg(format('ln(1 + n / greatest(df%1$s, 1)) AS w%1$s', i), ', '),
    string_agg(format('CASE WHEN (SELECT has >> %2$s & 1 FROM rare) = 1 THEN count(*) FILTER (WHERE r%1$s > 0)
      ELSE (SELECT df FROM word WHERE place = %1$s) END AS df%1$s', i, i - 1), ', '),
    string_agg(format('w%s', i), ' + '),
    string_agg(format('w%s', i), ', '),
    string_agg(format('w%1$s * r%1$s', i), ' + '))
    FROM unnest(parts) WITH ORDINALITY AS asked (part, i)
$$;

-- Which of the two: of a table of up to 1,000 pages, and of the past, the whole is scored. The sample is one
-- page of a hundred, so that a workspace that is a small part of a large table is seen, too.
CREATE FUNCTION ranked_by_rarity(parts tsquery[], visible text) RETURNS text
  LANGUAGE sql STABLE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT CASE WHEN pages > 1000 AND visible LIKE 'node n%' THEN ranked_bounded(parts, visible, greatest(300, least(pages / 100, 2000)) / pages, 4000)
    ELSE ranked_whole(parts, visible) END
    FROM (SELECT max(pg_relation_size(format('node_p%s', part)::regclass))::double precision
                 / current_setting('block_size')::integer AS pages
            FROM generate_series(0, 15) AS part
           WHERE satisfies_hash_partition('node'::regclass, 16, part, current_workspace())) AS mine
$$;
