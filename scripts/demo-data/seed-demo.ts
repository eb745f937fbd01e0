import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { v7 as uuidv7 } from 'uuid';
import { createUser } from '../../api/identity/admin/create-user.js';
import { changeBillingTier } from '../../api/identity/admin/change-billing-tier.js';
import { computeHash } from '../../api/identity/auth/authenticate.js';
import { sealSecret } from '../../api/identity/auth/two-factor/second-factor.js';
import { createAutomation } from '../../api/automation/definitions/create-automation.js';
import { createRun, type NewRun } from '../../api/automation/runs/record/create-run.js';
import { type Config, isDevelopment } from '../../api/platform/config.js';
import { type Context, inTransaction, type Services } from '../../api/platform/context.js';
import { DEMO_TOKEN } from '../../api/platform/demo-token.js';
import { bindRepository } from '../../api/integrations/forge/bindings/bind-repository.js';
import { createWorkItem } from '../../api/work/items/create-work-item.js';
import { createNote } from '../../api/work/items/notes/create-note.js';
import type { FilePlace } from '../../api/work/items/files/check-upload.js';
import { uploadFile } from '../../api/work/items/files/upload-file.js';
import { createTask } from '../../api/work/tasks/write/create-task.js';
import { addMember } from '../../api/identity/teams/add-member.js';
import { createTeam } from '../../api/identity/teams/create-team.js';
import { LAUNCH_PLAN, PRESSURE_LOG, RELEASE_MINUTES, TELEMETRY_IDEA } from './items.js';
import { requestExport } from '../../api/bulk/export/request-export.js';
import { createCycles } from './cycles.js';
import { createFieldsAndViews } from './fields.js';
import { createProjects } from './projects.js';
import { createOfflineRunner } from './runners.js';
import { recordHistory, relateItems } from './work-graph.js';
import { enableTriage } from './triage.js';
import { APOLLO, type DemoTask, estimateOf, HERMES } from './tasks.js';

const PASSWORD = 'demo-password';
export const DEMO_REPOSITORY = 'acme/rocket';
/** Public on purpose: anyone may try the demo's second factor. */
const TINAS_TOTP_SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

const PEOPLE = {
  ada: { name: 'Ada Marsh', role: 'user' },
  max: { name: 'Max Olsen', role: 'user' },
  uma: { name: 'Uma Rao', role: 'user' },
  gus: { name: 'Gus Weber', role: 'user' },
  olga: { name: 'Olga Petit', role: 'user' },
  root: { name: 'Root Admin', role: 'admin' },
  tina: { name: 'Tina Chen', role: 'user' },
  dana: { name: 'Dana Novak', role: 'user' },
} as const;
type Name = keyof typeof PEOPLE;
type Ids = Record<Name, string>;

const mail = (name: Name): string => `${name}@demo.test`;

/** Returns a context of a user as if over the API; each has its own request id. */
function as(services: Services, ids: Ids, name: Name): Context {
  const requestId = uuidv7();
  const actor = {
    type: 'user' as const,
    userId: ids[name],
    email: mail(name),
    role: PEOPLE[name].role,
    sessionId: randomUUID(),
    impersonatorId: null,
  };
  return { ...services, actor, requestId, correlationId: requestId, ip: '127.0.0.1', userAgent: 'demo data' };
}

async function createPeople(services: Services): Promise<Ids> {
  const requestId = uuidv7();
  const ctx: Context = {
    ...services,
    actor: { type: 'system', name: 'demo data' },
    requestId,
    correlationId: requestId,
    ip: null,
    userAgent: null,
  };
  const names = Object.keys(PEOPLE) as Name[];
  const made = await Promise.all(
    names.map(async (name) => {
      const loginOtpExempt = name !== 'dana';
      return [name, await createUser(ctx, { email: mail(name), password: PASSWORD, loginOtpExempt, ...PEOPLE[name] })] as const;
    }),
  );
  const ids = Object.fromEntries(made) as Ids;
  await services
    .db('users')
    .where({ user_id: ids.tina })
    .update({
      two_factor_secret: sealSecret(services, ids.tina, TINAS_TOTP_SECRET),
      two_factor_enabled_at: services.db.fn.now(),
    });
  return ids;
}

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

