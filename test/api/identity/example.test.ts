import { stepsOf, type ExampleRow } from '../../../api/identity/example/rules.js';
import { createExample } from '../../../api/identity/example/create-example.js';
import { playExample } from '../../../api/identity/example/play-example.js';
import { removeExample } from '../../../api/identity/example/remove-example.js';
import type { RunningWorker } from '../../../activities/worker/start-worker.js';
import { buildContext } from '../../factories/agent.js';
import { buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { queuePrefix, runWorker, until } from '../../support/worker.js';
import { type Browser, buildVisitor, gateForm, signIn } from '../web/browser.js';

let app: TestApp;
let worker: RunningWorker;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off', TASK_QUEUE_PREFIX: queuePrefix() });
  worker = await runWorker(app);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
});

const db = () => app.services.db;
const as = (person: Person) => buildContext(app, person);
const projects = () => db()('projects').where({ team_id: team.team_id }).whereNull('deleted_at');
const audited = (about: object) =>
  db()('audit_entries')
    .where({ team_id: team.team_id, ...about })
    .pluck<string[]>('action');

describe('filling a team with an example', () => {
  it('creates project, tasks and a disabled automation, each with its audit entry', async () => {
    const { project_id, created } = await createExample(as(team.member), team.team_id);
    expect(created).toBe(true);
    const tasks = (await app.as(team.member).get(`/api/tasks?project_id=${project_id}`)).body;
    expect(tasks.map(({ title }: { title: string }) => title)).toContain('Write the newsletter');
    expect(tasks).toHaveLength(5);
    const automation = (await app.as(team.member).get(`/api/automations/${project_id}`)).body;
    expect(automation).toMatchObject({ is_active: false, project_id, trigger_type: 'task.completed' });
    expect((await audited({ feature: 'tasks' })).filter((action) => action === 'create')).toHaveLength(5);
    expect(await audited({ feature: 'automations' })).toEqual(['create']);
    expect(await audited({ feature: 'teams', entity_id: team.team_id })).toContain('update');
  });

  it('happens once, however many ask at the same time', async () => {
    const results = await Promise.all(
      [team.admin, team.manager, team.member, team.member].map((person) => createExample(as(person), team.team_id)),
    );
    expect(results.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(results.map(({ project_id }) => project_id)).size).toBe(1);
    expect(await projects()).toHaveLength(1);
  });

  it('is refused to guests and to members of other teams, who leave nothing behind', async () => {
    const other = await buildTeam(app);
    for (const person of [team.guest, other.admin]) {
      await expect(createExample(as(person), team.team_id)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
      await expect(playExample(as(person), team.team_id, 'enable')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
      await expect(removeExample(as(person), team.team_id)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    }
    expect(await projects()).toEqual([]);
  });

  it('can be removed, and filled again', async () => {
    const first = await createExample(as(team.member), team.team_id);
    await removeExample(as(team.member), team.team_id);
    expect(await projects()).toEqual([]);
    expect((await app.as(team.member).get(`/api/automations/${first.project_id}`)).status).toBe(404);
    await expect(removeExample(as(team.member), team.team_id)).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
    await expect(playExample(as(team.member), team.team_id, 'finish')).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
    const second = await createExample(as(team.member), team.team_id);
    expect([second.created, second.project_id === first.project_id]).toEqual([true, false]);
  });

  it('is removed whole or not at all: the automation of another user needs a manager', async () => {
    await createExample(as(team.admin), team.team_id);
    await expect(removeExample(as(team.member), team.team_id)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    expect(await projects()).toHaveLength(1);
    await removeExample(as(team.manager), team.team_id);
    expect(await projects()).toEqual([]);
  });
});

describe('the steps', () => {
  const row = (more: Partial<ExampleRow>): ExampleRow => ({
    team_id: 't',
    team_name: 'T',
    project_id: 'p',
    is_active: true,
    task_id: 'k',
    task_title: 'K',
    task_status: 'todo',
    run_id: null,
    run_status: null,
    skip_reason: null,
    finished_at: null,
    is_approved: false,
    is_starting: false,
    ...more,
  });
  const ended = { run_id: 'r', finished_at: new Date() };

  it.each([
    [{ is_active: false }, 'enable'],
    [{}, 'finish'],
    [{ run_id: 'r', run_status: 'queued' }, 'decide'],
    [{ run_id: 'r', run_status: 'paused', is_active: false }, 'decide'],
    [{ ...ended, run_status: 'succeeded' }, null],
    [{ ...ended, run_status: 'skipped', skip_reason: 'rejected' }, null],
    [{ ...ended, run_status: 'failed' }, 'finish'],
    [{ ...ended, run_status: 'cancelled', is_active: false }, 'enable'],
  ] as const)('after %j comes %s', (more, next) => {
    expect(stepsOf(row(more)).next).toBe(next);
  });

  it.each([
    [{ run_id: 'r', run_status: 'queued' }, 'starting'],
    [{ run_id: 'r', run_status: 'running' }, 'starting'],
    [{ run_id: 'r', run_status: 'paused' }, null],
    [{ run_id: 'r', run_status: 'paused', is_approved: true }, 'changing'],
    [{ run_id: 'r', run_status: 'running', is_approved: true }, 'changing'],
    [{ ...ended, run_status: 'succeeded', is_approved: true }, null],
    [{ task_status: 'done', is_starting: true }, 'starting'],
    [{ ...ended, run_status: 'succeeded', is_approved: true, is_starting: true }, 'starting'],
    [{}, null],
  ] as const)('of a run %j tell that it is %s', (more, state) => {
    expect(stepsOf(row(more)).runState).toBe(state);
  });

  it('lead no further without the automation or its task', () => {
    expect(stepsOf(row({ is_active: null })).isBroken).toBe(true);
    expect(stepsOf(row({ task_id: null })).isBroken).toBe(true);
    expect(stepsOf(row({ task_id: null, ...ended, run_status: 'succeeded' })).isBroken).toBe(false);
    expect([stepsOf(null).next, stepsOf({ team_id: 't', team_name: 'T' }).next]).toEqual(['team', 'fill']);
  });
});

describe('a newcomer without scripts', () => {
  const current = async (browser: Browser) =>
    /aria-current="step">[^]*?<strong>([^<]*)</.exec((await browser.get('/app')).html)?.[1];

  it('comes from an empty home page to an approval of their own, which changes the task', async () => {
    const nora = await buildVisitor(app);
    const browser = await signIn(app, nora);
    expect(await current(browser)).toBe('Create a team');
    const created = await browser.post('/app/teams', { name: 'Harbour & sons' }, { from: '/app' });
    expect(created.headers.get('location')).toBe('/app');
    const path = /action="(\/app\/teams\/[^"]+)\/example"/.exec((await browser.get('/app')).html)?.[1] as string;
    expect((await browser.get(path)).html).toContain('Fill with an example project');
    expect(await current(browser)).toBe('Fill it with an example');
    await browser.post(`${path}/example`, {}, { from: '/app' });
    expect(await current(browser)).toBe('Enable its automation');
    await browser.post(`${path}/example/play`, { move: 'enable' }, { from: '/app' });
    expect(await current(browser)).toBe('Finish “Write the newsletter”');
    await worker.stop();
    await browser.post(`${path}/example/play`, { move: 'finish' }, { from: '/app' });
    expect(await current(browser)).toBe('Approve its changes');
    expect((await browser.get('/app')).html).toContain('The run starts. It asks for your approval in a moment.');
    await db()('tasks')
      .where({ title: 'Write the newsletter' })
      .update({ completed_at: new Date(Date.now() - 20_000) });
    expect(await current(browser)).toBe('Reopen “Write the newsletter”');
    worker = await runWorker(app);
    const link = await until(async () => /href="(\/app\/runs\/[^"]+)" role="button"/.exec((await browser.get('/app')).html)?.[1]);
    expect(await current(browser)).toBe('Approve its changes');
    const { html } = await browser.get(link);
    const runId = link.split('/').at(-1) as string;
    await worker.stop();
    await browser.post(`${link}/approve`, gateForm(html, runId), { from: link });
    const approved = (await browser.get('/app')).html;
    expect(approved).toContain('It was approved. The run is making its changes.');
    expect(approved).not.toContain('Read and decide');
    worker = await runWorker(app);
    const done = await until(async () => {
      const page = (await browser.get('/app?steps=all')).html;
      return page.includes('Approved, and done.') && page;
    });
    expect(done).toContain('5 of 5');
    // Nothing is left to do, so the home page has no steps any more.
    expect((await browser.get('/app')).html).not.toContain('First steps');
    expect(done).not.toMatch(/allow_self_approval|on its way/);
    expect(done).toContain('Harbour &amp; sons');
    const sent = await db()('tasks').where({ title: 'Send the newsletter', created_by: nora.user_id }).first();
    expect([sent.status, sent.priority]).toEqual(['in_progress', 'high']);
  });

  it('sees no steps as a guest', async () => {
    const guest = await signIn(app, await withPassword(team.guest));
    expect((await guest.get('/app')).html).not.toContain('First steps');
  });

  it('is told beside the page when a step is refused', async () => {
    const browser = await signIn(app, await withPassword(team.member));
    await browser.post(`/app/teams/${team.team_id}/example/play`, { move: 'finish' }, { from: '/app' });
    const { html } = await browser.get('/app');
    expect(html).toContain('Example');
    expect(html).toContain('notice bad');
    const wrong = await browser.post(`/app/teams/${team.team_id}/example/play`, { move: 'explode' }, { from: '/app' });
    expect(wrong.status).toBe(303);
  });
});

/** Gives all accounts the password of the tests. */
async function withPassword(person: Person): Promise<Person> {
  await buildVisitor(app);
  return person;
}
