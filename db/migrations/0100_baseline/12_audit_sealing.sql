-- Links entries into the chain of their team, and sets invalid rows aside so that they block nothing.

-- Adds the entries of a chain, which the caller has locked, to the counts of their days, once there are a thousand: then most rows of the
-- counts take many entries each.
create function audit_count_sealed(of_chain uuid, head bigint) returns void
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  counted bigint := coalesce((select c.sequence from audit_counted c where c.chain = of_chain), 0);
begin
  if head - counted < 1000 then return; end if;
  with entry as materialized (
    select left(e.timestamp, 10) as date, e.feature, e.action, e.severity, e.user_id
    from audit_seals s cross join lateral (select * from audit_entries where audit_id = s.audit_id limit 1) e
    where s.chain = of_chain and s.sequence > counted and s.sequence <= head
  ), kinds as (
    insert into audit_kind_counts as k (chain, date, feature, action, severity, count)
    select of_chain, date, feature, action, severity, count(*) from entry group by date, feature, action, severity
    on conflict (chain, date, feature, action, severity) do update set count = k.count + excluded.count
  )
  insert into audit_user_counts as u (chain, date, user_id, count)
  select of_chain, date, user_id, count(*) from entry where user_id is not null group by date, user_id
  on conflict (chain, date, user_id) do update set count = u.count + excluded.count;
  insert into audit_counted (chain, sequence) values (of_chain, head) on conflict (chain) do update set sequence = excluded.sequence;
end $$;

-- Links the pending entries of one chain, which the caller has locked. In the database, because a pass of the sealer is mostly round trips:
-- entries never travel. Each statement of a PL/pgSQL function has its own snapshot, so a read after a lock is current. Statistics report the
-- table of pending rows as empty, and a plan for an empty table would sort a whole backlog for each batch: only index scans are allowed.
-- A field is hashed as 0x00 if null; else as 0x01, its length in bytes (4, big-endian), its bytes (docs/adr/0004-audit-chain.md).
create function audit_seal_chain(of_chain uuid, max_entries int, out sealed int, out rejected jsonb, out more boolean, out kinds text[])
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  head audit_heads;
  last_sequence bigint;
  last_hash bytea;
  each record;
  previous_id uuid;
  ids uuid[] := '{}';
  previous_hashes bytea[] := '{}';
  hashes bytea[] := '{}';
  places tid[] := '{}';
  new_hash bytea;
begin
  sealed := 0;
  rejected := '[]';
  kinds := '{}';
  select * into head from audit_heads h where h.chain = of_chain;
  select s.sequence, s.entry_hash into last_sequence, last_hash from audit_seals s
    where s.chain = of_chain order by s.sequence desc limit 1;
  if head.sequence is distinct from last_sequence or head.entry_hash is distinct from last_hash then
    raise 'its head is not its last seal' using errcode = 'P0001';
  end if;
  last_sequence := coalesce(last_sequence, 0);
  new_hash := coalesce(last_hash, decode(repeat('00', 32), 'hex'));
  for each in
    select p.audit_id, p.place, case when e.audit_id is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.audit_id::text)) || convert_to(e.audit_id::text, 'UTF8') end ||
      case when e.correlation_id is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.correlation_id::text)) || convert_to(e.correlation_id::text, 'UTF8') end ||
      case when e.timestamp is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.timestamp::text)) || convert_to(e.timestamp::text, 'UTF8') end ||
      case when e.team_id is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.team_id::text)) || convert_to(e.team_id::text, 'UTF8') end ||
      case when e.user_id is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.user_id::text)) || convert_to(e.user_id::text, 'UTF8') end ||
      case when e.user_email is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.user_email::text)) || convert_to(e.user_email::text, 'UTF8') end ||
      case when e.actor_type is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.actor_type::text)) || convert_to(e.actor_type::text, 'UTF8') end ||
      case when e.impersonator_id is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.impersonator_id::text)) || convert_to(e.impersonator_id::text, 'UTF8') end ||
      case when e.token_id is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.token_id::text)) || convert_to(e.token_id::text, 'UTF8') end ||
      case when e.ip_address is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.ip_address::text)) || convert_to(e.ip_address::text, 'UTF8') end ||
      case when e.user_agent is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.user_agent::text)) || convert_to(e.user_agent::text, 'UTF8') end ||
      case when e.feature is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.feature::text)) || convert_to(e.feature::text, 'UTF8') end ||
      case when e.action is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.action::text)) || convert_to(e.action::text, 'UTF8') end ||
      case when e.severity is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.severity::text)) || convert_to(e.severity::text, 'UTF8') end ||
      case when e.outcome is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.outcome::text)) || convert_to(e.outcome::text, 'UTF8') end ||
      case when e.entity_type is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.entity_type::text)) || convert_to(e.entity_type::text, 'UTF8') end ||
      case when e.entity_id is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.entity_id::text)) || convert_to(e.entity_id::text, 'UTF8') end ||
      case when e.details is null then '\x00'::bytea else '\x01'::bytea || int4send(octet_length(e.details::text)) || convert_to(e.details::text, 'UTF8') end as body,
      concat_ws('|', e.feature, e.action, e.severity, e.entity_type) as kind,
      case when e.audit_id is null then 'entry_missing'
        when coalesce(e.team_id, '00000000-0000-0000-0000-000000000000') <> of_chain then 'other_chain'
        when t.audit_id is not null then 'already_sealed' end as reason
    from (select u.audit_id, u.ctid as place from audit_pending u where u.chain = of_chain order by u.audit_id limit max_entries) p
    -- Lookups by key with a limit each: statistics are always outdated here, and a plain join or EXISTS has scanned the whole table for
    -- each batch.
    left join lateral (select * from audit_entries where audit_id = p.audit_id limit 1) e on true
    left join lateral (select s.audit_id from audit_seals s where s.audit_id = p.audit_id limit 1) t on true
    order by e.timestamp, p.audit_id
  loop
    places := places || each.place;
    if each.reason is not null or each.audit_id = previous_id then
      each.reason := coalesce(each.reason, 'already_sealed');
      insert into audit_rejected (chain, audit_id, reason) values (of_chain, each.audit_id, each.reason) on conflict do nothing;
      rejected := rejected || jsonb_build_object('chain', of_chain, 'audit_id', each.audit_id, 'reason', each.reason);
      continue;
    end if;
    previous_id := each.audit_id;
    sealed := sealed + 1;
    if each.kind <> all(kinds) then kinds := kinds || each.kind; end if;
    ids := ids || each.audit_id;
    previous_hashes := previous_hashes || new_hash;
    new_hash := sha256('\x01'::bytea || int8send(last_sequence + sealed) || new_hash || each.body);
    hashes := hashes || new_hash;
  end loop;
  if sealed > 0 then
    insert into audit_seals (chain, sequence, audit_id, prev_hash, entry_hash)
      select of_chain, last_sequence + n, id, previous_hash, hash
      from unnest(ids, previous_hashes, hashes) with ordinality as made(id, previous_hash, hash, n);
    insert into audit_heads (chain, sequence, entry_hash) values (of_chain, last_sequence + sealed, new_hash)
      on conflict (chain) do update set sequence = excluded.sequence, entry_hash = excluded.entry_hash;
  end if;
  perform audit_count_sealed(of_chain, last_sequence + sealed);
  -- Only the owner of the chain's lock removes its rows, so their positions are unchanged.
  delete from audit_pending where ctid = any(places);
  more := cardinality(places) = max_entries or jsonb_array_length(rejected) > 0;
