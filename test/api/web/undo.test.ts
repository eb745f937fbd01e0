import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { createCycle } from '../work/cycles/support.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// Several changes taken back one after the other, and made again.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let taskId: string;
const BACK = '/app/cycles';
const db = () => app.services.db;
const row = () => db()('tasks').where({ task_id: taskId }).first();

/** What a notice offers: its text, the name of its button, and what that sends. */
const read = (html: string) => ({
  text: /class="notice[^>]*>.*?<span>(.*?)<\/span>/s.exec(html)?.[1] ?? '',
  button: /form="undo" class="link">(\w+)</.exec(html)?.[1],
  token: /name="undo" value="([^"]*)"/.exec(html)?.[1] ?? '',
  redoes: html.includes('name="redo" value="yes"'),
});
const send = async (path: string, form: Record<string, string | string[]>) => {
  const answer = await browser.post(path, { ...form, back: BACK }, { from: BACK });
  return read((await browser.get(answer.headers.get('location') ?? '')).html);
};
const change = async (what: string) =>
  send('/app/tasks/change', { task: `${(await row()).version as number}:${taskId}`, change: what });
const press = ({ token, redoes }: ReturnType<typeof read>) => send('/app/undo', { undo: token, ...(redoes && { redo: 'yes' }) });

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  taskId = (await buildTask(app, team, await buildProject(app, team), { title: 'Fix the crane' })).task_id;
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

it('the last change, then the ones before it, of other fields and of the same; each says which, and is made again', async () => {
  const cycle = await createCycle(app.as(team.member), { team_id: team.team_id, name: 'Spring' });
  const steps = [
    'priority:high',
    'status:done',
    'priority:urgent',
    `cycle:${cycle.cycle_id}`,
    'status:todo',
    'due_date:2031-05-01',
  ];
  const states = [await row()];
  const made = [];
  for (const step of steps) {
    made.push(await change(step));
    states.push(await row());
  }
  const pick = ({ status, priority, due_date, cycle_id }: Record<string, unknown>) => ({ status, priority, due_date, cycle_id });
  const undone = [];
  for (const [at, one] of [...made.entries()].reverse()) {
    const answer = await press(one);
    expect([answer.text, answer.button, answer.redoes]).toEqual([`The change was undone: ${one.text}`, 'Redo', true]);
    expect(pick(await row())).toEqual(pick(states[at] as Record<string, unknown>));
    undone.push(answer);
  }
  const again = [];
  for (const [at, one] of undone.reverse().entries()) {
    const answer = await press(one);
    expect([answer.text, answer.button, answer.redoes]).toEqual([
      `The change was made again: ${made[at]?.text ?? ''}`,
      'Undo',
      false,
    ]);
    expect(pick(await row())).toEqual(pick(states[at + 1] as Record<string, unknown>));
    again.push(answer);
  }
  for (const one of again.reverse()) expect((await press(one)).text).toContain('The change was undone');
  expect(pick(await row())).toEqual(pick(states[0] as Record<string, unknown>));
});

it('nothing that another has changed since, also beside it: which one it was is said, and earlier ones stay as they are', async () => {
  const first = await change('priority:high');
  const second = await change('status:in_review');
  await app.as(team.admin).patch(`/api/tasks/${taskId}`, { title: 'Fix it' });
  const refused = await press(second);
  expect(refused.text).toMatch(/^Nothing was undone\. Since version 3 title changed.* It was: Moved to In review · TEA-1\.$/);
  expect((await press(first)).text).toContain('It was: Priority is now high · TEA-1.');
  expect(await row()).toMatchObject({ status: 'in_review', priority: 'high' });
  /* Once the other change is taken back too, nothing stands in the way. */
  await app.as(team.admin).patch(`/api/tasks/${taskId}`, { title: 'Fix the crane' });
  expect((await press(second)).text).toBe('The change was undone: Moved to In review · TEA-1');
  expect((await press(first)).text).toBe('The change was undone: Priority is now high · TEA-1');
});

it('returns the status of a stage that has been deleted meanwhile', async () => {
  const made = await app.as(team.manager).post('/api/stages', { team_id: team.team_id, name: 'In QA', status: 'in_review' });
  expect(made.status).toBe(201);
  const { stage_id } = made.body;
  await change(`status:${stage_id as string}`);
  expect(await row()).toMatchObject({ status: 'in_review', stage_id });
  const done = await change('status:done');
  expect((await app.as(team.manager).delete(`/api/stages/${stage_id as string}`)).status).toBe(200);
  expect((await press(done)).text).toContain('The change was undone');
  expect(await row()).toMatchObject({ status: 'in_review', stage_id: null });
});

it('nothing that another has decided twice, and left as it was', async () => {
  const mine = await change('priority:high');
  for (const priority of ['low', 'high']) await app.as(team.admin).patch(`/api/tasks/${taskId}`, { priority });
  expect((await press(mine)).text).toMatch(/^Nothing was undone\. .* It was: Priority is now high · TEA-1\.$/);
  expect(await row()).toMatchObject({ priority: 'high' });
});

it('a new task whose later changes were undone, and one in the trash, both again and again', async () => {
  const { project_id } = await row();
  const answer = await browser.post(`/app/projects/${project_id as string}/tasks`, { text: 'Grease it' }, { from: '/app' });
  const added = read((await browser.get(answer.headers.get('location') ?? '')).html);
  taskId = (await db()('tasks').where({ title: 'Grease it', project_id }).first()).task_id;
  await press(await change('priority:high'));
  const undone = await press(added);
  expect([undone.text, (await row()).deleted_at === null]).toEqual([
    'The change was undone: Added “Grease it” · ' + added.text.split(' · ')[1],
    false,
  ]);
  const again = await press(undone);
  expect([again.text.startsWith('The change was made again'), (await row()).deleted_at]).toEqual([true, null]);
  expect([(await press(again)).redoes, (await row()).deleted_at === null]).toEqual([true, false]);
  expect((await press(again)).text).toContain('Nothing was undone');
});
