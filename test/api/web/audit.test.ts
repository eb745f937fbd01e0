import { createPublicKey, type KeyObject } from 'node:crypto';
import { resolve } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { deriveKeyId, signingKey } from '../../../api/audit/signing-keys.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { buildRun } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { captureStatements } from '../../support/statements.js';
import { tamper } from '../audit/support.js';
import { writeEntry } from '../audit/log/entries.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// The page of the audit log: admins read, filter, check and export it.

const PATH = '/app/audit';
const FORMULA = '=HYPERLINK("https://evil.example","click")';
let app: TestApp;
let team: TestTeam;
let browser: Browser;
beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  browser = await signIn(app, team.admin);
});

const write = (fields: Partial<Parameters<typeof writeEntry>[1]> = {}) => writeEntry(app, { team_id: team.team_id, ...fields });
/** Titles of the listed entries. */
const listed = (html: string): string[] => [...html.matchAll(/<strong>([a-z ]+)<\/strong>/g)].map(([, title = '']) => title);

it('lists entries with what each one says, and filters them', async () => {
  const user_id = team.member.user_id;
  const request = await write({ user_id, details: { title: 'Sign-in fails <b>here</b>' }, entity_id: 'task-1' });
  await write({ feature: 'teams', action: 'delete', entity_type: 'team', severity: 'HIGH', correlation_id: request });
  const { status, html } = await browser.get(PATH);
  expect(status).toBe(200);
  expect(listed(html).slice(0, 2)).toEqual(['delete team', 'update task']);
  expect(html).toContain('Sign-in fails &lt;b&gt;here&lt;/b&gt;');
  expect(html).toContain(`href="${PATH}?request=${request}"`);
  expect(html).toContain('Entries of the last 30 days, by feature');
  for (const [query, titles] of [
    ['severity=HIGH', ['delete team']],
    ['entity=+task-1+', ['update task']],
    [`person=${user_id}`, ['update task']],
    [`request=${request}`, ['delete team', 'update task']],
    ['feature=tasks&from=2020-01-01&to=2020-01-02', []],
    ['feature=nonsense&severity=&entity=&from=x&page=-1&team=none', ['delete team', 'update task']],
  ] as const) {
    const found = listed((await browser.get(`${PATH}?${query}`)).html).filter((title) => /update task|delete team/.test(title));
    expect([query, found]).toEqual([query, [...titles]]);
  }
});