end $$;

-- Seals one batch of the chains from lowest to highest, in one round trip. Returns counts, the chains that failed or that another session has
-- locked, whether some chain has more than its share, and the last chain if others may follow.
create function audit_seal(lowest uuid, highest uuid, without uuid[], max_chains int, max_entries int) returns jsonb
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  next_chain uuid;
  last_chain uuid;
  tried int := 0;
  locked uuid[] := '{}';
  busy uuid[] := '{}';
  refused jsonb := '[]';
  rejected jsonb := '[]';
  sealed int := 0;
  kinds text[] := '{}';
  more boolean := false;
  done record;
  share int;
  request_id uuid;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise 'Sealing needs read committed: what it reads must be newer than its locks' using errcode = '25001';
  end if;
  select u.chain into next_chain from audit_pending u
    where u.chain >= lowest and u.chain <= highest and u.chain <> all(without) order by u.chain limit 1;
  while next_chain is not null and tried < max_chains loop
    last_chain := next_chain;
    tried := tried + 1;
    -- Never waits, so a frozen process blocks nobody and deadlocks are impossible.
    if pg_try_advisory_xact_lock(hashtextextended('audit_chain:' || last_chain, 0)) then locked := locked || last_chain;
    else busy := busy || last_chain; end if;
    select u.chain into next_chain from audit_pending u
      where u.chain > last_chain and u.chain <= highest and u.chain <> all(without) order by u.chain limit 1;
  end loop;
  share := ceil(max_entries::numeric / greatest(1, cardinality(locked)));
  for i in 1 .. cardinality(locked) loop
    begin
      select * into done from audit_seal_chain(locked[i], share);
      sealed := sealed + done.sealed;
      kinds := kinds || done.kinds;
      rejected := rejected || done.rejected;
      more := more or done.more;
    exception when others then
      -- Bad data, a broken constraint, a missing object, an error of a trigger: only this chain fails. Other errors are not the chain's
      -- fault.
      if sqlstate !~ '^(22|23|42|P0)' then raise; end if;
      refused := refused || jsonb_build_object('chain', locked[i], 'reason', sqlerrm);
    end;
  end loop;
  -- Nearly always known, so this only looks them up.
  insert into audit_kinds (feature, action, severity, entity_type)
    select distinct split_part(kind, '|', 1), split_part(kind, '|', 2), split_part(kind, '|', 3), split_part(kind, '|', 4) from unnest(kinds) kind
    where not exists (select from audit_kinds k where (k.feature, k.action, k.severity, k.entity_type)
      = (split_part(kind, '|', 1), split_part(kind, '|', 2), split_part(kind, '|', 3), split_part(kind, '|', 4)))
    order by 1, 2, 3, 4 on conflict do nothing;
  -- The rejected rows can be deleted; this entry cannot.
  if jsonb_array_length(rejected) > 0 then
    request_id := uuidv7();
    perform record_change(
      jsonb_build_object('request_id', request_id, 'correlation_id', request_id, 'actor_type', 'system'),
      jsonb_build_object('feature', 'audit', 'action', 'verify', 'severity', 'CRITICAL', 'outcome', 'failure',
        'entity_type', 'audit_chain', 'details', jsonb_build_object('rejected', jsonb_array_length(rejected),
          'first', jsonb_path_query_array(rejected, '$[0 to 19]'))));
  end if;
  return jsonb_build_object('sealed', sealed, 'rejected', jsonb_array_length(rejected), 'refused', refused, 'busy', to_jsonb(busy),
    'more', more, 'last', case when next_chain is not null then last_chain end);
end $$;
