import { buildSession, staged } from '../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { buildRequest } from '../../factories/requests.js';
import { buildRun, GATE, type TestRun } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// The page of a task shows what waits for a yes about it: a card for those who decide, a line for the others, nothing for those who may not read it.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let task: { task_id: string };
let path: string;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team, { name: 'Harbour' });
  task = await buildTask(app, team, project, { title: 'Rotate the keys' });
  path = `/app/items/${task.task_id}`;
  await givePasswords(app);
});

const db = () => app.services.db;
const close = () => ({ type: 'set_task_status', params: { task_id: task.task_id, status: 'done' } });
async function gated(options: Record<string, unknown> = {}): Promise<TestRun> {
  const run = await buildRun(app, team, { actions: [GATE, close()] as never[], ...options });
  await app.as(team.member).get(`/api/approvals/gate/${run.run_id}`);
  return run;
}
const getStatus = async ({ run_id }: TestRun) => (await db()('automation_runs').where({ run_id }).first()).status;
const hidden = (html: string, name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
const partOf = (html: string): string => /<div id="part-waiting"[\s\S]*?<div id="part-text"/.exec(html)?.[0] ?? '';
/** The part of the page as it is loaded, and as it asks for it later. */
async function open(person: Person): Promise<{ browser: Browser; part: string; later: string }> {
  const browser = await signIn(app, person);
  const part = partOf((await browser.get(path)).html);
  return { browser, part, later: (await browser.get(`${path}/waiting?live`)).html };
}
const seenIn = (part: string) => ({
  gate_index: hidden(part, 'gate_index'),
  staged_hash: hidden(part, 'staged_hash'),
  seen_hash: hidden(part, 'seen_hash'),
  back: path,
});

it('a manager decides on the page of the task, and comes back to it', async () => {
  const run = await gated();
  const { browser, part, later } = await open(team.manager);
  for (const html of [part, later]) {
    expect(html).toContain('Waits for approval');
    expect(html).toMatch(/Close [A-Z]+-\d+ “<bdi>Rotate the keys/);
    expect(html).toContain(`action="/app/runs/${run.run_id}/approve"`);
    expect(html).toContain(`name="back" value="${path}"`);
  }
  const answer = await browser.post(`/app/runs/${run.run_id}/approve`, seenIn(part), { from: path });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, path]);
  const { html } = await browser.get(path);
  expect(html).toContain('Approved. The run continues.');
  expect(partOf(html)).not.toContain('Waits for approval');
  expect(await getStatus(run)).toBe('running');
});

it('stands behind the fields of the task, which a phone shows first', async () => {
  await gated();
  const { html } = await open(team.manager).then(({ browser }) => browser.get(path));
  expect(html.indexOf('id="part-chips"')).toBeGreaterThan(0);
  expect(html.indexOf('id="part-waiting"')).toBeGreaterThan(html.indexOf('id="part-chips"'));
});

it('a yes is for what was shown: a change of the task meanwhile refuses it', async () => {
  const run = await gated();
  const { browser, part } = await open(team.manager);
  await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { title: 'Throw the keys away', version: 1 });
  await browser.post(`/app/runs/${run.run_id}/approve`, seenIn(part), { from: path });
  expect((await browser.get(path)).html).toContain('has changed since you have read it');
  expect(await getStatus(run)).toBe('paused');
});

it('who comes second learns that it is decided, and nothing happens twice', async () => {
  const run = await gated();
  const { browser, part } = await open(team.manager);
  await app.as(team.admin).post(`/api/automations/runs/${run.run_id}/reject`, { comment: 'No' });
  await browser.post(`/app/runs/${run.run_id}/approve`, seenIn(part), { from: path });
  const { html } = await browser.get(path);
  expect(html).toContain('class="notice bad');
  expect(partOf(html)).not.toContain('Waits for approval');
  expect(await getStatus(run)).toBe('skipped');
});

