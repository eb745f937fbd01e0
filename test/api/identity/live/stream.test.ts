import { decodeJwt } from 'jose';
import { issueToken } from '../../../../api/identity/auth/authenticate.js';
import { stopLiveStreams } from '../../../../api/identity/live/live-hub.js';
import {
  buildCookie,
  buildPerson,
  buildProject,
  buildTask,
  buildTeam,
  buildToken,
  leave,
  type Person,
  type TestTeam,
} from '../../../factories/people.js';
import { openEvents, type StreamClient, untilPast } from '../../../support/event-stream.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';

// GET /api/events as a stream of Server-Sent Events.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
const open: StreamClient[] = [];
beforeAll(async () => {
  app = await startApp({ LIVE_STREAMS: '12', LIVE_STREAMS_PER_USER: '3' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  await untilPast(app);
});
afterEach(async () => {
  for (const stream of open.splice(0)) stream.close();
  // The server has noticed when there is room for all of them again.
  await until(async () => {
    const probes = await Promise.all([1, 2, 3].map(() => openEvents(`${app.url}/api/events`, bearer(team.admin))));
    for (const probe of probes) probe.close();
    return probes.every(({ status }) => status === 200);
  });
});

const bearer = (who: Person | string) => ({ authorization: `Bearer ${typeof who === 'string' ? who : who.token}` });
async function follow(who: Person | string, query = '', lastEventId?: string): Promise<StreamClient> {
  const stream = await openEvents(`${app.url}/api/events${query}`, bearer(who), lastEventId);
  open.push(stream);
  return stream;
}
const touch = () => buildTask(app, team, project);
const ids = ({ events }: StreamClient) => events.map(({ entity_id }) => entity_id);

it('sends each change to those who may read it, as it is committed', async () => {
  const [member, guest, stranger] = [await follow(team.member), await follow(team.guest), await follow(await buildPerson(app))];
  expect(member.status).toBe(200);
  expect(member.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  const task = await touch();
  await app
    .as(team.admin)
    .post('/api/automations/secrets', { team_id: team.team_id, name: 'KEY', value: 'x', allowed_hosts: ['a.example'] });
  const last = await touch();
  await Promise.all([member.waitFor(2), guest.waitFor(2)]);
  expect(ids(member)).toEqual([task.task_id, last.task_id]);
  expect(ids(guest)).toEqual([task.task_id, last.task_id]);
  expect(stranger.events).toEqual([]);
  // The same events, with the same ids, as the list has them.
  const listed = (await app.as(team.member).get(`/api/events?after=${member.events[0]?.id}`)).body;
  expect(listed.events).toEqual(member.events.slice(1));
});

it('goes on after Last-Event-ID without a gap or a repetition, and a new client knows a place before its first event', async () => {
  const first = await follow(team.member);
  await until(async () => first.lastEventId());
  const before = first.lastEventId() as string;
  const one = await touch();
  await first.waitFor(1);
  first.close();
  const two = await touch();
  const three = await touch();
  const next = await follow(
    team.member,
    '?after=ignored-by-the-header'.replace('ignored-by-the-header', before),
    first.events[0]?.id,
  );
  await next.waitFor(2);
  const four = await touch();
  await next.waitFor(3);
  expect(ids(next)).toEqual([two.task_id, three.task_id, four.task_id]);
  const again = await follow(team.member, `?after=${before}`);
  await again.waitFor(4);
  expect(ids(again)).toEqual([one.task_id, two.task_id, three.task_id, four.task_id]);
});

it('sends only the entities and the team that the client asked for', async () => {
  const other = await buildTeam(app);
  await app.services.db('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
  const comments = await follow(team.member, '?types=comment');
  const ofTeam = await follow(team.member, `?team_id=${team.team_id}`);
  await buildTask(app, other, await buildProject(app, other));
  const task = await touch();
  await app.as(team.member).post(`/api/tasks/${task.task_id}/comments`, { content: 'x' });
  await Promise.all([comments.waitFor(1), ofTeam.waitFor(2)]);
  expect(comments.events.map(({ type }) => type)).toEqual(['comment.created']);
  expect(ofTeam.events.map(({ team_id }) => team_id)).toEqual([team.team_id, team.team_id]);
});

it('gives a user who left a team nothing more of it, and who joined one everything from then on', async () => {
  const newcomer = await buildPerson(app);
  const [leaver, joiner] = [await follow(team.guest), await follow(newcomer)];
  const one = await touch();
  await leaver.waitFor(1);
  await leave(app, team, team.guest);
  await app.services.db('memberships').insert({ team_id: team.team_id, user_id: newcomer.user_id, role: 'member' });
  const two = await touch();
  await joiner.waitFor(2);
  const three = await touch();
  await joiner.waitFor(3);
  expect(joiner.events.map(({ type, entity_id }) => [type, entity_id])).toEqual([
    ['membership.created', team.team_id],
    ['task.created', two.task_id],
    ['task.created', three.task_id],
  ]);
  await leaver.waitFor(2);
  expect(ids(leaver)).toEqual([one.task_id, team.team_id]);
});

it('ends with the token, the session, and the account', async () => {
  const secret = await buildToken(app, team.member, ['tasks:read']);
  const [byToken, bySession, suspended] = [await follow(secret), await follow(team.manager), await follow(team.guest)];
  const { db } = app.services;
  const ended = async (stream: StreamClient) => until(async () => stream.hasEnded());
  await db('personal_access_tokens').where({ user_id: team.member.user_id }).update({ revoked_at: db.fn.now() });
  await db('sessions').where({ user_id: team.manager.user_id }).update({ ended_at: db.fn.now() });
  await db('users').where({ user_id: team.guest.user_id }).update({ status: 'suspended' });
  // With the next change at once, and without one within seconds.
  await buildTask(app, { ...team, member: team.admin }, project);
  await Promise.all([ended(byToken), ended(bySession), ended(suspended)]);
  expect([byToken, bySession, suspended].flatMap(({ events }) => events)).toEqual([]);
  expect((await follow(secret)).status).toBe(401);
});

it('ends at the expiry of the JWT with which it was opened, and goes on with a new one of the same session', async () => {
  const session = decodeJwt(team.member.token)['sid'] as string;
  const { token } = await issueToken(app.services, team.member.user_id, session, { minutes: 5 / 60 });
  const { token: webToken } = await issueToken(app.services, team.member.user_id, session, { use: 'web', minutes: 5 / 60 });
  const [short, long] = [await follow(token), await follow(team.member)];
  const page = await openEvents(`${app.url}/app/live`, { cookie: `assent-session=${webToken}` });
  open.push(page);
  const first = await touch();
  await Promise.all([short.waitFor(1), long.waitFor(1), page.waitFor(1)]);
  await until(async () => short.hasEnded() && page.hasEnded());
  const second = await touch();
  await long.waitFor(2);
  expect([ids(short), ids(page), long.hasEnded()]).toEqual([[first.task_id], [first.task_id], false]);
  const next = await follow(team.member, '', short.lastEventId());
  await next.waitFor(1);
  expect(ids(next)).toEqual([second.task_id]);
  // Nobody waits: the server accepts a token for some seconds more, because clocks differ, and its stream ends at once.
  const late = await follow(token);
  await until(async () => late.hasEnded());
  expect(late.events).toEqual([]);
});

it('ends at the expiry of a personal access token', async () => {
  const { db } = app.services;
  const secret = await buildToken(app, team.member, ['tasks:read'], { expires_at: db.raw("now() + interval '2 seconds'") });
  const stream = await follow(secret);
  expect(stream.status).toBe(200);
  await until(async () => stream.hasEnded());
  expect((await follow(secret)).status).toBe(401);
});

it('checks streams to which nothing is sent too', async () => {
  const stream = await follow(team.member);
  await app.services.db('sessions').where({ user_id: team.member.user_id }).update({ ended_at: app.services.db.fn.now() });
  await until(async () => stream.hasEnded());
});

it('refuses the token of an outside agent, a bad and an expired place', async () => {
  const agent = await buildToken(app, team.member, ['admin:*'], { mcp_only: true });
  expect((await follow(agent)).status).toBe(403);
  expect((await follow(team.member, '', 'x')).status).toBe(400);
  expect((await openEvents(`${app.url}/api/events`, {})).status).toBe(401);
});

it('has room for so many streams of a user, and of all, and says when to come again', async () => {
  for (let n = 0; n < 3; n += 1) expect((await follow(team.member)).status).toBe(200);
  const fourth = await follow(team.member);
  expect([fourth.status, fourth.headers['retry-after']]).toEqual([429, '10']);
  for (const who of [team.admin, team.manager, team.guest])
    for (let n = 0; n < 3; n += 1) expect((await follow(who)).status).toBe(200);
  const crowded = await follow(await buildPerson(app));
  await until(async () => crowded.body().includes('no room'));
  expect(crowded.status).toBe(429);
  open[0]?.close();
  await until(async () => {
    const freed = await follow(team.member);
    return freed.status === 200;
  });
});

it('keeps in the database what a slow client does not read, and gives it all of it later', async () => {
  const [slow, quick] = [await follow(team.member), await follow(team.admin)];
  slow.response.pause();
  const who = JSON.stringify({
    user_id: team.admin.user_id,
    request_id: team.admin.user_id,
    correlation_id: team.admin.user_id,
    actor_type: 'user',
  });
  const write = (from: number) =>
    app.services.db.raw(
      `select record_changes(?::jsonb, array(select make_change(team_id => ?::uuid, feature => 'projects', action => 'update',
        entity_type => 'project', entity_id => n::text) from generate_series(?::int, ?::int) n))`,
      [who, team.team_id, from, from + 499],
    );
  for (let n = 0; n < 20; n += 1) await write(n * 500);
  await quick.waitFor(10_000);
  expect(slow.events.length).toBeLessThan(10_000);
  slow.response.resume();
  await slow.waitFor(10_000);
  expect(ids(slow)).toEqual(ids(quick));
  expect(new Set(ids(slow)).size).toBe(10_000);
});

it('does not end a stream that opens while the credentials of the others are read', async () => {
  await follow(team.admin);
  const { db } = app.services;
  const release = await db.transaction();
  await release.raw('lock table personal_access_tokens in access exclusive mode');
  await until(async () => {
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and application_name = 'assent-live'`;
    return (await db.raw<{ rows: unknown[] }>(waiting)).rows.length > 0;
  });
  const late = await follow(team.member);
  await release.rollback();
  const task = await touch();
  await late.waitFor(1);
  expect(ids(late)).toEqual([task.task_id]);
});

it('ends all streams when the process stops, whose clients then go on elsewhere', async () => {
  const stream = await follow(team.member);
  await until(async () => stream.lastEventId());
  stopLiveStreams();
  await until(async () => stream.hasEnded());
  const task = await touch();
  const next = await follow(team.member, '', stream.lastEventId());
  await next.waitFor(1);
  expect(ids(next)).toEqual([task.task_id]);
});

it('serves the pages of a signed-in browser by its cookie, and no visitor', async () => {
  const cookie = await buildCookie(app, team.member);
  const stream = await openEvents(`${app.url}/app/live`, { cookie });
  open.push(stream);
  expect(stream.status).toBe(200);
  const task = await touch();
  await stream.waitFor(1);
  expect(ids(stream)).toEqual([task.task_id]);
  const visitor = await openEvents(`${app.url}/app/live`, {});
  // Browsers do not connect again after it.
  expect(visitor.status).toBe(204);
});
