import { v7 as uuidv7 } from 'uuid';
import { MAX_EXPECTED } from '../../../api/work/tasks/rules.js';
import { buildAutomation } from '../../factories/automations.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../support/app.js';
import { openRelay } from '../../outbox/support.js';
import { finishImport, importText } from './import-support.js';
import { prepareImport } from '../../../api/bulk/import/prepare-import.js';

// Tasks of another product's file whose assignee has not joined: one note each, and the person gets them when they join.

let app: TestApp;
let team: TestTeam;
let manager: Client;
let email: string;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  manager = app.as(team.manager);
  email = `${uuidv7()}@uma.test`;
});

const db = () => app.services.db;
const HEAD = 'Issue key,Summary,Assignee,Issue Type,Status';
const run = (issues: [key: string, assignee: string][], fields: Record<string, unknown> = {}) =>
  importText(app, manager, team, [HEAD, ...issues.map(([key, who]) => `${key},${key} title,${who},Task,To Do`)].join('\n'), {
    format: 'jira_csv',
    ...fields,
  });
const invite = async (): Promise<string> =>
  (await app.as(team.admin).post(`/api/teams/${team.team_id}/members`, { email })).body.invitation_id;
async function signUp(): Promise<Person> {
  const person = await buildPerson(app);
  await db()('users').where({ user_id: person.user_id }).update({ email });
  return { ...person, email };
}
const assignees = async (): Promise<Record<string, string | null>> => {
  const tasks = (await manager.get(`/api/tasks?team_id=${team.team_id}`)).body as { title: string; assigned_to: string | null }[];
  return Object.fromEntries(tasks.map(({ title, assigned_to }) => [title.split(' ')[0] as string, assigned_to]));
};
const idOf = async (key: string): Promise<string> =>
  (
    await db()('tasks')
      .where({ team_id: team.team_id, title: `${key} title` })
      .first()
  ).task_id;
const kept = async () => Number((await db()('expected_assignees').where({ team_id: team.team_id }).count())[0]?.['count']);

it('says of each assignee who is no member how many tasks they have, once', async () => {
  const job = await run([
    ['A-1', email],
    ['A-2', 'Nobody Known'],
    ['A-3', email.toUpperCase()],
    ['A-4', team.member.email],
  ]);
  expect(job).toMatchObject({ status: 'succeeded', noted: 2 });
  expect(job.notes).toEqual([
    {
      line: 2,
      entity: 'task',
      message: `The file assigns 2 tasks to ${email}, who is no member of the team: they get them when they join with this address`,
    },
    { line: 3, entity: 'task', message: expect.stringContaining('assigns 1 task to “Nobody Known”, who is no member') },
  ]);
  expect(await kept()).toBe(2);
});

it('gives the tasks to the person who accepts, unless their assignee was changed since', async () => {
  const { automation_id } = await buildAutomation(app, team, {
    trigger_type: 'task.updated',
    actions: [{ type: 'add_comment', params: { content: 'Hello' } }],
  });
  await run(['A-1', 'A-2', 'A-3', 'A-4'].map((key) => [key, email]));
  const [second, third, fourth] = await Promise.all(['A-2', 'A-3', 'A-4'].map(idOf));
  await manager.patch(`/api/tasks/${second}`, { assigned_to: team.member.user_id });
  // Changed and changed back: the team has decided.
  await manager.patch(`/api/tasks/${third}`, { assigned_to: team.member.user_id });
  await manager.patch(`/api/tasks/${third}`, { assigned_to: null });
  await manager.delete(`/api/tasks/${fourth}`);

  const id = await invite();
  const uma = await signUp();
  expect((await app.as(uma).post(`/api/invitations/${id}/accept`)).status).toBe(200);
  expect(await assignees()).toEqual({ 'A-1': uma.user_id, 'A-2': team.member.user_id, 'A-3': null });
  expect(await kept()).toBe(0);

  const first = await idOf('A-1');
  const [entry] = await db()('audit_entries').where({ entity_id: first, user_id: uma.user_id });
  expect(JSON.parse(entry.details)).toMatchObject({
    imported: true,
    changes: { assigned_to: { from: null, to: uma.user_id } },
  });
  const { body } = await manager.get(`/api/activity?team_id=${team.team_id}`);
  expect(body).toContainEqual(
    expect.objectContaining({ entity_id: first, summary: 'assigned the task to the new member, as its import says' }),
  );
  const relay = openRelay(app);
  await relay.drain();
  await relay.close();
  const runs = await db()('automation_runs').where({ automation_id }).select('event');
  // Only the changes that people made here.
  expect(runs.map(({ event }): string => event.task.title).toSorted()).toEqual(['A-2 title', 'A-3 title', 'A-3 title']);
});

it('gives the tasks at once to the person who joined while the file was written', async () => {
  const data = `${HEAD}\nA-1,A-1 title,${email},Task,To Do`;
  const asked = { team_id: team.team_id, format: 'jira_csv', data };
  const { job_id } = (await manager.post('/api/bulk/import', asked)).body;
  await prepareImport(app.services, job_id, new AbortController().signal);
  const id = await invite();
  const uma = await signUp();
  expect((await app.as(uma).post(`/api/invitations/${id}/accept`)).status).toBe(200);
  await finishImport(app, job_id);
  expect([await assignees(), await kept()]).toEqual([{ 'A-1': uma.user_id }, 0]);
});

it('gives nothing to a person with another address', async () => {
  await run([['A-1', email]]);
  const other = await buildPerson(app);
  const id = (await app.as(team.admin).post(`/api/teams/${team.team_id}/members`, { email: other.email })).body.invitation_id;
  expect((await app.as(other).post(`/api/invitations/${id}/accept`)).status).toBe(200);
  expect(await assignees()).toEqual({ 'A-1': null });
  expect(await kept()).toBe(1);
});

it('forgets them with the invitation that is revoked or declined', async () => {
  await run([['A-1', email]]);
  await app.as(team.admin).delete(`/api/teams/${team.team_id}/invitations/${await invite()}`);
  expect(await kept()).toBe(0);
  await run([['A-2', email]]);
  const uma = await signUp();
  await app.as(uma).post(`/api/invitations/${await invite()}/decline`);
  expect(await kept()).toBe(0);
});

it('keeps no more of them than a person gets in one transaction', async () => {
  const job = await run(Array.from({ length: MAX_EXPECTED + 20 }, (_one, nth) => [`A-${nth}`, email]));
  expect(job.notes[0].message).toContain(`they get the first ${MAX_EXPECTED} when they join`);
  expect(await kept()).toBe(MAX_EXPECTED);
});

it('keeps nothing for tasks of another team, whatever the file says', async () => {
  const other = await buildTeam(app);
  const task = await buildTask(app, other, await buildProject(app, other));
  const record = { entity: 'task', task_id: task.task_id, title: 'mine', expected_assignee: email };
  await importText(app, manager, team, JSON.stringify(record), { on_conflict: 'update' });
  expect(await db()('expected_assignees').where({ task_id: task.task_id })).toEqual([]);
});
