import { subscribe } from '../../../factories/events.js';
import { buildPerson, buildProject, buildTask, buildTeam, buildToken, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
let task: { task_id: string };

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await subscribe(app, team);
  task = await buildTask(app, team, await buildProject(app, team));
});

const UNKNOWN = '019a9f00-0000-7000-8000-000000000001';
const findAudit = (entityId: string) => app.services.db('audit_entries').where({ entity_id: entityId }).orderBy('timestamp');
const findUsername = async (user_id: string) => (await app.services.db('users').where({ user_id }).first()).username as string;
const path = () => `/api/tasks/${task.task_id}/comments`;
const comment = async (by: { token: string }, fields: Record<string, unknown> = {}) => {
  const answer = await app.as(by).post(path(), { content: 'Looks good', ...fields });
  expect(answer.status).toBe(201);
  return answer.body as { comment_id: string; content: string; updated_at: string };
};

describe('POST /api/tasks/:task_id/comments', () => {
  it('201 adds a comment and leaves audit, activity and an event', async () => {
    const { status, headers, body } = await app.as(team.member).post(path(), { content: ' As it stands\n' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      task_id: task.task_id,
      parent_comment_id: null,
      content: ' As it stands\n',
      author_id: team.member.user_id,
      mentions: [],
      edited: false,
      deleted: false,
      replies: [],
    });
    const [entry] = await findAudit(body.comment_id);
    expect(entry).toMatchObject({
      feature: 'comments',
      action: 'create',
      severity: 'LOW',
      team_id: team.team_id,
      audit_id: headers.get('x-correlation-id'),
    });
    expect(await app.services.db('activity').where({ entity_id: body.comment_id })).toHaveLength(1);
    const [event] = await app.services.db('outbox').where({ subject: 'comment.created', team_id: team.team_id });
    expect(event.payload).toMatchObject({ comment: body, task: { task_id: task.task_id }, actor_id: team.member.user_id });
  });

  it('201 finds the mentioned members, each once, and nobody else', async () => {
    const [max, gus] = [await findUsername(team.manager.user_id), await findUsername(team.guest.user_id)];
    const stranger = await findUsername((await buildPerson(app)).user_id);
    const content = `@${max.toUpperCase()}, see @${gus}. @${max} @${stranger} mail@${gus} @nobody @`;
    expect(await comment(team.member, { content })).toMatchObject({ mentions: [team.manager.user_id, team.guest.user_id] });
  });

  it('201 nests a reply one level; 400 refuses a reply to a reply', async () => {
    const first = await comment(team.member);
    const reply = await comment(team.manager, { parent_comment_id: first.comment_id });
    const answer = await app.as(team.member).post(path(), { content: 'x', parent_comment_id: reply.comment_id });
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'INVALID_REQUEST' } });
    const list = await app.as(team.guest).get(path());
    expect(list.body).toMatchObject([{ comment_id: first.comment_id, replies: [{ comment_id: reply.comment_id }] }]);
    expect(list.body).toHaveLength(1);
  });

  it('404 refuses an unknown parent, one of another task, and a deleted one', async () => {
    const elsewhere = await buildTask(app, team, await buildProject(app, team));
    const { body: foreign } = await app.as(team.member).post(`/api/tasks/${elsewhere.task_id}/comments`, { content: 'x' });
    const gone = await comment(team.member);
    await app.as(team.member).delete(`/api/comments/${gone.comment_id}`);
    for (const parent_comment_id of [UNKNOWN, 'garbage', foreign.comment_id, gone.comment_id]) {
      expect((await app.as(team.member).post(path(), { content: 'x', parent_comment_id })).status).toBe(404);
    }
  });

  it.each([
    ['no content', {}],
    ['an empty content', { content: '' }],
    ['a blank content', { content: ' \n' }],
    ['10,001 characters', { content: 'x'.repeat(10_001) }],
    ['a NUL', { content: 'a\0b' }],
  ])('422 refuses %s', async (_what, body) => {
    expect((await app.as(team.member).post(path(), body)).status).toBe(422);
    expect((await app.as(team.guest).get(path())).body).toEqual([]);
  });

  it('403 refuses a guest and a stranger, 404 an unknown, malformed or trashed task', async () => {
    const stranger = app.as(await buildPerson(app));
    expect((await app.as(team.guest).post(path(), { content: 'x' })).status).toBe(403);
    expect((await stranger.post(path(), { content: 'x' })).status).toBe(403);
    expect((await stranger.get(path())).status).toBe(403);
    for (const id of [UNKNOWN, 'no%20id']) {
      expect((await app.as(team.member).post(`/api/tasks/${id}/comments`, { content: 'x' })).status).toBe(404);
      expect((await app.as(team.member).get(`/api/tasks/${id}/comments`)).status).toBe(404);
    }
    const made = await comment(team.member);
    await app.as(team.member).delete(`/api/tasks/${task.task_id}`);
    expect((await app.as(team.member).post(path(), { content: 'x' })).status).toBe(404);
    expect((await app.as(team.member).get(path())).status).toBe(404);
    expect((await app.as(team.member).patch(`/api/comments/${made.comment_id}`, { content: 'x' })).status).toBe(404);
    expect((await app.as(team.member).delete(`/api/comments/${made.comment_id}`)).status).toBe(404);
  });

  it('201 takes a token of any scope: only the contract’s seven routes enforce one', async () => {
    const token = await buildToken(app, team.member, ['graph:read']);
    const answer = await app.as(token).post(path(), { content: 'x' });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('x-scope-enforced')).toBe('false');
  });
});

