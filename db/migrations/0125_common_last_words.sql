-- As in 0113_short_typos.sql, but a common word at the end of a query does not hide what the words before it find.
create or replace function search_query(terms jsonb, similar_of uuid[]) returns tsquery language plpgsql stable
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
    if plain ~ '^[\u3005\u3007\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]$'
      -- No text keeps a word such as "from", so that nothing begins with it; alone it is taken for the beginning of another.
      or (term.prefix and plain ~ '^[[:alnum:]]{3,}$' and (numnode(part) > 0 or querytree(terms_of_group) in ('', 'T'))) then
      part := part || to_tsquery('assent_words', plain || ':*');
    end if;
    if cardinality(similar_of) > 0 and term.word and plain ~ '^[[:alpha:]]{4,30}$' then
      plain := (tsvector_to_array(to_tsvector('assent_words', plain)))[1];
      for similar_word in
        (select v.word from search_team_words v where v.team_id = any(similar_of) and v.word % plain and v.word <> plain
          and levenshtein_less_equal(v.word, plain, 2) <= 2
          -- Two edits in a short word count only if they swap letters.
          and (char_length(plain) >= 8 or levenshtein_less_equal(v.word, plain, 1) <= 1 or sorted_letters(v.word) = sorted_letters(plain))
          group by v.word order by similarity(v.word, plain) desc, v.word limit 5)
        union all
        -- Two letters swapped inside a word of four leave too few trigrams in common.
        (select v.word from search_team_words v where char_length(plain) = 4 and v.team_id = any(similar_of)
          and v.word = any(array[substr(plain, 2, 1) || left(plain, 1) || right(plain, 2),
            left(plain, 1) || substr(plain, 3, 1) || substr(plain, 2, 1) || right(plain, 1), left(plain, 2) || right(plain, 1) || substr(plain, 3, 1)])
          group by v.word)
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
