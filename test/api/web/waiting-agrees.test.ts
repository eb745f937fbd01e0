import { buildSession, staged } from '../../factories/agent.js';
import { buildProject, buildTask, buildTeam, buildToken, type Person, type TestTeam } from '../../factories/people.js';
import { buildRun, GATE } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { givePasswords, signIn } from './browser.js';

// What waits about a task: the mark on its row, its page and the list of approvals show the same, and the counter counts what the reader may decide of it.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

interface Scene {
  team: TestTeam;
  project: { project_id: string };
  task: { task_id: string };
}
type Source = 'chat' | 'mcp' | 'overnight_triage';
const db = () => app.services.db;

/** A plan about the task, staged for a person; one of triage belongs to the team. `fields`: what its row says instead. */
const plan =
  (owner: keyof TestTeam, source: Source, fields: Record<string, unknown> | ((scene: Scene) => Record<string, unknown>) = {}) =>
  async (scene: Scene): Promise<string> => {
    const { team, task } = scene;
    const person = team[owner] as Person;
    if (source === 'mcp') await buildToken(app, person, ['ai:chat']);
    const token =
      source === 'mcp' ? await db()('personal_access_tokens').where({ user_id: person.user_id }).first('token_id') : {};
    const session = await buildSession(app, source === 'overnight_triage' ? team : person, { kind: source, ...token });
    const comment = { tool: 'task.comment' as const, entity_id: task.task_id, params: { content: 'Hi' } };
    const { action_id } = await staged(app, person, [comment], { session, source, lifeHours: 2 });
    const said = typeof fields === 'function' ? fields(scene) : fields;
    if (Object.keys(said).length > 0) await db()('agent_plans').where({ action_id }).update(said);
    return action_id;
  };
/** A gate whose action would close the task. */
const gate =
  (creator: keyof TestTeam, expiresIn = 3_600, params: Record<string, unknown> = {}) =>
  async ({ team, task }: Scene): Promise<string> => {
    const actions = [
      { ...GATE, params },
      { type: 'set_task_status', params: { task_id: task.task_id, status: 'done' } },
    ] as never[];
    const run = await buildRun(app, team, { actions, creator: team[creator] as Person, expiresIn });
    await app.as(team.member).get(`/api/approvals/gate/${run.run_id}`);
    return run.run_id;
  };
const past = new Date(0);

/** What waits, who reads, whether it shows at all, and whether the reader is counted among those who decide. */
const CASES: [string, (scene: Scene) => Promise<string>, reader: keyof TestTeam, shows: boolean, counts: boolean][] = [
  ['a plan of one’s own conversation', plan('member', 'chat'), 'member', true, true],
  ['a plan of one’s own conversation, risky', plan('member', 'chat', { risk: 'high' }), 'member', true, true],
  ['a plan of another’s conversation', plan('member', 'chat'), 'admin', false, false],
  ['a plan of a conversation that has expired', plan('member', 'chat', { expires_at: past }), 'member', false, false],
  ['a plan of one’s own outside agent', plan('member', 'mcp'), 'member', true, true],
  ['a plan of triage', plan('admin', 'overnight_triage'), 'member', true, true],
  ['a plan of triage, for a guest', plan('admin', 'overnight_triage'), 'guest', false, false],
  ['a risky plan of triage, for a member', plan('admin', 'overnight_triage', { risk: 'high' }), 'member', true, false],
  ['a risky plan of triage, for a manager', plan('admin', 'overnight_triage', { risk: 'high' }), 'manager', true, true],
  [
    'a risky plan of triage, for the manager who edited it',
    plan('admin', 'overnight_triage', ({ team }) => ({ risk: 'high', edited_by: [team.manager.user_id] })),
    'manager',
    true,
    false,
  ],
  ['a gate, for a manager', gate('member'), 'manager', true, true],
  ['a gate, for its creator without the role', gate('member'), 'member', true, false],
  ['a gate, for a guest', gate('member'), 'guest', true, false],
  ['a gate of four eyes, for its creator', gate('manager', 3_600, { allow_self_approval: false }), 'manager', true, false],
  ['a gate that has expired', gate('member', -60), 'manager', false, false],
];

it.each(CASES)('mark, page, list and counter agree: %s', async (_name, prepare, reader, shows, counts) => {
  const team = await buildTeam(app);
  const project = await buildProject(app, team, { name: 'Harbour' });
  const task = await buildTask(app, team, project, { title: 'Rotate the keys' });
  const id = await prepare({ team, project, task });
  await givePasswords(app);
  const browser = await signIn(app, team[reader] as Person);
  const read = async (path: string) => (await browser.get(path)).html;
  const [list, page, queue] = [
    await read(`/app/projects/${project.project_id}`),
    await read(`/app/items/${task.task_id}`),
    await read('/app/approvals'),
  ];
  const isMine = (html: string) => html.split('Waiting for others')[0]?.includes(`-${id}"`);
  const seen = {
    mark: list.includes('class="approval-waits"'),
    page: page.includes(`-${id}"`),
    list: queue.includes(`<article class="gate" id="gate-${id}"`) || queue.includes(`<article class="plan" id="plan-${id}"`),
    mine: isMine(queue),
    counter: queue.includes('<span class="count">1<span class="unseen"> waiting'),
  };
  expect(seen).toEqual({ mark: shows, page: shows, list: shows, mine: counts, counter: counts });
});
