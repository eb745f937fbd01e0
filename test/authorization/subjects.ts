import { composeTail } from '../../api/automation/runs/staging/tail.js';
import { createHmac } from 'node:crypto';
import { sealWebhookSecret } from '../../api/integrations/webhooks/secret.js';
import { eventIdOfDelivery } from '../../api/integrations/webhooks/history/delivery-id.js';
import { v7 as uuidv7 } from 'uuid';
import { sealEntries } from '../../api/audit/seal-entries.js';
import { buildPerson } from '../factories/people.js';
import { agentSubjects } from './agent-subjects.js';
import * as accountBuilds from './account-subjects.js';
import { bulkSubjects } from './bulk-subjects.js';
import { cycleSubjects } from './cycle-subjects.js';
import { relation } from './graph-subjects.js';
import { requestSubjects } from './request-subjects.js';
import { itemSubjects } from './item-subjects.js';
import { FORGE_SECRET, type Tenant, type World } from './world.js';

/** Subject of a request. `id` is the record's own; the others belong to its parents. */
export interface Subject {
  id: string;
  team_id: string;
  project_id: string;
  task_id: string;
  user_id: string;
  /** Something only the subject's readers may ever see. */
  canary: string;
  /** Hash of what the subject shows. */
  hash?: string;
  /** A session of the agent that belongs to the subject. */
  session_id?: string;
  /** Id of the subject's own user, as whom signed-in callers act. */
  credential?: string;
}

interface Wish {
  tenant: Tenant;
  trashed: boolean;
  /** Creator of the subject. */
  author: string;
}

type Build = (world: World, wish: Wish) => Promise<Subject>;

const basis = ({ tenant }: Wish, id: string): Subject => ({
  id,
  team_id: tenant.team_id,
  project_id: tenant.project_id,
  task_id: '',
  user_id: tenant.colleague.user_id,
  canary: `canary ${id}`,
});

/** One statement a subject: there are thousands. */
async function insert(world: World, sql: string, values: Record<string, unknown>): Promise<void> {
  await world.app.services.db.raw(sql, values as never);
}

const project: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  await insert(
    world,
    /* sql */ `
    with key as (insert into item_keys values (:id, 'project'))
    insert into projects (project_id, team_id, name, created_by, deleted_at, deleted_by, cascade_id)
      values (:id, :team_id, :canary, :author, case when :trashed then now() end, case when :trashed then :author::uuid end,
        case when :trashed then uuidv7() end)`,
    { ...subject, author: wish.author, trashed: wish.trashed },
  );
  return { ...subject, project_id: subject.id };
};

const task: Build = async (world, wish) => {
  const subject = { ...basis(wish, uuidv7()) };
  await insert(
    world,
    /* sql */ `
    with key as (insert into item_keys values (:id, 'task')), mark as (insert into search_dirty (team_id, item_id) values (:team_id, :id))
    insert into tasks (task_id, project_id, team_id, title, created_by, assigned_to, deleted_at, deleted_by, cascade_id)
      values (:id, :project_id, :team_id, :canary, :author, :author, case when :trashed then now() end,
        case when :trashed then :author::uuid end, case when :trashed then uuidv7() end)`,
    { ...subject, author: wish.author, trashed: wish.trashed },
  );
  return { ...subject, task_id: subject.id };
};

/** A text field for tasks, with a task of its team. */
const customField: Build = async (world, wish) => {
  const { task_id } = await task(world, wish);
  const subject = { ...basis(wish, uuidv7()), task_id };
  await insert(
    world,
    `insert into custom_fields (field_id, team_id, name, key, field_type, entity_type, position, created_by)
      values (:id, :team_id, :canary, 'k' || replace(:id, '-', ''), 'text', 'task', 0, :author)`,
    { ...subject, author: wish.author },
  );
  return subject;
};

/** A stage of the tasks of a team. */
const stage: Build = async (world, wish) => {
  const id = uuidv7();
  const subject = { ...basis(wish, id), canary: id.slice(9) };
  await insert(
    world,
    "insert into stages (stage_id, team_id, name, status, position) values (:id, :team_id, :canary, 'in_review', 1)",
    { ...subject },
  );
  return subject;
};

/** A private view of its author, of no team. */
const savedView: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  await insert(
    world,
    `insert into saved_views (view_id, owner_id, name, entity_type, filters, sort, group_by, layout, columns)
      values (:id, :author, :canary, 'task', '{}', '[]', 'status', 'list', '{}')`,
    { ...subject, author: wish.author },
  );
  return subject;
};

