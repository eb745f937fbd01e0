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
