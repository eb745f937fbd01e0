import { createField, setFields } from '../../factories/custom-fields.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

let app: TestApp;
let team: TestTeam;
let task: { task_id: string };
const open = (person: Person): Promise<Browser> => signIn(app, person);
/** Sends a form of the page at `from`, and follows the redirect. */
async function submit(browser: Browser, from: string, form: Record<string, string>, action = from) {
  const answer = await browser.post(action, form, { from });
  return answer.status === 303 ? browser.get(answer.headers.get('location') as string) : answer;
}
const values = async () => {
  const { body } = await app.as(team.guest).get(`/api/custom-fields/values?entity_type=task&entity_id=${task.task_id}`);
  return Object.fromEntries(body.map(({ key, value }: { key: string; value: unknown }) => [key, value]));
};

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  task = await buildTask(app, team, await buildProject(app, team));
});

it('creates, archives, restores and deletes fields of a team', async () => {
  const browser = await open(team.manager);
  const path = `/app/teams/${team.team_id}/fields`;
  expect((await browser.get(path)).html).toContain('No custom fields yet');
  const form = { name: 'Severity', field_type: 'select', entity_type: 'task', options: 'high\r\n low \r\n\r\n', required: 'yes' };
  const created = await submit(browser, path, form);
  expect(created.html).toContain('Severity was created with the key severity.');
  const [field] = (await app.as(team.guest).get(`/api/custom-fields?team_id=${team.team_id}`)).body;
  expect(field).toMatchObject({ required: true, options: [{ value: 'high' }, { value: 'low' }] });
  const refused = await submit(browser, path, { ...form, options: '' });
  expect([refused.status, refused.html.includes('at least 1 item')]).toEqual([422, true]);
  expect((await submit(browser, path, { is_archived: 'true' }, `${path}/${field.field_id}/archive`)).html).toContain(
    'Severity was archived.',
  );
  expect((await submit(browser, path, { is_archived: 'false' }, `${path}/${field.field_id}/archive`)).html).toContain(
    'Severity was restored.',
  );
  expect((await submit(browser, path, {}, `${path}/${field.field_id}/delete`)).html).toContain(
    'The field and 0 values were deleted.',
  );
  const reader = await (await open(team.member)).get(path);
  expect([reader.status, reader.html.includes('New field')]).toEqual([200, false]);
});

it('edits a field: its name, its choices with colors, and its place, and replaces no change of another manager', async () => {
  const list = async () => (await app.as(team.guest).get(`/api/custom-fields?team_id=${team.team_id}`)).body;
  const id = (await createField(app, team, 'select', { name: 'Severity', options: [{ value: 'high' }, { value: 'low' }] }))
    .field_id;
  const browser = await open(team.manager);
  const path = `/app/teams/${team.team_id}/fields`;
  const shownOf = async () => {
    const { html } = await browser.get(`${path}/${id}`);
    const text = /name="shown" value="([^"]*)"/.exec(html)?.[1] as string;
    return text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>');
  };
  const shown = await shownOf();
  const form = {
    shown,
    name: 'Impact',
    'o0.label': 'Very <b>high</b>',
    'o0.color': '#b3261e',
    'o1.label': ' ',
    more: 'none\r\n',
  };
  expect((await submit(browser, `${path}/${id}`, form)).html).toContain('Impact was changed.');
  const options = [
    { value: 'high', label: 'Very <b>high</b>', color: '#b3261e' },
    { value: 'none', label: 'none', color: null },
  ];
  expect((await list())[0]).toMatchObject({ name: 'Impact', key: 'severity', required: false, options });
  // The page of before: somebody else's change stays, and what was typed is shown again.
  const stale = await submit(browser, `${path}/${id}`, { ...form, name: 'Mine' });
  expect([stale.status, stale.html.includes('was changed after you opened'), stale.html.includes('value="Mine"')]).toEqual([
    409,
    true,
    true,
  ]);
  const now = await shownOf();
  for (const wrong of [
    { 'o0.label': '', more: '' },
    { 'o0.label': 'x', more: 'high' },
    { 'o0.label': 'x', 'o0.color': 'red;background:url(x)', more: '' },
    { 'o0.label': 'x'.repeat(81) },
    { 'o0.label': 'x', shown: '{' },
  ])
    expect((await submit(browser, `${path}/${id}`, { shown: now, name: 'Impact', ...wrong })).status).toBe(422);
  expect((await list())[0]).toMatchObject({ name: 'Impact', options });
  const member = await open(team.member);
  expect([(await member.get(`${path}/${id}`)).status, (await submit(member, path, form, `${path}/${id}`)).status]).toEqual([
    403, 403,
  ]);
});