/** In the trash with its task. */
const comment: Build = async (world, wish) => {
  const { task_id } = await task(world, wish);
  const subject = { ...basis(wish, uuidv7()), task_id };
  await insert(
    world,
    'insert into comments (comment_id, task_id, team_id, content, author_id) values (:id, :task_id, :team_id, :canary, :author)',
    { ...subject, author: wish.author },
  );
  return subject;
};

/** In the trash with its project. */
const projectUpdate: Build = async (world, wish) => {
  const { id: project_id } = await project(world, wish);
  const subject = { ...basis(wish, uuidv7()), project_id };
  await insert(
    world,
    `insert into project_updates (update_id, project_id, team_id, health, content, author_id)
      values (:id, :project_id, :team_id, 'at_risk', :canary, :author)`,
    { ...subject, author: wish.author },
  );
  return subject;
};

const team: Build = async (world, wish) => {
  const subject = basis(wish, wish.tenant.team_id);
  await insert(world, 'update teams set name = :canary where team_id = :id', { ...subject });
  return subject;
};

/** Another team with the same users in the same roles, for its deletion. `trashed`: deleted. */
const spareTeam: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  await insert(
    world,
    /* sql */ `
    with team as (insert into teams (team_id, name, created_by, deleted_at)
      values (:id, :canary, :author, case when :trashed then now() end))
    insert into memberships (team_id, user_id, role) select :id, user_id, role from memberships where team_id = :team_id`,
    { ...subject, author: wish.author, trashed: wish.trashed },
  );
  return { ...subject, team_id: subject.id };
};

/** A member of the team whose role can be changed or removed. */
const member: Build = async (world, wish) => {
  const person = await buildPerson(world.app);
  await insert(world, "insert into memberships (team_id, user_id, role) values (:team_id, :user_id, 'member')", {
    team_id: wish.tenant.team_id,
    user_id: person.user_id,
  });
  return { ...basis(wish, person.user_id), user_id: person.user_id };
};

/** A person without a seat in the team. */
const outsider: Build = async (world, wish) => {
  const person = await buildPerson(world.app);
  return { ...basis(wish, person.user_id), user_id: person.user_id };
};

const suspended: Build = async (world, wish) => {
  const person = await buildPerson(world.app, { status: 'suspended' });
  return { ...basis(wish, person.user_id), user_id: person.user_id };
};

/** A user with too many failed sign-ins. */
const locked: Build = async (world, wish) => {
  const { user_id, email } = await buildPerson(world.app);
  const sql =
    "insert into login_attempts (subject, attempts, locked_until) values ('mail ' || :email, 20, now() + interval '1 hour')";
  await insert(world, sql, { email });
  return { ...basis(wish, user_id), user_id };
};

/** A deprovisioning job. */
const deprovisionJob: Build = async (world, wish) => {
  const { user_id } = await buildPerson(world.app, { status: 'deprovisioned' });
  const subject = basis(wish, uuidv7());
  await insert(
    world,
    'insert into deprovision_jobs (job_id, user_id, reason, correlation_id) values (:id, :user_id, :canary, uuidv7())',
    { ...subject, user_id },
  );
  return subject;
};

const AUTOMATION = /* sql */ `
  automation as (insert into automations (automation_id, name, trigger_type, team_id, project_id, created_by, updated_by, is_protected,
      deleted_at)
    values (:automation_id, :canary, 'task.created', :of_team, :of_project, :creator, :author, :is_protected,
      case when :trashed then now() end)),
  version as (insert into automation_versions (automation_id, version, name, trigger_type, actions, changed_by)
    values (:automation_id, 1, :canary, 'task.created', '[]', :author))`;

/** `trashed`: deleted, for there is no trash of automations. */
const automationAs =
  (is_protected: boolean): Build =>
  async (world, wish) => {
    const subject = basis(wish, uuidv7());
    await insert(world, `with ${AUTOMATION} select 1`, {
      ...subject,
      automation_id: subject.id,
      of_team: subject.team_id,
      of_project: subject.project_id,
      author: wish.author,
      creator: wish.author,
      is_protected,
      trashed: wish.trashed,
    });
    return subject;
  };
const automation = automationAs(false);

/** An automation that is started by its address, whose token is its id. */
const hook: Build = async (world, wish) => {
  const subject = await automation(world, wish);
  const { db } = world.app.services;
  await db('automations').where({ automation_id: subject.id }).update({ trigger_type: 'webhook' });
  await insert(
    world,
    /* sql */ `
    insert into automation_hooks (automation_id, token_hash, created_by, held_by)
      values (:id, sha256((:id)::text::bytea), :author, array[:author]::uuid[])`,
    { id: subject.id, author: wish.author },
  );
  return subject;
};

