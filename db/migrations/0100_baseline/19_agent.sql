-- The agent: sessions, messages, turns, staged plans.

create table agent_sessions (
  session_id uuid primary key default uuidv7(),
  kind text not null check (kind in ('chat', 'overnight_triage', 'ci_triage', 'mcp', 'automation')),
  -- Belongs to a person or to a team.
  owner_id uuid references users,
  team_id uuid references teams,
  -- The token whose proposals a session of the kind mcp holds.
  token_id uuid references personal_access_tokens,
  -- What caused the session, so that one cause makes one: 'triage:<team>:<date>', 'ci:<hash of the repository>:<run>', 'run:<run>:<index>'.
  subject_key text unique,
  title text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- A deleted session keeps its row for its plans; its messages and links are gone.
  deleted_at timestamptz,
  check (num_nonnulls(owner_id, team_id) = 1),
  check ((kind = 'mcp') = (token_id is not null))
);
create index agent_sessions_of_owner on agent_sessions (owner_id, created_at desc, session_id desc)
  where owner_id is not null and deleted_at is null;
create unique index agent_session_of_token on agent_sessions (token_id) where token_id is not null and deleted_at is null;

-- The items that the agent may read in a session, as long as the owner may.
create table agent_links (
  session_id uuid not null references agent_sessions,
  item_type text not null check (item_type in ('task', 'project', 'whiteboard', 'file', 'note', 'idea')),
  item_id text not null,
  linked_by uuid not null references users,
  linked_at timestamptz not null default now(),
  primary key (session_id, item_type, item_id)
);
create index agent_links_of_item on agent_links (item_id);

create table agent_messages (
  message_id uuid primary key default uuidv7(),
  -- Order within a session: ids of two processes may come out of order.
  position bigint generated always as identity,
  session_id uuid not null references agent_sessions,
  role text not null check (role in ('user', 'assistant', 'system')),
  content text not null,
  -- The plan that an answer staged.
  action_id uuid,
  -- The message that an answer answers: a second answer to it is refused.
  answers uuid unique references agent_messages on delete cascade,
  created_at timestamptz not null default now()
);
create index agent_messages_of_session on agent_messages (session_id, position);
create index agent_messages_of_plan on agent_messages (action_id) where action_id is not null;

-- The agent's work on one message.
create table agent_turns (
  message_id uuid primary key references agent_messages on delete cascade,
  session_id uuid not null references agent_sessions,
  user_id uuid not null references users,
  -- Team of the first linked item, which pays: quota and use. Null without links.
  team_id uuid references teams,
  provider text not null check (provider in ('rules', 'openai_compatible', 'anthropic')),
  model text,
  prompt_version text,
  correlation_id uuid not null,
  -- Queued: no worker has seen it, so that it may be withdrawn. Waiting: an earlier message of the session has no answer yet.
  state text not null default 'queued' check (state in ('queued', 'waiting', 'running', 'answered', 'failed', 'cancelled')),
  error_code text,
  -- Seconds that a busy provider asked to wait, for the answer.
  retry_after_s integer,
  incarnation integer not null default 1,
  claimed_by text,
  calls integer not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_micro bigint not null default 0,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  -- The token that wrote the message: it may not confirm what the agent then proposes.
  token_id uuid references personal_access_tokens,
  -- Users behind the message, besides its author.
  behind_user_ids uuid[] not null default '{}'
);
create index agent_turns_open on agent_turns (session_id, message_id) where finished_at is null;
create index agent_turns_open_of_user on agent_turns (user_id) where finished_at is null;
create index agent_turns_open_by_age on agent_turns (created_at) where finished_at is null;
create index agent_turns_open_of_team on agent_turns (team_id, created_at) where finished_at is null and team_id is not null;

-- What a model answered at each step of a turn, so that a retried activity does not ask, and pay, again. Deleted after a week.
create table agent_steps (
  message_id uuid not null references agent_turns on delete cascade,
  step integer not null,
  content json not null check (octet_length(content::text) <= 65536),
  created_at timestamptz not null default now(),
  primary key (message_id, step)
);
create index agent_steps_by_age on agent_steps (created_at);

