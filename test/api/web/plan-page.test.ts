import { buildSession, staged } from '../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { givePasswords, signIn } from './browser.js';

// A plan has a page of its own, to which agents, mails and refusals lead.

let app: TestApp;
let team: TestTeam;
let task: { task_id: string };
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  task = await buildTask(app, team, await buildProject(app, team), { title: 'Rotate the keys' });
});

async function propose(tool: 'task.comment' | 'task.delete'): Promise<{ path: string; action_id: string }> {
  const session = await buildSession(app, team, { kind: 'overnight_triage' });
  const params = tool === 'task.comment' ? { content: 'Still needed?' } : {};
  const actions = [{ tool, entity_id: task.task_id, params }];
  const { action_id } = await staged(app, team.admin, actions, { session, source: 'overnight_triage', lifeHours: 8 });
  return { path: `/app/approvals/plan/${action_id}`, action_id };
}

it('shows what the plan does, and lets an approver decide there', async () => {
  const { path } = await propose('task.comment');
  const browser = await signIn(app, team.member);
  const { status, html } = await browser.get(path);
  expect([status, html.includes('Still needed?'), html.includes('Rotate the keys')]).toEqual([200, true, true]);
  const field = (name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
  const form = { session_id: field('session_id'), action_id: field('action_id'), plan_hash: field('plan_hash'), index: '0' };
  const answer = await browser.post('/app/approvals/plans/confirm', form, { from: path });
  expect(answer.headers.get('location')).toBe('/app/approvals');
  const after = (await browser.get(path)).html;
  expect(after).toContain('<span class="chip">applied</span>');
  expect(after).not.toContain('Confirm');
});

it('says why a new task is of medium risk, and marks no ordinary one', async () => {
  const session = await buildSession(app, team.admin);
  const project_id = (await app.services.db('tasks').where({ task_id: task.task_id }).first()).project_id;
  const create = (title: string, fields: object) => ({ tool: 'task.create' as const, params: { title, project_id, ...fields } });
  const actions = [create('Own work', {}), create('Given work', { assigned_to: team.member.user_id })];
  const { action_id } = await staged(app, team.admin, actions, { session });
  const { html } = await (await signIn(app, team.admin)).get(`/app/approvals/plan/${action_id}`);
  expect(html.match(/[a-z]+ risk[^<]*/g)).toEqual(['medium risk: gives work to another user']);
});

it('a refusal returns to it, and says why', async () => {
  const { path } = await propose('task.comment');
  const browser = await signIn(app, team.member);
  const { html } = await browser.get(path);
  const field = (name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
  const form = { session_id: field('session_id'), action_id: field('action_id'), plan_hash: 'sha256:another', index: '0' };
  const answer = await browser.post('/app/approvals/plans/confirm', form, { from: path });
  expect(answer.headers.get('location')).toBe(path);
});

it('a target that changed after the page was read refuses the yes, and leaves the plan', async () => {
  const { path, action_id } = await propose('task.comment');
  const browser = await signIn(app, team.member);
  const { html } = await browser.get(path);
  const field = (name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
  const names = ['session_id', 'action_id', 'plan_hash', 'seen_hash'];
  const form = { ...Object.fromEntries(names.map((name) => [name, field(name)])), index: '0' };
  expect((await app.as(team.manager).patch(`/api/tasks/${task.task_id}`, { title: 'Keep the keys' })).status).toBe(200);
  const answer = await browser.post('/app/approvals/plans/confirm', form, { from: path });
  expect(answer.headers.get('location')).toBe(path);
  const { status } = await app.services.db('agent_plans').where({ action_id }).first();
  expect(status).toBe('staged');
});

it('strangers and guests do not find it; of an unknown id it is 404', async () => {
  const { path } = await propose('task.comment');
  const other = await buildTeam(app);
  await givePasswords(app);
  for (const person of [other.admin, team.guest]) expect((await (await signIn(app, person)).get(path)).status).toBe(404);
  const unknown = '/app/approvals/plan/0197a000-0000-7000-8000-000000000001';
  expect((await (await signIn(app, team.member)).get(unknown)).status).toBe(404);
});