it('others read who may decide; a guest nothing of plans and requests, a stranger nothing at all', async () => {
  const run = await gated();
  const session = await buildSession(app, team, { kind: 'overnight_triage' });
  const comment = { tool: 'task.comment', entity_id: task.task_id, params: { content: 'Hi' } };
  const plan = await staged(app, team.admin, [comment] as never, { session, source: 'overnight_triage', lifeHours: 2 });
  const asked = await buildRequest(app, team, team.member, { context: { task: task.task_id } });
  const member = await open(team.member);
  expect(member.part).toContain(`href="/app/approvals/gate/${run.run_id}"`);
  expect(member.part).toContain('Only a manager or an admin of the team can decide.');
  expect(member.part).toContain(`href="/app/approvals/request/${asked.request_id}"`);
  expect(member.part).toContain(`id="plan-${plan.action_id}"`);
  const manager = await open(team.manager);
  expect(manager.part).toContain(`action="/app/approvals/request/${asked.request_id}/approve"`);
  const guest = await open(team.guest);
  for (const html of [guest.part, guest.later]) {
    expect(html).toContain(run.run_id);
    for (const id of [plan.action_id, asked.request_id, '/approve"', '/reject"']) expect(html).not.toContain(id);
  }
  const stranger = await buildTeam(app);
  await givePasswords(app);
  const outside = await (await signIn(app, stranger.admin)).get(`${path}/waiting`);
  expect([403, 404]).toContain(outside.status);
  for (const id of [run.run_id, plan.action_id, asked.request_id]) expect(outside.html).not.toContain(id);
});

it('says to who is behind it, or has approved, what the list of approvals says', async () => {
  const gate = (params: object) => [{ ...GATE, params }, close()] as never[];
  await gated({ creator: team.admin, actions: gate({ allow_self_approval: false }) });
  const twice = await gated({ actions: gate({ required_approvals: 2 }) });
  const session = await buildSession(app, team, { kind: 'overnight_triage' });
  const comment = { tool: 'task.comment', entity_id: task.task_id, params: { content: 'Hi' } };
  const plan = await staged(app, team.admin, [comment] as never, { session, source: 'overnight_triage', lifeHours: 2 });
  const edited = { risk: 'high', edited_by: [team.admin.user_id] };
  await db()('agent_plans').where({ action_id: plan.action_id }).update(edited);
  const asked = await buildRequest(app, team, team.admin, { context: { task: task.task_id } });
  await app.as(team.admin).post(`/api/automations/runs/${twice.run_id}/approve`, {});
  const { browser, part } = await open(team.admin);
  const queue = (await browser.get('/app/approvals')).html;
  for (const html of [part, queue]) {
    expect(html).toContain('You created the automation, wrote this version or started the run; someone else must approve it.');
    expect(html).toContain('You approved. Still needed: 1.');
    expect(html).toContain('You edited this plan; someone else must confirm it.');
    expect(html).toContain('You asked for this or edited it; someone else must approve it.');
    expect(html).toContain(asked.request_id);
  }
  const member = await open(team.member);
  expect(member.part).toContain('Only a manager or an admin of the team can confirm this plan.');
});

it('a personal run about the task is its creator’s alone', async () => {
  const run = await gated({ inTeam: false });
  expect((await open(team.member)).part).toContain(run.run_id);
  expect((await open(team.admin)).part).not.toContain(run.run_id);
});

it('shows three cards and some lines, and says that more waits', async () => {
  for (let nth = 0; nth < 10; nth += 1) await gated({ expiresIn: 600 + nth });
  const { part } = await open(team.manager);
  expect(part.match(/<article/g)).toHaveLength(3);
  expect(part.match(/class="waits"/g)).toHaveLength(5);
  expect(part).toContain('More waits on the Approvals page');
});

it('a plan of many changes has one line and a page of its own, so that it does not bury the task', async () => {
  const session = await buildSession(app, team, { kind: 'overnight_triage' });
  const comment = (nth: number) => ({ tool: 'task.comment', entity_id: task.task_id, params: { content: `Hi ${nth}` } });
  const stage = (count: number) =>
    staged(app, team.admin, Array.from({ length: count }, (_, nth) => comment(nth)) as never, {
      session,
      source: 'overnight_triage',
      lifeHours: 2,
    });
  const [short, long] = [await stage(5), await stage(6)];
  const { part } = await open(team.member);
  expect(part).toContain(`id="plan-${short.action_id}"`);
  expect(part.match(/<article/g)).toHaveLength(1);
  expect(part).toContain(`href="/app/approvals/plan/${long.action_id}"`);
});

