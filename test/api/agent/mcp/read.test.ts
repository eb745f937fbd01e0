import type { Scope } from '../../../../api/platform/access/scopes.js';
import { buildProject, buildTask, buildTeam, buildToken, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';
import { type Agent, connect, ERAS } from './agents.js';

// What an agent reads over MCP, with the official client.

let app: TestApp;
let own: TestTeam;
let foreign: TestTeam;
let project: { project_id: string };
let hidden: { task_id: string };
beforeAll(async () => {
  app = await startApp();
  [own, foreign] = await Promise.all([buildTeam(app), buildTeam(app)]);
  project = await buildProject(app, own);
  hidden = await buildTask(app, foreign, await buildProject(app, foreign), { title: 'Hidden zebra' });
});
afterAll(() => app.close());

const READ: Scope[] = ['graph:read', 'tasks:read', 'projects:read', 'teams:read'];
const connectAgent = async (scopes: Scope[], era?: (typeof ERAS)[number]): Promise<Agent> =>
  connect(app, await buildToken(app, own.member, scopes, { mcp_only: true }), era);

describe.each(ERAS)('in %s', (era) => {
  let agent: Agent;
  beforeAll(async () => {
    agent = await connectAgent(READ, era);
  });
  afterAll(() => agent.close());

  it('names the version, the server and the tools with their schemas', async () => {
    expect(agent.client.getNegotiatedProtocolVersion()).toBe(era);
    expect(agent.client.getServerVersion()).toMatchObject({ name: 'assent' });
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['search', 'get_item', 'list_projects', 'list_tasks']));
    for (const { inputSchema, annotations } of tools) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(annotations).toMatchObject({ destructiveHint: false, openWorldHint: false });
    }
    expect(tools.filter(({ name }) => /confirm|apply|approve/.test(name))).toEqual([]);
  });

  it('searches, and finds nothing of another team', async () => {
    const task = await buildTask(app, own, project, { title: `Striped zebra ${era}` });
    const ids = await until(async () => {
      const { content } = await agent.call('search', { query: 'zebra' });
      const found = content.results.map(({ item_id }: { item_id: string }) => item_id) as string[];
      return found.includes(task.task_id) && found;
    });
    expect(ids).not.toContain(hidden.task_id);
  });

  it('gets a task as the API does; another team’s is a 403 and an unknown one a 404, with our words', async () => {
    const task = await buildTask(app, own, project, { title: 'A' });
    const { body } = await app.as(own.member).get(`/api/tasks/${task.task_id}`);
    const { content } = await agent.call('get_item', { item_id: task.task_id });
    expect(content).toEqual({ type: 'task', ...body, comments: [], comment_count: 0 });
    const foreignOne = await agent.call('get_item', { item_id: hidden.task_id });
    expect(foreignOne).toEqual({
      isError: true,
      content: {
        error_code: 'PERMISSION_DENIED',
        status: 403,
        message: 'You are not a member of this team',
        detail: expect.any(String),
        correlation_id: expect.any(String),
      },
    });
    expect((await agent.call('get_item', { item_id: 'nothing' })).content).toMatchObject({ status: 404 });
  });

  it('lists projects and tasks', async () => {
    const { content } = await agent.call('list_projects');
    expect(content).toMatchObject({ projects: [{ project_id: project.project_id }], total: 1, next_offset: null });
    const tasks = (await agent.call('list_tasks', { project_id: project.project_id })).content.tasks;
    expect(tasks.length).toBeGreaterThan(0);
    expect(new Set(tasks.map(({ team_id }: { team_id: string }) => team_id))).toEqual(new Set([own.team_id]));
    expect((await agent.call('list_tasks', { team_id: foreign.team_id })).content).toEqual({ tasks: [], next_cursor: null });
    const { project_id } = await app.services.db('tasks').where({ task_id: hidden.task_id }).first();
    expect((await agent.call('list_tasks', { project_id })).content).toMatchObject({ status: 403 });
  });

  it('an unknown tool and unknown, missing or mistyped arguments are errors that name them', async () => {
    expect(await agent.call('confirm_plan')).toMatchObject({ isError: true });
    const cases = [
      ['get_item', {}, 'arguments.item_id'],
      ['get_item', { item_id: 1 }, 'arguments.item_id'],
      ['get_item', { item_id: 'x', confirmed: true }, 'arguments'],
      ['list_tasks', { limit: 101 }, 'arguments.limit'],
      ['list_tasks', { cursor: 'zzz' }, 'arguments.cursor'],
      ['search', { query: '' }, 'arguments.query'],
    ] as const;
    for (const [name, args, field] of cases) {
      const { isError, content } = await agent.call(name, args);
      expect([name, isError, content.status, content.detail.errors[0].field]).toEqual([name, true, 422, field]);
    }
  });
});

