/**
 * What PostgreSQL does for the hot requests, on a table that is not small: index probes only. The statements are those that the
 * requests really send, seen at the driver; each is explained as a connection runs it once it has settled on a plan.
 */
import pg from 'pg';
import { buildToken } from '../../../factories/people.js';
import { explain, nodesOf, type PlanNode } from '../../../support/plans.js';
import { type SentStatement, captureStatements } from '../../../support/statements.js';
import { plantTasks, taskWorld } from './world.js';

const world = taskWorld();

/** The steps of the plan that a connection settles on, and how often each was taken. */
const readSteps = async (sent: SentStatement): Promise<PlanNode[]> => nodesOf(await explain(world.app.database.url, sent));

/** How often a connection that ran a statement so many times planned it anew. */
async function countPlannings({ name, text, values }: SentStatement, runs: number): Promise<number> {
  const client = new pg.Client(world.app.database.url);
  await client.connect();
  try {
    await client.query('begin');
    for (let run = 0; run < runs; run += 1) await client.query({ name, text, values });
    const { rows } = await client.query('select custom_plans::int from pg_prepared_statements where name = $1', [name]);
    await client.query('rollback');
    return rows[0].custom_plans as number;
  } finally {
    await client.end();
  }
}

/** A partition without rows, which is read as it is: the default one, and those of the next months. */
const isEmptyPartition = (node: PlanNode): boolean =>
  /^(audit_entries|activity)_/.test(node['Relation Name'] ?? '') && node['Shared Hit Blocks'] === 0;

/** Scans of a whole table, and sorts. */
const slowSteps = async (statement: SentStatement): Promise<string[]> =>
  (await readSteps(statement))
    .filter((node) => /^(Seq Scan|Sort|Incremental Sort)$/.test(node['Node Type']) && !isEmptyPartition(node))
    .map((node) => [statement.name, node['Node Type'], node['Relation Name']].filter(Boolean).join(' '));

/** 20,000 tasks, most of them in other projects; other people, teams and seats in plenty. */
async function grow(): Promise<void> {
  const { db } = world.app.services;
  await plantTasks(world, 800, { family: 4 });
  await db.raw(/* sql */ `
    with people as (
      insert into users (email, name, username, display_name, avatar)
      select uuidv7() || '@test.example', 'c', uuidv7(), 'c', 'a' from generate_series(1, 3000) i returning user_id
    ), sessions as (
      insert into sessions (user_id, expires_at) select user_id, now() + interval '1 day' from people
    ), tokens as (
      insert into personal_access_tokens (user_id, name, scopes, token_hash, prefix)
      select user_id, 'x', '{tasks:read}', sha256(user_id::text::bytea), 'x' from people
    ), teams as (
      insert into teams (name, created_by) select 'crowd', user_id from people limit 300 returning team_id, created_by
    ), seats as (
      insert into memberships (team_id, user_id, role) select team_id, user_id, 'member' from teams, lateral (
        select user_id from people where abs(hashtext(user_id::text || team_id::text)) % 300 = 0
      ) p
    ), stages as (
      insert into stages (team_id, name, status, position)
      select team_id, 'stage ' || i, 'in_review', i from teams, generate_series(1, 20) i
    ), projects as (
      insert into projects (team_id, name, created_by) select team_id, 'p', created_by from teams, generate_series(1, 5)
      returning project_id, team_id, created_by
    ), given as (
      select project_id, team_id, created_by, uuidv7()::text as id from projects, generate_series(1, 13)
    ), keys as (
      insert into item_keys select id, 'task' from given
    ), audited as (
      insert into audit_entries (audit_id, correlation_id, timestamp, team_id, user_id, actor_type, feature, action, severity, outcome,
        entity_type, entity_id, details)
      select uuidv7(), uuidv7(), '2026-11-20T12:00:00.000000', team_id, created_by, 'user', 'tasks', 'update', 'LOW', 'success', 'task',
        id, '{"changes":{"title":{}},"version":2}' from given
    )
    insert into tasks (task_id, project_id, team_id, title, created_by, assigned_to)
    select id, project_id, team_id, 't', created_by, created_by from given`);
  await db.raw(
    "insert into event_subscriptions (owner_id, kind, event_types) select user_id, 'automation', '{task.created}' from users on conflict do nothing",
  );
  await db.raw('analyze');
}

