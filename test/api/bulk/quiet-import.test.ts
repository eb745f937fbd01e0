import { importBatch } from '../../../api/bulk/import/import-batch.js';
import { prepareImport } from '../../../api/bulk/import/prepare-import.js';
import { writeNotices } from '../../../api/work/notifications/write-notices.js';
import { buildAutomation } from '../../factories/automations.js';
import { buildProject, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../support/app.js';
import { openRelay } from '../../outbox/support.js';
import { finishImport, importText, ndjson } from './import-support.js';

// An import that a team can do on its first day: it starts nothing, tells each assignee once, and keeps the order of its file.

let app: TestApp;
let team: TestTeam;
let project_id: string;
let manager: Client;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  ({ project_id } = await buildProject(app, team));
  manager = app.as(team.manager);
});

const db = () => app.services.db;
const run = (records: object[], fields: Record<string, unknown> = {}) =>
  importText(app, manager, team, ndjson(records), { project_id, ...fields });
const unique = (name: string): string => `${name}-${project_id.slice(-8)}`;
const task = (id: string, fields: object = {}) => ({ entity: 'task', task_id: unique(id), title: id, ...fields });
const notices = async (person: Person): Promise<{ kind: string; message: string }[]> => {
  while ((await writeNotices(app.services)) > 0);
  return (await app.as(person).get('/api/notifications')).body;
};
const numbers = async (): Promise<string[]> =>
  db()('tasks').where({ team_id: team.team_id }).orderBy('number').pluck('title') as unknown as Promise<string[]>;
/** Runs of the automation, when the relay has done all that is due. */
async function countRuns(automation_id: string): Promise<number> {
  const relay = openRelay(app);
  await relay.drain();
  await relay.close();
  return (await db()('automation_runs').where({ automation_id })).length;
}

it('numbers tasks in the order of the file, parents and children alike, and leaves no gap', async () => {
  const names = ['one', 'child', 'two', 'grandchild', 'three', 'parent', 'four'];
  const parents: Record<string, string> = { child: 'parent', grandchild: 'child' };
  const records = names.map((name) => task(name, parents[name] ? { parent_task_id: unique(parents[name]) } : {}));
  await run(records);
  expect(await numbers()).toEqual(names);
  // A second import of the same file takes no numbers.
  await run([...records, task('five', { parent_task_id: unique('one') })], { on_conflict: 'skip' });
  const taken = await db()('tasks').where({ team_id: team.team_id }).orderBy('number').pluck<number[]>('number');
  expect(Number(taken.at(-1)) - Number(taken[0])).toBe(names.length);
});

it('numbers a flat file in its order over several transactions', async () => {
  const names = Array.from({ length: 620 }, (_one, index) => `t${index}`);
  await run(names.map((name) => ({ entity: 'task', title: name })));
  expect(await numbers()).toEqual(names);
});

it('keeps when tasks were created and completed, but no time to come', async () => {
  await run([
    task('old', { created_at: '2024-03-01T08:00:00.000Z', completed_at: '2024-04-01T08:00:00.000Z', status: 'done' }),
    task('odd', { created_at: 'yesterday', completed_at: '2020-01-01T00:00:00Z', status: 'done' }),
    task('later', { created_at: '2999-01-01T00:00:00Z' }),
  ]);
  const get = async (id: string) => (await manager.get(`/api/tasks/${unique(id)}`)).body;
  expect(await get('old')).toMatchObject({ created_at: '2024-03-01T08:00:00.000Z', completed_at: '2024-04-01T08:00:00.000Z' });
  const odd = await get('odd');
  expect(odd.completed_at >= odd.created_at).toBe(true);
  expect((await get('later')).created_at < '2990').toBe(true);
});

it('starts no automation, unless the importer asks for it', async () => {
  const { automation_id } = await buildAutomation(app, team, {
    actions: [{ type: 'add_comment', params: { content: 'Hello' } }],
  });
  await run([task('a'), task('b')]);
  expect(await countRuns(automation_id)).toBe(0);
  await run([task('c')], { run_automations: true });
  expect(await countRuns(automation_id)).toBe(1);
  await manager.post('/api/tasks', { project_id, title: 'By hand' });
  expect(await countRuns(automation_id)).toBe(2);
  // Pages follow the rows all the same.
  expect(await db()('live_changes').where({ owner_id: team.team_id, entity_type: 'task', action: 'create' })).toHaveLength(4);
});

it('tells each assignee once, and whom texts mention not at all', async () => {
  const { member, admin } = team;
  const name = (await db()('users').where({ user_id: team.manager.user_id }).first()).display_name;
  await run([
    ...['a', 'b', 'c'].map((id) => task(id, { assigned_to: member.user_id, description: `@${admin.user_id}` })),
    task('d', { assigned_to: admin.user_id }),
    task('e', { assigned_to: team.manager.user_id }),
    { entity: 'comment', task_id: unique('a'), content: 'For everyone' },
  ]);
  expect(await notices(member)).toMatchObject([{ kind: 'imported', message: `${name} imported 5 tasks, 3 are yours` }]);
  expect(await notices(admin)).toMatchObject([{ kind: 'imported', message: `${name} imported 5 tasks, 1 is yours` }]);
  expect(await notices(team.manager)).toEqual([]);
});

it('tells once after an import that stopped half way and went on', async () => {
  const records = Array.from({ length: 1_100 }, (_one, index) => ({
    entity: 'task',
    title: `t${index}`,
    assigned_to: team.member.user_id,
  }));
  const data = ndjson(records);
  const asked = await manager.post('/api/bulk/import', { team_id: team.team_id, format: 'ndjson', project_id, data });
  const jobId = asked.body.job_id as string;
  await prepareImport(app.services, jobId, new AbortController().signal);
  const dying = new AbortController();
  const batch = importBatch(app.services, jobId, dying.signal);
  dying.abort();
  await expect(batch).rejects.toThrow();
  expect(await notices(team.member)).toEqual([]);
  await finishImport(app, jobId);
  // A repetition of the last batch, whose answer was lost, changes nothing.
  await importBatch(app.services, jobId, new AbortController().signal);
  expect(await notices(team.member)).toMatchObject([
    { kind: 'imported', message: expect.stringMatching(/1,100 tasks, 1,100 are yours$/) },
  ]);
});

it('withdraws the notice of an import that is undone, and tells of one that was cancelled', async () => {
  const { job_id } = await run([task('a', { assigned_to: team.member.user_id })]);
  expect(await notices(team.member)).toHaveLength(1);
  await manager.post(`/api/bulk/jobs/${job_id}/undo`);
  expect(await notices(team.member)).toEqual([]);
});
