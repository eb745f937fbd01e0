import { randomUUID } from 'node:crypto';
import { buildTeam, buildToken, type TestTeam } from '../../../factories/people.js';
import { about, OPERATION } from '../../../factories/requests.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { connect } from './agents.js';

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp({}, 60_000);
  team = await buildTeam(app);
});
afterAll(() => app.close());

it('an outside agent asks, waits, uses and reports, and never decides', async () => {
  const token = await buildToken(app, team.member, ['requests:create', 'requests:read'], { mcp_only: true });
  const agent = await connect(app, token);
  const use = async (name: string, args: Record<string, unknown>) => (await agent.call(name, args)).content;
  const asked = await use('request_change', { team_id: team.team_id, title: 'Release', operations: [OPERATION] });
  expect(asked).toMatchObject({ status: 'pending', source: 'mcp', operations: [OPERATION] });
  expect(asked).not.toHaveProperty('can_decide');
  const { request_id, request_hash } = asked as { request_id: string; request_hash: string };
  const path = `/api/change-requests/${request_id}`;
  expect((await app.as(token).post(`${path}/approve`, { request_hash })).status).toBe(403);
  expect((await app.as(token).get(path)).status).toBe(403);
  await about(app.as(team.manager), { request_id, request_hash, seq: 1, code: null }).approve();
  expect(await use('get_request', { request_id })).toMatchObject({ status: 'approved' });
  const used = await use('use_request', { request_id, request_hash, redemption_id: randomUUID() });
  expect(used).toMatchObject({ operations: [OPERATION], receipt: expect.any(String) });
  expect(await use('report_outcome', { request_id, status: 'succeeded' })).toMatchObject({ outcome: { status: 'succeeded' } });
  const other = await connect(app, await buildToken(app, team.manager, ['requests:create', 'requests:read']));
  expect(await other.call('get_request', { request_id })).toMatchObject({ isError: true });
  await Promise.all([agent.close(), other.close()]);
});

it('a call that programs read differently is refused', async () => {
  const token = await buildToken(app, team.member, ['requests:create']);
  const raw = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"request_change","arguments":{"team_id":"${team.team_id}","title":"x","operations":[{"system":"a","name":"b","target":null,"arguments":{"amount":1,"amount":2}}]}}}`;
  const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
  expect((await app.as(token).post('/api/mcp', undefined, { raw, headers })).body).toMatchObject({ reason: 'inexact_json' });
});
