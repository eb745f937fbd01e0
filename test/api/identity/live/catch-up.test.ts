import { BEFORE_ALL } from '../../../../api/identity/live/cursor.js';
import { readOn } from '../../../../api/identity/live/catch-up.js';
import { EventStream } from '../../../../api/identity/live/event-stream.js';
import { buildProject, buildTask, buildTeam, buildToken } from '../../../factories/people.js';
import { untilPast } from '../../../support/event-stream.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

it('gives nothing to a stream whose token was revoked before what it catches up with', async () => {
  const team = await buildTeam(app);
  const task = await buildTask(app, team, await buildProject(app, team));
  await untilPast(app);
  const { db, config } = app.services;
  await buildToken(app, team.member, ['tasks:read']);
  const { token_id } = await db('personal_access_tokens').where({ user_id: team.member.user_id }).first('token_id');
  const { email, user_id: userId } = team.member;
  const actor = {
    type: 'pat',
    tokenId: token_id,
    scopes: ['tasks:read'],
    strict: false,
    mcpOnly: false,
    userId,
    email,
    role: 'user',
  };
  const catchUp = async () => {
    const follows = { userId, subject: { actor: actor as never, config }, teamId: team.team_id, types: new Set<string>() };
    const stream = new EventStream(follows, { kind: 'token', id: token_id }, db, {
      xid: 0n,
      id: BEFORE_ALL,
      history: 0,
      ms: Date.now(),
    });
    const read = await readOn(stream, 3_600);
    const text = String(stream.read());
    stream.destroy();
    return { isLeft: read !== null && !stream.hasEnded, hasTask: text.includes(task.task_id) };
  };
  expect(await catchUp()).toEqual({ isLeft: true, hasTask: true });
  await db('personal_access_tokens').where({ token_id }).update({ revoked_at: db.fn.now() });
  expect(await catchUp()).toEqual({ isLeft: false, hasTask: false });
});