it('moves fields up and down, past archived ones and those of projects', async () => {
  const names = async () =>
    (await app.as(team.guest).get(`/api/custom-fields?team_id=${team.team_id}&entity_type=task`)).body.map(
      ({ name }: { name: string }) => name,
    );
  const make = async (name: string, more = {}) => (await createField(app, team, 'text', { name, ...more })).field_id;
  const [first] = [await make('First', { position: 7 }), await make('Other', { entity_type: 'project', position: 7 })];
  const gone = await make('Gone', { position: 7 });
  const last = await make('Last', { position: 7 });
  await app.as(team.manager).patch(`/api/custom-fields/${gone}`, { is_archived: true });
  const browser = await open(team.manager);
  const path = `/app/teams/${team.team_id}/fields`;
  const move = (id: string, to: string) => submit(browser, path, { to }, `${path}/${id}/move`);
  await move(last, 'up');
  expect(await names()).toEqual(['Last', 'Gone', 'First']);
  // At an end it stays, and many at once leave an order in which each field stands once.
  await move(last, 'up');
  expect(await names()).toEqual(['Last', 'Gone', 'First']);
  await Promise.all([move(last, 'down'), move(first, 'up'), move(last, 'up'), move(first, 'down')]);
  expect((await names()).toSorted()).toEqual(['First', 'Gone', 'Last']);
  const stranger = await buildTeam(app);
  await givePasswords(app);
  expect((await submit(await open(stranger.manager), '/app', { to: 'up' }, `${path}/${last}/move`)).status).toBe(403);
});

it('shows and sets the values of a task, and keeps concurrent changes of others', async () => {
  const points = await createField(app, team, 'number', { name: 'Points' });
  const text = await createField(app, team, 'text', { name: 'Cause' });
  const labels = await createField(app, team, 'multi_select', { name: 'Labels' });
  await setFields(app, team, [{ field: text, task_id: task.task_id, value: 'two\nlines' }]);
  const browser = await open(team.member);
  const path = `/app/items/${task.task_id}`;
  const shown = await browser.get(path);
  expect(shown.html).toContain('aria-label="Custom fields"');
  // Somebody else sets the cause while the form is open.
  await setFields(app, team, [{ field: text, task_id: task.task_id, value: 'three' }]);
  const form = {
    [`was-${points.field_id}`]: '',
    [`field-${points.field_id}`]: '3',
    [`was-${text.field_id}`]: 'two\r\nlines',
    [`field-${text.field_id}`]: 'two\r\nlines',
    [`was-${labels.field_id}`]: '',
    [`field-${labels.field_id}`]: 'low',
  };
  const saved = await submit(browser, path, form, `${path}/fields`);
  expect(saved.html).toContain('Points and Labels changed');
  expect(await values()).toEqual({ points: 3, cause: 'three', labels: ['low'] });
  const wrong = await submit(
    browser,
    path,
    { [`was-${points.field_id}`]: '3', [`field-${points.field_id}`]: 'many' },
    `${path}/fields`,
  );
  expect([wrong.status, wrong.html.includes('>Points must be a number</small>'), wrong.html.includes('value="many"')]).toEqual([
    422,
    true,
    true,
  ]);
  const cleared = { [`was-${labels.field_id}`]: 'low', [`was-${points.field_id}`]: '3', [`field-${points.field_id}`]: '' };
  await submit(browser, path, cleared, `${path}/fields`);
  expect(await values()).toEqual({ cause: 'three' });
});

it('says at its field that a required one may not be emptied, and gives the earlier values back', async () => {
  const cause = await createField(app, team, 'text', { name: 'Cause', required: true });
  const grade = await createField(app, team, 'select', { name: 'Grade' });
  await setFields(app, team, [
    { field: cause, task_id: task.task_id, value: 'rain' },
    { field: grade, task_id: task.task_id, value: 'high' },
  ]);
  const browser = await open(team.member);
  const path = `/app/items/${task.task_id}`;
  const change = (field: { field_id: string }, was: string, now: string) =>
    submit(browser, path, { [`was-${field.field_id}`]: was, [`field-${field.field_id}`]: now }, `${path}/fields`);
  const emptied = await change(cause, 'rain', '');
  expect([emptied.status, emptied.html.includes('>Cause is required</small>'), await values()]).toEqual([
    422,
    true,
    { cause: 'rain', grade: 'high' },
  ]);
  const changed = await change(grade, 'high', 'low');
  const undo = /name="undo" value="([^"]+)"/.exec(changed.html)?.[1] ?? '';
  expect([changed.html.includes('Grade changed'), await values()]).toEqual([true, { cause: 'rain', grade: 'low' }]);
  const undone = await submit(browser, path, { undo, back: path }, '/app/undo');
  expect([undone.html.includes('The change was undone: Grade changed'), await values()]).toEqual([
    true,
    { cause: 'rain', grade: 'high' },
  ]);
  const late = await submit(browser, path, { undo, back: path }, '/app/undo');
  expect([late.html.includes('The field has changed since'), await values()]).toEqual([true, { cause: 'rain', grade: 'high' }]);
});

it('shows its values to a guest, and the value of an archived field to all', async () => {
  const old = await createField(app, team, 'text', { name: 'Former cause' });
  await setFields(app, team, [{ field: old, task_id: task.task_id, value: 'rain' }]);
  await app.as(team.manager).patch(`/api/custom-fields/${old.field_id}`, { is_archived: true });
  await createField(app, team, 'number', { name: 'Cost' });
  for (const [person, edits] of [
    [team.guest, false],
    [team.member, true],
  ] as const) {
    const { html } = await (await open(person)).get(`/app/items/${task.task_id}`);
    expect(['Former cause', 'rain', 'Cost'].filter((text) => !html.includes(text))).toEqual([]);
    expect(html.includes('id="form-fields"')).toBe(edits);
  }
});
