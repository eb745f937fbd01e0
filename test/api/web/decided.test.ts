/** The tab of the approvals with what was decided. */
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { about, buildRequest } from '../../factories/requests.js';
import { buildRun, GATE } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

let app: TestApp;
let team: TestTeam;
let manager: Browser;
let guest: Browser;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  await givePasswords(app);
  [manager, guest] = [await signIn(app, team.manager), await signIn(app, team.guest)];
  const { task_id } = await buildTask(app, team, await buildProject(app, team), { title: 'Scale the queue' });
  const message = { ...GATE, params: { message: 'For the sale on Friday' } };
  const actions = [message, { type: 'set_task_status', params: { task_id, status: 'done' } }];
  const { run_id } = await buildRun(app, team, { actions });
  const gate = (await app.as(team.manager).get(`/api/approvals/gate/${run_id}`)).body;
  const yes = { staged_hash: gate.staged_hash, comment: 'Eight is enough' };
  await app.as(team.manager).post(`/api/automations/runs/${run_id}/approve`, yes);
  await about(app.as(team.member), await buildRequest(app, team, team.member)).cancel();
});
afterAll(() => app.close());

const PATH = '/app/approvals/decided';

it('says who decided what was asked, with their words and what came of it', async () => {
  const { html } = await manager.get(PATH);
  const text = html.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
  expect(text).toMatch(
    /Close \S+ “Scale the queue”\?.*You · .*Deploy on merge.*Asked: For the sale on Friday.*“Eight is enough”.*The run goes on\..*Approved/,
  );
  expect(text).toMatch(/Release 4\.2.*change request.*Withdrawn/);
  expect(html).toMatch(/<a href="\/app\/approvals\/decided" aria-current="page">Decided<\/a>/);
  expect((await manager.get('/app/approvals')).html).toContain(`href="${PATH}"`);
});

it('filters, and shows a guest no change request', async () => {
  const rows = async (browser: Browser, query: string) =>
    ((await browser.get(`${PATH}?${query}`)).html.match(/<li><div>/g) ?? []).length;
  expect(await rows(manager, '')).toBe(2);
  expect(await rows(manager, `person=${team.manager.user_id}`)).toBe(1);
  expect(await rows(manager, 'kind=request')).toBe(1);
  expect(await rows(manager, `team=${team.team_id}&until=2099-01-01`)).toBe(2);
  expect(await rows(manager, 'until=2020-01-01')).toBe(0);
  expect(await rows(manager, 'person=nobody&kind=x&until=x&after=x&team=x')).toBe(2);
  expect(await rows(guest, '')).toBe(1);
});

it('says why a run failed, cut and with what hides in it written out', async () => {
  const { run_id } = await buildRun(app, team, { actions: [GATE] as never[] });
  await app.as(team.manager).post(`/api/automations/runs/${run_id}/approve`, {});
  const end = (error: object | null) =>
    app.services
      .db('automation_runs')
      .where({ run_id })
      .update({ status: 'failed', finished_at: new Date(), error: error && JSON.stringify(error) });
  await end({ code: 'x', message: `<b>No\u202E</b> answer. ${'long '.repeat(100)}END` });
  const { html } = await manager.get(PATH);
  expect(html).toMatch(/The run failed: (&lt;b&gt;)?No/);
  expect(html).not.toMatch(/<b>No|END|\u202E/);
  expect((await manager.get(`/app/runs/${run_id}`)).html).toContain('answer. long');
  await end(null);
  expect((await manager.get(PATH)).html).toContain('The run failed</bdi>.');
  await app.services
    .db('run_actions')
    .where({ run_id })
    .update({ status: 'failed', error: JSON.stringify({ code: 'y', message: 'The host is gone.' }) });
  expect((await manager.get(PATH)).html).toContain('The run failed: The host is gone</bdi>.');
  expect((await manager.get(`/app/runs/${run_id}`)).html).toMatch(/class="notice bad">[\s\S]*?The host is gone/);
});
