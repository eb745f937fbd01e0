-- A row in each table that the demo leaves empty, after `npm run demo`. The values are as the product writes them; secrets are random bytes.
create temporary table who on commit drop as
  select t.team_id, ada.user_id as ada,
    (select k.task_id from tasks k where k.team_id = t.team_id and k.deleted_at is null order by k.created_at limit 1) as task_id
  from teams t, users ada where ada.email = 'ada@demo.test' and t.created_by = ada.user_id order by t.created_at limit 1;

-- Accounts.
insert into trusted_devices (user_id, token_hash, expires_at) select ada, sha256('device'), now() + interval '30 days' from who;
insert into recovery_codes (user_id, code_hash) select ada, sha256('recovery') from who;
insert into one_time_codes (purpose, address, code_id, code_hash, expires_at)
  values ('sign_up', 'new@demo.test', uuidv7(), sha256('code'), now() + interval '10 minutes');
insert into login_attempts (subject, attempts) values ('address:nobody@demo.test', 2);
insert into idempotency_keys (user_id, key, address, fingerprint, request_id, lease_until, status, body)
  select ada, 'upgrade', sha256('POST /api/tasks'), sha256('{}'), uuidv7(), now(), 201, '{}' from who;
insert into invitations (team_id, email, role, invited_by, expires_at) select team_id, 'new@demo.test', 'member', ada, now() + interval '7 days' from who;
insert into users (email, name, username, display_name, avatar, status)
  values ('gone@demo.test', 'Gone', 'gone', 'Gone', 'https://example.com/gone.png', 'deprovisioned');
insert into deprovision_jobs (user_id, reason, correlation_id, status, started_at, finished_at)
  select user_id, 'left', uuidv7(), 'succeeded', now(), now() from users where email = 'gone@demo.test';
insert into deprovision_steps (job_id, step, result) select job_id, 'sign_out', '{}' from deprovision_jobs;
insert into integration_connections (user_id, provider, account, scopes, data_key, sealed_value)
  select ada, 'github', 'ada', '{repo}', sha256('key'), sha256('value') from who;
insert into integration_revocations (user_id, provider, data_key, sealed_value, expires_at)
  select ada, 'gitlab', sha256('key'), sha256('value'), now() from who;
insert into integration_requests (state_hash, user_id, provider, sealed_verifier, expires_at)
  select sha256('state'), ada, 'github', sha256('verifier'), now() + interval '10 minutes' from who;

-- Work.
insert into item_fields (item_id, fields) select task_id, '{"points": 3}' from who;
insert into task_due_events (task_id, kind, due_date) select task_id, 'due_soon', coalesce(due_date, '2026-11-24') from who join tasks using (task_id);
insert into search_dirty (team_id, item_id) select team_id, task_id from who;

-- Automations: a plan and a gate that wait, and a run that its condition skipped.
insert into skipped_runs (run_id, automation_id, automation_version, depth, is_loop)
  select uuidv7(), automation_id, version, 0, false from automations order by created_at limit 1;
insert into skipped_run_budgets (hour, owner_id, kept, not_kept) select date_trunc('hour', now()), team_id, 1, 2 from who;
insert into outbox (kind, subject, team_id, payload, correlation_id, failures, attempts, parked_at, next_attempt_at, last_error)
  select 'event', 'task.updated', team_id, jsonb_build_object('actor_id', ada), uuidv7(), 20, 20, now(), 'infinity', 'the row keeps failing' from who;
insert into agent_plans (action_id, session_id, owner_id, team_ids, source, staged_for, summary, risk, canonical, plan_hash, correlation_id, expires_at)
  select uuidv7(), session_id, owner_id, team_ids, source, staged_for, summary, risk, canonical, plan_hash, uuidv7(), now() + interval '1 day'
  from agent_plans where source = 'chat' and owner_id is not null order by staged_at limit 1;
