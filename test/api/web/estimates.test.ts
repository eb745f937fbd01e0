import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
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
    await build();
    const { html } = await browser.get(path);
    expect(html.match(/value="estimate:/g)).toHaveLength(1);
    expect(html).toMatch(new RegExp(`value="estimate:1:${task_id}"[^>]*>3 points</button>`));
    const chooser = await browser.get(`/app/tasks/change?pick=estimate:1:${task_id}&back=${path}`);
    expect(chooser.html).toContain('<bdi>Set estimate to 3 points</bdi> <small>now</small>');
    const form = { task: `1:${task_id}`, change: 'estimate:5', back: path };
    expect(await follow('/app/tasks/change', form, path)).toContain('The estimate is now 5 points');
    expect((await browser.get(`${path}/board`)).html).toContain('5 points');
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
