import { buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../support/app.js';
import { finishImport, finishUndo, importText, ndjson, readJob } from './import-support.js';

/** A second import of a file whose first import was undone. */

let app: TestApp;
let team: TestTeam;
let manager: Client;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  manager = app.as(team.manager);
});

const db = () => app.services.db;
const HEAD = 'ID,Team,Title,Description,Status,Estimate,Priority,Project,Labels,Parent issue,Cycle Number,Cycle Name';
const linear = (...lines: string[]) => [HEAD, ...lines].join('\n');
const FILE = linear(
  `L-1,L,Login,${'long '.repeat(2_500)},Todo,3,High,Site,bug,,1,First`,
  'L-2,L,Form,,Todo,2,High,Site,,L-1,1,First',
  'L-3,L,Logo,,Done,,Low,Brand,,,,',
);
const read = (data = FILE, fields: Record<string, unknown> = {}) =>
  importText(app, manager, team, data, { format: 'linear_csv', on_conflict: 'skip', ...fields });
async function undo(jobId: string): Promise<void> {
  expect((await manager.post(`/api/bulk/jobs/${jobId}/undo`)).status).toBe(202);
  await finishUndo(app, jobId);
}
type Listed = { task_id: string; title: string; status: string; parent_task_id: string | null; project_id: string };
const live = async (): Promise<Record<string, Listed>> => {
  const rows: Listed[] = await db()('tasks').where({ team_id: team.team_id }).whereNull('deleted_at');
  return Object.fromEntries(rows.map((task) => [task.title, task]));
};

it.each(['skip', 'error', 'update'])('brings back what an undo took, with the values of the file (%s)', async (on_conflict) => {
  const first = await read();
  expect(first).toMatchObject({ failed: 0, skipped: 0 });
  const before = await live();
  await undo(first.job_id);
  expect(await live()).toEqual({});
  const again = await read(FILE.replace('L-3,L,Logo,,Done', 'L-3,L,Logo,,Todo'), { on_conflict });
  expect(again).toMatchObject({ status: 'succeeded', failed: 0, created: 6, errors: [] });
  const after = await live();
  expect(Object.keys(after).toSorted()).toEqual(['Form', 'Login', 'Logo']);
  for (const title of ['Form', 'Login', 'Logo']) expect(after[title]?.task_id).toBe(before[title]?.task_id);
  expect(after['Logo']?.status).toBe('todo');
  expect(after['Form']?.parent_task_id).toBe(after['Login']?.task_id);
  expect((await manager.get(`/api/tasks/${after['Login']?.task_id}/comments`)).body).toHaveLength(first.created - 6);
  const [cycle] = (await manager.get(`/api/sprints?team_id=${team.team_id}`)).body;
  expect(cycle).toMatchObject({ name: 'First', task_count: 2 });
  const entries = await db()('audit_entries').where({ entity_id: after['Logo']?.task_id, action: 'restore' });
  expect(entries.map(({ details }) => JSON.parse(details))).toMatchObject([{ import_job_id: again.job_id }]);
  await undo(again.job_id);
  expect(await live()).toEqual({});
  expect(await read()).toMatchObject({ created: again.created, failed: 0 });
  expect(Object.keys(await live())).toHaveLength(3);
});

it('puts what was undone into another project, and leaves what is no longer in the file in the trash', async () => {
  const first = await read();
  const before = await live();
  await undo(first.job_id);
  const { project_id } = await buildProject(app, team);
  expect(await read(linear('L-2,L,Form,,Todo,2,High,Site,,L-1,,'), { project_id })).toMatchObject({ created: 1, failed: 0 });
  expect(await live()).toMatchObject({ Form: { task_id: before['Form']?.task_id, project_id, parent_task_id: null } });
});

it('refuses what a person trashed, and touches nothing of another team', async () => {
  const first = await read();
  const { Logo: logo } = await live();
  await manager.delete(`/api/tasks/${logo?.task_id}`);
  await undo(first.job_id);
  const other = await buildTeam(app);
  const records = [{ entity: 'task', task_id: logo?.task_id, title: 'Of others', project_id: 'p' }];
  const data = ndjson([{ entity: 'project', project_id: 'p', name: 'P' }, ...records]);
  expect(await importText(app, app.as(other.manager), other, data)).toMatchObject({ created: 2, failed: 0 });
  const again = await read(FILE, { on_conflict: 'update' });
  expect(again).toMatchObject({ failed: 1, errors: [{ line: 4, message: 'The task is in the trash; restore it first' }] });
  expect(Object.keys(await live()).toSorted()).toEqual(['Form', 'Login']);
});

it('imports a file twice at once, and while its undo runs: each record is there once', async () => {
  const request = async () => {
    const fields = { team_id: team.team_id, format: 'linear_csv', on_conflict: 'skip', data: FILE };
    return (await manager.post('/api/bulk/import', fields)).body.job_id as string;
  };
  const first = await read();
  expect((await manager.post(`/api/bulk/jobs/${first.job_id}/undo`)).status).toBe(202);
  const [one, two] = [await request(), await request()];
  // Neither starts before the undo has ended.
  await Promise.all([finishUndo(app, first.job_id), finishImport(app, one), finishImport(app, two)]);
  await finishImport(app, one);
  await finishImport(app, two);
  const jobs = [await readJob(manager, one), await readJob(manager, two)];
  expect(jobs.map(({ status, failed }) => [status, failed])).toEqual([
    ['succeeded', 0],
    ['succeeded', 0],
  ]);
  expect(jobs.map(({ created }) => created)).toEqual([6, 0]);
  expect(Object.keys(await live())).toHaveLength(3);
});
