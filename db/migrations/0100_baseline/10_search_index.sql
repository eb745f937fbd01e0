-- Full-text search: a write leaves a mark in its own transaction; the worker indexes marked items, and a search first indexes those of its
-- caller's teams (docs/adr/0017-index-on-read.md).

-- Live items as indexed. "touched_at" orders the newest of a team; a change that is not searched for does not move it.
create table search_documents (
  item_id text primary key,
  team_id uuid not null,
  title text not null,
  touched_at timestamptz not null,
  tsv tsvector not null
) with (fillfactor = 90);
create index search_words on search_documents using gin (team_id, tsv) with (gin_pending_list_limit = 1024);
create index search_newest on search_documents (team_id, touched_at desc);

-- Items to index. Several rows may name one item: writers of one item must not wait for each other.
create table search_dirty (
  mark bigint generated always as identity,
  team_id uuid not null,
  item_id text not null,
  marked_at timestamptz not null default now(),
  primary key (team_id, mark)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- What is searched of each item, live or in the trash. Read it by id only, one id at a time (lateral). The newest comments belong to a task.
create view search_source as
  select t.task_id as item_id, 'task' as item_type, t.team_id, t.project_id, t.title, array_to_string(t.tags, ' ') as tags,
    concat_ws(e'\n', t.description, said.body) as body, t.status, t.updated_at, greatest(t.updated_at, said.newest) as touched_at, t.deleted_at
  from tasks t cross join lateral (
    select left(string_agg(c.content, e'\n'), 8192) as body, max(c.created_at) as newest from (
      select n.content, n.created_at from comments n where n.task_id = t.task_id and n.deleted_at is null
      order by n.created_at desc limit 50
    ) c
  ) said
  union all
  select p.project_id::text, 'project', p.team_id, p.project_id, p.name, '', coalesce(p.description, ''), p.status, p.updated_at, p.updated_at, p.deleted_at
  from projects p
  union all
  select i.item_id, i.item_type, i.team_id, i.project_id, i.title, '', concat_ws(e'\n', i.description, i.content), i.status, i.updated_at,
    i.updated_at, i.deleted_at
  from items i;

-- Marks what a cascade moves to the trash or restores, except its root, which record_changes marks. Call it while the rows have the id.
create function search_mark_cascade(cascade uuid) returns void language sql as $$
  insert into search_dirty (team_id, item_id)
    select t.team_id, t.task_id from tasks t where t.cascade_id = cascade
    union all
    select i.team_id, i.item_id from items i where i.cascade_id = cascade
$$;

-- Indexes marked items of these teams, at most max_marks marks and about max_ms, which the teams share. Whoever has a team's lock indexes
-- for that team alone: an older snapshot must never write last. Waits for locks at most patience_ms in all; with 0 it leaves such a team to
-- the other session. "behind" tells that marks remain. Marks go and documents come in one transaction, so a killed session loses nothing.
-- Statistics report the table of marks as empty, hence no sequential scan.
create function search_drain(teams uuid[], max_marks int, max_ms int, patience_ms int, out indexed int, out behind boolean)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  -- A text takes up to 0.3 s, and a statement ends after 10 s: batches grow while texts are quick.
  most_of_batch constant int := 10;
  most_words constant int := 10000;
  started constant timestamptz := clock_timestamp();
  until constant timestamptz := started + max_ms * interval '1 millisecond';
  team uuid;
  teams_left int := (select count(distinct x) from unnest(teams) as x);
  team_until timestamptz;
  team_marks int;
  takes_words boolean;
  wanted int;
  batch_started timestamptz;
  last_mark bigint;
  places tid[];
  ids text[];
  live text[];
  remaining int := max_marks;
  waiting int;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise 'Indexing needs read committed: what it reads must be newer than its locks' using errcode = '25001';
  end if;
  indexed := 0;
  behind := false;
  foreach team in array array(select distinct x from unnest(teams) as x order by x) loop
    if remaining <= 0 or clock_timestamp() > until then
      behind := behind or exists (select from search_dirty d where d.team_id = team);
      continue;
    end if;
    -- What one team leaves of its share is for the teams after it.
    team_until := clock_timestamp() + (until - clock_timestamp()) / teams_left;
    team_marks := ceil(remaining::float8 / teams_left);
    teams_left := teams_left - 1;
    if not pg_try_advisory_xact_lock(hashtextextended('search:' || team, 0)) then
      waiting := patience_ms - extract(epoch from clock_timestamp() - started) * 1000;
      begin
        if waiting <= 0 then raise lock_not_available; end if;
        perform set_config('lock_timeout', waiting::text, true);
        perform pg_advisory_xact_lock(hashtextextended('search:' || team, 0));
      exception when lock_not_available then
        behind := true;
        continue;
      end;
    end if;
    takes_words := (select count(*) < most_words from (select from search_team_words w where w.team_id = team limit most_words) known);
    wanted := 1;
    last_mark := 0;
    loop
      batch_started := clock_timestamp();
      wanted := least(wanted, team_marks);
      -- Only the owner of the team's lock removes its marks, so their positions are unchanged. Begins behind the last mark, because the
      -- index still has those that were removed.
      select array_agg(m.place), array_agg(distinct m.item_id), max(m.mark) into places, ids, last_mark from (
        select d.ctid as place, d.item_id, d.mark from search_dirty d where d.team_id = team and d.mark > last_mark order by d.mark limit wanted
      ) m;
      exit when places is null;
      delete from search_dirty where ctid = any(places);
      with written as (
        insert into search_documents (item_id, team_id, title, touched_at, tsv)
          select s.item_id, s.team_id, s.title, s.touched_at, search_vector(s.title, s.tags, s.body)
          from unnest(ids) as given(item_id)
          cross join lateral (select * from search_source x where x.item_id = given.item_id and x.deleted_at is null limit 1) s
          on conflict (item_id) do update set team_id = excluded.team_id, title = excluded.title, touched_at = excluded.touched_at,
            tsv = excluded.tsv
          returning item_id, title
      ), words as (
        insert into search_team_words (team_id, word)
          select distinct team, x.word from written w
          cross join lateral unnest(tsvector_to_array(to_tsvector('assent_words', plain_text(search_text(w.title, 2000), false)))) as x(word)
          where takes_words and x.word ~ '^[[:alpha:]]{4,30}$'
          on conflict do nothing
      )
      select coalesce(array_agg(w.item_id), '{}') into live from written w;
      if cardinality(live) < cardinality(ids) then
        delete from search_documents d using unnest(ids) as given(item_id)
          where d.item_id = given.item_id and given.item_id <> all(live);
      end if;
      indexed := indexed + cardinality(places);
      remaining := remaining - cardinality(places);
      team_marks := team_marks - cardinality(places);
      exit when cardinality(places) < wanted;
      if team_marks <= 0 or clock_timestamp() > team_until then
        behind := behind or exists (select from search_dirty d where d.team_id = team);
        exit;
      end if;
      wanted := case when clock_timestamp() - batch_started < interval '20 milliseconds' then least(2 * wanted, most_of_batch) else 1 end;
    end loop;
  end loop;
end $$;

-- Empties the list of new entries, which every search reads whole. Only the index's owner may.
create function search_clean() returns bigint language sql security definer set search_path = pg_catalog as $$
  select gin_clean_pending_list('public.search_words')
$$;

-- Teams with marks after the given one, in order: one index look-up each.
create function search_teams_behind(after uuid, most int) returns setof uuid language plpgsql
set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  team uuid := after;
begin
  for found in 1 .. most loop
    select d.team_id into team from search_dirty d where d.team_id > team order by d.team_id limit 1;
    exit when team is null;
    return next team;
  end loop;
end $$;
