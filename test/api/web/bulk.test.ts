import { request } from 'node:http';
import { buildBulkJob } from '../../factories/bulk.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { finishImport, finishUndo, ndjson } from '../bulk/import-support.js';
import { createExporter } from '../bulk/support.js';
import { type Browser, readCsrf, givePasswords, signIn } from './browser.js';

let app: TestApp;
let team: TestTeam;
let manager: Browser;
let exporter: ReturnType<typeof createExporter>;
beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  await buildProject(app, team);
  await givePasswords(app);
  manager = await signIn(app, team.manager);
  exporter = createExporter(app);
});
afterAll(async () => {
  await exporter.close();
  await app.close();
});

/** Submits a form and returns where it leads. */
const submit = async (path: string, fields: Parameters<Browser['post']>[1]): Promise<string> =>
  (await manager.post(path, fields)).headers.get('location') ?? '';
const form = (fields: Record<string, string | string[]>) => ({
  team_id: team.team_id,
  format: 'ndjson',
  project_id: '',
  ...fields,
});

it('starts an export, shows its progress and its file, and offers no cancel once it has ended', async () => {
  const empty = await manager.get('/app/bulk');
  expect(empty.html).toContain('No exports or imports yet.');
  const path = await submit('/app/bulk/export', form({ entities: ['projects', 'tasks'] }));
  const job_id = path.slice('/app/bulk/'.length);
  const waiting = await manager.get(path);
  expect(waiting.html).toContain('hx-trigger="live" data-live="bulk_job"');
  expect(waiting.html).toContain('Cancel export');
  await exporter.write(job_id);
  const done = await manager.get(path);
  expect(done.html).toContain('<progress aria-label="Progress" value="1" max="1">');
  expect(done.html).toContain(`href="${path}/download"`);
  expect(done.html).not.toMatch(/data-live="bulk_job"|Cancel export/);
  expect((await manager.get(`${path}/download`)).html).toContain('"entity":"project"');
  expect((await manager.get(`/app/bulk?team=${team.team_id}`)).html).toContain(`href="${path}"`);
  expect((await manager.get('/app')).html).toContain('href="/app/bulk"');
});

it('cancels a job, and says so when it has ended meanwhile', async () => {
  const path = await submit('/app/bulk/export', form({ entities: 'tasks' }));
  for (const said of ['Cancelled.', 'The job has already ended']) {
    expect(await submit(`${path}/cancel`, {})).toBe(path);
    expect((await manager.get(path)).html).toContain(said);
  }
});

it('exports a table of the kind that its choice names, whatever the boxes say', async () => {
  const { html } = await manager.get('/app/bulk');
  const boxes = [...html.matchAll(/name="entities" value="([a-z_]+)" checked/g)].map(([, entity = '']) => entity);
  const formats = [...html.matchAll(/<option value="(csv:[a-z_]+)"/g)].map(([, format = '']) => format);
  expect(formats.length).toBe(boxes.length);
  for (const format of formats) {
    const { status, headers } = await manager.post('/app/bulk/export', form({ format, entities: boxes }));
    expect([format, status]).toEqual([format, 303]);
    const path = headers.get('location') ?? '';
    expect((await manager.get(path)).html).toContain('Export to CSV');
    await submit(`${path}/cancel`, {});
  }
  expect((await manager.post('/app/bulk/export', form({ format: 'csv:users', entities: boxes }))).status).toBe(422);
});

it('keeps what was chosen when it refuses a form', async () => {
  const { status, html } = await manager.post('/app/bulk/export', form({ format: 'csv', entities: ['tasks', 'notes'] }));
  expect(status).toBe(422);
  expect(html).toContain('Choose one kind of records for CSV');
  expect(html).toMatch(/value="notes" checked/);
  expect(html).not.toMatch(/value="projects" checked/);
});

