import { buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { givePasswords, signIn } from '../browser.js';

// The address of an automation, as a browser without scripts makes, replaces and removes it.

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
});

async function create(person: Person, fields: object = {}): Promise<string> {
  const body = { name: 'On call', trigger_type: 'webhook', team_id: team.team_id, actions: [], ...fields };
  return `/app/automations/${(await app.as(person).post('/api/automations', body)).body.automation_id}`;
}
/** The address that a page shows, as a path. */
const addressIn = (html: string): string => (/<code id="secret">https?:\/\/[^/]+([^<]+)<\/code>/.exec(html)?.[1] ?? '') as string;
const hidden = (html: string, name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';

it('is made, called, replaced and removed; no page shows it again', async () => {
  const path = await create(team.member);
  const browser = await signIn(app, team.member);
  const before = (await browser.get(path)).html;
  expect(before).toContain('A call of its address starts the automation. It has none yet.');
  const made = await browser.post(`${path}/address`, { replaces: hidden(before, 'replaces') }, { from: path });
  expect([made.status, made.html.includes('Copy it now')]).toEqual([200, true]);
  const first = addressIn(made.html);
  expect(made.html).toContain(`curl &quot;`);
  expect((await app.as().post(first, { title: 'x' })).status).toBe(202);
  const shown = (await browser.get(path)).html;
  expect(shown).toContain('Made by you');
  expect(shown).toContain('1 call, the last');
  expect(shown).toContain('Started by a call to its address');
  expect(shown).not.toContain('svc_hook_');
  // Another tab still shows that there is none.
  const late = await browser.post(`${path}/address`, { replaces: '' }, { from: path });
  expect(late.status).toBe(303);
  const replaced = await browser.post(`${path}/address`, { replaces: hidden(shown, 'replaces') }, { from: path });
  expect(replaced.html).toContain('The one before no longer works.');
  expect((await app.as().post(first, {})).status).toBe(404);
  const second = addressIn(replaced.html);
  await app.as().post(second, undefined, { raw: '{' });
  expect((await browser.get(path)).html).toContain('The body is not valid JSON');
  expect((await browser.post(`${path}/address/remove`, {}, { from: path })).status).toBe(303);
  expect((await app.as().post(second, {})).status).toBe(404);
  expect((await browser.get(path)).html).toContain('It has none yet.');
});

it('is offered to those alone who may make it, and only for its trigger', async () => {
  const path = await create(team.manager);
  const other = await create(team.manager, { trigger_type: 'manual' });
  const offers = async (person: Person, at: string) => (await (await signIn(app, person)).get(at)).html.includes(`${at}/address`);
  expect(await offers(team.manager, path)).toBe(true);
  expect(await offers(team.member, path)).toBe(false);
  expect(await offers(team.manager, other)).toBe(false);
  const member = await signIn(app, team.member);
  await member.post(`${path}/address`, { replaces: '' }, { from: path });
  expect((await app.as(team.manager).get(`${path.replace('/app', '/api')}/hook`)).status).toBe(404);
});

it('a gate and a run say that the caller gave the event, and show nothing of it as a fact', async () => {
  const gate = { type: 'require_approval', params: { message: 'Go on?', role: 'member' } };
  const path = await create(team.member, { actions: [gate] });
  const { body } = await app.as(team.member).post(`${path.replace('/app', '/api')}/hook`, {});
  await app.as().post(new URL(body.url).pathname, { title: 'Forged title', task: { task_id: 'x', title: 'Forged title' } });
  const [run] = (await app.as(team.member).get(`${path.replace('/app', '/api')}/runs`)).body;
  const { html } = await (await signIn(app, team.manager)).get(`/app/runs/${run.run_id}`);
  expect(html).toContain('Started by a call to its address. Its caller is not known and gave the event');
  const dryRun = (await (await signIn(app, team.member)).get(`${path}/dry-run`)).html;
  expect(dryRun).toContain(`value="${run.run_id}" checked`);
  expect(html.replace(/<pre>.*?<\/pre>/s, '')).not.toContain('Forged title');
});
