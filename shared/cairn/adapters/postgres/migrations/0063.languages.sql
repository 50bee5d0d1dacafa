-- Words of other languages than English: docs/decisions/0049. A node's words are what they were, the English
-- ones of its text, and besides those of the language it is in, or pairs of characters where a script
-- has no spaces between words.
-- depends: 0062.clients

-- hnsw.* may be set on a function only once the library that defines it is loaded.
DO $$ BEGIN PERFORM '[1]'::vector; END $$;

-- The languages besides English that PostgreSQL has both stems and stop words of; NULL for others.
CREATE FUNCTION text_search_of(language text) RETURNS regconfig
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  SET search_path = pg_catalog
AS $$
  SELECT CASE language
    WHEN 'de' THEN 'german'::regconfig WHEN 'fr' THEN 'french'::regconfig
    WHEN 'es' THEN 'spanish'::regconfig WHEN 'it' THEN 'italian'::regconfig
    WHEN 'pt' THEN 'portuguese'::regconfig WHEN 'nl' THEN 'dutch'::regconfig
    WHEN 'sv' THEN 'swedish'::regconfig WHEN 'da' THEN 'danish'::regconfig
    WHEN 'no' THEN 'norwegian'::regconfig WHEN 'fi' THEN 'finnish'::regconfig
    WHEN 'hu' THEN 'hungarian'::regconfig WHEN 'ru' THEN 'russian'::regconfig
    WHEN 'tr' THEN 'turkish'::regconfig END
$$;

