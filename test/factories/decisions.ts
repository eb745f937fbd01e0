import { createCycle } from '../api/work/cycles/support.js';
import type { TestApp } from '../support/app.js';
import { buildSession, staged } from './agent.js';
import { buildProject, buildTask, type TestTeam } from './people.js';
import { buildRun, GATE, type TestRun } from './runs.js';

/** Gates and plans with values of every form in every parameter of every action. */

type Params = Record<string, unknown>;
type Plan = Awaited<ReturnType<typeof staged>>;

/** Secrets of the team, with values that nobody may see. */
export const SECRETS = { TOKEN: 'value-of-the-token-8f2', WEBHOOK_SIGNING_KEY: 'whsec_bm90IHRvIGJlIHNlZW4=' };
/** Text of one row. */
const short = (name: string): string => `${name}  «ü» 漢字 👩‍🚀 <b>bold</b> & "quoted" \u202Egnp.exe\u200B עברית end of ${name}`;
/** More than fits a row, in several lines, with a word that has no place to break. */
const long = (name: string): string =>
  `${short(name)}\n\n  1. indented\n\t2. more\n${'words that go on '.repeat(20)}\n${'ñ'.repeat(150)}\nlast of ${name}`;
const deep = (name: string) => ({
  [`${name} key`]: { list: [1.5, true, null, [short(`${name} leaf`)]], text: long(`${name} text`) },
});
const ADDRESS = `https://example.test/${'path/'.repeat(70)}?q=%E2%80%AE`;
/** The agent refuses characters that nobody sees. */
const plain = (text: string): string => text.replace(/[\u202E\u200B]/g, '');

/** What the actions name. */
export interface World {
  app: TestApp;
  team: TestTeam;
  project_id: string;
  cycle_id: string;
  stage_id: string;
  field_id: string;
  task_id: string;
  other: string;
  parent: string;
  /** Words that stand for an id or a status. */
  words: Record<string, string>;
}

export async function buildWorld(app: TestApp, team: TestTeam): Promise<World> {
  const { project_id } = await buildProject(app, team, { name: 'Apollo of the tests' });
  const built = async (title: string) => {
    const description = long('description').replace('go on', 'went');
    return (await buildTask(app, team, { project_id }, { title, description })).task_id;
  };
  const [task_id, other, parent] = [await built('The target'), await built('The related one'), await built('The parent')];
  const { cycle_id } = await createCycle(app.as(team.manager), { name: 'Cycle of May', project_id });
  const stage = { team_id: team.team_id, name: 'In the dock', status: 'in_review' };
  const { stage_id } = (await app.as(team.admin).post('/api/stages', stage)).body;
  const field = { team_id: team.team_id, name: 'How severe', field_type: 'select', entity_type: 'task' };
  const options = [{ value: 'p1', label: 'Worse than bad' }];
  const { field_id } = (await app.as(team.admin).post('/api/custom-fields', { ...field, options })).body;
  for (const [name, value] of Object.entries(SECRETS)) {
    const secret = { team_id: team.team_id, name, value, allowed_hosts: ['example.test'] };
    const { status } = await app.as(team.admin).post('/api/automations/secrets', secret);
    if (status !== 200) throw new Error(`no secret: ${status}`);
  }
  const people = await app.services.db('users').select('user_id', 'name');
  const words = {
    [task_id]: 'The target',
    [other]: 'The related one',
    [parent]: 'The parent',
    [project_id]: 'Apollo of the tests',
    [cycle_id]: 'Cycle of May',
    [stage_id]: 'In the dock',
    p1: 'Worse than bad',
    ...Object.fromEntries(people.map(({ user_id, name }: { user_id: string; name: string }) => [user_id, name])),
    in_progress: 'In progress',
    in_review: 'In review',
    done: 'Done',
  };
  return { app, team, project_id, cycle_id, stage_id, field_id, task_id, other, parent, words };
}

const recurrence = { rule: 'FREQ=WEEKLY;BYDAY=MO', mode: 'on_schedule', timezone: 'Europe/Berlin', until: null, count: 77 };
const taskFields = ({ team, parent, project_id }: World, name: string) => ({
  title: short(name),
  description: long('description'),
  assigned_to: team.member.user_id,
  status: 'in_progress',
  priority: 'urgent',
  due_date: '2031-02-03',
  tags: ['first tag', 'second "tag"', '漢字'],
  estimated_hours: 17.5,
  estimate: 144,
  parent_task_id: parent,
  project_id,
  recurrence,
});

