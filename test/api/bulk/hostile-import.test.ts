import { importBatch } from '../../../api/bulk/import/import-batch.js';
import { prepareImport } from '../../../api/bulk/import/prepare-import.js';
import { buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../support/app.js';
import { finishUndo, importText, ndjson, readJob } from './import-support.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let manager: Client;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  manager = app.as(team.manager);
});

const never = (): AbortSignal => new AbortController().signal;
const run = (data: string, fields: Record<string, unknown> = {}) => importText(app, manager, team, data, fields);
const setStatus = (status: string) => app.services.db('users').where({ user_id: team.manager.user_id }).update({ status });

it('says what is wrong with names that PostgreSQL cannot store', async () => {
  const records = ['\0', '\ud800', `${'a'.repeat(39)}\u{1f600}`].map((entity) => ({ entity, title: 'A' }));
  expect(await run(ndjson(records))).toMatchObject({ status: 'succeeded', failed: 3, total: 3 });
  // Cut in the middle of a character.
  const assignee = `${'a'.repeat(39)}\u{1f600}`;
  const linear = `ID,Title,Assignee,Odd\0,${'b'.repeat(39)}\u{1f600}\nA-1,One,${assignee},,\n`;
  expect(await run(linear, { format: 'linear_csv' })).toMatchObject({ status: 'succeeded', failed: 0, noted: 2 });
});

it('refuses JSON in a cell that is nested too deep', async () => {
  const deep = `{""a"":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
  const csv = `entity,title,project_id,fields\ntask,One,${project.project_id},"${deep}"\n`;
  expect(await run(csv, { format: 'csv' })).toMatchObject({
    status: 'succeeded',
    failed: 1,
    errors: [{ line: 2, message: expect.stringContaining('fields') }],
  });
});

it('leaves out links that no task may have', async () => {
  const keys = Array.from({ length: 600 }, (_, at) => `B-${at}`).join(' ');
  expect(await run(`ID,Title,Blocks\nA-1,One,${keys}\n`, { format: 'linear_csv' })).toMatchObject({
    status: 'succeeded',
    total: 502,
    notes: expect.arrayContaining([{ line: 2, entity: null, message: 'A task has at most 500 relations; 100 were left out' }]),
  });
});

it('remembers no numbers of issues that are no numbers', async () => {
  const long = '1'.repeat(100);
  const rows = [`A-1,One,${long},`, `A-2,Two,2,${long}`, 'A-3,Three,3,2'];
  expect(await run(`Issue key,Summary,Issue id,Parent id\n${rows.join('\n')}\n`, { format: 'jira_csv' })).toMatchObject({
    status: 'succeeded',
    notes: [{ line: 3, message: expect.stringContaining('is not in the file') }],
  });
});

it('refuses lists that nothing has room for, before it looks at each of their items', async () => {
  const tags = Array.from({ length: 250_000 }, () => 1);
  expect(await run(ndjson([{ entity: 'task', title: 'One', tags }]))).toMatchObject({
    failed: 1,
    errors: [{ line: 1, entity: 'task', message: 'tags must have at most 1000 items' }],
  });
  const issue = JSON.stringify([{ number: 1, title: 'One', labels: tags }]);
  expect(await run(issue, { format: 'github_json' })).toMatchObject({
    failed: 1,
    errors: [{ message: expect.stringContaining('more labels, assignees or comments than GitHub allows') }],
  });
  const refused = await manager.post('/api/tasks', { project_id: project.project_id, title: 'One', tags });
  expect(refused).toMatchObject({ status: 422, body: { detail: { errors: [{ field: 'body.tags' }] } } });
});

it('takes no figures of a cycle that its report could not show', async () => {
  const days = [{ date: '<b>', remaining: -1 }];
  const figures = { committed: 1, added: 0, completed: 1, carried_over: 0, points: { committed: 1, completed: 1 } };
  const state = { status: 'completed', started_at: '2026-01-01T00:00:00Z', completed_at: '2026-01-02T00:00:00Z' };
  const cycle = { entity: 'cycle', cycle_id: 'c', name: 'One', ...state, snapshot: { ...figures, days } };
  expect(await run(ndjson([cycle]))).toMatchObject({ created: 0, failed: 1 });
});

it('stops when its requester is suspended', async () => {
  const data = ndjson([{ entity: 'task', title: 'One', project_id: project.project_id }]);
  const { job_id } = (await manager.post('/api/bulk/import', { team_id: team.team_id, format: 'ndjson', data })).body;
  await prepareImport(app.services, job_id, never());
  await setStatus('suspended');
  expect(await importBatch(app.services, job_id, never())).toBe(true);
  await setStatus('active');
  expect(await readJob(manager, job_id)).toMatchObject({ status: 'failed', error_code: 'permission_lost', created: 0 });
  const written = await run(data);
  expect((await manager.post(`/api/bulk/jobs/${written.job_id}/undo`)).status).toBe(202);
  await setStatus('suspended');
  await finishUndo(app, written.job_id);
  await setStatus('active');
  expect(await readJob(manager, written.job_id)).toMatchObject({ undo_status: 'failed', undone: 0 });
});