async function createTasks(
  services: Services,
  ids: Ids,
  project_id: string,
  tasks: DemoTask[],
  parent?: string,
): Promise<string[]> {
  const made: string[] = [];
  for (const { title, status, priority, due, who, tags, hours, description, recurrence, subtasks } of tasks) {
    const { taskId } = await createTask(as(services, ids, 'max'), {
      title,
      project_id,
      status,
      priority,
      description,
      due_date: due === undefined ? undefined : day(due),
      assigned_to: who && ids[who],
      tags,
      estimated_hours: hours,
      estimate: parent === undefined ? estimateOf(made.length) : undefined,
      parent_task_id: parent,
      recurrence,
    });
    made.push(taskId);
    await createTasks(services, ids, project_id, subtasks ?? [], taskId);
  }
  return made;
}

/** Uploads a text as a file of the project. */
const uploadText = (ctx: Context, place: FilePlace, filename: string, content: string) =>
  uploadFile(ctx, place, { filename, contentType: 'text/csv', bytes: Readable.from([Buffer.from(content)]) });

/** Two notes, a doc and a file, related to tasks of Apollo; the idea belongs to the team. */
async function createItems(services: Services, ids: Ids, team_id: string, project_id: string, tasks: string[]): Promise<void> {
  const max = as(services, ids, 'max');
  const meeting = await createNote(max, { title: 'Release meeting, Monday', content: RELEASE_MINUTES, project_id });
  const idea = await createNote(as(services, ids, 'tina'), {
    title: 'Residuals, live',
    content: TELEMETRY_IDEA,
    kind: 'idea',
    team_id,
  });
  const doc = { type: 'doc' as const, title: 'Launch plan for guidance 1.4', content: LAUNCH_PLAN, project_id };
  const { json } = await createWorkItem(max, { ...doc, audience: 'pad crew' });
  const plan = JSON.parse(json) as { item_id: string };
  const [release = '', second = '', third = ''] = tasks;
  const log = await uploadText(max, { team_id, project_id }, 'static-fire-3.csv', PRESSURE_LOG);
  await relateItems(max, [
    [release, 'related_to', meeting.note_id],
    [release, 'attached_to', plan.item_id],
    [second, 'caused_by', idea.note_id],
    [second, 'attached_to', log.file_id],
    [third, 'blocks', release],
  ]);
}

/** A run triggered by a delivery of last night, executed when the worker starts. */
async function executeAutomation(
  services: Services,
  ids: Ids,
  automation: NewRun['automation'] & { trigger_type: string },
  event: Record<string, unknown>,
): Promise<void> {
  const run = {
    run_id: uuidv7(),
    automation,
    event: { type: automation.trigger_type, ...event },
    trigger_type: automation.trigger_type,
    depth: 0,
  };
  await inTransaction(as(services, ids, 'ada'), (ctx) => createRun(ctx, run));
}

const buildDelivery = (number: number, title: string) => ({
  repo: DEMO_REPOSITORY,
  sender: 'octocat',
  action: 'closed',
  pr_number: number,
  title,
  url: `https://github.com/${DEMO_REPOSITORY}/pull/${number}`,
  merged: true,
  occurred_at: new Date().toISOString(),
});

async function createAutomations(services: Services, ids: Ids, team_id: string, apollo: string, tasks: string[]): Promise<void> {
  const ada = () => as(services, ids, 'ada');
  const task = '{{event.task.task_id}}';
  const { warnings: _none, ...deploy } = await createAutomation(ada(), {
    name: 'Deploy on merge',
    description:
      'When a pull request that closes an issue is merged, a manager says whether its task is done. Protected: only team admins change it.',
    trigger_type: 'forge.pr_merged',
    is_protected: true,
    condition: 'has(event.task) && event.task != null',
    team_id,
    project_id: apollo,
    actions: [
      {
        type: 'add_comment',
        name: 'Tell the task',
        params: { task_id: task, content: 'Merged: {{event.title}} (#{{event.pr_number}})' },
      },
      {
        type: 'require_approval',
        name: 'Release manager',
        params: { role: 'manager', message: 'Close “{{event.task.title}}” now that #{{event.pr_number}} is merged?' },
      },
      { type: 'set_task_status', name: 'Close the task', params: { task_id: task, status: 'done' } },
    ],
  });
  const { warnings: _missing, ...announce } = await createAutomation(ada(), {
    name: 'Announce the release',
    description:
      'Fails until an admin stores the secret RELEASE_CHANNEL with the allowed host example.com: look at the dead letter.',
    trigger_type: 'forge.release_published',
    team_id,
    project_id: apollo,
    actions: [
      {
        type: 'http_request',
        params: {
          method: 'POST',
          url: 'https://example.com/releases',
          headers: { authorization: 'Bearer {{secret:RELEASE_CHANNEL}}' },
          body: { tag: '{{event.tag}}' },
        },
      },
    ],
  });
  await startDemoRuns(services, ids, { deploy, announce }, { team_id, project_id: apollo }, tasks[1]);
}