it('gets the newest comments of a task with it, and says how many there are', async () => {
  const task = await buildTask(app, own, project, { title: 'Much said' });
  const path = `/api/tasks/${task.task_id}/comments`;
  for (let n = 0; n < 22; n += 1) await app.as(own.member).post(path, { content: `Word ${n}` });
  const { comment_id } = (await app.as(own.member).post(path, { content: 'Taken back' })).body;
  await app.as(own.member).delete(`/api/comments/${comment_id}`);
  const agent = await connectAgent(READ);
  const { content } = await agent.call('get_item', { item_id: task.task_id });
  expect(content.comment_count).toBe(22);
  expect(content.comments.map((each: { content: string }) => each.content)).toEqual(
    Array.from({ length: 20 }, (_, at) => `Word ${at + 2}`),
  );
  expect(content.comments[0].author_id).toBe(own.member.user_id);
  await agent.close();
});

it('lists the members of an own team by pages, without their addresses', async () => {
  const agent = await connectAgent(READ);
  const first = (await agent.call('list_members', { team_id: own.team_id, limit: 3 })).content;
  const rest = (await agent.call('list_members', { team_id: own.team_id, offset: first.next_offset })).content;
  const members = [...first.members, ...rest.members];
  expect(members).toContainEqual({ user_id: own.guest.user_id, display_name: expect.any(String), role: 'guest' });
  const { body } = await app.as(own.member).get(`/api/teams/${own.team_id}/members`);
  expect(members.map(({ user_id }) => user_id)).toEqual(body.map(({ user_id }: { user_id: string }) => user_id));
  expect(rest.next_offset).toBeNull();
  expect((await agent.call('list_members', { team_id: foreign.team_id })).content).toEqual({ members: [], next_offset: null });
  await agent.close();
});

it('resumes a page of tasks at the cursor, whatever the size of their texts', async () => {
  const team = await buildTeam(app);
  const place = await buildProject(app, team);
  const made: string[] = [];
  for (let n = 0; n < 25; n += 1)
    made.push((await buildTask(app, team, place, { title: `T${n}`, description: 'x'.repeat(2_000) })).task_id);
  const agent = await connect(app, await buildToken(app, team.member, READ));
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const { content } = await agent.call('list_tasks', { limit: 10, ...(cursor ? { cursor } : {}) });
    expect(Buffer.byteLength(JSON.stringify(content))).toBeLessThanOrEqual(16_384);
    seen.push(...content.tasks.map(({ task_id }: { task_id: string }) => task_id));
    cursor = content.next_cursor ?? undefined;
  } while (cursor);
  expect(seen).toEqual(made);
  await agent.close();
});

it('a long item is cut to 16 kB and says so', async () => {
  const { member, team_id } = own;
  const { note_id } = (await app.as(member).post('/api/notes', { title: 'Long', content: 'ä'.repeat(50_000), team_id })).body;
  const agent = await connectAgent(READ);
  const { content } = await agent.call('get_item', { item_id: note_id });
  expect(content).toMatchObject({ item_id: note_id, title: 'Long', cut: true });
  expect(Buffer.byteLength(JSON.stringify(content))).toBeLessThanOrEqual(16_384);
  await agent.close();
});

it('each tool asks for its scope, also of a token that is not strict', async () => {
  const task = await buildTask(app, own, project);
  const cases = [
    ['search', { query: 'x' }, ['tasks:read', 'projects:read', 'ai:chat'], 'graph:read'],
    ['get_item', { item_id: task.task_id }, ['tasks:read', 'ai:chat'], 'graph:read'],
    ['get_item', { item_id: task.task_id }, ['graph:read'], 'tasks:read'],
    ['get_item', { item_id: project.project_id }, ['graph:read', 'tasks:read'], 'projects:read'],
    ['list_projects', {}, ['tasks:read', 'graph:read'], 'projects:read'],
    ['list_tasks', {}, ['tasks:write', 'graph:read'], 'tasks:read'],
    ['list_members', { team_id: own.team_id }, ['tasks:read', 'graph:read'], 'teams:read'],
  ] as const;
  for (const [name, args, scopes, missing] of cases) {
    const agent = await connectAgent([...scopes]);
    const { content } = await agent.call(name, args);
    expect([name, content.status, content.message]).toEqual([name, 403, `Token is missing the required scope: ${missing}`]);
    await agent.close();
  }
  const all = await connectAgent(['admin:*']);
  expect((await all.call('list_tasks')).isError).toBe(false);
  await all.close();
});

it('lets a guest read, and a former guest nothing from the next call on', async () => {
  const team = await buildTeam(app);
  const task = await buildTask(app, team, await buildProject(app, team));
  const agent = await connect(app, await buildToken(app, team.guest, READ));
  expect((await agent.call('get_item', { item_id: task.task_id })).isError).toBe(false);
  await app.services.db('memberships').where({ team_id: team.team_id, user_id: team.guest.user_id }).delete();
  expect((await agent.call('get_item', { item_id: task.task_id })).content).toMatchObject({ status: 403 });
  expect((await agent.call('list_tasks')).content).toEqual({ tasks: [], next_cursor: null });
  await agent.close();
});
