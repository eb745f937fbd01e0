import { buildProject, buildTeam, type TestTeam } from '../../../factories/people.js';
import { type Answer, type Client, startApp, startSibling, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';
import { lockWaiters } from '../../../support/database.js';
import { createCycle, insertTasks } from './support.js';

let app: TestApp;
let sibling: Awaited<ReturnType<typeof startSibling>>;
let team: TestTeam;
let project: { project_id: string };
let member: Client;

beforeAll(async () => {
  app = await startApp({}, 60_000);
  sibling = await startSibling(app);
});
afterAll(async () => {
  await sibling.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  member = app.as(team.member);
});

const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 5);
const db = () => app.services.db;
const statuses = (answers: Answer[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b);
/** Two processes of the API, in turn. */
const clients = () => [member, sibling.as(team.manager)] as const;
const all = (count: number, call: (client: Client, at: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: count }, (_, at) => call(clients()[at % 2] as Client, at)));

/** An active cycle of the project with tasks, every second one done. */
async function active(tasks: number, fields: Record<string, unknown> = {}) {
  const { cycle_id } = await createCycle(member, { ...project, ...fields });
  const ids = await insertTasks(
    app,
    team,
    project,
    Array.from({ length: tasks }, (_, at) => ({ status: at % 2 ? 'done' : 'todo' })),
  );
  for (let at = 0; at < ids.length; at += 100)
    await member.post(`/api/sprints/${cycle_id}/tasks`, { task_ids: ids.slice(at, at + 100) });
  await member.post(`/api/sprints/${cycle_id}/start`);
  return { cycle_id, ids };
}

/** What holds of a cycle that is completed, whatever happened at the same time. */
async function expectWhole(cycleId: string): Promise<void> {
  const { snapshot } = await db()('cycles').where({ cycle_id: cycleId }).first();
  const stays = await db()('cycle_tasks').where({ cycle_id: cycleId });
  const count = (outcome: string) => stays.filter((stay) => stay.outcome === outcome).length;
  expect([count('completed'), count('carried_over')]).toEqual([snapshot.completed, snapshot.carried_over]);
  const inside = await db()('tasks').where({ cycle_id: cycleId }).orderBy('task_id').pluck('task_id');
  const staying = stays.filter(({ removed_at }) => removed_at === null).map(({ task_id }) => task_id as string);
  expect(inside).toEqual(staying.toSorted());
  const versions = await db()('tasks').where({ team_id: team.team_id }).select('task_id', 'version');
  for (const { task_id, version } of versions) {
    const entries = await db()('audit_entries').where({ entity_id: task_id }).whereIn('action', ['update', 'delete', 'restore']);
    expect([task_id, version]).toEqual([task_id, entries.length + 1]);
  }
}

it('20 racing completions of one cycle: one winner, and each open task moves once', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { cycle_id } = await active(20);
    const next = await createCycle(member, project);
    const answers = await all(20, (client, at) =>
      client.post(`/api/sprints/${cycle_id}/complete`, { rollover_to: at % 3 ? 'next' : next.cycle_id }),
    );
    expect(statuses(answers)).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
    expect(await db()('tasks').where({ cycle_id: next.cycle_id })).toHaveLength(10);
    await expectWhole(cycle_id);
    await member.delete(`/api/sprints/${next.cycle_id}`);
  }
});

it('start against start: one active cycle of each team and project', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const cycles = await Promise.all(Array.from({ length: 8 }, () => createCycle(member, project)));
    const answers = await all(16, (client, at) => client.post(`/api/sprints/${cycles[at % 8]?.cycle_id}/start`));
    expect(statuses(answers)).toEqual([200, ...Array.from({ length: 15 }, () => 409)]);
    const running = await db()('cycles').where({ team_id: team.team_id, status: 'active' });
    expect(running).toHaveLength(1);
    await member.post(`/api/sprints/${running[0].cycle_id}/complete`);
  }
});