it('names what entries are about, with a link, and nothing of another team', async () => {
  const project = await buildProject(app, team);
  const task = await buildTask(app, team, project, { title: 'Login <500>' });
  const run = await buildRun(app, team);
  await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`);
  await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { status: 'done' });
  await app.as(team.member).post(`/api/tasks/${task.task_id}/comments`, { content: 'Fixed' });
  const other = await buildTeam(app);
  const theirs = await buildTask(app, other, await buildProject(app, other), { title: 'Payroll' });
  const elsewhere = await buildRun(app, other);
  await write({ entity_id: theirs.task_id });
  await write({ entity_type: 'automation_run', entity_id: elsewhere.run_id, action: 'reject', feature: 'approvals' });
  await write({ entity_type: 'agent_plan', entity_id: 'no-uuid', action: 'discard', feature: 'ai_agent' });

  const { html } = await browser.get(PATH);
  for (const line of [
    '<strong>approve automation run</strong> <bdi>Deploy on merge</bdi>',
    `<dt>About</dt><dd><a href="/app/runs/${run.run_id}"><bdi>Deploy on merge</bdi></a></dd>`,
    '<strong>update task</strong> <bdi>Login &lt;500&gt;</bdi>',
    'comment</strong> <bdi>Login &lt;500&gt;</bdi>',
    `<dt>About</dt><dd><a href="/app/items/${task.task_id}"><bdi>Login &lt;500&gt;</bdi></a></dd>`,
  ])
    expect(html).toContain(line);
  expect(html).toMatch(/<strong>reject automation run<\/strong>\s/);
  for (const hidden of ['Payroll', elsewhere.run_id + '"', `/app/items/${theirs.task_id}`]) {
    const links = [...html.matchAll(/href="([^"]*)"|<bdi>([^<]*)/g)].map(([, href, name]) => href ?? name ?? '');
    expect(links.filter((link) => link.includes(hidden))).toEqual([]);
  }
  await app.as(team.manager).delete(`/api/tasks/${task.task_id}`);
  expect((await browser.get(PATH)).html).not.toContain(`href="/app/items/${task.task_id}"`);
  expect((await captureStatements(() => browser.get(PATH))).filter(({ name }) => name === 'audit_subjects')).toHaveLength(1);
});

it('continues on the next page with the same filter', async () => {
  for (let n = 0; n < 51; n += 1) await write({ entity_id: 'busy' });
  const first = await browser.get(`${PATH}?entity=busy`);
  expect(listed(first.html)).toHaveLength(50);
  const [, next = ''] = /href="([^"]+)" rel="next"/.exec(first.html) ?? [];
  const second = await browser.get(next.replaceAll('&amp;', '&'));
  expect(listed(second.html)).toHaveLength(1);
  expect(second.html).toContain(`href="${PATH}?entity=busy" rel="prev"`);
});

it('checks the chain on request, and names the entry that was changed', async () => {
  await write();
  const id = await write();
  expect((await browser.get(PATH)).html).not.toContain('Intact');
  expect((await browser.get(`${PATH}?check=1`)).html).toContain('every entry checked');
  await tamper(app.services.db, [`update audit_entries set severity = 'HIGH' where audit_id = ?`, id]);
  const { html } = await browser.get(`${PATH}?check=1`);
  expect(html).toMatch(/Broken at sequence 2, entry <code>/);
  expect(html).toContain(id);
  await tamper(app.services.db, [`delete from audit_entries where audit_id = ?`, id]);
  expect((await browser.get(`${PATH}?check=1`)).html).toContain('Broken at sequence 2');
});

it('reads the teams and seals once a page', async () => {
  await write();
  const names = (await captureStatements(() => browser.get(`${PATH}?check=1`))).map(({ name }) => name);
  expect(names.filter((name) => name === 'audit_teams')).toHaveLength(1);
});

it('checks few entries a minute for one user', async () => {
  await write();
  // A chain that says it is long counts as such.
  await browser.get(PATH);
  await tamper(app.services.db, ['update audit_heads set sequence = 40000 where chain = ?', team.team_id]);
  for (let n = 0; n < 10; n += 1) expect((await browser.get(`${PATH}?check=1`)).html).not.toContain('within a minute');
  expect((await browser.get(`${PATH}?check=1`)).html).toContain('within a minute');
  const { admin } = await buildTeam(app);
  await givePasswords(app);
  const other = await signIn(app, admin);
  expect((await other.get(`${PATH}?check=1`)).html).toContain('Intact');
});

it('does not take an archived month for a break', async () => {
  const [first, second] = [await write(), await write()];
  const range = { lower_id: first, upper_id: second };
  const hashes = { content_hash: Buffer.alloc(32), seals_hash: Buffer.alloc(32) };
  await app.services
    .db('audit_archives')
    .insert({ month: '2020-01', ...range, entries: 1, file: 'x', ...hashes, audit_id: uuidv7() });
  await tamper(app.services.db, ['delete from audit_entries where audit_id = ?', first]);
  expect((await browser.get(`${PATH}?check=1`)).html).toContain('Intact up to');
});

it('exports JSON that verifies, and records it', async () => {
  await write();
  const answer = await browser.post(`${PATH}/export`, { format: 'json' }, { from: PATH });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="audit-\d{4}-\d\d-\d\d\.json"$/);
  const { verifyExport } = (await import(resolve('clients/verify-export.mjs'))) as {
    verifyExport: (given: unknown, keys: Map<string, KeyObject>) => unknown;
  };
  const key = signingKey(app.services.config);
  const keys = new Map([[deriveKeyId(key), createPublicKey(key)]]);
  expect(verifyExport(JSON.parse(answer.html), keys)).toMatchObject({ verdict: 'intact', complete: true });
  expect(listed((await browser.get(PATH)).html)[0]).toBe('export audit log');
});

it('exports a table in which nothing is a formula', async () => {
  const correlation_id = uuidv7();
  await write({ correlation_id, entity_id: FORMULA, details: { title: 'a,"b"\r\nc' } });
  const fields = { format: 'csv', request: correlation_id };
  const answer = await browser.post(`${PATH}/export`, fields, { from: PATH });
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const [header = '', line = '', ...rest] = answer.html.split('\r\n');
  expect(header).toMatch(/^timestamp,team_id,sequence,/);
  expect(rest).toEqual(['']);
  expect(line).toContain(`"'${FORMULA.replaceAll('"', '""')}"`);
  expect(line).toContain(String.raw`""title"": ""a,\""b\""\r\nc""`);
});

it.each([
  ['-2+3', "'-2+3"],
  ['\t=1', "'\t'=1"],
  ['\n=1', "'\n'=1"],
  // Where the comma is a decimal sign, a semicolon ends the cell.
  ['x;=1+1;y', "x;'=1+1;y"],
  ['x|@SUM(A1)', "x|'@SUM(A1)"],
  ['\uFF1D1+1', "'\uFF1D1+1"],
  ['a-b;c = d', 'a-b;c = d'],
])('exports %j as a text', async (entity_id, shown) => {
  const correlation_id = uuidv7();
  await write({ correlation_id, entity_id });
  const { html } = await browser.post(`${PATH}/export`, { format: 'csv', request: correlation_id }, { from: PATH });
  expect(html).toContain(shown);
});

it('is for admins of a team whose plan includes it', async () => {
  for (const person of [team.manager, team.member, team.guest]) {
    const other = await signIn(app, person);
    expect((await other.get(PATH)).status).toBe(403);
    expect((await other.get('/app')).html).not.toContain(`href="${PATH}"`);
    expect((await other.post(`${PATH}/export`, { format: 'csv' }, { from: '/app/teams' })).status).toBe(403);
  }
  expect((await browser.get('/app')).html).toContain(`href="${PATH}"`);
  expect((await browser.get(`/app/teams/${team.team_id}`)).html).toContain(`href="${PATH}?team=${team.team_id}"`);
  await app.services.db('teams').where({ team_id: team.team_id }).update({ plan: 'team' });
  const { status, html } = await browser.get(PATH);
  expect(status).toBe(403);
  expect(html).toContain('The plan does not include the audit log');
});

it('shows nothing of another team, whatever the address says', async () => {
  const other = await buildTeam(app);
  await writeEntry(app, { team_id: other.team_id, entity_id: 'foreign-entity' });
  for (const query of [`team=${other.team_id}`, 'entity=foreign-entity', `person=${other.admin.user_id}`])
    expect((await browser.get(`${PATH}?${query}`)).html).not.toMatch(/Its entries/);
  const fields = { format: 'csv', team: other.team_id };
  expect((await browser.post(`${PATH}/export`, fields, { from: PATH })).status).toBe(403);
});