/** Parameters of each action by its type: together they name every parameter that it has. */
export function catalogue(world: World): Record<string, Params[]> {
  const { team, task_id, other, project_id, cycle_id, stage_id, field_id } = world;
  const user = team.member.user_id;
  const headers = {
    authorization: 'Bearer {{secret:TOKEN}}',
    'x-a-header-with-a-name-that-is-long-enough-to-fill-a-phone': short('header'),
  };
  const http = { method: 'PUT', url: ADDRESS, headers };
  const env = { KEY: 'before {{secret:TOKEN}} after', FROM_EVENT: '{{event.text}}', LINES: long('variable') };
  return {
    create_task: [
      taskFields(world, 'new task'),
      { title: short('old'), project_id, status: 'done', resolution: 'duplicate' },
      { title: short('docked'), project_id, stage_id },
    ],
    update_task: [
      { ...taskFields(world, 'new title'), task_id, actual_hours: 41.25, position: 7077, is_archived: true },
      { task_id: other, stage_id, custom_fields: { [field_id]: 'p1' } },
      { task_id: other, status: 'done', resolution: 'duplicate' },
    ],
    set_task_status: [
      { task_id: other, status: 'in_review' },
      { task_id: other, status: 'done', resolution: 'canceled' },
    ],
    assign_task: [
      { task_id: other, assigned_to: user },
      { task_id: other, assigned_to: null },
    ],
    add_comment: [
      { task_id, content: long('comment') },
      { task_id, content: '{{event.text}}' },
      { task_id, content: 'two\n  lines' },
    ],
    create_note: [{ title: short('note'), content: long('note'), project_id, kind: 'idea' }],
    create_relation: [{ source_id: task_id, target_id: other, relation_type: 'blocks' }],
    move_to_cycle: [{ task_id, cycle_id }],
    notify: [
      { user_ids: [user, team.admin.user_id], message: long('message'), channel: 'email' },
      { role: 'manager', message: short('message'), channel: 'in_app' },
    ],
    delay: [{ seconds: 86_421 }],
    http_request: [
      { ...http, body: deep('body') },
      { ...http, body: long('body') },
      { ...http, body: [] },
    ],
    send_webhook: [{ url: ADDRESS, payload: { ...deep('payload'), event: '{{event.text}}' } }, { url: ADDRESS }],
    run_agent: [{ instruction: long('instruction'), link: [{ item_type: 'task', item_id: task_id }] }],
    dispatch_runner_job: [{ labels: ['linux', 'arm64'], command: `make ${long('command')}`, env, timeout_minutes: 33 }],
    forge_comment: [{ repo: 'acme/rocket', number: 4_711, body: long('answer') }],
    forge_create_issue: [{ repo: 'acme/rocket', title: short('issue'), body: long('issue') }],
  };
}

/** A run that waits before actions of these types, each with all of its parameters. */
export const buildWaiting = (world: World, types: readonly string[], automation_name: string): Promise<TestRun> =>
  buildRun(world.app, world.team, {
    creator: world.team.admin,
    actions: [
      { ...GATE, params: { message: long('question') } },
      ...types.flatMap((type) => (catalogue(world)[type] ?? []).map((params) => ({ type, name: `Name of ${type}`, params }))),
    ],
    fields: { automation_name, event: { type: 'forge.pr_merged', text: long('event'), deep: deep('event') } },
  });

/** Several kinds of actions in one plan: a deletion, relations, a text that changes, four comments that are folded, a new task and what refers to it. */
export async function buildManyKinds(world: World): Promise<Plan> {
  const { app, team, task_id, other, project_id } = world;
  const doomed = await buildTask(app, team, world, { title: 'To be deleted' });
  await buildTask(app, team, world, { title: 'Below it', parent_task_id: doomed.task_id });
  const related = { source_id: doomed.task_id, target_id: other, relation_type: 'caused_by' };
  const { body } = await app.as(team.member).post('/api/work-items/relations', related);
  const { title, description, ...fields } = taskFields(world, 'planned task');
  const task = { ...fields, title: plain(title), description: plain(description) };
  const comment = (entity_id: string, content: string) => ({ tool: 'task.comment' as const, entity_id, params: { content } });
  const actions = [
    { tool: 'task.create' as const, params: task },
    {
      tool: 'task.update' as const,
      entity_id: task_id,
      params: { ...task, title: 'Renamed', actual_hours: 41.25, position: 7077 },
    },
    { tool: 'task.set_status' as const, entity_id: other, params: { status: 'done' } },
    { tool: 'task.assign' as const, entity_id: other, params: { assigned_to: team.admin.user_id } },
    comment(task_id, 'first\n  of four'),
    comment(task_id, plain(long('second'))),
    comment(other, 'third'),
    comment(other, plain(long('fourth'))),
    { tool: 'relation.delete' as const, entity_id: body.relation_id, params: {} },
    { tool: 'task.delete' as const, entity_id: doomed.task_id, params: {} },
    { tool: 'project.update' as const, entity_id: project_id, params: { name: 'Gemini', description: plain(long('project')) } },
    { tool: 'note.create' as const, params: { title: 'Planned note', content: plain(long('note')), project_id, kind: 'idea' } },
    { tool: 'relation.create' as const, params: { source_id: '$0', target_id: task_id, relation_type: 'blocks' } },
  ];
  const session = await buildSession(app, team, { kind: 'automation', title: 'Nightly cleanup' });
  return staged(app, team.manager, actions, { session, source: 'automation', lifeHours: 168 });
}
