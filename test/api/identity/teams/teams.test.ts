import { buildPerson, buildTeam, buildToken, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp({ DEFAULT_TEAM_PLAN: 'team' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const UNKNOWN = '019a9f00-0000-7000-8000-000000000001';
const findAudit = (entityId: string) => app.services.db('audit_entries').where({ entity_id: entityId }).orderBy('timestamp');

describe('POST /api/teams', () => {
  it('201 makes the caller first member and admin, adds the others as members and leaves a trace', async () => {
    const [ada, uma, max] = [await buildPerson(app), await buildPerson(app), await buildPerson(app)];
    const member_ids = [uma.user_id.toUpperCase(), UNKNOWN, max.user_id, uma.user_id, ada.user_id];
    const { status, headers, body } = await app.as(ada).post('/api/teams', { name: ' Acme ', member_ids });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'Acme',
      description: null,
      member_ids: [ada.user_id, uma.user_id, max.user_id],
      ignored_member_ids: [UNKNOWN],
      created_by: ada.user_id,
    });
    const members = await app.as(uma).get(`/api/teams/${body.team_id}/members`);
    expect(members.body.map(({ role }: { role: string }) => role)).toEqual(['admin', 'member', 'member']);
    const [entry, ...more] = await findAudit(body.team_id);
    expect(entry).toMatchObject({
      feature: 'teams',
      action: 'create',
      severity: 'MEDIUM',
      audit_id: headers.get('x-correlation-id'),
      user_id: ada.user_id,
    });
    expect(more).toEqual([]);
    expect(await app.services.db('activity').where({ entity_id: body.team_id })).toHaveLength(1);
    expect(await app.services.db('teams').where({ team_id: body.team_id }).first()).toMatchObject({ plan: 'team' });
  });

  it('201 comes with the default conversation', async () => {
    const ada = await buildPerson(app);
    const { body } = await app.as(ada).post('/api/teams', { name: 'Acme', description: null, member_ids: null });
    expect(await app.as(ada).get(`/api/teams/${body.team_id}/conversations`)).toMatchObject({
      status: 200,
      body: [{ title: 'General', is_default: true }],
    });
  });

  it('201 ignores a deprovisioned person and counts the ids after removing repeats', async () => {
    const gone = await buildPerson(app, { status: 'deprovisioned' });
    const ids = [gone.user_id, ...Array.from({ length: 99 }, (_, i) => `019a9f00-0000-7000-8000-${String(i).padStart(12, '0')}`)];
    const answer = await app.as(team.guest).post('/api/teams', { name: 'Many', member_ids: [...ids, ...ids] });
    expect(answer.status).toBe(201);
    expect(answer.body.ignored_member_ids).toEqual(ids);
  });

  it.each([
    ['no name', {}],
    ['a blank name', { name: ' ' }],
    ['101 characters of name', { name: 'x'.repeat(101) }],
    ['501 characters of description', { name: 'x', description: 'x'.repeat(501) }],
    ['a member id that is no uuid', { name: 'x', member_ids: ['ada'] }],
    ['101 member ids', { name: 'x', member_ids: Array.from({ length: 101 }, (_, i) => UNKNOWN.slice(0, -3) + (100 + i)) }],
    ['a NUL in the name', { name: 'a\0b' }],
  ])('422 refuses %s', async (_what, body) => {
    const answer = await app.as(team.member).post('/api/teams', body);
    expect(answer).toMatchObject({ status: 422, body: { error_code: 'VALIDATION_ERROR' } });
  });

  it('401 refuses a caller without a credential', async () => {
    expect((await app.as().post('/api/teams', { name: 'x' })).status).toBe(401);
  });
});

describe('GET /api/teams', () => {
  it('200 lists only the caller’s teams, oldest first, guests included', async () => {
    const { body: second } = await app.as(team.guest).post('/api/teams', { name: 'Second' });
    const list = (await app.as(team.guest).get('/api/teams')).body;
    expect(list.map(({ team_id }: { team_id: string }) => team_id)).toEqual([team.team_id, second.team_id]);
    expect(list[0].member_ids.toSorted()).toEqual(
      [team.admin, team.manager, team.member, team.guest].map(({ user_id }) => user_id).toSorted(),
    );
    expect((await app.as(await buildPerson(app)).get('/api/teams')).body).toEqual([]);
  });

  it('200 reads one; 403 for a stranger; 404 unknown, malformed or deleted', async () => {
    expect((await app.as(team.guest).get(`/api/teams/${team.team_id}`)).body).toMatchObject({ team_id: team.team_id });
    const token = await buildToken(app, team.guest, ['tasks:read']);
    expect((await app.as(token).get(`/api/teams/${team.team_id}`)).status).toBe(200);
    const stranger = app.as(await buildPerson(app));
    for (const part of ['', '/members', '/conversations']) {
      expect((await stranger.get(`/api/teams/${team.team_id}${part}`)).status).toBe(403);
      expect((await stranger.get(`/api/teams/${UNKNOWN}${part}`)).status).toBe(404);
      expect((await stranger.get(`/api/teams/garbage${part}`)).status).toBe(404);
    }
    await app.services.db('teams').where({ team_id: team.team_id }).update({ deleted_at: app.services.db.fn.now() });
    expect((await app.as(team.admin).get(`/api/teams/${team.team_id}`)).status).toBe(404);
    expect((await app.as(team.admin).get('/api/teams')).body).toEqual([]);
  });
});

describe('PATCH /api/teams/:team_id', () => {
  it('200 changes what is given and tells what changed; the same again leaves no trace', async () => {
    const url = `/api/teams/${team.team_id}`;
    const admin = app.as(team.admin);
    const { body: before } = await admin.get(url);
    expect((await admin.patch(url, { description: 'Rockets' })).body).toEqual({ ...before, description: 'Rockets' });
    expect((await admin.patch(url, { name: before.name, description: 'Rockets' })).status).toBe(200);
    const entries = await findAudit(team.team_id);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ feature: 'teams', action: 'update' });
    expect(JSON.parse(entries[0].details)).toEqual({ changes: { description: { from: null, to: 'Rockets' } } });
    expect((await admin.patch(url, { description: null })).body.description).toBeNull();
  });

  it('403 refuses everyone below admin and strangers, 404 an unknown team, 422 a null name', async () => {
    for (const person of [team.manager, team.member, team.guest, await buildPerson(app)]) {
      expect((await app.as(person).patch(`/api/teams/${team.team_id}`, { name: 'x' })).status).toBe(403);
    }
    expect((await app.as(team.admin).patch('/api/teams/garbage', { name: 'x' })).status).toBe(404);
    expect((await app.as(team.admin).patch(`/api/teams/${team.team_id}`, { name: null })).status).toBe(422);
    expect(await findAudit(team.team_id)).toEqual([]);
  });
});
