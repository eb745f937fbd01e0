-- How far each chain of the audit log has been sent to the log sink of AUDIT_OTLP_ENDPOINT. The position moves after the sink has accepted, by
-- compare-and-set: entries are sent at least once and none is skipped. Without the setting nothing writes here.
create table audit_stream (
  chain uuid primary key,
  sequence bigint not null default 0,
  -- A worker sends this chain until then; one that dies leaves it to the next.
  claimed_until timestamptz not null default '-infinity'
) with (fillfactor = 70);