insert into agent_steps (message_id, step, content) select message_id, 0, '{"text": "done"}' from agent_turns;
insert into agent_digests (user_id, sent_for, sent_at) select ada, current_date, now() from who;

-- Webhooks: the trigger writes the endpoint's health and what the team subscribes to.
insert into webhooks (team_id, url, events, data_key, sealed_value, secret_prefix, created_by, is_active, disabled_reason)
  select team_id, 'https://hooks.example.com/assent', '{task.created}', sha256('key'), sha256('value'), 'whsec_demo', ada, false, 'failing' from who;
insert into webhook_queue (webhook_id, event_id, event_type, tries, next_attempt_at)
  select webhook_id, uuidv7(), 'task.created', 3, now() + interval '100 years' from webhooks;

-- Runners and bulk data.
insert into runner_registration_tokens (token_hash, team_id, created_by, expires_at) select sha256('token'), team_id, ada, now() + interval '1 hour' from who;
insert into bulk_jobs (team_id, kind, format, status, waiting_since, total, processed, created, requested_by, correlation_id, started_at, finished_at, cursor)
  select team_id, 'import', 'ndjson', 'succeeded', null, 1, 1, 1, ada, uuidv7(), now(), now(), '{"chunk": 1, "chunks": 1}' from who;
select record_change(jsonb_build_object('request_id', uuidv7(), 'correlation_id', correlation_id, 'actor_type', 'system'),
  jsonb_build_object('team_id', team_id, 'feature', 'bulk_data', 'action', 'complete', 'entity_type', 'bulk_job', 'entity_id', job_id,
    'details', jsonb_build_object('kind', kind))) from bulk_jobs where kind = 'import';
insert into bulk_chunks (job_id, chunk, kind, byte_from, byte_to, rows) select job_id, 0, 'task', 0, 100, 1 from bulk_jobs where kind = 'import';
insert into bulk_rows (job_id, line, part, entity, item_id, outcome)
  select job_id, 1, 0, 'task', task_id, 'created' from who, bulk_jobs where kind = 'import';
insert into bulk_uploads (team_id, uploaded_by, size, sha256, object_key, expires_at)
  select team_id, ada, 3, repeat('0', 64), uuidv7()::text, now() + interval '1 day' from who;

-- An update of a project.
insert into project_updates (project_id, team_id, health, content, author_id)
  select p.project_id, p.team_id, 'at_risk', 'Late', w.ada from who w join projects p on p.team_id = w.team_id order by p.created_at limit 1;

-- The audit log: an entry that no seal links yet, counts, a row that the sealer set aside, an archived month.
select record_change(jsonb_build_object('request_id', uuidv7(), 'correlation_id', uuidv7(), 'actor_type', 'user', 'user_id', ada),
  jsonb_build_object('team_id', team_id, 'feature', 'tasks', 'action', 'read', 'entity_type', 'task', 'entity_id', task_id)) from who;
insert into audit_counted (chain, sequence) select chain, 1 from audit_heads;
insert into audit_kind_counts (chain, date, feature, action, severity, count)
  select s.chain, left(e.timestamp, 10), e.feature, e.action, e.severity, 1 from audit_seals s join audit_entries e using (audit_id) where s.sequence = 1;
insert into audit_user_counts (chain, date, user_id, count)
  select s.chain, left(e.timestamp, 10), e.user_id, 1 from audit_seals s join audit_entries e using (audit_id)
  where s.sequence = 1 and e.user_id is not null;
insert into audit_rejected (chain, audit_id, reason) select team_id, uuidv7(), 'entry_missing' from who;
insert into audit_archives (month, lower_id, upper_id, entries, file, content_hash, seals_hash, audit_id)
  values ('2020-01', uuid_at('2020-01-01Z'), uuid_at('2020-02-01Z'), 0, 'audit-2020-01.jsonl.gz', sha256('file'), sha256('seals'), uuidv7());
