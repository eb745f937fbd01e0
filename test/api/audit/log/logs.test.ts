import { v7 as uuidv7 } from 'uuid';
import { AUDIT_ACTIONS } from '../../../../api/platform/changes/audit-actions.js';
import { FEATURES, SEVERITIES } from '../../../../api/platform/changes/change-kinds.js';
import { buildPerson, buildTeam, buildToken, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Entry, hashOfEntry, withQuery, writeEntry, writeMany } from './entries.js';

const PATH = '/api/audit/logs';
let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const list = async (query: Record<string, string> = {}, admin: { token: string } = team.admin) => {
  const { status, body } = await app.as(admin).get(withQuery(PATH, query));
  expect([status, body.message]).toEqual([200, undefined]);
  return body as { entries: Entry[]; total: number; count: number; has_more: boolean; offset: number; skip: number };
};
const listIds = ({ entries }: { entries: Entry[] }) => entries.map(({ audit_id }) => audit_id);

it('lists the entries of the team, newest first, each with its place in the chain', async () => {
  const details = { title: 'Zoë', nested: { n: 1.5, list: [1, 'two', null] } };
  const ids = [];
  for (let n = 0; n < 3; n += 1) ids.push(await writeEntry(app, { team_id: team.team_id, details }));
  const page = await list();
  expect(listIds(page)).toEqual(ids.toReversed());
  expect(page).toMatchObject({ total: 3, count: 3, limit: 50, offset: 0, skip: 0, has_more: false });
  expect(page).not.toHaveProperty('total_capped');
  expect(page.entries[0]).toMatchObject({
    correlation_id: ids[2],
    team_id: team.team_id,
    sequence: 3,
    feature: 'tasks',
    action: 'update',
    severity: 'LOW',
    outcome: 'success',
    details,
  });
  expect(page.entries[0]?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
  // The chain, from nothing but this answer.
  expect(page.entries.map(hashOfEntry)).toEqual(page.entries.map(({ entry_hash }) => entry_hash));
  expect(page.entries[0]?.prev_hash).toBe(page.entries[1]?.entry_hash);
  expect(page.entries[2]?.prev_hash).toBe('0'.repeat(64));
  const one = await app.as(team.admin).get(`${PATH}/${ids[1]}`);
  expect([one.status, one.body]).toEqual([200, page.entries[1]]);
});

describe('filters', () => {
  /** An entry that matches, and one that differs in this column alone. */
  const COLUMNS: [name: string, column: string, value: string, other: string][] = [
    ['user_id', 'user_id', uuidv7(), uuidv7()],
    ['feature', 'feature', 'secrets', 'tasks'],
    ['action', 'action', 'delete', 'update'],
    ['severity', 'severity', 'HIGH', 'LOW'],
    ['ip_address', 'ip', '203.0.113.9', '203.0.113.90'],
    ['entity_type', 'entity_type', 'secret', 'task'],
    ['entity_id', 'entity_id', 'a key/with anything %_', 'k2'],
    ['correlation_id', 'correlation_id', uuidv7(), uuidv7()],
  ];

  it.each(COLUMNS)('%s finds what is equal, alone and together with others', async (name, column, value, other) => {
    const { team_id } = team;
    const found = await writeEntry(app, { team_id, [column]: value });
    await writeEntry(app, { team_id, [column]: other });
    expect(listIds(await list({ [name]: value }))).toEqual([found]);
    expect(await list({ [name]: value, severity: column === 'severity' ? value : 'CRITICAL' })).toMatchObject({
      total: column === 'severity' ? 1 : 0,
    });
    expect(listIds(await list({ [name]: value, from_time: '2', to_time: '3' }))).toEqual([found]);
  });

  it('an unknown feature, action or severity is dropped, which widens the query', async () => {
    const { team_id } = team;
    const id = await writeEntry(app, { team_id });
    for (const query of [{ feature: 'nonsense' }, { action: 'UPDATE' }, { severity: 'low' }, { severity: '' }]) {
      const { status, body, headers } = await app.as(team.admin).get(withQuery(PATH, query));
      expect([status, listIds(body), headers.get('x-ignored-fields')]).toEqual([200, [id], null]);
    }
    expect(listIds(await list({ feature: 'tasks', action: 'nonsense' }))).toEqual([id]);
    expect(listIds(await list({ feature: 'billing', action: 'nonsense' }))).toEqual([]);
  });

  it('kinds in every combination find the same as reading all', async () => {
    const { team_id } = team;
    const kinds = [
      { feature: 'tasks', action: 'update', severity: 'LOW', entity_type: 'task' },
      { feature: 'tasks', action: 'delete', severity: 'MEDIUM', entity_type: 'task' },
      { feature: 'teams', action: 'update', severity: 'LOW', entity_type: 'team' },
      { feature: 'secrets', action: 'delete', severity: 'HIGH', entity_type: 'secret' },
    ];
    for (const kind of [...kinds, ...kinds]) await writeEntry(app, { team_id, ...kind });
    const all = (await list()).entries;
    const names = ['feature', 'action', 'severity', 'entity_type'] as const;
    for (const kind of kinds) {
      for (let mask = 1; mask < 16; mask += 1) {
        const query = Object.fromEntries(names.filter((_name, at) => mask & (1 << at)).map((name) => [name, kind[name]]));
        const wanted = all.filter((entry) => Object.entries(query).every(([name, value]) => entry[name] === value));
        const page = await list({ ...query, limit: '2', offset: '1' });
        expect([listIds(page), page.total]).toEqual([wanted.slice(1, 3).map(({ audit_id }) => audit_id), wanted.length]);
      }
    }
  });

  it('bounds of the time are inclusive, compared as text, and never validated', async () => {
    const { team_id } = team;
    for (let n = 0; n < 4; n += 1) await writeEntry(app, { team_id });
    const { entries } = await list();
    const [newest, second, third, oldest] = entries.map(({ timestamp }) => timestamp) as [string, string, string, string];
    const day = newest.slice(0, 10);
    const times = async (query: Record<string, string>) => (await list(query)).entries.map(({ timestamp }) => timestamp);
    expect(await times({ from_time: third, to_time: second })).toEqual([second, third]);
    // The Z makes the text longer than the stored one, so it is greater.
    expect(await times({ from_time: `${third}Z` })).toEqual([newest, second]);
    expect(await times({ to_time: `${third}Z` })).toEqual([third, oldest]);
    // A date alone is before all of its day.
    expect(await times({ from_time: day })).toHaveLength(4);
    expect(await times({ to_time: day })).toEqual([]);
    for (const odd of ['', '0', '2', '2026-99-99', 'a\0b', '\ud800', '-'.repeat(4_000), '%'])
      expect((await times({ from_time: odd })).length + (await times({ to_time: odd })).length).toBe(4);
    expect(await times({ from_time: `${third}\0` })).toEqual(await times({ from_time: third }));
  });
});

describe('pages', () => {
  const HOW_MANY = 7;
  let ids: string[];
  beforeEach(async () => {
    ids = [];
    for (let n = 0; n < HOW_MANY; n += 1) ids.unshift(await writeEntry(app, { team_id: team.team_id }));
  });

  it.each([
    [{}, 0, 50],
    [{ limit: '3' }, 0, 3],
    [{ limit: '3', offset: '2' }, 2, 3],
    [{ limit: '3', skip: '2' }, 2, 3],
    [{ limit: '3', page: '2' }, 3, 3],
    [{ limit: '3', offset: '1', skip: '2', page: '3' }, 1, 3],
    [{ limit: '3', skip: '2', page: '3' }, 2, 3],
    [{ limit: '3', offset: '0', page: '3' }, 0, 3],
    [{ limit: '501' }, 0, 500],
    [{ limit: '9'.repeat(300) }, 0, 500],
    [{ limit: '3', offset: '7' }, 7, 3],
    [{ limit: '3', page: '1000000' }, 2_999_997, 3],
    [{ limit: '500', page: '9'.repeat(300) }, Number.MAX_SAFE_INTEGER, 500],
    [{ offset: '9'.repeat(300) }, Number.MAX_SAFE_INTEGER, 50],
  ])('%j', async (query, skip, limit) => {
    const page = await list(query as Record<string, string>);
    const wanted = ids.slice(skip, skip + limit);
    expect(page).toMatchObject({
      total: HOW_MANY,
      count: wanted.length,
      limit,
      offset: skip,
      skip,
      has_more: skip + limit < HOW_MANY,
    });
    expect(listIds(page)).toEqual(wanted);
  });

  it.each([{ limit: '0' }, { limit: '-1' }, { offset: '-1' }, { skip: '1.5' }, { page: '0' }, { page: 'one' }, { limit: '' }])(
    '%j is no number of rows',
    async (query) => {
      const { status, body } = await app.as(team.admin).get(withQuery(PATH, query as Record<string, string>));
      expect([status, body.error_code]).toEqual([422, 'VALIDATION_ERROR']);
    },
  );
});

it('counts exactly up to 10,000 entries, and pages no further than that', async () => {
  const { team_id, admin } = team;
  await writeMany(app, team_id, 9_999);
  expect(await list({ limit: '1' })).toMatchObject({ total: 9_999 });
  const id = await writeEntry(app, { team_id });
  const exact = await list({ limit: '1' });
  expect(exact).toMatchObject({ total: 10_000, has_more: true });
  expect(exact).not.toHaveProperty('total_capped');
  expect(await list({ limit: '2', offset: '9999' })).toMatchObject({ count: 1, has_more: false });
  expect(await list({ offset: '10000' })).toMatchObject({ count: 0, has_more: false, total: 10_000 });
  await writeEntry(app, { team_id });
  await writeEntry(app, { team_id });
  expect(await list({ limit: '1' })).toMatchObject({ total: 10_000, total_capped: true, has_more: true });
  expect(await list({ offset: '10000' })).toMatchObject({ count: 2, has_more: false, skip: 10_000 });
  const far = await app.as(admin).get(withQuery(PATH, { offset: '10001' }));
  expect([far.status, far.body.detail.errors[0].field]).toEqual([422, 'query.offset']);
  // A filter that leaves fewer has no such end.
  expect(await list({ offset: '10001', correlation_id: id })).toMatchObject({ total: 1, count: 0 });
});

describe('who may read', () => {
  const READS: [method: 'get' | 'post', path: string, body?: object][] = [
    ['get', PATH],
    ['get', `${PATH}/${uuidv7()}`],
    ['get', `/api/audit/correlate/${uuidv7()}`],
    ['get', '/api/audit/stats'],
    ['post', '/api/audit/export', { format: 'json' }],
  ];
  const read = ([method, path, body]: (typeof READS)[number], as: string | { token: string }) => app.as(as)[method](path, body);
  const setPlan = (plan: string, { team_id } = team) => app.services.db('teams').where({ team_id }).update({ plan });

  it.each(READS)('%s %s needs the role of an admin, then a billing tier', async (...call) => {
    for (const person of [team.manager, team.member, team.guest, await buildPerson(app)]) {
      const { status, body } = await read(call, person);
      expect([status, body.message]).toEqual([403, 'You administer no team']);
      expect(body).not.toHaveProperty('upgrade_required');
    }
    await setPlan('team');
    const { status, body } = await read(call, team.admin);
    expect([status, body]).toEqual([
      403,
      expect.objectContaining({ error_code: 'PERMISSION_DENIED', upgrade_required: true, feature: 'audit_logs' }),
    ]);
    // The plan counts only for those who administer the team.
    expect((await read(call, team.manager)).body).not.toHaveProperty('upgrade_required');
    await setPlan('scale');
    expect((await read(call, team.admin)).status).toBe(path404(call) ? 404 : 200);
    await app.services.db('teams').where({ team_id: team.team_id }).update({ deleted_at: new Date() });
    expect((await read(call, team.admin)).status).toBe(403);
  });
  const path404 = ([, path]: (typeof READS)[number]) => path.startsWith(`${PATH}/`);

  it('a token reads with the rights of its owner', async () => {
    const id = await writeEntry(app, { team_id: team.team_id });
    const token = await buildToken(app, team.admin, ['tasks:read']);
    expect(listIds(await list({}, { token }))).toEqual([id]);
    const weaker = await buildToken(app, team.manager, ['admin:*']);
    expect((await app.as(weaker).get(PATH)).status).toBe(403);
  });

  it('anybody who is signed in reads the vocabulary', async () => {
    const { status, body } = await app.as(team.guest).get('/api/audit/features');
    expect([status, body]).toEqual([200, { features: FEATURES, actions: AUDIT_ACTIONS, severities: SEVERITIES }]);
    expect((await app.as().get('/api/audit/features')).status).toBe(401);
  });

  it('covers the administered teams on the plan, and no entry of others or of the instance', async () => {
    const [second, free, foreign, seat] = await Promise.all(Array.from({ length: 4 }, () => buildTeam(app)));
    const { db } = app.services;
    const { user_id } = team.admin;
    const join = (to: TestTeam, role: string) => db('memberships').insert({ team_id: to.team_id, user_id, role });
    await Promise.all([join(second as TestTeam, 'admin'), join(free as TestTeam, 'admin'), join(seat as TestTeam, 'manager')]);
    await setPlan('free', free);
    const correlation_id = uuidv7();
    const write = (team_id: string | null) => writeEntry(app, { team_id, correlation_id, user_id });
    const mine = await write(team.team_id);
    const others = [];
    for (const other of [free, foreign, seat]) others.push(await write((other as TestTeam).team_id));
    others.push(await write(null));
    const alsoMine = await write((second as TestTeam).team_id);
    for (const query of [
      {},
      { user_id },
      { correlation_id },
      { feature: 'tasks' },
      { entity_id: 'k1' },
      { ip_address: '10.0.0.7' },
    ])
      expect(listIds(await list(query as Record<string, string>))).toEqual([alsoMine, mine]);
    for (const id of others) {
      const { status, body } = await app.as(team.admin).get(`${PATH}/${id}`);
      expect([status, body.message]).toEqual([404, 'Audit entry not found']);
    }
    const trail = await app.as(team.admin).get(`/api/audit/correlate/${correlation_id}`);
    expect([trail.body.count, listIds(trail.body)]).toEqual([2, [mine, alsoMine]]);
    for (const id of [(foreign as TestTeam).team_id, uuidv7(), 'nonsense', mine]) {
      const { status, body } = await app.as(team.admin).get(`/api/audit/correlate/${id}`);
      if (id !== mine) expect([status, body.count, body.entries]).toEqual([200, 0, []]);
    }
  });
});

describe('hostile values', () => {
  const VALUES = ["' or 1=1 --", '%00', '\0', '\ud800', 'x'.repeat(6_000), '${jndi}', '{}', '[]', '∞', '-1', '1e309', 'null'];
  const NAMES =
    'user_id feature action severity from_time to_time ip_address entity_type entity_id correlation_id limit offset skip page';

  it.each(NAMES.split(' '))('%s never fails the service', async (name) => {
    await writeEntry(app, { team_id: team.team_id });
    for (const value of VALUES) {
      const { status } = await app.as(team.admin).get(withQuery(PATH, { [name]: value }));
      expect([200, 422]).toContain(status);
    }
    const twice = await app.as(team.admin).get(`${PATH}?${name}=1&${name}=2`);
    expect([200, 422]).toContain(twice.status);
  });

  it('neither do ids in paths', async () => {
    for (const value of VALUES.map((each) => encodeURIComponent(each.toWellFormed()).slice(0, 900))) {
      expect([404, 400]).toContain((await app.as(team.admin).get(`${PATH}/${value}`)).status);
      expect([200, 400]).toContain((await app.as(team.admin).get(`/api/audit/correlate/${value}`)).status);
    }
  });
});

it('a read seals what is committed, and shows nothing that cannot be sealed', async () => {
  const { team_id } = team;
  const { db } = app.services;
  const ids = await Promise.all(Array.from({ length: 5 }, () => writeEntry(app, { team_id })));
  expect(await db('audit_seals').where({ chain: team_id })).toEqual([]);
  expect(await list()).toMatchObject({ count: 5 });
  expect(await db('audit_seals').where({ chain: team_id })).toHaveLength(5);
  // Of another team nothing was sealed.
  const other = await buildTeam(app);
  await writeEntry(app, { team_id: other.team_id });
  await list();
  expect(await db('audit_seals').where({ chain: other.team_id })).toEqual([]);
  // Somebody moved the head: the chain takes no further entries.
  await db('audit_heads').where({ chain: team_id }).update({ sequence: 4 });
  const late = await writeEntry(app, { team_id });
  expect(listIds(await list()).toSorted()).toEqual(ids.toSorted());
  expect((await app.as(team.admin).get(`${PATH}/${late}`)).status).toBe(404);
});
