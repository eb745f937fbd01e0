import { buildTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';

// Unknown fields are ignored and named, or refused on request; browsers of other origins are let in only where they are listed.

const ORIGIN = 'https://app.example.com';
let app: TestApp;
let team: Awaited<ReturnType<typeof buildTeam>>;
beforeAll(async () => {
  app = await startApp({ CORS_ORIGINS: ` ${ORIGIN}, http://localhost:5173` });
  team = await buildTeam(app);
});
afterAll(() => app.close());

it('names unknown fields of body and query, on errors too', async () => {
  const member = app.as(team.member);
  const created = await member.post('/api/projects?tem=1', { name: 'Apollo', team_id: team.team_id, titel: 'x' });
  expect(created.status).toBe(201);
  expect(created.headers.get('X-Ignored-Fields')).toBe('query.tem, body.titel');
  const failed = await member.post('/api/projects', { name: '', team_id: team.team_id, ä: 1 });
  expect([failed.status, failed.headers.get('X-Ignored-Fields')]).toEqual([422, 'body.%C3%A4']);
  const clean = await member.get('/api/projects');
  expect(clean.headers.get('X-Ignored-Fields')).toBeNull();
  // The 64th unit is the first half of a character.
  const halved = await member.post('/api/projects', { name: '', team_id: team.team_id, [`${'x'.repeat(58)}𝖙`]: 1 });
  expect([halved.status, halved.headers.get('X-Ignored-Fields')]).toEqual([422, `body.${'x'.repeat(58)}%EF%BF%BD`]);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, 1]));
  const cut = await member.post('/api/projects', { name: 'Many', team_id: team.team_id, ...many });
  expect(cut.headers.get('X-Ignored-Fields')?.split(', ')).toHaveLength(20);
});

it('refuses them under Prefer: handling=strict, with a suggestion', async () => {
  const strict = { headers: { Prefer: 'respond-async, handling=strict' } };
  const body = { name: 'Strict', team_id: team.team_id, descripton: 'x' };
  const answer = await app.as(team.member).post('/api/projects', body, strict);
  expect(answer.status).toBe(422);
  expect(answer.headers.get('Preference-Applied')).toBe('handling=strict');
  expect(answer.body.detail.errors).toEqual([
    { field: 'body.descripton', message: 'Unknown field; did you mean description?', type: 'unknown_field' },
  ]);
  const query = await app.as(team.member).get('/api/auth/me?verbose=1', undefined, strict);
  expect(query.body.detail.errors).toEqual([{ field: 'query.verbose', message: 'Unknown field', type: 'unknown_field' }]);
  const { descripton: _typo, ...valid } = body;
  expect((await app.as(team.member).post('/api/projects', valid, strict)).status).toBe(201);
});

it('opens the API to listed origins only', async () => {
  const call = (origin: string, init: RequestInit = {}) =>
    fetch(`${app.url}/api/projects`, { ...init, headers: { Origin: origin, ...(init.headers as object) } });
  const preflight = await call(ORIGIN, { method: 'OPTIONS', headers: { 'Access-Control-Request-Method': 'POST' } });
  expect([preflight.status, preflight.headers.get('Access-Control-Allow-Origin')]).toEqual([204, ORIGIN]);
  expect(preflight.headers.get('Access-Control-Allow-Headers')).toContain('Authorization');
  const answered = await call(ORIGIN);
  expect([answered.status, answered.headers.get('Access-Control-Allow-Origin')]).toEqual([401, ORIGIN]);
  expect(answered.headers.get('Access-Control-Expose-Headers')).toContain('X-Correlation-ID');
  expect(answered.headers.get('Access-Control-Allow-Credentials')).toBeNull();
  const stranger = await call('https://evil.example');
  expect([stranger.headers.get('Access-Control-Allow-Origin'), stranger.headers.get('Vary')]).toEqual([null, 'Origin']);
});

it('returns the request id of the client', async () => {
  const { headers } = await app.as(team.member).get('/api/auth/me', undefined, { headers: { 'X-Request-ID': 'mine-1' } });
  expect(headers.get('X-Request-ID')).toBe('mine-1');
});
