-- Full-text search: the text of documents and queries.

-- One configuration for all languages: English stems and stop words, accents removed. It never changes, or documents must be rebuilt.
create text search dictionary assent_english (template = snowball, language = english, stopwords = english);
create text search configuration assent (copy = simple);
alter text search configuration assent alter mapping for asciiword with assent_english;
alter text search configuration assent alter mapping for word with unaccent, assent_english;
-- Words as they are written, for prefixes and the vocabulary.
create text search configuration assent_words (copy = simple);
alter text search configuration assent_words alter mapping for word with unaccent, simple;

-- Text as words between spaces, the same for documents and queries: only letters, digits and marks stay, so that no text is a URL, a host or a
-- negative number to the parser. Runs of Han, kana and Hangul become pairs of characters, an emoji becomes a word. "complete": the last
-- character of each run follows at the end of the text, so that a search for one character finds it; a query has none, or its phrases
-- would contain it.
create function plain_text(given text, complete boolean) returns text language plpgsql immutable strict parallel safe as $$
declare
  plain text := given;
  run_ends text := '';
begin
  if octet_length(plain) <> char_length(plain) then
    plain := normalize(plain, NFKC);
    if plain ~ '[\u3005\u3007\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]' then
      select string_agg(case
          when not c.wide then case when c.emoji then ' u' || to_hex(ascii(c.letter)) || ' ' else c.letter end
          when c.wide_next then ' ' || c.letter || c.next || ' '
          when c.wide_before then ' '
          else ' ' || c.letter || ' ' end, '' order by c.place),
        coalesce(string_agg(' ' || c.letter, '' order by c.place) filter (where c.wide and c.wide_before and not c.wide_next), '')
      into plain, run_ends
      from (
        select f.*, lead(f.letter) over places as next, coalesce(lead(f.wide) over places, false) as wide_next,
          coalesce(lag(f.wide) over places, false) as wide_before
        from (
          select x.letter, x.place, x.letter ~ '[\u3005\u3007\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]' as wide, x.letter ~ '[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]' as emoji
          from unnest(string_to_array(plain, null)) with ordinality as x(letter, place)
        ) f window places as (order by f.place)
      ) c;
    end if;
    if complete then plain := plain || run_ends; end if;
  end if;
  return regexp_replace(plain collate pg_c_utf8, '[^[:alnum:]\u0300-\u036f\u0900-\u0963\u0966-\u109f\u1780-\u17d3]+', ' ', 'g');
end $$;

-- The first "most" characters, also after normalizing, which makes up to 18 of one.
create function search_text(given text, most int) returns text language sql immutable parallel safe as $$
  select case when octet_length(t) = char_length(t) then t else left(normalize(t, NFKC), most) end from left(coalesce(given, ''), most) t
$$;

-- Weights: A title, B tags, D everything else. The limits keep a document far below the largest tsvector.
create function search_vector(title text, tags text, body text) returns tsvector language sql stable parallel safe as $$
  select setweight(to_tsvector('assent', plain_text(search_text(title, 2000), true)), 'A')
    || setweight(to_tsvector('assent', plain_text(search_text(tags, 4000), true)), 'B')
    || setweight(to_tsvector('assent', plain_text(search_text(body, 20000), true)), 'D')
$$;

-- Words of a team's titles, for typos: a choice among all teams' words would tell each team which words the others use.
create table search_team_words (team_id uuid not null, word text not null, primary key (team_id, word));
create index search_similar_words on search_team_words using gin (team_id, word gin_trgm_ops);

create function sorted_letters(word text) returns text language sql immutable strict parallel safe as $$
  select string_agg(letter, '' order by letter) from unnest(string_to_array(word, null)) as x(letter)
$$;

-- Builds a query from terms: [{group, text, negated, prefix, word}]; terms of a group must all match, one group
-- suffices. The text of a term never has syntax. A word of five or more letters also matches similar words, and words that it begins, in
-- titles of these teams; of no team for the exact query. Returns an empty query if nothing positive is left.
create function search_query(terms jsonb, similar_of uuid[]) returns tsquery language plpgsql stable
set client_min_messages = warning set plan_cache_mode = force_generic_plan set enable_seqscan = off
set pg_trgm.similarity_threshold = 0.18 as $$
declare
  term record;
  plain text;
  part tsquery;
  similar_word text;
  terms_of_group tsquery := '';
  result tsquery := '';
  current_group int;
begin
  for term in
    select t."group", t.text, coalesce(t.negated, false) as negated, coalesce(t.prefix, false) as prefix, coalesce(t.word, false) as word
    from jsonb_to_recordset(terms) as t("group" int, text text, negated boolean, prefix boolean, word boolean)
    union all select null, '', false, false, false
  loop
    if term."group" is distinct from current_group then
      if querytree(terms_of_group) not in ('', 'T') then result := result || terms_of_group; end if;
      terms_of_group := '';
      current_group := term."group";
    end if;
    plain := btrim(plain_text(term.text, false));
    part := phraseto_tsquery('assent', plain);
    if plain ~ '^[\u3005\u3007\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]$' or (term.prefix and plain ~ '^[[:alnum:]]{3,}$') then
      part := part || to_tsquery('assent_words', plain || ':*');
    end if;
    if cardinality(similar_of) > 0 and term.word and plain ~ '^[[:alpha:]]{5,30}$' then
      plain := (tsvector_to_array(to_tsvector('assent_words', plain)))[1];
      for similar_word in
        (select v.word from search_team_words v where v.team_id = any(similar_of) and v.word % plain and v.word <> plain
          and levenshtein_less_equal(v.word, plain, 2) <= 2
          -- Two edits in a short word count only if they swap letters.
          and (char_length(plain) >= 8 or levenshtein_less_equal(v.word, plain, 1) <= 1 or sorted_letters(v.word) = sorted_letters(plain))
          group by v.word order by similarity(v.word, plain) desc, v.word limit 5)
        union all
        (select v.word from search_team_words v where term.prefix and v.team_id = any(similar_of) and v.word like plain || '%'
          group by v.word order by char_length(v.word), v.word limit 5)
      loop
        part := part || phraseto_tsquery('assent', similar_word);
      end loop;
    end if;
    terms_of_group := terms_of_group && case when term.negated then !! part else part end;
  end loop;
  return result;
end $$;
