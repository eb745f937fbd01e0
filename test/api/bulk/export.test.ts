import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { unguardFormulas } from '../../../api/bulk/formats/csv.js';
import { ROW_KINDS } from '../../../api/bulk/rules.js';
import { expireFiles } from '../../../api/bulk/jobs/expire-files.js';
import { fileStore } from '../../../api/work/items/files/store/file-store.js';
import { newObjectKey } from '../../../api/work/items/files/store/object-store.js';
import { sweepObjects } from '../../../api/work/items/files/sweep-objects.js';
import { buildBulkJob } from '../../factories/bulk.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { lockWaiters } from '../../support/database.js';
import { until } from '../../support/worker.js';
import { insertTasks } from '../work/cycles/support.js';
import { download, createExporter, parseCsv, requestExport } from './support.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let exporter: ReturnType<typeof createExporter>;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  project = await buildProject(app, team);
  exporter = createExporter(app);
});
afterAll(async () => {
  await exporter.close();
  await app.close();
});

type Row = Record<string, unknown>;
const db = () => app.services.db;
const job = async (id: string) => (await app.as(team.manager).get(`/api/bulk/jobs/${id}`)).body;
const splitLines = (bytes: Buffer): Row[] => {
  const text = bytes.toString();
  expect(text.endsWith('\n')).toBe(true);
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
};
/** Exports as the manager and returns the rows, in the order of the file. */
async function exportRows(wanted: Parameters<typeof requestExport>[2], person: Person = team.manager): Promise<Row[]> {
  const id = await requestExport(app, person, { team_id: team.team_id, ...wanted });
  expect(await exporter.write(id)).toBe('succeeded');
  return splitLines((await download(app, person, id)).bytes);
}