type StartedAutomation = NewRun['automation'] & { trigger_type: string };

/** One run that waits for its approval, and one that failed. */
async function startDemoRuns(
  services: Services,
  ids: Ids,
  { deploy, announce }: { deploy: object; announce: object },
  scope: { team_id: string; project_id: string },
  taskId: string | undefined,
): Promise<void> {
  const record = await services
    .db('tasks')
    .where({ task_id: taskId })
    .first<{ json: object }>(services.db.raw('task_json(tasks) as json'));
  await executeAutomation(services, ids, deploy as StartedAutomation, {
    ...buildDelivery(41, 'Harden the session cookie'),
    ...scope,
    task: record.json,
    linked_task_ids: [taskId],
  });
  await executeAutomation(services, ids, announce as StartedAutomation, {
    repo: DEMO_REPOSITORY,
    sender: 'octocat',
    action: 'published',
    tag: 'v1.3.2',
    name: 'Guidance 1.3.2',
    ...scope,
  });
}

/**
 * Fills an empty database with the demo data through the API's operations. Returns false if a user exists.
 * @throws Error in production
 */
export async function seedDemo(given: Services): Promise<boolean> {
  if (!isDevelopment(given.config)) throw new Error('The demo data is for development only');
  // Whatever is set: nobody could accept an invitation or connect an account at the forge meanwhile.
  const config: Config = { ...given.config, MEMBERSHIP_CONSENT: 'direct', FORGE_BINDING: 'open', TEAMS_PER_USER: undefined };
  const services = { ...given, config };
  if (await services.db('users').first('user_id')) return false;
  const ids = await createPeople(services);
  const acme = await createTeam(as(services, ids, 'ada'), { name: 'Acme', description: 'Rockets, mostly' });
  const seats = { max: 'manager', uma: 'member', gus: 'guest', tina: 'member', dana: 'member' } as const;
  for (const [name, role] of Object.entries(seats))
    await addMember(as(services, ids, 'ada'), acme.team_id, { user_id: ids[name as Name], role });
  const globex = await createTeam(as(services, ids, 'olga'), { name: 'Globex', description: 'On the free plan' });
  await changeBillingTier(as(services, ids, 'root'), globex.team_id, 'free');
  const leads = { apollo: ids.max, hermes: ids.uma };
  const { apollo, hermes } = await createProjects(as(services, ids, 'ada'), acme.team_id, leads);
  const tasks = await createTasks(services, ids, apollo, APOLLO);
  await createTasks(services, ids, hermes, HERMES);
  await createItems(services, ids, acme.team_id, apollo, tasks);
  await bindRepository(as(services, ids, 'ada'), {
    repo: DEMO_REPOSITORY,
    team_id: acme.team_id,
    project_id: apollo,
    sync_issues: true,
  });
  await recordHistory(as(services, ids, 'ada'), DEMO_REPOSITORY, acme.team_id, apollo);
  await createCycles(as(services, ids, 'max'), apollo);
  await createFieldsAndViews(as(services, ids, 'max'), acme.team_id, apollo);
  await createOfflineRunner(services, as(services, ids, 'ada'), as(services, ids, 'max'), acme.team_id);
  await createAutomations(services, ids, acme.team_id, apollo, tasks);
  // The worker writes the file.
  await requestExport(as(services, ids, 'max'), { team_id: acme.team_id, format: 'ndjson' });
  await enableTriage(as(services, ids, 'ada'), acme.team_id);
  const token = { name: 'Demo token', token_hash: computeHash(DEMO_TOKEN), prefix: `${DEMO_TOKEN.slice(0, 12)}...` };
  await services.db('personal_access_tokens').insert({ user_id: ids.ada, scopes: ['admin:*'], ...token });
  return true;
}