it('shows the lines of an import that failed', async () => {
  const job_id = await buildBulkJob(app, team, { message: 'title is required', created: 2 });
  const { html } = await manager.get(`/app/bulk/${job_id}`);
  expect(html).toMatch(/<th scope="row">2<\/th><td>task<\/td><td>title is required<\/td>/);
  const nothing = (await manager.get(`/app/bulk/${await buildBulkJob(app, team, { format: 'linear_csv' })}`)).html;
  const hint = 'Nothing was imported: each line failed.';
  expect(html).toMatch(/class="status paused">.*2 imported, 1 line not/);
  expect(nothing).toMatch(/class="status failed">.*0 imported, 1 line not/);
  expect((await manager.get('/app/bulk')).html).toContain('2 imported, 1 line not');
  expect([html.includes(hint), nothing.includes(hint), nothing.includes('Import from Linear CSV')]).toEqual([false, true, true]);
});

it('is for managers only', async () => {
  const job_id = await buildBulkJob(app, team, { content: 'x' });
  const member = await signIn(app, team.member);
  expect((await member.get('/app/bulk')).html).toContain('You manage no team.');
  expect((await member.get('/app')).html).not.toContain('href="/app/bulk"');
  for (const path of [`/app/bulk/${job_id}`, `/app/bulk/${job_id}/download`]) expect((await member.get(path)).status).toBe(403);
});

/** Sends the form of a file as a browser does: its fields, then the file. */
async function upload(text: string, fields: Record<string, string> = {}): Promise<Response> {
  const body = new FormData();
  const csrf = readCsrf((await manager.get('/app/bulk')).html) as string;
  for (const [name, value] of Object.entries({ _csrf: csrf, ...form({ on_conflict: 'skip' }), ...fields }))
    body.set(name, String(value));
  body.set('file', new File([text], 'issues.ndjson'));
  const cookie = [...manager.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return fetch(`${app.url}/app/bulk/import`, { method: 'POST', body, headers: { cookie }, redirect: 'manual' });
}

/** Returns what the form of the page that checks a file sends. */
function readFields(html: string): Record<string, string[]> {
  const [, form = ''] = /<form method="post" action="[^"]*\/app\/bulk\/import\/(.*?)<\/form>/s.exec(html) ?? [];
  const hidden = [...form.matchAll(/<input type="hidden" name="(?!_)(\w+)" value="([^"]*)">/g)];
  const chosen = [...form.matchAll(/<option value="([^"]*)" selected>/g)].map(([, value = '']) => value);
  const fields: Record<string, string[]> = { place: chosen };
  for (const [, name = '', value = ''] of hidden) (fields[name] ??= []).push(value);
  return fields;
}

/** Sends a file, and says yes to what the next page shows. Returns the answer to that. */
async function sendFile(text: string): Promise<Awaited<ReturnType<Browser['post']>>> {
  const path = (await upload(text)).headers.get('location') ?? '';
  const { html } = await manager.get(path);
  return manager.post(path, readFields(html));
}

it('takes a file, shows what it left out, and undoes the import', async () => {
  const lines = [
    { entity: 'note', title: 'From a file' },
    { entity: 'task', title: 'Nowhere' },
  ];
  const sent = await sendFile(ndjson(lines));
  const path = sent.headers.get('location') ?? '';
  expect([sent.status, path]).toEqual([303, expect.stringMatching(/^\/app\/bulk\/[0-9a-f-]{36}$/)]);
  expect((await manager.get(path)).html).toContain('Cancel import');
  await finishImport(app, path.slice('/app/bulk/'.length));
  const { html } = await manager.get(path);
  expect(html).toMatch(/<dt>Created<\/dt><dd>1<\/dd>/);
  expect(html).toMatch(/<th scope="row">2<\/th><td>task<\/td><td>project_id is required/);
  expect(await submit(`${path}/undo`, {})).toBe(path);
  await finishUndo(app, path.slice('/app/bulk/'.length));
  const undone = (await manager.get(path)).html;
  expect(undone).toMatch(/<dt>Undo<\/dt><dd>done, 1 records<\/dd>/);
  expect(undone).not.toContain('Undo import');
});