describe('the rows of an export', () => {
  it('hold every kind of record of the team, each as the API shows it', async () => {
    const client = app.as(team.manager);
    const other_project = await buildProject(app, team);
    const created = async (path: string, body: object): Promise<Row> => {
      const answer = await client.post(path, body);
      if (answer.status !== 201 && answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      return answer.body as Row;
    };
    const { team_id } = team;
    const parent = await buildTask(app, team, project, { title: 'Parent "quoted" \\ \u2028 😀', description: 'a\r\n- b\tc' });
    const child = await buildTask(app, team, project, { parent_task_id: parent.task_id, tags: ['x', 'y,z'] });
    const trashed = await buildTask(app, team, project, { title: 'In the trash' });
    const field = await created('/api/custom-fields', {
      team_id,
      name: 'Severity',
      field_type: 'multi_select',
      entity_type: 'task',
      options: [
        { value: 'a', label: 'A' },
        { value: 'b', label: 'B' },
      ],
    });
    await client.put('/api/custom-fields/values', {
      field_id: field['field_id'],
      entity_type: 'task',
      entity_id: child.task_id,
      value: ['b', 'a'],
    });
    const cycle = await created('/api/sprints', { team_id, project_id: project.project_id, name: 'One', goal: 'Ship' });
    await client.post(`/api/sprints/${cycle['cycle_id'] as string}/tasks`, { task_ids: [child.task_id] });
    const comment = await created(`/api/tasks/${child.task_id}/comments`, { content: 'Hello' });
    await created(`/api/tasks/${child.task_id}/comments`, { content: 'Reply', parent_comment_id: comment['comment_id'] });
    await client.delete(`/api/comments/${comment['comment_id'] as string}`);
    const note = await created('/api/notes', { team_id, title: 'Note', content: 'Text', kind: 'idea' });
    const doc = await created('/api/work-items', { type: 'doc', team_id, title: 'Doc', content: '# Doc', weight: 1e300 });
    await created('/api/work-items', { type: 'project', team_id, title: 'With fields', colour: 'red\nblue' });
    await created('/api/work-items/relations', {
      source_id: note['note_id'],
      target_id: child.task_id,
      relation_type: 'attached_to',
    });
    // Its ends are out of reach: in the trash, and in another team.
    await created('/api/work-items/relations', {
      source_id: doc['item_id'],
      target_id: trashed.task_id,
      relation_type: 'related_to',
    });
    const automation = await created('/api/automations', {
      name: 'Auto',
      trigger_type: 'task.created',
      team_id,
      actions: [
        {
          type: 'http_request',
          params: { method: 'POST', url: 'https://example.test', headers: { authorization: '{{secret:KEY}}' } },
        },
      ],
    });
    await client.delete(`/api/tasks/${trashed.task_id}`);
    const posted = { health: 'at_risk', content: 'Late' };
    const update = await created(`/api/projects/${project.project_id}/updates`, posted);
    const rows = await exportRows({});
    const of = (entity: string) => rows.filter((row) => row.entity === entity);
    expect([...new Set(rows.map(({ entity }) => entity))]).toEqual(Object.values(ROW_KINDS));
    const [shownParent, shownChild] = await Promise.all(
      [parent, child].map(async ({ task_id }) => (await client.get(`/api/tasks/${task_id}`)).body as Row),
    );
    const { subtasks: _a, ...plainParent } = shownParent as Row;
    const { subtasks: _b, ...plainChild } = shownChild as Row;
    expect(of('task')).toEqual([
      { entity: 'task', ...plainParent, fields: {} },
      { entity: 'task', ...plainChild, fields: {} },
    ]);
    expect(plainChild).toMatchObject({ cycle_id: cycle['cycle_id'], parent_task_id: parent.task_id });
    expect(of('project').map(({ name, fields }) => [name, fields])).toContainEqual(['With fields', { colour: 'red\nblue' }]);
    expect(of('project').map(({ project_id }) => project_id)).toContain(other_project.project_id);
    expect(of('project_update')).toEqual([{ entity: 'project_update', ...update }]);
    expect(of('custom_field')).toEqual([{ entity: 'custom_field', ...field }]);
    expect(of('custom_field_value')).toMatchObject([{ entity_id: child.task_id, key: 'severity', value: ['b', 'a'] }]);
    expect(of('cycle')).toMatchObject([{ cycle_id: cycle['cycle_id'], goal: 'Ship', number: 1 }]);
    expect(of('comment')).toMatchObject([
      { comment_id: comment['comment_id'], deleted: true, content: '' },
      { parent_comment_id: comment['comment_id'], content: 'Reply', deleted: false },
    ]);
    expect(of('note')).toMatchObject([{ note_id: note['note_id'], content: 'Text', kind: 'idea' }]);
    expect(of('work_item')).toMatchObject([
      { item_id: doc['item_id'], type: 'doc', content: '# Doc', file: null, fields: { weight: 1e300 } },
    ]);
    expect(of('relation')).toMatchObject([
      { source_id: note['note_id'], target_id: child.task_id, relation_type: 'attached_to' },
    ]);
    expect(of('automation')).toMatchObject([{ automation_id: automation['automation_id'], actions: automation['actions'] }]);
  });

  it('are those of the named projects, and of no other team', async () => {
    const [inside, outside] = [await buildProject(app, team), await buildProject(app, team)];
    const task = await buildTask(app, team, inside, { title: 'Inside' });
    const apart = await buildTask(app, team, outside, { title: 'Outside' });
    const stranger = await buildTeam(app);
    const theirs = await buildTask(app, stranger, await buildProject(app, stranger), { title: 'Canary of a stranger' });
    // A member of both teams connects them.
    await db()('memberships').insert({ team_id: stranger.team_id, user_id: team.manager.user_id, role: 'member' });
    for (const target_id of [apart.task_id, theirs.task_id]) {
      const relation = { source_id: task.task_id, target_id, relation_type: 'blocks' };
      expect((await app.as(team.manager).post('/api/work-items/relations', relation)).status).toBe(201);
    }
    const rows = await exportRows({ project_ids: [inside.project_id], entities: ['projects', 'tasks', 'relations'] });
    expect(rows.map((row) => row['project_id'] ?? row['relation_type'])).toEqual([inside.project_id, inside.project_id]);
    const whole = JSON.stringify(await exportRows({}));
    expect(whole).not.toContain('Canary of a stranger');
    expect(whole).not.toContain(theirs.task_id);
    const foreign = { team_id: team.team_id, format: 'json', project_ids: [theirs.project_id] };
    expect((await app.as(team.manager).post('/api/bulk/export', foreign)).status).toBe(400);
  });

  it('are of one moment, whatever is written meanwhile', async () => {
    const [before] = [await buildTask(app, team, project, { title: 'Before' })];
    const id = await requestExport(app, team.manager, { team_id: team.team_id, entities: ['tasks', 'comments', 'automations'] });
    const lock = await db().transaction();
    await lock.raw('lock table automations in access exclusive mode');
    const writing = exporter.write(id);
    // The snapshot is taken: its statements wait for the last table.
    await until(async () => (await lockWaiters(db())) > 0);
    const after = await buildTask(app, team, project, { title: 'After' });
    await app.as(team.member).patch(`/api/tasks/${before.task_id}`, { title: 'Changed' });
    await app.as(team.member).post(`/api/tasks/${before.task_id}/comments`, { content: 'Later' });
    await lock.rollback();
    expect(await writing).toBe('succeeded');
    const rows = splitLines((await download(app, team.manager, id)).bytes);
    expect(rows.find(({ task_id }) => task_id === before.task_id)).toMatchObject({ title: 'Before', version: 1 });
    expect(JSON.stringify(rows)).not.toMatch(new RegExp(`${after.task_id}|Later`));
    expect(await job(id)).toMatchObject({ total: rows.length, processed: rows.length });
  });
});

describe('the file of an export', () => {
  it('has exactly its bytes in every format, whole and in ranges', async () => {
    const some = await buildProject(app, team);
    const texts = [
      '=1+1',
      "'=quoted",
      '-2',
      '@x',
      '+',
      '\t=tab',
      '＝wide',
      'plain',
      'a,b;=c',
      'x"y',
      '- list\n- of\n=things',
      "it's",
      "''+",
      '|@',
    ];
    const long = '😀,"'.repeat(500);
    await insertTasks(app, team, some, [
      ...texts.map((description) => ({ description })),
      { title: 'Long', description: long, tags: ['=a', 'b"c'] },
    ]);
    const export_ = async (format: 'ndjson' | 'json' | 'csv') => {
      const id = await requestExport(app, team.manager, {
        team_id: team.team_id,
        project_ids: [some.project_id],
        entities: ['tasks'],
        format,
      });
      await exporter.write(id);
      return { id, ...(await download(app, team.manager, id)) };
    };
    const ndjson = await export_('ndjson');
    const rows = splitLines(ndjson.bytes);
    expect(ndjson.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-length': String(ndjson.bytes.length),
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
    });
    expect(ndjson.headers['content-disposition']).toContain(`attachment; filename="export-`);
    expect(ndjson.headers.etag).toBe(`"${createHash('sha256').update(ndjson.bytes).digest('hex')}"`);
    const part = await download(app, team.manager, ndjson.id, { range: 'bytes=5-14' });
    expect([part.status, part.bytes.toString()]).toEqual([206, ndjson.bytes.subarray(5, 15).toString()]);
    expect(JSON.parse((await export_('json')).bytes.toString())).toEqual(rows);
    const table = (await export_('csv')).bytes.toString();
    expect(table.startsWith('\uFEFFentity,task_id,title,')).toBe(true);
    const [header, ...lines] = parseCsv(table.slice(1));
    const records = lines.map((cells) => Object.fromEntries(cells.map((cell, at) => [header?.[at], unguardFormulas(cell)])));
    expect(records.map(({ description }) => description)).toEqual(rows.map(({ description }) => description));
    expect(records.at(-1)).toMatchObject({ entity: 'task', tags: '["=a","b\\"c"]', due_date: '', version: '1' });
    // No cell begins with a formula, also where a spreadsheet separates cells by semicolons.
    const cells = lines.flat().flatMap((cell) => cell.split(/[;|\t\r\n]/));
    expect(cells.filter((cell) => /^[=+\-@＝]/.test(cell))).toEqual([]);
    expect(lines.map((line) => line.length)).toEqual(lines.map(() => header?.length));
  });

  it('is empty but well formed without rows', async () => {
    const [empty, bytes] = [await buildTeam(app), [] as string[]];
    for (const format of ['ndjson', 'json', 'csv'] as const) {
      const id = await requestExport(app, empty.manager, { team_id: empty.team_id, entities: ['relations'], format });
      expect(await exporter.write(id)).toBe('succeeded');
      bytes.push((await download(app, empty.manager, id)).bytes.toString());
    }
    expect(bytes).toEqual(['', '[]\n', '\uFEFFentity,relation_id,relation_type,source_id,target_id,created_by,created_at\r\n']);
  });

  it('exists for seven days, then its object goes, and later the job', async () => {
    const id = await requestExport(app, team.manager, { team_id: team.team_id, entities: ['projects'] });
    await exporter.write(id);
    const { expires_at, finished_at, download_url } = await job(id);
    expect(new Date(expires_at).getTime() - new Date(finished_at).getTime()).toBeGreaterThan(6.9 * 86_400_000);
    expect(download_url).toBe(`/api/bulk/jobs/${id}/download`);
    await sweepObjects(app.services, 0);
    expect((await download(app, team.manager, id)).status).toBe(200);
    const { object_key } = await db()('bulk_jobs').where({ job_id: id }).first();
    await db()('bulk_jobs')
      .where({ job_id: id })
      .update({ expires_at: new Date(Date.now() - 1) });
    expect((await download(app, team.manager, id)).status).toBe(404);
    expect(await expireFiles(app.services)).toMatchObject({ files: 1 });
    expect(await fileStore(app.services.config).get(object_key)).toBeUndefined();
    expect(await job(id)).toMatchObject({ status: 'succeeded', download_url: null });
    const lines = [1, 2, 3].map((line) => ({ job_id: id, line, part: 0, outcome: 'created' }));
    await db()('bulk_rows').insert(lines);
    await db()('bulk_jobs')
      .where({ job_id: id })
      .update({ finished_at: new Date(Date.now() - 91 * 86_400_000) });
    expect(await expireFiles(app.services)).toEqual({ files: 0, jobs: 1 });
    expect((await app.as(team.manager).get(`/api/bulk/jobs/${id}`)).status).toBe(404);
  });
});

