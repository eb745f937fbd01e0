import { access } from 'node:fs/promises';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { request as sendBytes } from 'undici';
import { importBatch } from '../../../api/bulk/import/import-batch.js';
import { makeWorkFolder, removeWorkFolder } from '../../../api/bulk/import/prepare/row-file.js';
import { prepareImport } from '../../../api/bulk/import/prepare-import.js';
import { expireFiles } from '../../../api/bulk/jobs/expire-files.js';
import { fileStore } from '../../../api/work/items/files/store/file-store.js';
import { buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../support/app.js';
import { finishImport, finishUndo, importText, ndjson, readJob } from './import-support.js';

/** What happens to an import: cancel, undo, lost permissions, uploads, and what others do meanwhile. */

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

const db = () => app.services.db;
const never = () => new AbortController().signal;
const tasks = (count: number, fields: object = {}) =>
  Array.from({ length: count }, (_, at) => ({ entity: 'task', title: `Task ${at}`, project_id: project.project_id, ...fields }));
const countTasks = async () =>
  Number((await db()('tasks').where({ team_id: team.team_id }).whereNull('deleted_at').count().first())?.['count']);
const request = async (data: string, fields: object = {}): Promise<string> => {
  const { status, body } = await manager.post('/api/bulk/import', { team_id: team.team_id, format: 'ndjson', data, ...fields });
  expect(status).toBe(202);
  return body.job_id;
};
const stored = async () => (await fileStore(app.services.config).list('')).length;
/** The job with its first chunk written, as after a while. */
async function begun(records: object[]): Promise<string> {
  const jobId = await request(ndjson(records));
  expect(await prepareImport(app.services, jobId, never())).toBe(false);
  return jobId;
}

it('resumes at its cursor without duplicates, whatever is repeated', async () => {
  const jobId = await begun(tasks(1_200));
  await expect(prepareImport(app.services, jobId, never())).resolves.toBe(false);
  const stop = new AbortController();
  const { db: pool } = app.services;
  let commits = 0;
  // The worker goes away after the second chunk: its answer is lost, and so is where it was.
  pool.on('query', ({ sql }: { sql: string }) => {
    if (sql.startsWith('COMMIT') && ++commits === 2) stop.abort(new Error('gone'));
  });
  await importBatch(app.services, jobId, stop.signal).catch(() => undefined);
  pool.removeAllListeners('query');
  const between = await readJob(manager, jobId);
  expect(between).toMatchObject({ status: 'running', total: 1_200, processed: 1_000 });
  expect(await countTasks()).toBe(1_000);
  await Promise.all([1, 2, 3].map(() => importBatch(app.services, jobId, never())));
  await finishImport(app, jobId);
  expect(await readJob(manager, jobId)).toMatchObject({ status: 'succeeded', created: 1_200, processed: 1_200 });
  expect(await countTasks()).toBe(1_200);
});

it('stops when it is cancelled, and keeps what it has written', async () => {
  const before = await stored();
  const jobId = await begun([...tasks(500), { entity: 'note', title: 'After the tasks' }]);
  expect((await manager.post(`/api/bulk/jobs/${jobId}/cancel`)).status).toBe(200);
  expect(await importBatch(app.services, jobId, never())).toBe(true);
  expect(await readJob(manager, jobId)).toMatchObject({ status: 'cancelled', created: 0 });
  expect(await countTasks()).toBe(0);
  // The prepared rows are gone, and the input goes with the next files that expire.
  expect(await stored()).toBe(before + 1);
  await expireFiles(app.services);
  expect(await db()('bulk_jobs').where({ job_id: jobId }).first()).toMatchObject({ object_key: null });
  expect(await stored()).toBeLessThanOrEqual(before);
  expect((await manager.post(`/api/bulk/jobs/${jobId}/cancel`)).status).toBe(409);
});

test.each([
  [
    'loses the role',
    () => db()('memberships').where({ team_id: team.team_id, user_id: team.manager.user_id }).update({ role: 'member' }),
  ],
  ['is suspended', () => db()('users').where({ user_id: team.manager.user_id }).update({ status: 'suspended' })],
  ['is removed', () => app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${team.manager.user_id}`)],
])('fails when the importer %s', async (_what, change) => {
  const jobId = await begun(tasks(3));
  await change();
  await finishImport(app, jobId);
  expect(await readJob(app.as(team.admin), jobId)).toMatchObject({ status: 'failed', error_code: 'permission_lost', created: 0 });
  expect(await countTasks()).toBe(0);
});

it('reports each line of a project that goes to the trash meanwhile, and ends with the team', async () => {
  const jobId = await begun([...tasks(2), { entity: 'note', title: 'Of the team' }]);
  await manager.delete(`/api/projects/${project.project_id}`);
  await finishImport(app, jobId);
  expect(await readJob(manager, jobId)).toMatchObject({
    status: 'succeeded',
    created: 1,
    failed: 2,
    errors: [
      { line: 1, message: 'Project not found' },
      { line: 2, message: 'Project not found' },
    ],
  });
  const next = await begun([{ entity: 'note', title: 'Too late' }]);
  await app.as(team.admin).delete(`/api/teams/${team.team_id}`);
  expect(await importBatch(app.services, next, never())).toBe(true);
  expect(await db()('bulk_jobs').where({ job_id: next }).first()).toMatchObject({ status: 'cancelled' });
  expect(await db()('items').where({ team_id: team.team_id, title: 'Too late' })).toHaveLength(0);
});

it('takes back what it has created, and nothing else', async () => {
  const kept = (await manager.post('/api/tasks', { title: 'Kept', project_id: project.project_id })).body.task_id;
  const job = await importText(
    app,
    manager,
    team,
    ndjson([
      { entity: 'project', project_id: 'p', name: 'New' },
      { entity: 'project', project_id: 'q', name: 'Used by others' },
      { entity: 'cycle', cycle_id: 'c', name: 'Cycle' },
      { entity: 'task', task_id: 't', title: 'Parent', project_id: 'p', cycle_id: 'c' },
      { entity: 'task', task_id: 'u', title: 'Child', project_id: 'p', parent_task_id: 't' },
      { entity: 'task', title: 'Of others', project_id: 'q' },
      { entity: 'task', task_id: kept, title: 'Changed by the import' },
      { entity: 'comment', task_id: 't', content: 'Inside' },
      { entity: 'comment', task_id: kept, content: 'On a kept task' },
      { entity: 'note', note_id: 'n', title: 'Note', project_id: 'p' },
      { entity: 'relation', source_id: 't', target_id: kept, relation_type: 'related_to' },
      { entity: 'relation', source_id: kept, target_id: project.project_id, relation_type: 'related_to' },
      { entity: 'custom_field', field_id: 'f', name: 'Size', field_type: 'number', entity_type: 'task' },
      { entity: 'custom_field_value', field_id: 'f', entity_type: 'task', entity_id: kept, value: 3 },
      { entity: 'automation', name: 'Tell', trigger_type: 'task.created' },
    ]),
    { on_conflict: 'update' },
  );
  expect(job).toMatchObject({ created: 14, updated: 1, failed: 0 });
  const projects = (await manager.get(`/api/projects?team_id=${team.team_id}`)).body as { name: string; project_id: string }[];
  const used = projects.find(({ name }) => name.startsWith('Used'))?.project_id;
  const [{ task_id: parent }] = (
    await manager.get(`/api/tasks?project_id=${projects.find(({ name }) => name === 'New')?.project_id}`)
  ).body;
  const mine = (await manager.post('/api/tasks', { title: 'Mine', project_id: used })).body.task_id;
  const [{ task_id: shared }] = (await manager.get(`/api/tasks?project_id=${used}`)).body.filter(
    ({ title }: { title: string }) => title === 'Of others',
  );
  const below = { title: 'Mine, below', project_id: used, parent_task_id: shared };
  const subtask = (await manager.post('/api/tasks', below)).body.task_id;
  expect((await manager.post(`/api/bulk/jobs/${job.job_id}/undo`)).status).toBe(202);
  await finishUndo(app, job.job_id);
  const undone = await readJob(manager, job.job_id);
  expect(undone).toMatchObject({ undo_status: 'succeeded', undone: 13 });
  expect(
    (await manager.get(`/api/tasks?team_id=${team.team_id}`)).body.map(({ title }: { title: string }) => title).toSorted(),
  ).toEqual(['Changed by the import', 'Mine', 'Mine, below']);
  expect((await manager.get(`/api/tasks/${mine}`)).status).toBe(200);
  expect((await manager.get(`/api/tasks/${subtask}`)).body).toMatchObject({ parent_task_id: null, version: 2 });
  const changes = await db()('audit_entries').where({ entity_id: subtask, action: 'update' });
  expect(changes.map(({ details }) => JSON.parse(details))).toMatchObject([
    { changes: { parent_task_id: { from: shared, to: null } }, version: 2 },
  ]);
  expect((await manager.get(`/api/tasks/${kept}/comments`)).body).toEqual([]);
  expect((await manager.get(`/api/work-items/${kept}/relations`)).body).toEqual([]);
  expect((await manager.get(`/api/custom-fields?team_id=${team.team_id}`)).body).toEqual([]);
  expect((await manager.get(`/api/sprints?team_id=${team.team_id}`)).body).toEqual([]);
  expect((await manager.get(`/api/automations?team_id=${team.team_id}`)).body).toEqual([]);
  const trash = (await manager.get(`/api/trash?team_id=${team.team_id}`)).body as { cascade_id: string }[];
  expect(new Set(trash.map(({ cascade_id }) => cascade_id))).toEqual(new Set([undone.undo_id]));
  expect((await manager.post(`/api/bulk/jobs/${job.job_id}/undo`)).status).toBe(409);
  const newProject = projects.find(({ name }) => name === 'New')?.project_id;
  expect((await manager.post(`/api/trash/project/${newProject}/restore`)).body).toMatchObject({ restored_count: 4 });
  expect((await manager.get(`/api/tasks/${parent}`)).body).toMatchObject({ title: 'Parent', subtasks: [{ title: 'Child' }] });
  expect((await manager.get(`/api/tasks/${parent}/comments`)).body).toMatchObject([{ content: 'Inside' }]);
});

it('undoes imports only, and only ended ones', async () => {
  const jobId = await request(ndjson(tasks(1)));
  expect((await manager.post(`/api/bulk/jobs/${jobId}/undo`)).body).toMatchObject({
    message: 'The import has not ended; cancel it first',
  });
  const exported = (await manager.post('/api/bulk/export', { team_id: team.team_id, format: 'json' })).body.job_id;
  expect((await manager.post(`/api/bulk/jobs/${exported}/undo`)).status).toBe(409);
});

describe('an upload', () => {
  const send = (bytes: Buffer, headers: Record<string, string> = {}) =>
    manager.post(`/api/bulk/uploads?team_id=${team.team_id}`, undefined, {
      raw: bytes,
      headers: { 'content-type': 'application/octet-stream', ...headers },
    });

  it('is the input of an import, by its id', async () => {
    const { status, body } = await send(Buffer.from(ndjson(tasks(2))));
    expect([status, body.size]).toEqual([201, Buffer.byteLength(ndjson(tasks(2)))]);
    const other = await buildTeam(app);
    const asked = { format: 'ndjson', file_id: body.file_id };
    const foreign = await app.as(other.manager).post('/api/bulk/import', { ...asked, team_id: other.team_id });
    expect(foreign.status).toBe(404);
    const { job_id } = (await manager.post('/api/bulk/import', { ...asked, team_id: team.team_id })).body;
    await finishImport(app, job_id);
    expect(await readJob(manager, job_id)).toMatchObject({ status: 'succeeded', created: 2 });
  });

  test.each([
    ['compressed bytes', Buffer.from('1f8b0800', 'hex'), {}, 415],
    ['a compressed request', Buffer.from('{}'), { 'content-encoding': 'gzip' }, 415],
    ['nothing', Buffer.alloc(0), {}, 422],
  ])('refuses %s and keeps nothing', async (_what, bytes, headers, expected) => {
    const before = await stored();
    expect((await send(bytes, headers)).status).toBe(expected);
    expect(await stored()).toBe(before);
  });

  it('does not pass what a team may keep, and leaves nothing', async () => {
    const kept = db()('bulk_uploads').where({ team_id: team.team_id });
    const { file_id } = (await send(Buffer.from('{}'))).body;
    await kept
      .clone()
      .where({ file_id })
      .update({ size: 4 * 2 ** 30 - 3 });
    const before = await stored();
    const tooMuch = await send(Buffer.from('{}\n{}'));
    expect([tooMuch.status, tooMuch.body.message]).toEqual([409, expect.stringContaining('4 GB together')]);
    expect(await stored()).toBe(before);
    await kept.delete();
  });
});

it('takes two uploads of a team at once: what arrives counts only when it is complete', async () => {
  const ends = new AbortController();
  async function* endless() {
    yield Buffer.from('{}\n');
    if (!ends.signal.aborted) await once(ends.signal, 'abort');
  }
  const url = `${app.url}/api/bulk/uploads?team_id=${team.team_id}`;
  const headers = { authorization: `Bearer ${team.manager.token}`, 'content-type': 'application/octet-stream' };
  const send = () => sendBytes(url, { method: 'POST', headers, body: Readable.from(endless(), { objectMode: false }) });
  const three = [send(), send(), send()];
  const refused = await Promise.race(three);
  expect(await refused.body.json()).toMatchObject({ message: expect.stringContaining('2 uploads under way') });
  ends.abort();
  const answers = await Promise.all(three);
  for (const { body } of answers) if (!body.bodyUsed) await body.dump();
  expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(2);
  // Their places are free again.
  const again = await send();
  await again.body.dump();
  expect(again.statusCode).toBe(201);
});

it('gives each attempt a folder of its own', async () => {
  const getFolder = (attempt: number) => makeWorkFolder(app.services.config, project.project_id, attempt);
  const [first, second] = [await getFolder(1), await getFolder(2)];
  // The attempt before lost its heartbeat, and its work; its end leaves the newer one alone.
  await expect(access(first)).rejects.toThrow('ENOENT');
  await getFolder(1);
  await removeWorkFolder(first);
  await access(second);
  await removeWorkFolder(second);
});

test.each([
  ['a dry run', { data: '{}', dry_run: true }, 400],
  ['no input', {}, 422],
  ['two inputs', { data: '{}', file_id: '019a9f00-0000-7000-8000-00000000dead' }, 422],
  ['an unknown format', { data: '{}', format: 'xml' }, 422],
  ['compressed data', { data: 'PK\u0003\u0004' }, 415],
  ['a file of nobody', { file_id: '019a9f00-0000-7000-8000-00000000dead' }, 404],
])('refuses %s', async (_what, fields, expected) => {
  const answer = await manager.post('/api/bulk/import', { team_id: team.team_id, format: 'ndjson', ...fields });
  expect(answer.status).toBe(expected);
});

/** Files that mean harm, as uploads: each job ends, says why, and writes nothing of them. */
test.each([
  [
    'bytes that are no UTF-8',
    'ndjson',
    Buffer.from('{"entity":"note","title":"\xff"}\n{"entity":"note","title":"ok"}', 'latin1'),
    { created: 1, failed: 1 },
  ],
  [
    'a byte order mark and CRLF',
    'ndjson',
    Buffer.from('\ufeff{"entity":"note","title":"ok"}\r\n\r\n'),
    { created: 1, failed: 0 },
  ],
  ['a line of 2 MB', 'ndjson', Buffer.from(`{"entity":"note","title":"${'x'.repeat(2 ** 21)}"}`), { created: 0, failed: 1 }],
  ['nested arrays', 'json', Buffer.from(`[${'['.repeat(5_000)}${']'.repeat(5_000)}]`), { created: 0, failed: 1 }],
  [
    '100,000 columns',
    'csv',
    Buffer.from(`entity${',c'.repeat(100_000)}\nnote\n`),
    { status: 'failed', error_code: 'input_invalid' },
  ],
  ['a quote without an end', 'csv', Buffer.from('entity,title\nnote,"x\n'), { status: 'failed', error_code: 'input_invalid' }],
  [
    'NUL and lone surrogates',
    'ndjson',
    Buffer.from('{"entity":"note","title":"a\\u0000"}\n{"entity":"note","title":"\\ud800"}'),
    { created: 0, failed: 2 },
  ],
  [
    'names of prototypes',
    'ndjson',
    Buffer.from('{"entity":"__proto__"}\n{"entity":"constructor"}\n{"__proto__":{"entity":"note"}}'),
    { created: 0, failed: 3 },
  ],
  [
    'numbers without end',
    'ndjson',
    Buffer.from('{"entity":"task","title":"x","estimated_hours":1e999,"position":-1e999}'),
    { created: 0, failed: 1 },
  ],
])('survives %s', async (_what, format, bytes, expected) => {
  const path = `/api/bulk/uploads?team_id=${team.team_id}`;
  const { body } = await manager.post(path, undefined, { raw: bytes, headers: { 'content-type': 'application/octet-stream' } });
  const { job_id } = (await manager.post('/api/bulk/import', { team_id: team.team_id, format, file_id: body.file_id })).body;
  await finishImport(app, job_id);
  expect(await readJob(manager, job_id)).toMatchObject(expected);
});

it('writes updates of projects in the order of the file, whose newest gives the health, and its undo takes them back', async () => {
  const { project_id } = project;
  const healthOf = async (id = project_id) => (await manager.get(`/api/projects/${id}`)).body.health;
  await app.as(team.admin).post(`/api/projects/${project_id}/updates`, { health: 'off_track', content: 'Before' });
  const update = (fields: object) => ({ entity: 'project_update', health: 'on_track', content: 'Well', ...fields });
  const records = [
    update({ project_id: 'p1', health: 'at_risk', content: 'First' }),
    update({ project_id: 'p1', content: 'Second' }),
    update({ update_id: 'u1' }),
    update({ project_id: '019a9f00-0000-7000-8000-00000000dead' }),
    update({ project_id: 'p1', health: 'fine' }),
    { entity: 'project', project_id: 'p1', name: 'With updates' },
  ];
  const job = await importText(app, manager, team, ndjson(records), { project_id });
  expect(job).toMatchObject({ created: 4, failed: 2 });
  expect(job.errors).toMatchObject([
    { line: 4, entity: 'project_update', message: 'Project not found' },
    { line: 5, entity: 'project_update', message: expect.stringContaining('health') },
  ]);
  const made = await db()('projects').where({ team_id: team.team_id, name: 'With updates' }).first();
  const listed = (await manager.get(`/api/projects/${made.project_id}/updates`)).body;
  expect(listed.map(({ content, author_id }: Record<string, string>) => [content, author_id])).toEqual([
    ['Second', team.manager.user_id],
    ['First', team.manager.user_id],
  ]);
  expect([await healthOf(made.project_id), await healthOf()]).toEqual(['on_track', 'on_track']);
  await manager.post(`/api/bulk/jobs/${job.job_id}/undo`);
  await finishUndo(app, job.job_id);
  expect(await readJob(manager, job.job_id)).toMatchObject({ undo_status: 'succeeded', undone: 4 });
  expect(await healthOf()).toBe('off_track');
  expect(await db()('project_updates').where({ project_id: made.project_id })).toHaveLength(2);
});