/** In the trash, with a protected automation subscribed to its events. */
const projectWithProtected: Build = async (world, wish) => {
  const subject = await project(world, { ...wish, trashed: true });
  const { id } = await automationAs(true)(world, wish);
  await world.app.services.db('automations').where({ automation_id: id }).update({ project_id: subject.id });
  return subject;
};

/** A personal automation of its creator. */
const personalAutomation: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  const place = { of_team: null, of_project: null };
  await insert(world, `with ${AUTOMATION} select 1`, {
    ...subject,
    ...place,
    automation_id: subject.id,
    author: wish.author,
    creator: wish.author,
    is_protected: false,
    trashed: wish.trashed,
  });
  return subject;
};

/** A run of an automation by that author; `trashed`: the automation has been deleted since. */
interface Gate {
  role: string;
  expired?: true;
  personal?: true;
  /** Without self-approval; `rewritten`: the author wrote the run's version, and a colleague created the automation. */
  strict?: 'created' | 'rewritten' | 'started';
}
const runAs =
  (status: 'succeeded' | 'paused' | 'failed', gate?: Gate): Build =>
  async (world, wish) => {
    const subject = basis(wish, uuidv7());
    const colleague = wish.tenant.colleague.user_id;
    await insert(
      world,
      /* sql */ `
      with ${AUTOMATION},
      run as (insert into automation_runs (run_id, automation_id, automation_version, automation_name, team_id, project_id, creator_id,
          status, trigger_type, event, correlation_id, started_at, finished_at, triggered_by, gate_expires_at)
        values (:id, :automation_id, 1, :canary, :of_team, :of_project, :creator, :status, 'task.created', '{"type":"task.created"}',
          uuidv7(), now(), case when :status <> 'paused' then now() end, :starter,
          case when :role::text is not null then now() + case when :expired then interval '-1 hour' else interval '1 hour' end end)),
      gate as (insert into run_actions (run_id, index, type, status)
        select :id, 0, 'require_approval', 'running' where :role::text is not null)
      insert into gates (run_id, gate_index, required_role, allow_self_approval, expires_at, staged, staged_hash, staged_tried)
        select :id, 0, :role, :lenient, now() + case when :expired then interval '-1 hour' else interval '1 hour' end, :staged, :staged_hash, true
        where :role::text is not null`,
      {
        ...subject,
        automation_id: uuidv7(),
        of_team: gate?.personal ? null : subject.team_id,
        of_project: gate?.personal ? null : subject.project_id,
        author: gate?.strict === 'started' ? colleague : wish.author,
        creator: gate?.strict && gate.strict !== 'created' ? colleague : wish.author,
        starter: gate?.strict === 'started' ? wish.author : null,
        lenient: gate?.strict === undefined,
        is_protected: false,
        trashed: wish.trashed,
        status,
        role: gate?.role ?? null,
        expired: gate?.expired ?? false,
        // A gate without a text would get one from the first reader, and a reader must write nothing here.
        ...composeTail({
          v: 1,
          run_id: subject.id,
          gate_index: 0,
          automation_id: subject.id,
          automation_version: 1,
          creator_id: colleague,
          actions: [],
        }),
      },
    );
    return subject;
  };

/** Waits for a person with that role. */
const pausedFor = (role: string, more: Omit<Gate, 'role'> = {}) => runAs('paused', { role, ...more });

/** One that waited for a manager, who approved it. */
const decidedRun: Build = async (world, wish) => {
  const subject = await pausedFor('manager')(world, wish);
  const text = `update gates set decision = 'approved', decided_by = :author, decided_at = now() where run_id = :id`;
  await insert(world, text, { ...subject, author: wish.author });
  return subject;
};

/** One line of the team's activity. */
const activityLine: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  await insert(
    world,
    /* sql */ `insert into activity (user_id, actor_type, action, entity_type, entity_id, entity_title, team_id, project_id, summary)
      values (:author, 'user', 'create', 'task', :id, :canary, :team_id, :project_id, 'created the task')`,
    { ...subject, author: wish.author },
  );
  return subject;
};

/** An entry of the team's log, sealed. */
const auditEntry: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  await insert(
    world,
    /* sql */ `select record_change(jsonb_build_object('request_id', :id::text, 'correlation_id', :id::text, 'actor_type', 'user'),
      jsonb_build_object('team_id', :team_id::text, 'feature', 'tasks', 'action', 'update', 'entity_type', 'task', 'entity_id', :canary::text))`,
    { ...subject },
  );
  await sealEntries(world.app.services.db);
  return subject;
};