it('no hot request scans a table or sorts', async () => {
  await grow();
  const { member, project, team } = world;
  const parent = await world.make();
  const child = await world.make({ parent_task_id: parent.task_id });
  await world.make({ parent_task_id: child.task_id });
  const token = world.app.as(await buildToken(world.app, team.member, ['tasks:read', 'tasks:write']));
  const list = `/api/tasks?project_id=${project.project_id}`;
  const fields = { title: 'x', ...project };
  const path = `/api/tasks/${parent.task_id}`;
  const known = { headers: { 'if-none-match': '"x"' } };
  const requests: Record<string, () => Promise<unknown>> = {
    'sign-in token': () => member.get(path),
    'personal access token': () => token.get(path),
    'one task with its subtasks': () => member.get(path),
    'list of a project': () => member.get(list),
    'list of a project, by status': () => member.get(`${list}&status=todo`),
    'list of a project, unchanged?': () => member.get(list, undefined, known),
    'list of a team': () => member.get(`/api/tasks?team_id=${team.team_id}`),
    'my tasks': () => member.get('/api/tasks/my'),
    'my tasks, unchanged?': () => member.get('/api/tasks/my', undefined, known),
    create: () => member.post('/api/tasks', fields),
    'create with everything': () =>
      member.post('/api/tasks', {
        ...fields,
        parent_task_id: child.task_id,
        assigned_to: team.admin.user_id,
        task_id: `x:${team.team_id}`,
      }),
    'create again': () => member.post('/api/tasks', { ...fields, task_id: `x:${team.team_id}` }),
    'create many': () => member.post('/api/tasks/bulk', Array(50).fill(fields)),
    'create many below another': () =>
      member.post('/api/tasks/bulk', Array(50).fill({ ...fields, parent_task_id: parent.task_id })),
    update: () => member.patch(path, { title: 'y', assigned_to: team.admin.user_id, version: 1 }),
    status: () => token.patch(`${path}/status`, { status: 'done' }),
    nest: () => member.patch(`/api/tasks/${child.task_id}`, { parent_task_id: null }),
  };
  const seen = new Set<string>();
  const slow: string[] = [];
  for (const [what, request] of Object.entries(requests)) {
    for (const statement of await captureStatements(request)) {
      seen.add(statement.name);
      slow.push(...(await slowSteps(statement)).map((step) => `${what}: ${step}`));
    }
  }
  expect(slow).toEqual([]);
  expect([...seen]).toEqual(
    expect.arrayContaining([
      'authenticate_session',
      'authenticate_token',
      'get_tasks',
      'list_tasks_project',
      'fingerprint_tasks_project',
      'list_tasks_team',
      'list_tasks_mine',
      'fingerprint_tasks_mine',
      'create_tasks',
      'create_tasks_of_many',
      'create_nested_tasks',
      'update_task',
      'update_tasks',
    ]),
  );
}, 120_000);

it('creating reads the tasks of a small installation one by one too, not their whole table', async () => {
  await plantTasks(world, 1000);
  await world.app.services.db.raw('analyze tasks, item_keys, projects, memberships, users, teams');
  const parent = await world.make();
  const scans: string[] = [];
  for (const more of [{}, { parent_task_id: parent.task_id }, { task_id: 'known' }, { task_id: 'known' }]) {
    const sent = await captureStatements(() => world.member.post('/api/tasks', { title: 'x', ...world.project, ...more }));
    for (const statement of sent) scans.push(...(await slowSteps(statement)));
  }
  expect(scans.filter((step) => / (tasks|item_keys)$/.test(step))).toEqual([]);
}, 120_000);

it('a hot statement is planned once and for all', async () => {
  await grow();
  const { member, project } = world;
  const path = `/api/tasks/${(await world.make()).task_id}`;
  const token = world.app.as(await buildToken(world.app, world.team.member, ['tasks:read', 'tasks:write']));
  const requests = [
    () => token.get(path),
    () => member.get(path),
    () => member.get('/api/auth/me'),
    () => member.get(`/api/tasks?project_id=${project.project_id}`),
    () => member.post('/api/tasks', { title: 'x', ...project }),
    () => member.patch(path, { title: 'y', version: 1 }),
  ];
  const sent = await captureStatements(() => Promise.all(requests.map((request) => request())));
  const hot = [...new Map(sent.filter(({ name }) => name !== 'touch_token').map((one) => [one.name, one])).values()];
  expect(hot.length).toBeGreaterThanOrEqual(7);
  for (const statement of hot) expect([statement.name, await countPlannings(statement, 12)]).toEqual([statement.name, 5]);
}, 120_000);

it('a hot request is one statement beside the credential’s', async () => {
  const task = await world.make();
  const path = `/api/tasks/${task.task_id}`;
  const requests = {
    create: () => world.member.post('/api/tasks', { title: 'x', ...world.project }),
    update: () => world.member.patch(path, { title: 'y', version: 1 }),
    status: () => world.member.put(`${path}/status`, { status: 'done' }),
    read: () => world.member.get(path),
    list: () => world.member.get(`/api/tasks?project_id=${world.project.project_id}`),
    everything: () => world.member.get('/api/tasks'),
    mine: () => world.member.get('/api/tasks/my'),
  };
  for (const [what, request] of Object.entries(requests)) {
    const names = (await captureStatements(request))
      .map(({ name }) => name)
      .filter((name) => !/^(authenticate|touch)/.test(name));
    expect([what, names.length]).toEqual([what, 1]);
  }
});

it('beside the hot requests there are sorts of a few rows, and still no scans', async () => {
  await grow();
  const { task_id } = await world.make();
  await world.member.patch(`/api/tasks/${task_id}`, { title: 'y' });
  const stale = await captureStatements(() => world.member.patch(`/api/tasks/${task_id}`, { title: 'z', version: 1 }));
  // Each team's tasks come in order; the pages of all teams are put into one.
  const everything = await captureStatements(() => world.member.get('/api/tasks'));
  const names = [...stale, ...everything].map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['changes_since_version', 'list_tasks_visible']));
  const steps: string[] = [];
  for (const statement of [...stale, ...everything]) steps.push(...(await slowSteps(statement)));
  expect(steps.filter((step) => step.includes('Seq Scan'))).toEqual([]);
}, 120_000);

it('a piece of a long list is one walk along the index of the ids, also for someone in many teams', async () => {
  const { db } = world.app.services;
  await grow();
  await db.raw("insert into memberships select team_id, ?, 'guest' from teams on conflict do nothing", [
    world.team.member.user_id,
  ]);
  await plantTasks(world, 1500);
  const sent = await captureStatements(() => world.member.get(`/api/tasks?project_id=${world.project.project_id}`));
  const [piece] = sent.filter(({ name }) => name === 'task_records');
  const probes = (await readSteps(piece as SentStatement)).filter((node) => node['Relation Name'] !== undefined);
  expect(probes.map((node) => [node['Relation Name'], node['Index Name'], node['Actual Loops']])).toEqual([
    ['tasks', 'tasks_pkey', 1],
    ['memberships', expect.stringContaining('memberships'), 1],
  ]);
}, 120_000);
