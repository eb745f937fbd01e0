import { buildSession, staged } from '../../factories/agent.js';
import { buildAutomation } from '../../factories/automations.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { buildRun, GATE, type TestRun } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { until } from '../../support/worker.js';

let app: TestApp;
let team: TestTeam;
let task: { task_id: string };
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  task = await buildTask(app, team, await buildProject(app, team), { title: 'Rotate the keys' });
});

const db = () => app.services.db;
const say = (content: string) => ({ type: 'add_comment', params: { task_id: task.task_id, content } });
const gated = (expiresIn: number, ...actions: object[]) =>
  buildRun(app, team, { actions: [GATE, ...(actions.length > 0 ? actions : [say('Hello')])] as never[], expiresIn });
async function planned(
  hours: number,
  actions: object[] = [{ tool: 'task.comment', entity_id: task.task_id, params: { content: 'Hi' } }],
) {
  const session = await buildSession(app, team, { kind: 'overnight_triage' });
  return staged(app, team.admin, actions as never, { session, source: 'overnight_triage', lifeHours: hours });
}
type Listed = {
  kind: 'gate' | 'plan';
  id: string;
  staged_hash: string;
  seen_hash: string;
  actions: unknown[];
  [key: string]: unknown;
};
/** A reading stages as many gates as its time allows: reads until all of them are. */
const list = (query = '', person: Person = team.manager): Promise<Listed[]> =>
  until(async () => {
    const { body } = await app.as(person).get(`/api/approvals?team_id=${team.team_id}${query}`);
    return (body as Listed[]).every(({ seen_hash }) => seen_hash !== null) && (body as Listed[]);
  });
const findItem = ({ kind, id, staged_hash }: Listed) => ({ kind, id, staged_hash });
const decide = (body: object, person: Person | { token: string } = team.manager) =>
  app.as(person).post('/api/approvals/decide', body);
const getStatus = async ({ run_id }: TestRun) => (await db()('automation_runs').where({ run_id }).first()).status;