create table agent_plans (
  action_id uuid primary key,
  session_id uuid not null references agent_sessions,
  -- As the session: whoever may confirm it. A person's plan, or a team's.
  owner_id uuid references users,
  team_id uuid references teams,
  -- The project of all its targets; null if there are several, or none.
  project_id uuid references projects on delete set null,
  -- Every team in which it would write.
  team_ids uuid[] not null,
  source text not null check (source in ('chat', 'overnight_triage', 'ci_failure_triage', 'automation', 'mcp')),
  -- Whose permissions the dry run used.
  staged_for uuid not null references users,
  -- The token that proposed it, which may not confirm it.
  token_id uuid references personal_access_tokens,
  -- What started an autonomous session: ids and names of fixed fields.
  trigger jsonb,
  status text not null default 'staged' check (status in ('staged', 'applied', 'discarded', 'stale', 'expired')),
  closed_reason text check (closed_reason in ('person', 'superseded', 'source_gone')),
  summary text not null,
  risk text not null check (risk in ('low', 'medium', 'high')),
  -- The plan itself (RFC 8785): shown, hashed, and parsed again to be executed. The other columns serve lists.
  canonical text not null check (octet_length(canonical) <= 262144),
  plan_hash bytea not null,
  depth integer not null default 0,
  correlation_id uuid not null,
  staged_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- When those who may confirm a team's plan are reminded; null for a person's plan.
  remind_at timestamptz,
  reminded_at timestamptz,
  decided_by uuid references users,
  decided_at timestamptz,
  superseded_by uuid,
  -- The applied plan whose changes this one takes back.
  undo_of uuid references agent_plans on delete set null,
  incarnation integer not null default 1,
  -- What an agent calls its proposal, and the SHA-256 of the proposal: sent again, it is the same plan.
  proposal_key text,
  proposal_hash bytea,
  -- Users behind the plan: for whom it was staged, and who caused that.
  behind_user_ids uuid[] not null default '{}',
  comment text,
  -- Who edited it before the yes, one copy after the other.
  edited_by uuid[] not null default '{}',
  check (num_nonnulls(owner_id, team_id) = 1),
  check ((status in ('applied', 'discarded')) = (decided_at is not null)),
  check ((proposal_key is null) = (proposal_hash is null))
);
create index agent_plans_of_team on agent_plans (team_id, expires_at, action_id) where status = 'staged' and team_id is not null;
create index agent_plans_of_owner on agent_plans (owner_id, expires_at, action_id) where status = 'staged' and owner_id is not null;
create index agent_plans_due on agent_plans (expires_at) where status = 'staged';
create index agent_plans_applied_by on agent_plans (decided_by, decided_at) where status = 'applied';
create index agent_plans_ended on agent_plans (coalesce(decided_at, expires_at)) where status <> 'staged';
create index agent_plans_of_session on agent_plans (session_id, staged_at desc);
create index agent_plans_writing_in on agent_plans using gin (team_ids) where status = 'staged';
create unique index agent_undo_staged on agent_plans (undo_of) where status in ('staged', 'applied') and undo_of is not null;
create unique index agent_plans_by_key on agent_plans (session_id, proposal_key) where proposal_key is not null;

create table agent_actions (
  action_id uuid not null references agent_plans on delete cascade,
  index integer not null,
  tool text not null,
  -- Null for what the action creates.
  entity_type text not null,
  entity_id text,
  risk text not null check (risk in ('low', 'medium', 'high')),
  expected_version integer,
  -- Set by the confirmation.
  result text check (result in ('applied', 'skipped')),
  -- Id of what it created.
  made_id text,
  -- Version of the target after it, which an undo expects.
  version_after integer,
  primary key (action_id, index)
);
create index agent_actions_of_entity on agent_actions (entity_id) where entity_id is not null;

-- Month as the first day, in UTC.
create table agent_usage (
  team_id uuid not null references teams,
  month date not null,
  messages integer not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_micro bigint not null default 0,
  primary key (team_id, month)
);
