import { connect } from 'node:net';
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
const nextOf = ({ headers }: Answer): string | undefined => /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];

/** Follows a list to its end; returns the ids of its rows, and the bytes of each answer. */
async function follow(path: string, id: string): Promise<{ ids: string[]; bytes: number[] }> {
  const [ids, bytes]: [string[], number[]] = [[], []];
  for (let next: string | undefined = path; next !== undefined; ) {
    const answer = await app.as(team.admin).get(next);
    expect(answer.status).toBe(200);
    next = nextOf(answer);
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