it('GET counts comments, not replies, in its pages', async () => {
  const [first, second, third] = [await comment(team.member), await comment(team.member), await comment(team.member)];
  await comment(team.member, { parent_comment_id: first.comment_id });
  await comment(team.member, { parent_comment_id: second.comment_id });
  await app.as(team.member).delete(`/api/comments/${second.comment_id}`);
  const list = async (query: string) => (await app.as(team.guest).get(`${path()}?${query}`)).body;
  expect(await list('limit=2')).toMatchObject([
    { comment_id: first.comment_id, replies: [{}] },
    { comment_id: second.comment_id, deleted: true },
  ]);
  expect(await list('offset=2&limit=9999')).toMatchObject([{ comment_id: third.comment_id }]);
  expect((await app.as(team.guest).get(`${path()}?limit=0`)).status).toBe(422);
});

it('GET answers 10,000 replies whole; of 10,001 the newest is missing and X-Truncated says so, on that page only', async () => {
  const [first, second] = [await comment(team.member), await comment(team.member)];
  const reply = (parent: string, count: number) =>
    app.services.db.raw(
      `insert into comments (task_id, team_id, parent_comment_id, content, author_id)
       select task_id, team_id, comment_id, 'reply', author_id from comments, generate_series(1, ?::int) where comment_id = ?`,
      [count, parent],
    );
  const list = async (query: string) => {
    const { body, headers } = await app.as(team.guest).get(`${path()}?${query}`);
    const replies = (body as { replies: unknown[] }[]).map((one) => one.replies.length);
    return [replies, headers.get('x-truncated')];
  };
  await reply(first.comment_id, 9_999);
  await reply(second.comment_id, 1);
  expect(await list('')).toEqual([[9_999, 1], null]);
  const [newest] = await app.services.db('comments').where({ parent_comment_id: second.comment_id }).pluck('comment_id');
  await reply(first.comment_id, 1);
  await app.services.db('comments').where({ comment_id: newest }).update({ created_at: app.services.db.fn.now() });
  expect(await list('')).toEqual([[10_000, 0], 'true']);
  expect(await list('limit=1')).toEqual([[10_000], null]);
  expect(await list('offset=1')).toEqual([[1], null]);
});

it('replies end at the bytes of a list, and a smaller page has the others', async () => {
  const [first, second] = [await comment(team.member), await comment(team.member)];
  for (const { comment_id } of [first, second]) {
    await app.services.db.raw(
      `insert into comments (task_id, team_id, parent_comment_id, content, author_id)
       select task_id, team_id, comment_id, repeat(e'\\u0001é"', 3000), author_id from comments, generate_series(1, 20) where comment_id = ?`,
      [comment_id],
    );
  }
  const { config } = app.services;
  const before = config.LIST_MAX_BYTES;
  const whole = (await app.as(team.guest).get(path())).body as { replies: unknown[] }[];
  expect(whole.map(({ replies }) => replies.length)).toEqual([20, 20]);
  config.LIST_MAX_BYTES = 800_000;
  const cut = await app.as(team.guest).get(path());
  const each = await Promise.all(['limit=1', 'limit=1&offset=1'].map((page) => app.as(team.guest).get(`${path()}?${page}`)));
  config.LIST_MAX_BYTES = before;
  expect(cut.headers.get('x-truncated')).toBe('true');
  expect(Buffer.byteLength(JSON.stringify(cut.body))).toBeLessThanOrEqual(800_000);
  expect(cut.body[0].replies.length).toBeGreaterThan(10);
  expect(each.flatMap(({ body }) => body)).toEqual(whole);
});

