import { rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Endpoint } from '../../../api/platform/endpoint/endpoint.js';
import { isList, getPages } from '../../../api/platform/endpoint/pages.js';
import { ENDPOINTS } from '../../../api/http/router.js';
import { buildPerson, buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { buildAutomation, comment } from '../../factories/automations.js';
import { type Answer, startApp, type TestApp } from '../../support/app.js';

// Lists of the largest rows end at their maximum of bytes, and keep every row.

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
});
afterAll(() => app.close());

const MB = 1000 * 1000;
const MAX_BYTES = 10 * MB;
const getNextPage = ({ headers }: Answer): string | undefined => /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];

/** Follows a list to its end; returns the ids of its rows, and the bytes of each answer. */
async function follow(path: string, id: string): Promise<{ ids: string[]; bytes: number[] }> {
  const [ids, bytes]: [string[], number[]] = [[], []];
  for (let next: string | undefined = path; next !== undefined; ) {
    const answer = await app.as(team.admin).get(next);
    expect(answer.status).toBe(200);
    next = getNextPage(answer);
    expect(answer.headers.get('x-truncated')).toBe(next === undefined ? null : 'true');
    ids.push(...(answer.body as Record<string, string>[]).map((row) => String(row[id])));
    bytes.push(Buffer.byteLength(JSON.stringify(answer.body)));
  }
  return { ids, bytes };
}

/** Actions of almost 64 kB, as they are stored. */
const large = Array.from({ length: 7 }, () => ({ ...comment('x'.repeat(9_000)), on_failure: 'stop' as const }));

it('automations of the largest size end at 10 MB, and `Link` leads to the others', async () => {
  for (let at = 0; at < 170; at += 1) await buildAutomation(app, team, { actions: large, name: `Large ${at}` });
  const all = await app.services
    .db('automations')
    .where({ team_id: team.team_id })
    .orderBy(['created_at', 'automation_id'])
    .pluck('automation_id');
  const { ids, bytes } = await follow('/api/automations', 'automation_id');
  expect(ids).toEqual(all);
  expect(bytes.length).toBe(2);
  expect(bytes[0]).toBeGreaterThan(MAX_BYTES - MB);
  expect(Math.max(...bytes)).toBeLessThanOrEqual(MAX_BYTES);
});

it('a cursor that is no automation of the caller is a 422', async () => {
  const other = await buildTeam(app);
  const { automation_id } = await buildAutomation(app, other, { actions: [] });
  expect((await app.as(team.admin).get(`/api/automations?before=${automation_id}`)).status).toBe(422);
  expect((await app.as(other.admin).get(`/api/automations?before=${automation_id}`)).body).toEqual([]);
});

it('versions end at 10 MB', async () => {
  const { automation_id } = await buildAutomation(app, team, { actions: large });
  const { db } = app.services;
  await db.raw(
    `insert into automation_versions (automation_id, version, name, trigger_type, actions, changed_by)
     select automation_id, n, name, trigger_type, actions, changed_by from automation_versions, generate_series(2, 180) n where automation_id = ?`,
    [automation_id],
  );
  await db('automations').where({ automation_id }).update({ version: 180 });
  const { ids, bytes } = await follow(`/api/automations/${automation_id}/versions?limit=500`, 'version');
  expect(ids).toEqual(Array.from({ length: 180 }, (_, at) => String(180 - at)));
  expect(bytes.length).toBe(2);
  expect(Math.max(...bytes)).toBeLessThanOrEqual(MAX_BYTES);
});

it('work items of 30 kB end at 10 MB, and none is missing', async () => {
  const project = await buildProject(app, team);
  await app.services.db.raw(
    `with keys as (insert into item_keys (item_id, item_type) select gen_random_uuid()::text, 'doc' from generate_series(1, 600) returning item_id)
     insert into items (item_id, item_type, title, description, team_id, project_id, created_by)
     select item_id, 'doc', 'Large', repeat('x', 30000), ?, ?, ? from keys`,
    [team.team_id, project.project_id, team.admin.user_id],
  );
  const { ids, bytes } = await follow(`/api/work-items?type=doc&project_id=${project.project_id}`, 'item_id');
  expect(new Set(ids).size).toBe(600);
  expect(ids).toHaveLength(600);
  expect(bytes.length).toBe(2);
  expect(Math.max(...bytes)).toBeLessThanOrEqual(MAX_BYTES);
});