it('rows and cards of such a task have a mark, for those who may read what waits', async () => {
  const other = await buildTask(app, team, project, { title: 'Quiet' });
  const asked = await buildRequest(app, team, team.member, { context: { task: task.task_id } });
  const mark = 'title="Approval waits"';
  const lists = [`/app/projects/${project.project_id}`, `/app/projects/${project.project_id}/board`];
  const [manager, guest] = [await signIn(app, team.manager), await signIn(app, team.guest)];
  for (const list of lists) {
    const { html } = await manager.get(list);
    expect(html.split(mark)).toHaveLength(2);
    expect(html).toContain(other.task_id);
    expect((await guest.get(list)).html).not.toContain(mark);
  }
  await app.as(team.member).post(`/api/change-requests/${asked.request_id}/cancel`, {});
  for (const list of lists) expect((await manager.get(list)).html).not.toContain(mark);
});

it('a gate that would be refused says why first, and Approve is not its first button', async () => {
  await gated();
  await app.as(team.member).delete(`/api/tasks/${(await buildTask(app, team, project)).task_id}`);
  const gone = await buildTask(app, team, project, { title: 'Gone' });
  await app.as(team.member).delete(`/api/tasks/${gone.task_id}`);
  const refused = [GATE, { type: 'set_task_status', params: { task_id: gone.task_id, status: 'done' } }];
  const run = await buildRun(app, team, { actions: refused as never[] });
  const { browser, part } = await open(team.manager);
  const { html } = await browser.get(`/app/approvals/gate/${run.run_id}`);
  expect(html).toContain('Would be refused now');
  expect(html.match(/Would be refused now/g)).toHaveLength(1);
  expect(html.indexOf('Would be refused now')).toBeLessThan(html.indexOf('Runs if approved'));
  expect(html).toContain('data-decides="y" class="outline"');
  expect(part).not.toContain('data-decides="y" class="outline"');
});

it('a rejection stands in the activity of each task that the gate would have changed, and in no other', async () => {
  const other = await buildTeam(app);
  const far = await buildTask(app, other, await buildProject(app, other), { title: 'Elsewhere' });
  const twice = { type: 'update_task', params: { task_id: task.task_id, priority: 'low' } };
  const strange = { type: 'set_task_status', params: { task_id: far.task_id, status: 'done' } };
  const run = await gated({ actions: [GATE, close(), twice, strange] as never[] });
  const rejected = await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/reject`, { reason: 'Too <b>early</b>' });
  expect(rejected.status).toBe(200);
  const { body } = await app.as(team.guest).get(`/api/activity?entity_id=${task.task_id}`);
  expect(body[0]).toMatchObject({
    action: 'reject',
    user_id: team.manager.user_id,
    summary: expect.stringMatching(/^rejected: Close this task, .*\(Too <b>early<\/b>\)$/),
    cause: null,
    rejected_run: { run_id: run.run_id, automation_id: run.automation_id, automation_name: 'Deploy on merge' },
  });
  const { html } = await (await signIn(app, team.member)).get(path);
  expect(html).toContain(
    `rejected a run of <a href="/app/runs/${run.run_id}"><em><bdi>Deploy on merge</bdi></em></a>: Close this task`,
  );
  const runs = /<h2 id="h-runs">Runs about it<\/h2>[\s\S]*?<\/ul>/.exec(html)?.[0];
  expect(runs).toContain(`href="/app/runs/${run.run_id}"`);
  expect(runs).toContain('Rejected');
  expect(html).not.toContain('<b>early');
  expect(await db()('activity').where({ entity_id: far.task_id, action: 'reject' })).toEqual([]);
  // It changed nothing, so no later approver is warned of it.
  const again = await gated();
  expect((await app.as(team.manager).get(`/api/approvals/gate/${again.run_id}`)).body.actions[0].changed ?? null).toBeNull();
});