it('leads to what it made, until that is undone', async () => {
  const lines = [
    { entity: 'project', project_id: 'p', name: 'Shop <b>' },
    { entity: 'cycle', cycle_id: 'c', name: 'Sprint 7' },
    { entity: 'task', title: 'Pay', project_id: 'p', cycle_id: 'c' },
  ];
  const path = (await sendFile(ndjson(lines))).headers.get('location') ?? '';
  const job_id = path.slice('/app/bulk/'.length);
  expect((await manager.get(path)).html).not.toContain('Where it is now');
  await finishImport(app, job_id);
  const { html } = await manager.get(path);
  expect(html).toMatch(/href="\/app\/projects\/[0-9a-f-]{36}">.*<strong>Shop &lt;b&gt;<\/strong>/);
  expect(html).toMatch(/href="\/app\/cycles\/[0-9a-f-]{36}">.*<strong>Sprint 7<\/strong><small>Cycle, planned/);
  const project = /href="(\/app\/projects\/[0-9a-f-]{36})">.*Shop/.exec(html)?.[1] ?? '';
  expect((await manager.get(project)).html).toContain('Pay');
  await submit(`${path}/undo`, {});
  await finishUndo(app, job_id);
  expect((await manager.get(path)).html).not.toContain('Where it is now');
});

it('shows what a file holds, writes nothing before a yes, and makes the stages that are asked for', async () => {
  const file = `ID,Title,Status,Priority,SLA Status\n${['Backlog', 'Backlog', 'Done', 'Odd <b>'].map((state, at) => `ENG-${at},Crane ${at},${state},No priority,\n`).join('')}ENG-9,,Done,,\n`;
  const path = (await upload(file, { format: '' })).headers.get('location') ?? '';
  const { html } = await manager.get(path);
  expect(html).toMatch(/The file is Linear CSV/);
  expect(html).toMatch(/1 project<.*4 tasks<.*1 line that will fail/s);
  expect(html).toContain('Columns that were left out: SLA Status');
  expect(html).toMatch(/Backlog <span class="aside">2 tasks.*value="new:todo" selected>New stage “Backlog”, in To do/s);
  expect(html).toMatch(/Odd &lt;b&gt; <span class="aside">1 task</);
  const fields = readFields(html);
  expect(fields['state']).toEqual(['Backlog', 'Done', 'Odd &lt;b&gt;']);
  const db = app.services.db;
  expect(await db('tasks').where({ team_id: team.team_id }).whereLike('title', 'Crane%')).toEqual([]);
  for (const state of ['x'.repeat(50), '', 'a\0b', '__proto__ '.repeat(20)])
    expect((await manager.post(path, { ...fields, state, place: 'new:todo' })).status).toBe(422);
  const refused = await manager.post(path, {
    ...fields,
    state: ['Backlog', 'Done', 'Odd'],
    place: ['new:todo', 'done', 'nowhere'],
  });
  expect([refused.status, refused.html.includes('New stage “Backlog”')]).toEqual([422, true]);
  expect(await db('stages').where({ team_id: team.team_id })).toEqual([]);
  const sent = await manager.post(path, {
    ...fields,
    state: ['Backlog', 'Done', 'Odd <b>'],
    place: ['new:in_review', 'canceled', 'todo'],
  });
  await finishImport(app, (sent.headers.get('location') ?? '').slice('/app/bulk/'.length));
  const rows = await db('tasks as t')
    .leftJoin('stages as s', 's.stage_id', 't.stage_id')
    .where({ 't.team_id': team.team_id })
    .whereLike('title', 'Crane%')
    .orderBy('title')
    .select('t.status', 't.resolution', 't.priority', 's.name');
  const backlog = { status: 'in_review', resolution: null, priority: 'none', name: 'Backlog' };
  expect(rows).toEqual([
    backlog,
    backlog,
    { status: 'done', resolution: 'canceled', priority: 'none', name: null },
    { status: 'todo', resolution: null, priority: 'none', name: null },
  ]);
});