-- The language that has most stop words among the words of a text's beginning. NULL for English, which
-- wins a draw, is not doubted where every fourth word is one of its stop words, and is meant where no
-- language has any. Cyrillic without any is taken to be Russian.
CREATE FUNCTION language_of(said text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
  SET search_path = pg_catalog
AS $$
DECLARE
  languages CONSTANT text[] := '{de,fr,es,it,pt,nl,sv,da,no,fi,hu,ru,tr}';
  words text[] := tsvector_to_array(to_tsvector('simple', left(said, 1000)));
  english bigint := (SELECT count(*) FROM unnest(words) AS word WHERE ts_lexize('english_stem', word) = '{}');
  counts bigint[];
  most bigint;
BEGIN
  IF 4 * english >= cardinality(words) THEN
    RETURN NULL;
  END IF;
  SELECT ARRAY[
      count(*) FILTER (WHERE ts_lexize('german_stem', word) = '{}'),
      count(*) FILTER (WHERE ts_lexize('french_stem', word) = '{}'),
      count(*) FILTER (WHERE ts_lexize('spanish_stem', word) = '{}'),
      count(*) FILTER (WHERE ts_lexize('italian_stem', word) = '{}'),
      count(*) FILTER (WHERE ts_lexize('portuguese_stem', word) = '{}'),
      count(*) FILTER (WHERE ts_lexize('dutch_stem', word) = '{}'),
      count(*) FILTER (WHERE ts_lexize('swedish_stem', word) = '{}'),
      count(*) FILTER (WHERE ts_lexize('danish_stem', word) = '{}'),
      count(*) FILTER (WHERE ts_lexize('norwegian_stem', word) = '{}'),
      count(*) FILTER (WHERE ts_lexize('finnish_stem', word) = '{}'),
      count(*) FILTER (WHERE ts_lexize('hungarian_stem', word) = '{}'),
      count(*) FILTER (WHERE ts_lexize('russian_stem', word) = '{}'),
      count(*) FILTER (WHERE ts_lexize('turkish_stem', word) = '{}')]
    INTO counts FROM unnest(words) AS word WHERE length(word) < 9;
  most := (SELECT max(one) FROM unnest(counts) AS one);
  IF most > english THEN
    RETURN languages[array_position(counts, most)];
  END IF;
  RETURN CASE WHEN left(said, 1000) ~ '[Ѐ-ӿ]' THEN 'ru' END;
END
$$;

-- Pairs of neighbouring characters of Chinese, Japanese and Korean, and each Chinese character by itself,
-- at their places. The question's are made by cairn/kernel/text/pairs.py.
CREATE FUNCTION character_pairs(said text, weight text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  SET search_path = pg_catalog
AS $$
  SELECT coalesce(string_agg(gram || ':' || least(place, 16383) || weight, ' '), '')::tsvector
    FROM (SELECT place, letter, code, lead(place) OVER after = place + 1 AS joined,
            lead(letter) OVER after AS next
            FROM (SELECT place, letter, ascii(letter) AS code
                    FROM unnest(string_to_array(left(said, 20000), NULL))
                      WITH ORDINALITY AS read (letter, place)) AS each
           WHERE code BETWEEN 12353 AND 12543 AND code <> 12539 OR code IN (12293, 12295)
              OR code BETWEEN 13312 AND 40959 OR code BETWEEN 44032 AND 55203
          WINDOW after AS (ORDER BY place)) AS seen,
      unnest(ARRAY[CASE WHEN code BETWEEN 13312 AND 40959 THEN letter END,
                   CASE WHEN joined THEN letter || next END]) AS gram
   WHERE gram IS NOT NULL
$$;

-- The words of a node, its own (A) and those around it (B). Where another language adds none, the vector is
-- what it was before there were others. What is added is bounded, as a vector is to a megabyte.
CREATE FUNCTION search_words(
  title text, canonical_name text, said text, compiled_truth text, around text
) RETURNS tsvector
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
  SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
  apart CONSTANT text := '[々〇ぁ-ヿ㐀-鿿가-힣]+';
  own text := coalesce(title, '') || ' ' || coalesce(canonical_name, '') || ' ' || said || ' '
    || coalesce(compiled_truth, '');
  context text := coalesce(around, '');
  words tsvector := setweight(to_tsvector('english', own), 'A')
    || setweight(to_tsvector('english', context), 'B');
  language text := language_of(left(own, 1000) || ' ' || left(context, 1000));
  others tsvector := '';
BEGIN
  own := left(own, 40000);
  context := left(context, 40000);
  IF language IS NOT NULL THEN
    others := setweight(to_tsvector(text_search_of(language), normalize(own)), 'A')
      || setweight(to_tsvector(text_search_of(language), normalize(context)), 'B');
  END IF;
  IF octet_length(own || context) > length(own || context) AND own || context ~ apart THEN
    others := others || character_pairs(own, 'A') || character_pairs(context, 'B')
      || setweight(to_tsvector('english', regexp_replace(own, apart, ' ', 'g')), 'A')
      || setweight(to_tsvector('english', regexp_replace(context, apart, ' ', 'g')), 'B');
  END IF;
  IF others = '' THEN
    RETURN words;
  END IF;
  RETURN words || ts_delete(others, tsvector_to_array(words));
END
$$;

-- Generated no longer, as another expression would write every row anew: rows keep the words they have
-- until they change, or POST /v1/reindex goes through them.
ALTER TABLE node ALTER COLUMN search_tsv DROP EXPRESSION;
CREATE FUNCTION keep_search_words() RETURNS trigger LANGUAGE plpgsql
  SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
  NEW.search_tsv := search_words(NEW.title, NEW.canonical_name, NEW.text, NEW.compiled_truth, NEW.context_text);
  RETURN NEW;
END
$$;
CREATE TRIGGER node_keeps_search_words
  BEFORE INSERT OR UPDATE OF title, canonical_name, text, compiled_truth, context_text, search_tsv
  ON node FOR EACH ROW EXECUTE FUNCTION keep_search_words();

-- What a word of a question means to the index: its English form or that of the question's language, none
-- for a stop word of the latter.
CREATE FUNCTION word_query(term text, language text) RETURNS tsquery
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT CASE WHEN own IS NULL OR own = english THEN english
      WHEN own::text = '' THEN own
      WHEN english::text = '' THEN own
      ELSE own || english END
    FROM (SELECT plainto_tsquery(text_search_of(language), term) AS own,
            plainto_tsquery('english', term) AS english) AS forms
$$;

CREATE FUNCTION lexemes_of(terms text[], language text) RETURNS tsquery[]
  LANGUAGE sql STABLE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT array_agg(DISTINCT part) FROM unnest(terms) AS term, word_query(term, language) AS part
   WHERE part::text <> ''
$$;

GRANT CREATE ON SCHEMA public TO cairn_finder;
SET ROLE cairn_finder;
DO $$
DECLARE
  finder regprocedure;
  asked text;
  made text;
BEGIN
  FOR finder IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
    AND p.proname IN ('find_by_keyword', 'find_by_keyword_as_of') LOOP
    asked := pg_get_function_identity_arguments(finder);
    made := replace(replace(pg_get_functiondef(finder),
      '(' || asked || ')', '(' || asked || ', language text DEFAULT NULL)'),
      'lexemes_of(terms)', 'lexemes_of(terms, language)');
    ASSERT made LIKE '%DEFAULT NULL)%lexemes_of(terms, language)%', format('%s asks for no words', finder);
    EXECUTE made;
    made := format('%s(%s, language text)', (SELECT proname FROM pg_proc WHERE oid = finder), asked);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', made);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cairn_app', made);
    EXECUTE format('DROP FUNCTION %s', finder);
  END LOOP;
END
$$;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
DROP FUNCTION lexemes_of(text[]);