it('lists gates and plans by deadline, page after page, each with what it does', async () => {
  const late = await gated(7_200, { type: 'set_task_status', params: { task_id: task.task_id, status: 'done' } });
  const plan = await planned(1);
  const soon = await gated(600);
  const ids = [soon.run_id, plan.action_id, late.run_id];
  const all = await list();
  expect(all.map(({ id }) => id)).toEqual(ids);
  expect(all).toMatchObject([
    { kind: 'gate', gate_index: 0, title: 'Deploy on merge', state: 'pending', can_decide: true, started_with_event: false },
    {
      kind: 'plan',
      gate_index: null,
      requirement: { role: 'member', approvals: 1 },
      can_decide: true,
      actions: [{ verb: 'Comment on' }],
    },
    {
      kind: 'gate',
      requirement: { role: 'manager', approvals: 1, allow_self: true, signed_in: false },
      behind: [team.member.user_id],
      actions: [{ title: 'Rotate the keys', fields: [{ name: 'status', before: 'todo', after: 'done' }] }],
      url: expect.stringContaining(`/app/approvals/gate/${late.run_id}`),
    },
  ]);
  const seen: string[] = [];
  for (let path: string | undefined = `/api/approvals?limit=1&team_id=${team.team_id}`; path !== undefined; ) {
    const { body, headers } = await app.as(team.manager).get(path);
    seen.push(...body.map(({ id }: Listed) => id));
    path = /<[^>]*?(\/api\/approvals[^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  expect(seen).toEqual(ids);
  expect((await list('&kind=plan')).map(({ id }) => id)).toEqual([plan.action_id]);
  expect((await list('&kind=gate', team.guest)).map(({ can_decide }) => can_decide)).toEqual([false, false]);
  const stranger = await buildTeam(app);
  expect(await list('', stranger.admin)).toEqual([]);
  for (const path of [`gate/${late.run_id}`, `plan/${plan.action_id}`]) {
    expect((await app.as(team.manager).get(`/api/approvals/${path}`)).status).toBe(200);
    expect([403, 404]).toContain((await app.as(stranger.admin).get(`/api/approvals/${path}`)).status);
  }
});

it('returns how a decision ended, with the comment of the user who decided', async () => {
  const run = await gated(600);
  const late = await gated(-10);
  expect((await list('&state=expired')).map(({ id }) => id)).toEqual([late.run_id]);
  expect((await list()).map(({ id }) => id)).toEqual([run.run_id]);
  await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/reject`, { comment: 'Not today' });
  expect((await app.as(team.guest).get(`/api/approvals/gate/${run.run_id}`)).body).toMatchObject({
    state: 'rejected',
    comment: 'Not today',
    decided_by: team.manager.user_id,
    seen_hash: null,
    can_decide: false,
  });
});

it('decides each by itself: what is refused leaves the others', async () => {
  const [first, second] = [await gated(600), await gated(700)];
  const risky = await gated(800, {
    type: 'http_request',
    params: { method: 'POST', url: 'https://a.test/', body: '{{secret:KEY}}' },
  });
  const plan = await planned(1);
  const waiting = await list();
  const byId = new Map(waiting.map((one) => [one.id, one]));
  const items = [first.run_id, risky.run_id, plan.action_id].map((id) => findItem(byId.get(id) as Listed));
  const other = { kind: 'gate', id: second.run_id, staged_hash: 'sha256:other' };
  const { status, body } = await decide({ decision: 'approve', comment: 'All good', items: [...items, other] });
  expect(status).toBe(200);
  expect(body.results).toMatchObject([
    { kind: 'gate', id: first.run_id, status: 'running' },
    { kind: 'gate', id: risky.run_id, error_code: 'RESOURCE_CONFLICT', reason: 'decide_singly', http_status: 409 },
    { kind: 'plan', id: plan.action_id, status: 'applied' },
    { kind: 'gate', id: second.run_id, error_code: 'RESOURCE_CONFLICT', http_status: 409 },
  ]);
  expect(await getStatus(second)).toBe('paused');
  expect((await app.as(team.member).get(`/api/tasks/${task.task_id}/comments`)).body).toMatchObject([{ content: 'Hi' }]);
  const reject = await decide({ decision: 'reject', items: [items[1], findItem(byId.get(second.run_id) as Listed)] });
  expect(reject.body.results).toMatchObject([{ status: 'skipped' }, { status: 'skipped' }]);
});

it('decides all or none', async () => {
  const runs = [await gated(600), await gated(700)];
  const items = (await list()).map(findItem);
  const wrong = [items[0], { ...items[1], staged_hash: 'sha256:other' }];
  const refused = await decide({ decision: 'approve', mode: 'all', items: wrong });
  expect(refused).toMatchObject({ status: 409, body: { item: { kind: 'gate', id: items[1]?.id } } });
  for (const run of runs) expect(await getStatus(run)).toBe('paused');
  expect(
    await db()('gate_approvals').whereIn(
      'run_id',
      runs.map(({ run_id }) => run_id),
    ),
  ).toEqual([]);
  expect((await decide({ decision: 'approve', mode: 'all', items })).status).toBe(200);
  for (const run of runs) expect(await getStatus(run)).toBe('running');
});

it('refuses what it cannot take: no hash, an item twice, too many, plans with all', async () => {
  const item = { kind: 'gate', id: (await gated(600)).run_id, staged_hash: 'x' };
  const bodies = [
    { items: [{ kind: 'gate', id: item.id }] },
    { items: [item, item] },
    { items: [] },
    { items: Array.from({ length: 101 }, (_, at) => ({ ...item, gate_index: at % 50 })) },
  ];
  const answers = await Promise.all(bodies.map((body) => decide({ decision: 'approve', ...body })));
  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
  const plan = { kind: 'plan', id: item.id, staged_hash: 'x' };
  expect((await decide({ decision: 'approve', mode: 'all', items: [plan] })).status).toBe(400);
});

it('two batches at once decide each gate once', async () => {
  const runs = await Promise.all(Array.from({ length: 6 }, (_, at) => gated(600 + at)));
  const items = (await list()).map(findItem);
  const backwards = items.toReversed();
  const batch = (mode: string, all: object[], person: Person) => decide({ decision: 'approve', mode, items: all }, person);
  const answers = await Promise.all([
    batch('all', items, team.manager),
    batch('all', backwards, team.admin),
    batch('each', backwards, team.admin),
  ]);
  for (const { status } of answers) expect([200, 409]).toContain(status);
  for (const run of runs) expect(await getStatus(run)).toBe('running');
  for (const { run_id } of runs)
    expect(await db()('audit_entries').where({ entity_id: run_id, action: 'approve' })).toHaveLength(1);
});

it('a token decides what its scopes name, and nothing of a person who needs to be signed in', async () => {
  const run = await gated(600);
  const plan = await planned(1);
  const items = (await list()).map(findItem);
  const tokenFor = async (scopes: string[]) =>
    ({ token: (await app.as(team.manager).post('/api/auth/tokens', { name: 'T', scopes })).body.token }) as { token: string };
  const forGates = await decide({ decision: 'approve', items }, await tokenFor(['approvals:decide']));
  expect(forGates.body.results).toMatchObject([
    { id: run.run_id, status: 'running' },
    { id: plan.action_id, error_code: 'PERMISSION_DENIED', http_status: 403 },
  ]);
  const reader = await decide({ decision: 'approve', items: items.slice(1) }, await tokenFor(['automations:read', 'tasks:read']));
  expect(reader.status === 403 || reader.body.results[0].http_status === 403).toBe(true);
});

it('a gate over an item of another team shows members nothing of it', async () => {
  const other = await buildTeam(app);
  await db()('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'admin' });
  const hidden = await buildTask(app, other, await buildProject(app, other), { title: 'Not yours' });
  const automation = await buildAutomation(app, team, {
    actions: [GATE, { type: 'add_comment', params: { task_id: hidden.task_id, content: 'x' } }] as never,
  });
  await buildRun(app, team, { automation });
  expect(JSON.stringify(await list())).not.toContain('Not yours');
});