it('the first bytes of a long list tell that it ends early, before its rows arrive', async () => {
  const person = await buildPerson(app);
  await app.services.db('memberships').insert({ team_id: team.team_id, user_id: person.user_id, role: 'guest' });
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /api/automations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${person.token}\r\n\r\n`);
  const head = await new Promise<string>((resolve) =>
    socket.once('data', (bytes: Buffer) => resolve(bytes.toString('latin1', 0, 2_000))),
  );
  socket.destroy();
  expect(head).toMatch(/^HTTP\/1\.1 200/);
  expect(head.toLowerCase()).toContain('x-truncated: true');
});

/** The routes of lists that neither page nor cut themselves: their rows are few, and one place bounds them all. */
const isUnpaged = (endpoint: Endpoint): boolean => isList(endpoint) && !getPages(endpoint) && !endpoint.raw;

it('a list that does not page ends early too, in an array and in the fields of an object', async () => {
  const own = await buildTeam(app);
  const { config } = app.services;
  const client = app.as(own.admin);
  for (let at = 0; at < 5; at += 1)
    await client.post('/api/automations/secrets', { team_id: own.team_id, name: `KEY_${at}`, value: 'kept' });
  const lists: [string, (body: never) => unknown[]][] = [
    [`/api/teams/${own.team_id}/members`, (body) => body],
    [`/api/automations/secrets?team_id=${own.team_id}`, ({ secrets }: { secrets: unknown[] }) => secrets],
  ];
  for (const [path, describeRows] of lists) {
    const whole = await client.get(path);
    expect(whole.headers.get('x-truncated')).toBeNull();
    const rows = describeRows(whole.body as never);
    expect(rows.length).toBeGreaterThan(2);
    const before = config.LIST_MAX_BYTES;
    config.LIST_MAX_BYTES = Buffer.byteLength(JSON.stringify(whole.body)) - 1;
    const cut = await client.get(path);
    config.LIST_MAX_BYTES = before;
    expect([cut.status, cut.headers.get('x-truncated'), cut.headers.get('link')]).toEqual([200, 'true', null]);
    const kept = describeRows(cut.body as never);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept).toEqual(rows.slice(0, kept.length));
  }
  expect(ENDPOINTS.filter(isUnpaged).length).toBeGreaterThan(10);
});

describe('an error', () => {
  /** Reads an answer to its end; `error` if the connection broke before it. */
  const read = (path: string, onHead: () => Promise<void>) =>
    new Promise<{ status: number; body: string; error: boolean }>((resolve, reject) => {
      const sent = request(`${app.url}${path}`, { headers: { authorization: `Bearer ${team.admin.token}` } }, (answer) => {
        let body = '';
        answer.pause();
        answer.setEncoding('utf8').on('data', (text: string) => (body += text));
        const end = (error: boolean) => resolve({ status: answer.statusCode ?? 0, body, error });
        answer.once('error', () => end(true));
        answer.once('end', () => end(false));
        answer.pause();
        onHead().then(() => answer.resume(), reject);
      });
      sent.once('error', reject);
      sent.end();
    });

  it('before the first byte of a long list has the envelope', async () => {
    const folder = join(app.services.config.DATA_DIR, 'lists');
    rmSync(folder, { recursive: true, force: true });
    writeFileSync(folder, 'no folder');
    const { status, body, error } = await read('/api/automations', async () => {});
    rmSync(folder);
    expect([status, error]).toEqual([500, false]);
    expect(JSON.parse(body)).toMatchObject({ success: false, error_code: 'INTERNAL_ERROR', correlation_id: expect.any(String) });
    expect((await app.as(team.admin).get('/api/automations')).status).toBe(200);
  });

  it('after the first byte ends the connection, so that nobody takes the list for whole', async () => {
    const { db } = app.services;
    const project = await buildProject(app, team);
    await db.raw(
      `with keys as (insert into item_keys (item_id, item_type) select gen_random_uuid()::text, 'task' from generate_series(1, 4000) returning item_id)
       insert into tasks (task_id, title, description, team_id, project_id, created_by)
       select item_id, 'Large', repeat('x', 1900), ?, ?, ? from keys`,
      [team.team_id, project.project_id, team.admin.user_id],
    );
    const path = `/api/tasks?project_id=${project.project_id}`;
    const broken = await read(path, async () => {
      await db.raw('alter table memberships rename to gone');
    });
    await db.raw('alter table gone rename to memberships');
    expect([broken.status, broken.error]).toEqual([200, true]);
    expect(() => JSON.parse(broken.body)).toThrow();
    expect((await read(path, async () => {})).error).toBe(false);
  });
});
