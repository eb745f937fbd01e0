import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { createCycle, insertTasks } from '../work/cycles/support.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// Estimates in points on pages. Where no task has one, nothing is said of them.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let project: { project_id: string };
let path: string;
const follow = async (address: string, form: Record<string, string | string[]>, from = address) => {
  const answer = await browser.post(address, form, { from });
  return (await browser.get(answer.headers.get('location') as string)).html;
};
const build = (fields: Record<string, unknown> = {}) => buildTask(app, team, project, fields);

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  path = `/app/projects/${project.project_id}`;
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

describe('a row', () => {
  it('says how large its task is, and opens the chooser', async () => {
    const { task_id } = await build({ estimate: 3 });
    const { html } = await browser.get(path);
    expect(html.match(/value="estimate:/g)).toHaveLength(1);
    expect(html).toMatch(new RegExp(`value="estimate:1:${task_id}"[^>]*>3 points</button>`));
    const chooser = await browser.get(`/app/tasks/change?pick=estimate:1:${task_id}&back=${path}`);
    expect(chooser.html).toMatch(/<bdi>Set estimate to 3 points<\/bdi> <svg.*?<\/svg><span class="unseen">, now<\/span>/);
    const form = { task: `1:${task_id}`, change: 'estimate:5', back: path };
    expect(await follow('/app/tasks/change', form, path)).toContain('The estimate is now 5 points');
    expect((await browser.get(`${path}/board`)).html).toContain('5 points');
  });

  it('offers an estimate where others of the list have one', async () => {
    const { task_id } = await build();
    const offer = `value="estimate:1:${task_id}" class="chip none estimate" title="Set estimate" aria-label="No estimate"`;
    expect((await browser.get(path)).html).not.toContain('value="estimate:');
    await build({ estimate: 0 });
    const { html } = await browser.get(path);
    expect([html.includes(offer), html.includes('0 points</button>')]).toEqual([true, true]);
  });
});

describe('a line for a new task', () => {
  it('may say its points, which the line below it repeats', async () => {
    const query = new URLSearchParams({ project_id: project.project_id, text: 'Fix the crane 3pt !high' });
    expect((await browser.get(`/app/tasks/line?${String(query)}`)).html).toContain('<span class="chip">3 points</span>');
    const html = await follow(`${path}/tasks`, { text: 'Fix the crane 3 points !high' }, path);
    expect(html).toContain('Added “Fix the crane” · high · 3 points');
    const [task] = (await app.as(team.member).get(`/api/tasks?project_id=${project.project_id}`)).body;
    expect(task).toMatchObject({ title: 'Fix the crane', estimate: 3, estimated_hours: null });
    const large = await browser.post(`${path}/tasks`, { text: 'Fix it 1000pt' }, { from: path });
    expect([large.status, large.html.includes('Estimate: ')]).toEqual([422, true]);
  });
});

/** 12 of 30 points are done; 99 are canceled. Of three open tasks without an estimate, one has a subtask. */
async function buildEstimated(): Promise<string[]> {
  const [parent = '', ...ids] = await insertTasks(app, team, project, [
    { title: 'Parent' },
    { estimate: 8, status: 'done' },
    { estimate: 4, status: 'done' },
    { estimate: 13 },
    { estimate: 5, status: 'in_progress' },
    { estimate: 99, status: 'done', resolution: 'canceled' },
    { title: 'Unestimated' },
    { status: 'done' },
  ]);
  const [child = ''] = await insertTasks(app, team, project, [{ parent_task_id: parent }]);
  return [parent, child, ...ids];
}

describe('sums', () => {
  it('are said of a project, of columns and of groups', async () => {
    await buildEstimated();
    expect((await browser.get(path)).html).toContain('12 of 30 points done, 2 open tasks without estimate');
    const heads = (html: string) => [...html.matchAll(/<span class="aside">([^<]*)<\/span><\/h2>/g)].map(([, text]) => text);
    expect(heads((await browser.get(`${path}/board`)).html)).toEqual(['4 · 13 points', '1 · 5 points', '0', '4 · 12 points']);
    const grouped = heads((await browser.get(`${path}?show=all&group=status`)).html);
    expect(grouped).toEqual(['4 · 13 points', '1 · 5 points', '4 · 12 points']);
    const view = { name: 'V', entity_type: 'task', team_id: team.team_id, layout: 'board' };
    const { body } = await app.as(team.member).post('/api/saved-views', view);
    expect(heads((await browser.get(`/app/views/${body.view_id as string}`)).html)).toContain('4 · 12 points');
    await app.as(team.member).patch(`/api/saved-views/${body.view_id as string}`, { group_by: 'status', layout: 'list' });
    const groups = await app.as(team.member).get(`/api/saved-views/${body.view_id as string}/groups`);
    expect(groups.body).toEqual([
      { key: 'todo', count: 4, estimate: 13 },
      { key: 'in_progress', count: 1, estimate: 5 },
      { key: 'done', count: 4, estimate: 12 },
    ]);
  });

  it('are not said where no task has an estimate', async () => {
    const { task_id } = await build();
    const { cycle_id } = await createCycle(app.as(team.member), project);
    await app.as(team.member).post(`/api/sprints/${cycle_id}/tasks`, { task_ids: [task_id] });
    const said = async (): Promise<boolean[]> => {
      const pages = [path, `${path}/board`, `${path}?group=status`, `/app/cycles/${cycle_id}`, `/app/cycles/${cycle_id}/board`];
      // The page lists its key, for those who want to begin.
      return Promise.all(
        pages.map(async (each) =>
          /\bpoints?\b|without estimate/i.test((await browser.get(each)).html.split('<main')[1]?.split('</main>')[0] ?? 'point'),
        ),
      );
    };
    expect(await said()).toEqual([false, false, false, false, false]);
    await app.as(team.member).post(`/api/sprints/${cycle_id}/start`, {});
    expect(await said()).toEqual([false, false, false, false, false]);
    await app.as(team.member).patch(`/api/tasks/${task_id}`, { estimate: 1 });
    expect(await said()).toEqual([true, true, true, true, true]);
  });
});

describe('the page of a cycle', () => {
  it('says the points of its tasks, and how much the last three cycles completed', async () => {
    const member = app.as(team.member);
    const ids = await buildEstimated();
    for (const points of [100, 20, 21, 25]) {
      const [done = ''] = await insertTasks(app, team, project, [{ estimate: points, status: 'done' }]);
      const { cycle_id } = await createCycle(member, project);
      await member.post(`/api/sprints/${cycle_id}/tasks`, { task_ids: [done] });
      await member.post(`/api/sprints/${cycle_id}/start`, {});
      await member.post(`/api/sprints/${cycle_id}/complete`, {});
    }
    const { cycle_id } = await createCycle(member, project);
    await member.post(`/api/sprints/${cycle_id}/tasks`, { task_ids: ids });
    const page = async (): Promise<string> => (await browser.get(`/app/cycles/${cycle_id}`)).html;
    const velocity = 'The last 3 cycles completed 20, 21, and 25 points, 22 on average.';
    const planned = await page();
    expect([planned.includes('<dt>Points</dt><dd>30</dd>'), planned.includes(velocity)]).toEqual([true, true]);
    await member.post(`/api/sprints/${cycle_id}/start`, {});
    const active = await page();
    expect(active).toContain('<dt>Points completed</dt><dd>12 of 30</dd>');
    expect(active).toContain(`2 open tasks without estimate. ${velocity}`);
    const { body } = await member.get(`/api/sprints/${cycle_id}/report`);
    expect(body.days.at(-1)).toMatchObject({ estimate: 18 });
    const burn = async (query: string) =>
      /Burn-down\. On the last of 1 days (\d+ of the \w+)/.exec((await browser.get(`/app/cycles/${cycle_id}${query}`)).html)?.[1];
    expect([await burn(''), await burn('?burn=points'), await burn('?burn=x')]).toEqual([
      `${body.days.at(-1).remaining} of the tasks`,
      '18 of the points',
      `${body.days.at(-1).remaining} of the tasks`,
    ]);
    await member.post(`/api/sprints/${cycle_id}/complete`, {});
    const completed = await page();
    expect(completed).toContain('<dt>Points completed</dt><dd>12 of 30</dd>');
    expect(completed).not.toContain('on average');
  });
});