describe('a job', () => {
  it('is one of its team at a time: the next starts when it ends, in the order of the requests', async () => {
    const crowd = await buildTeam(app);
    const ids: string[] = [];
    for (let nth = 0; nth < 3; nth += 1) ids.push(await requestExport(app, crowd.manager, { team_id: crowd.team_id }));
    const placed = () => db()('bulk_jobs').where({ team_id: crowd.team_id, is_dispatched: true }).pluck('job_id');
    expect(await placed()).toEqual([ids[0]]);
    // A job that waits cannot be claimed.
    expect(await exporter.write(ids[1] as string)).toBe('queued');
    // The place passes on at each end, and a waiting job that is cancelled leaves the line.
    expect((await app.as(crowd.admin).post(`/api/bulk/jobs/${ids[1] as string}/cancel`)).body).toMatchObject({
      status: 'cancelled',
    });
    await exporter.write(ids[0] as string);
    expect(await placed()).toEqual([ids[2]]);
    const outbox = await db()('outbox').where({ kind: 'bulk.start', team_id: crowd.team_id }).pluck('subject');
    expect(outbox).toEqual([ids[0], ids[2]]);
    const again = await app.as(crowd.manager).post(`/api/bulk/jobs/${ids[0] as string}/cancel`);
    expect(again.status).toBe(409);
  });

  it('is limited to twenty that have not ended, also when all are asked for at once', async () => {
    const crowd = await buildTeam(app);
    const answers = await Promise.all(
      Array.from({ length: 24 }, () =>
        app.as(crowd.manager).post('/api/bulk/export', { team_id: crowd.team_id, format: 'json' }),
      ),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(4);
    expect(await db()('bulk_jobs').where({ team_id: crowd.team_id, is_dispatched: true })).toHaveLength(1);
  });

  it('is refused while the files of its team take 20 GB', async () => {
    const crowd = await buildTeam(app);
    await buildBulkJob(app, crowd, { content: '{}', size: 20 * 2 ** 30 });
    const { status, body } = await app.as(crowd.manager).post('/api/bulk/export', { team_id: crowd.team_id, format: 'json' });
    expect([status, body.message]).toEqual([409, expect.stringContaining('20 GB together')]);
  });

  it('stops when it is cancelled or its requester loses the role while it runs, and leaves no object', async () => {
    const crowd = await buildTeam(app);
    for (const end of ['cancelled', 'failed'] as const) {
      const id = await requestExport(app, crowd.manager, { team_id: crowd.team_id, entities: ['automations'] });
      const lock = await db().transaction();
      await lock.raw('lock table automations in access exclusive mode');
      const writing = exporter.write(id);
      await until(async () => (await lockWaiters(db())) > 0);
      if (end === 'cancelled') expect((await app.as(crowd.admin).post(`/api/bulk/jobs/${id}/cancel`)).status).toBe(200);
      else await app.as(crowd.admin).patch(`/api/teams/${crowd.team_id}/members/${crowd.manager.user_id}`, { role: 'member' });
      await lock.rollback();
      expect(await writing).toBe(end);
      const row = await db()('bulk_jobs').where({ job_id: id }).first();
      expect(row).toMatchObject({ object_key: null, pending_key: null, error_code: end === 'failed' ? 'permission_lost' : null });
    }
    const kept = await db()('bulk_jobs').whereNotNull('object_key').pluck('object_key');
    const stored = (await fileStore(app.services.config).list('')).map(({ key }) => key);
    expect(new Set(stored)).toEqual(new Set(kept));
  });

  it('begins anew after an attempt that broke off, and removes what that has left', async () => {
    const crowd = await buildTeam(app);
    const id = await requestExport(app, crowd.manager, { team_id: crowd.team_id });
    // An attempt that stored its file and died before it could say so.
    const left = newObjectKey();
    await fileStore(app.services.config).put(left, Readable.from([Buffer.from('left')]));
    await db()('bulk_jobs').where({ job_id: id }).update({ status: 'running', attempt: 1, pending_key: left });
    const stopped = new AbortController();
    stopped.abort(new Error('the worker shuts down'));
    await expect(exporter.write(id, stopped.signal)).rejects.toThrow('shuts down');
    expect(await fileStore(app.services.config).get(left)).toBeUndefined();
    // Two attempts at once: the older one writes nothing any more.
    const lock = await db().transaction();
    await lock.raw('lock table automations in access exclusive mode');
    const older = exporter.write(id);
    await until(async () => (await db()('bulk_jobs').where({ job_id: id }).first()).attempt === 3);
    const newer = exporter.write(id);
    await until(async () => (await db()('bulk_jobs').where({ job_id: id }).first()).attempt === 4);
    await lock.rollback();
    await Promise.all([older, newer]);
    expect(await exporter.write(id)).toBe('succeeded');
    const ends = await db()('audit_entries').where({ entity_id: id, action: 'complete' });
    expect(ends).toHaveLength(1);
  });

  it('fails after ten attempts that lost their worker', async () => {
    const crowd = await buildTeam(app);
    const id = await requestExport(app, crowd.manager, { team_id: crowd.team_id });
    await db()('bulk_jobs').where({ job_id: id }).update({ attempt: 10 });
    expect(await exporter.write(id)).toBe('failed');
    const next = await requestExport(app, crowd.manager, { team_id: crowd.team_id });
    expect((await app.as(crowd.manager).get(`/api/bulk/jobs/${id}`)).body).toMatchObject({
      status: 'failed',
      error_code: 'interrupted',
    });
    expect(await exporter.write(next)).toBe('succeeded');
  });

  it('leaves who exported and who downloaded in the audit log, and no secret anywhere', async () => {
    const secret = 'canary-secret-value-0123456789';
    expect(
      (
        await app.as(team.admin).post('/api/automations/secrets', {
          team_id: team.team_id,
          name: 'KEY',
          value: secret,
          allowed_hosts: ['example.test'],
        })
      ).status,
    ).toBeLessThan(202);
    const id = await requestExport(app, team.manager, { team_id: team.team_id, format: 'json' });
    await exporter.write(id);
    const { bytes } = await download(app, team.admin, id);
    expect(bytes.includes(secret)).toBe(false);
    expect(bytes.includes(team.manager.email)).toBe(false);
    const entries = await db()('audit_entries').where({ entity_id: id }).orderBy('audit_id');
    expect(entries.map(({ action, severity, user_id, actor_type }) => [action, severity, user_id, actor_type])).toEqual([
      ['export', 'HIGH', team.manager.user_id, 'user'],
      ['complete', 'MEDIUM', team.manager.user_id, 'system'],
      ['download', 'HIGH', team.admin.user_id, 'user'],
    ]);
    const { notes, ...listed } = (await app.as(team.manager).get(`/api/bulk/jobs/${id}`)).body;
    expect([listed.errors, notes]).toEqual([[], []]);
    expect((await app.as(team.manager).get(`/api/bulk/jobs?team_id=${team.team_id}&limit=1`)).body).toEqual([listed]);
  });

  it('ends with its team, and so do its files', async () => {
    const doomed = await buildTeam(app);
    const [done, open] = [
      await requestExport(app, doomed.manager, { team_id: doomed.team_id }),
      await requestExport(app, doomed.manager, { team_id: doomed.team_id }),
    ];
    await exporter.write(done);
    expect((await app.as(doomed.admin).delete(`/api/teams/${doomed.team_id}`)).status).toBe(200);
    expect(await exporter.write(open)).toBe('cancelled');
    expect((await download(app, doomed.manager, done)).status).toBe(403);
    await expireFiles(app.services);
    expect(await db()('bulk_jobs').where({ team_id: doomed.team_id }).whereNotNull('object_key')).toEqual([]);
  });
});

it.each([
  ['csv of two entities', { format: 'csv', entities: ['tasks', 'notes'] }],
  ['csv of all', { format: 'csv' }],
  ['an unknown entity', { format: 'json', entities: ['secrets'] }],
  ['another format', { format: 'xlsx' }],
  ['no format', {}],
  ['no entity', { format: 'json', entities: [] }],
])('refuses %s', async (_name, body) => {
  expect((await app.as(team.manager).post('/api/bulk/export', { team_id: team.team_id, ...body })).status).toBe(422);
});