it('says why a file cannot be read, and asks for another format', async () => {
  for (const [text, said] of [
    ['once upon a time', 'The file has none of these formats'],
    ['[{"number": 1, "title": "A"}, {', 'Line '],
  ] as const) {
    const { status, html } = await manager.get((await upload(text, { format: '' })).headers.get('location') ?? '');
    expect([status, html.includes('The file cannot be read so.'), html.includes(said)]).toEqual([200, true, true]);
    expect(html).not.toContain('>Import ');
  }
});

it('shows a file to managers of its team alone', async () => {
  const path = (await upload('{"entity":"note","title":"Secret"}\n')).headers.get('location') ?? '';
  expect((await (await signIn(app, team.member)).get(path)).status).toBe(403);
  const other = await buildTeam(app);
  await givePasswords(app);
  const stranger = await signIn(app, other.manager);
  expect((await stranger.get(path)).status).toBe(403);
  expect((await stranger.get(path.replace(team.team_id, other.team_id))).status).toBe(404);
});

test.each([
  ['a file of nothing', '', {}, 422, 'The body is empty'],
  ['compressed bytes', 'PK\u0003\u0004', {}, 415, 'The file is compressed'],
  ['another token', '{}', { _csrf: 'forged' }, 403, 'Form expired'],
])('refuses %s', async (_what, text, fields, status, said) => {
  const answer = await upload(text, fields);
  expect(answer.status).toBe(status);
  expect(await answer.text()).toContain(said);
});

it('says on the page of the form that a file is too large, in the words of the page', async () => {
  const cookie = [...manager.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const headers = { cookie, 'content-type': 'multipart/form-data; boundary=x', 'content-length': String(3 * 1024 ** 3) };
  const send = (path: string, more: Record<string, string> = {}) =>
    new Promise<{ status: number; html: string; cookies: string[] }>((resolve, reject) => {
      const options = { method: 'POST', headers: { ...headers, ...more } };
      const sent = request(`${app.url}${path}`, options, (answer) => {
        let html = '';
        answer.on('data', (chunk: Buffer) => (html += chunk.toString()));
        answer.on('end', () => {
          resolve({ status: answer.statusCode as number, html, cookies: answer.headers['set-cookie'] ?? [] });
          sent.destroy();
        });
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });
  const path = `/app/bulk/import?team=${team.team_id}`;
  const { status, html } = await send(path);
  expect([status, html.includes('The file exceeds 2 GB'), html.includes('Check the file')]).toEqual([413, true, true]);
  const foreign = await send(path, { origin: 'https://evil.example' });
  expect([foreign.status, foreign.html.includes('Check the file')]).toEqual([413, false]);
  const task = await buildTask(app, team, await buildProject(app, team), { title: 'With a file' });
  const attached = await send(`/app/items/${task.task_id}/files`);
  expect(attached.status).toBe(303);
  const withNotice = [cookie, ...attached.cookies.map((each) => each.split(';')[0])].join('; ');
  const page = await (await fetch(`${app.url}/app/items/${task.task_id}`, { headers: { cookie: withNotice } })).text();
  expect([page.includes('The file exceeds 25 MB'), page.includes('With a file')]).toEqual([true, true]);
});

it('shows the beginning of a large file, whose last row is cut, and no more new stages than the team may have', async () => {
  const row = (at: number) => `A-${at},Crane ${at},S${at % 30},"${'Lift it, "" please\n'.repeat(400)}"\n`;
  const text = `Issue key,Summary,Status,Description\n${Array.from({ length: 400 }, (_, at) => row(at)).join('')}`;
  const { html } = await manager.get((await upload(text, { format: '' })).headers.get('location') ?? '');
  expect(html).toMatch(/at least \d+ tasks/);
  expect(html).toContain('Only the beginning of the file was read here.');
  const stages = await app.services.db('stages').where({ team_id: team.team_id });
  expect(html.match(/value="new:todo" selected/g)).toHaveLength(20 - stages.length);
});