it('a completion beside starts, additions, removals, updates, moves and deletions of its tasks leaves everything whole', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { cycle_id, ids } = await active(40);
    const [next, other] = [await createCycle(member, project), await createCycle(member, project)];
    const elsewhere = await buildProject(app, team);
    const extra = await insertTasks(
      app,
      team,
      project,
      Array.from({ length: 10 }, () => ({})),
    );
    const task = (at: number) => ids[at % ids.length] as string;
    const calls: ((client: Client, at: number) => Promise<Answer>)[] = [
      (client) => client.post(`/api/sprints/${cycle_id}/complete`, { rollover_to: 'next' }),
      (client) => client.post(`/api/sprints/${next.cycle_id}/start`),
      (client, at) => client.post(`/api/sprints/${cycle_id}/tasks`, { task_ids: [extra[at % 10], task(at)] }),
      (client, at) => client.post(`/api/sprints/${other.cycle_id}/tasks`, { task_ids: [task(at), task(at + 7), task(at + 1)] }),
      (client, at) => client.delete(`/api/sprints/${cycle_id}/tasks/${task(at)}`),
      (client, at) => client.patch(`/api/tasks/${task(at)}/status`, { status: at % 2 ? 'todo' : 'done' }),
      (client, at) => client.patch(`/api/tasks/${task(at)}`, elsewhere),
      (client, at) => client.delete(`/api/tasks/${task(at)}`),
      (client) => client.delete(`/api/sprints/${other.cycle_id}`),
    ];
    const answers = await all(45, (client, at) => (calls[at % calls.length] as (typeof calls)[number])(client, at));
    expect(answers.filter(({ status }) => status >= 500).map(({ body }) => body)).toEqual([]);
    await member.post(`/api/sprints/${cycle_id}/complete`);
    await expectWhole(cycle_id);
    await member.post(`/api/sprints/${next.cycle_id}/complete`);
    await db()('cycles').where({ team_id: team.team_id }).whereNot({ status: 'completed' }).delete();
    await db()('tasks').where({ team_id: team.team_id }).delete();
  }
});

it('a member who leaves, and a deletion of the team, beside a completion: no error but a refusal', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    team = await buildTeam(app);
    project = await buildProject(app, team);
    member = app.as(team.member);
    const { cycle_id, ids } = await active(20);
    await db()('tasks').whereIn('task_id', ids).update({ assigned_to: team.member.user_id });
    const answers = await Promise.all([
      member.post(`/api/sprints/${cycle_id}/complete`),
      app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${team.member.user_id}`),
      sibling.as(team.manager).delete(`/api/projects/${project.project_id}`),
    ]);
    expect(answers.filter(({ status }) => status >= 500).map(({ body }) => body)).toEqual([]);
    const [completion, deletion] = await Promise.all([
      sibling.as(team.manager).post(`/api/sprints/${cycle_id}/complete`),
      app.as(team.admin).delete(`/api/teams/${team.team_id}`),
    ]);
    expect([completion.status < 500, deletion.status]).toEqual([true, 200]);
  }
});

it('a completion that waits for a task delays nobody else: other tasks, other cycles, other teams', async () => {
  const { cycle_id, ids } = await active(10);
  const lock = await db().transaction();
  await lock('tasks')
    .where({ task_id: ids.toSorted().at(-1) as string })
    .forUpdate();
  const completion = member.post(`/api/sprints/${cycle_id}/complete`);
  await until(async () => (await lockWaiters(db())) > 0);
  const elsewhere = await buildProject(app, team);
  const cycle = await createCycle(member, elsewhere);
  const [task_id = ''] = await insertTasks(app, team, elsewhere, [{}]);
  expect((await member.post(`/api/sprints/${cycle.cycle_id}/tasks`, { task_ids: [task_id] })).status).toBe(200);
  expect((await member.post(`/api/sprints/${cycle.cycle_id}/start`)).status).toBe(200);
  expect((await member.get(`/api/sprints/${cycle_id}/report`)).body.committed).toBe(10);
  expect((await member.post('/api/tasks', { title: 'New', ...project })).status).toBe(201);
  const stranger = await buildTeam(app);
  const strange = await app.as(stranger.member).post(`/api/sprints/${cycle_id}/complete`);
  const theirs = await app.as(stranger.member).post(`/api/sprints/${cycle.cycle_id}/tasks`, { task_ids: ids });
  expect([strange.status, theirs.status]).toEqual([403, 403]);
  await lock.rollback();
  expect((await completion).status).toBe(200);
});