describe('PATCH /api/comments/:comment_id', () => {
  it('200 edits one’s own, marks it, finds mentions again; the same words change nothing', async () => {
    const made = await comment(team.member);
    const reply = await comment(team.manager, { parent_comment_id: made.comment_id });
    const client = app.as(team.member);
    const url = `/api/comments/${made.comment_id}`;
    expect((await client.patch(url, { content: made.content })).body).toMatchObject({
      edited: false,
      updated_at: made.updated_at,
    });
    expect(await findAudit(made.comment_id)).toHaveLength(1);
    const content = `Ask @${await findUsername(team.admin.user_id)}`;
    expect(await client.patch(url, { content })).toMatchObject({
      status: 200,
      body: { content, edited: true, mentions: [team.admin.user_id], replies: [{ comment_id: reply.comment_id }] },
    });
    expect((await findAudit(made.comment_id)).map((entry) => entry.action)).toEqual(['create', 'update']);
  });

  it('403 refuses everyone but the author, 404 an unknown or deleted one', async () => {
    const made = await comment(team.member);
    const url = `/api/comments/${made.comment_id}`;
    for (const other of [team.admin, team.manager, team.guest, await buildPerson(app)]) {
      expect((await app.as(other).patch(url, { content: 'x' })).status).toBe(403);
    }
    await app.as(team.member).delete(url);
    for (const gone of [url, `/api/comments/${UNKNOWN}`, '/api/comments/garbage']) {
      expect((await app.as(team.member).patch(gone, { content: 'x' })).status).toBe(404);
    }
  });

  it('403 refuses an author who is a guest by now', async () => {
    const made = await comment(team.member);
    await app.services.db('memberships').where({ team_id: team.team_id, user_id: team.member.user_id }).update({ role: 'guest' });
    expect((await app.as(team.member).patch(`/api/comments/${made.comment_id}`, { content: 'x' })).status).toBe(403);
    expect((await app.as(team.member).delete(`/api/comments/${made.comment_id}`)).status).toBe(403);
  });
});

describe('DELETE /api/comments/:comment_id', () => {
  it('200 leaves an empty tombstone while replies hang on it, and nothing after the last', async () => {
    const made = await comment(team.member);
    const reply = await comment(team.admin, { parent_comment_id: made.comment_id });
    expect(await app.as(team.member).delete(`/api/comments/${made.comment_id}`)).toMatchObject({
      status: 200,
      body: { success: true, comment_id: made.comment_id },
    });
    expect((await findAudit(made.comment_id)).map((entry) => entry.action)).toEqual(['create', 'delete']);
    const list = async () => (await app.as(team.guest).get(path())).body;
    expect(await list()).toMatchObject([{ deleted: true, content: '', replies: [{ comment_id: reply.comment_id }] }]);
    expect((await app.as(team.admin).delete(`/api/comments/${reply.comment_id}`)).status).toBe(200);
    expect(await list()).toEqual([]);
    expect(await app.services.db('comments').where({ task_id: task.task_id }).whereNot({ content: '' })).toEqual([]);
  });

  it('200 for a manager, 403 for another member, a guest and a stranger, 404 twice', async () => {
    const other = await buildPerson(app);
    await app.services.db('memberships').insert({ team_id: team.team_id, user_id: other.user_id, role: 'member' });
    const made = await comment(team.member);
    const url = `/api/comments/${made.comment_id}`;
    for (const person of [other, team.guest, await buildPerson(app)]) expect((await app.as(person).delete(url)).status).toBe(403);
    expect((await app.as(team.manager).delete(url)).status).toBe(200);
    expect((await app.as(team.manager).delete(url)).status).toBe(404);
  });
});

it('no comment lands on a task trashed at the same time', async () => {
  for (let round = 0; round < 10; round += 1) {
    const victim = await buildTask(app, team, await buildProject(app, team));
    const url = `/api/tasks/${victim.task_id}`;
    const [added, trashed] = await Promise.all([
      app.as(team.member).post(`${url}/comments`, { content: 'late' }),
      app.as(team.manager).delete(url),
    ]);
    expect(trashed.status).toBe(200);
    expect([201, 404]).toContain(added.status);
    // Audit stamps are the clock's, not the transaction's start: the comment was there before the task was gone, or never.
    const [deleted] = (await findAudit(victim.task_id)).filter((entry) => entry.action === 'delete');
    const commented = added.status === 201 ? await findAudit(added.body.comment_id) : [];
    for (const entry of commented) expect(entry.timestamp < deleted.timestamp).toBe(true);
    expect(await app.services.db('comments').where({ task_id: victim.task_id })).toHaveLength(commented.length);
  }
});