/** A notification of every member of the team. */
const notification: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  await insert(
    world,
    /* sql */ `insert into notifications (user_id, team_id, kind, message)
      select user_id, team_id, 'message', :canary from memberships where team_id = :team_id`,
    subject as unknown as Record<string, string>,
  );
  return subject;
};

/** A notification of its author only. */
const ownNotification: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  const text = `insert into notifications (notification_id, user_id, kind, message) values (:id, :author, 'message', :canary)`;
  await insert(world, text, { ...subject, author: wish.author });
  return subject;
};

/** A personal access token of its author. */
const personalToken: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  await insert(
    world,
    /* sql */ `insert into personal_access_tokens (token_id, user_id, name, scopes, token_hash, prefix)
      values (:id, :author, :canary, '{tasks:read}', sha256(:id::text::bytea), 'svc_pat_cana...')`,
    { ...subject, author: wish.author },
  );
  return subject;
};

/** An invitation to the team for an address without an account. */
const invitation: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  await insert(
    world,
    /* sql */ `insert into invitations (invitation_id, team_id, email, role, invited_by, expires_at)
      values (:id, :team_id, :id || '@canary.test', 'member', :author, now() + interval '1 day')`,
    { ...subject, author: wish.author },
  );
  return { ...subject, canary: `${subject.id}@canary.test` };
};

/** An invitation of the author to a team of nobody else here. */
const ownInvitation: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  await insert(
    world,
    /* sql */ `with team as (insert into teams (team_id, name, created_by) values (:new_team, :canary, :author) returning team_id)
      insert into invitations (invitation_id, team_id, email, role, invited_by, expires_at)
      select :id, team_id, email, 'member', :author, now() + interval '1 day' from team, users where user_id = :author`,
    { ...subject, new_team: uuidv7(), author: wish.author },
  );
  return subject;
};

/** A secret of the team; `id` is its name. */
const secret: Build = async (world, wish) => {
  const subject = basis(wish, `SECRET ${uuidv7()}`);
  await insert(
    world,
    `insert into team_secrets (team_id, name, data_key, sealed_value, updated_by) values (:team_id, :id, '', '', :author)`,
    { ...subject, author: wish.author },
  );
  return { ...subject, canary: subject.id };
};

/** The unrestricted secret of an automation, or of a run's automation. */
export const getSecretName = (id: string): string => `KEY ${id}`;
export const sendingSecret = (name: string) => ({
  type: 'http_request',
  params: { method: 'POST', url: 'https://example.com/', body: `{{secret:${name}}}` },
});

/** The same with a definition that sends a secret of the team without allowed hosts. */
const withSecret =
  (build: Build): Build =>
  async (world, wish) => {
    const subject = await build(world, wish);
    const name = getSecretName(subject.id);
    await insert(
      world,
      /* sql */ `
      with key as (insert into team_secrets (team_id, name, data_key, sealed_value, updated_by) values (:team_id, :name, '', '', :author)),
      automation as (update automations set actions = :actions
        where automation_id in (select automation_id from automation_runs where run_id = :id union all select :id) returning automation_id)
      update automation_versions v set actions = :actions from automation where v.automation_id = automation.automation_id`,
      { ...subject, name, author: wish.author, actions: JSON.stringify([{ ...sendingSecret(name), on_failure: 'continue' }]) },
    );
    return subject;
  };

/** The author's connection to the forge; `id` is the service's key. */
const connection: Build = async (world, wish) => {
  const subject = { ...basis(wish, 'forge'), canary: `canary ${uuidv7()}` };
  await insert(
    world,
    /* sql */ `insert into integration_connections (user_id, provider, account, scopes, data_key, sealed_value)
      values (:author, :id, :canary, '{repo}', '', '') on conflict (user_id, provider) do update set account = excluded.account`,
    { ...subject, author: wish.author },
  );
  return subject;
};

/** A repository bound to the team. */
const binding: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  await insert(
    world,
    'insert into forge_repositories (binding_id, repo, team_id, created_by) values (:id, :repo, :team_id, :author)',
    { ...subject, repo: `canary/${subject.id}`, author: wish.author },
  );
  return { ...subject, canary: `canary/${subject.id}` };
};

/** The same with an address, whose secret is the binding's id. */
const boundAddress: Build = async (world, wish) => {
  const subject = await binding(world, wish);
  await insert(
    world,
    /* sql */ `insert into forge_addresses (binding_id, secret_prefix, data_key, sealed_value, created_by, held_by)
      values (:id, 'whsec_cana...', :data_key, :sealed_value, :author, array[:author]::uuid[])`,
    { ...subject, ...sealWebhookSecret(world.app.services.config, subject.id, subject.id), author: wish.author },
  );
  return subject;
};

/** An endpoint of the team with a delivery that failed; `id` is the endpoint's, `task_id` the delivery's. */
const webhook: Build = async (world, wish) => {
  const subject = { ...basis(wish, uuidv7()), task_id: uuidv7() };
  await insert(
    world,
    /* sql */ `
    with endpoint as (insert into webhooks (webhook_id, team_id, url, description, events, data_key, sealed_value, secret_prefix, created_by)
      values (:id, :team_id, 'https://93.184.216.34/', :canary, '{*}', '', '', 'whsec_cana...', :author)),
    event as (insert into webhook_events (event_id, team_id, event_type, body) values (:event, :team_id, 'task.created', :canary))
    insert into webhook_deliveries (event_id, webhook_id, event_type, status, attempts)
      values (:event, :id, 'task.created', 'failed', '[]')`,
    { ...subject, author: wish.author, event: eventIdOfDelivery(subject.id, subject.task_id) },
  );
  return subject;
};

/** The same; `id` is the delivery's, `task_id` the endpoint's. */
const webhookDelivery: Build = async (world, wish) => {
  const subject = await webhook(world, wish);
  return { ...subject, id: subject.task_id, task_id: subject.id };
};

const runner: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  await insert(
    world,
    `insert into runners (runner_id, team_id, name, labels, version, token_hash, created_by)
      values (:id, :team_id, :canary, '{}', '1', sha256(:id::bytea), :author)`,
    { ...subject, author: wish.author },
  );
  return subject;
};

/** A job that waits for a runner which does not exist. */
const runnerJob: Build = async (world, wish) => {
  const subject = basis(wish, uuidv7());
  await insert(
    world,
    /* sql */ `
    with job as (insert into runner_jobs (job_id, team_id, command, env, labels, timeout_minutes, created_by, correlation_id, output)
      values (:id, :team_id, :canary, '{}', array[:canary], 60, :author, :id, :canary))
    insert into runner_job_logs values (:id, 0, 0, :canary)`,
    { ...subject, author: wish.author },
  );
  await insert(world, 'update runner_jobs set log_size = 100 where job_id = :id', { ...subject });
  return subject;
};

/** A delivery of the forge: `canary` is its body, `id` the body's signature. */
const delivery: Build = (_world, wish) => {
  const body = JSON.stringify({ ref: 'refs/heads/main', commits: [], delivery: uuidv7() });
  const signature = createHmac('sha256', FORGE_SECRET).update(body).digest('hex');
  return Promise.resolve({ ...basis(wish, signature), canary: body });
};

/** The same record, in the trash. */
const inTrash =
  (build: Build): Build =>
  (world, wish) =>
    build(world, { ...wish, trashed: true });

/** The route is about nothing in particular. */
const nothing: Build = async (_world, wish) => basis(wish, '');

const { PASSWORD: _password, ...accountSubjects } = accountBuilds;

export const SUBJECTS = {
  nothing,
  ...accountSubjects,
  ...itemSubjects,
  ...agentSubjects,
  ...bulkSubjects,
  ...cycleSubjects,
  ...requestSubjects,
  team,
  spareTeam,
  member,
  outsider,
  suspended,
  locked,
  deprovisionJob,
  project,
  task,
  comment,
  project_update: projectUpdate,
  customField,
  stage,
  savedView,
  relation,
  automation,
  hook,
  automationWithSecret: withSecret(automation),
  protectedAutomation: automationAs(true),
  projectWithProtected,
  personalAutomation,
  run: runAs('succeeded'),
  failedRun: runAs('failed'),
  failedRunWithSecret: withSecret(runAs('failed')),
  deletedFailedRun: inTrash(runAs('failed')),
  runForMember: pausedFor('member'),
  runForManager: pausedFor('manager'),
  runForAdmin: pausedFor('admin'),
  strictRunCreated: pausedFor('member', { strict: 'created' }),
  strictRunRewritten: pausedFor('member', { strict: 'rewritten' }),
  strictRunStarted: pausedFor('member', { strict: 'started' }),
  runForManagerLapsed: pausedFor('manager', { expired: true }),
  personalRun: pausedFor('manager', { personal: true }),
  decidedRun,
  activityLine,
  auditEntry,
  notification,
  ownNotification,
  personalToken,
  invitation,
  ownInvitation,
  secret,
  connection,
  binding,
  boundAddress,
  delivery,
  webhook,
  webhookDelivery,
  runner,
  runnerJob,
  trashedTask: inTrash(task),
  trashedProject: inTrash(project),
};
export type SubjectType = keyof typeof SUBJECTS;
