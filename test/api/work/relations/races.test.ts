import { seededRandom } from '../../../../scripts/chaos/random.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

/** Number of rounds; `RELATION_ROUNDS=200` is the campaign. */
const ROUNDS = Number(process.env['RELATION_ROUNDS'] ?? 3);
const WRITERS = 20;
const TRIES_OF_WRITER = 6;
const TEAMS = 4;
const TASKS_OF_TEAM = 6;

let app: TestApp;
let person: Person;
let teams: { team_id: string; projects: string[]; tasks: string[] }[];
const { chance, pick } = seededRandom(20261122);

beforeAll(async () => {
  app = await startApp();
  person = await buildPerson(app);
});
afterAll(() => app.close());

async function buildGraph(): Promise<typeof teams> {
  return Promise.all(
    Array.from({ length: TEAMS }, async () => {
      const team = await buildTeam(app);
      await app.services.db('memberships').insert({ team_id: team.team_id, user_id: person.user_id, role: 'member' });
      const projects = await Promise.all([buildProject(app, team), buildProject(app, team)]);
      const made = await Promise.all(
        Array.from({ length: TASKS_OF_TEAM }, (_, at) => buildTask(app, team, projects[at % 2] as (typeof projects)[0])),
      );
      return {
        team_id: team.team_id,
        projects: projects.map(({ project_id }) => project_id),
        tasks: made.map(({ task_id }) => task_id),
      };
    }),
  );
}

/** Items on a cycle of one kind, subtasks included. */
async function itemsOnCycles(kind: 'contains' | 'blocks'): Promise<string[]> {
  const { rows } = await app.services.db.raw<{ rows: { item_id: string }[] }>(
    /* sql */ `
    with recursive edge as (
      select from_id, to_id from relations where kind = ?
      union select parent_task_id, task_id from tasks where ? = 'contains' and parent_task_id is not null
    ), reach as (
      select from_id as start, to_id as item_id from edge union select r.start, e.to_id from reach r join edge e on e.from_id = r.item_id
    )
    select start as item_id from reach where start = item_id`,
    [kind, kind],
  );
  return rows.map(({ item_id }) => item_id);
}

it.each(['blocks', 'contains'] as const)(
  '20 writers of random edges across four teams never close a cycle: %s',
  async (kind) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      teams = await buildGraph();
      const items = teams.flatMap(({ tasks, projects }) => (kind === 'contains' ? [...tasks, ...projects] : tasks));
      const type = kind === 'blocks' ? 'blocks' : 'parent_child';
      const client = app.as(person);
      const write = () => {
        const team = pick(teams);
        if (kind === 'contains' && chance(0.3))
          return client.patch(`/api/tasks/${pick(team.tasks)}`, { parent_task_id: pick(team.tasks) });
        return client.post('/api/work-items/relations', { source_id: pick(items), target_id: pick(items), relation_type: type });
      };
      const statuses = await Promise.all(
        Array.from({ length: WRITERS }, async () => {
          const seen: number[] = [];
          for (let attempt = 0; attempt < TRIES_OF_WRITER; attempt += 1) seen.push((await write()).status);
          return seen;
        }),
      );
      // 503 with Retry-After is an honest answer under load; nothing else of 5xx is.
      expect(statuses.flat().filter((status) => ![200, 201, 400, 409, 503].includes(status))).toEqual([]);
      expect(statuses.flat()).toContain(201);
      expect(await itemsOnCycles(kind)).toEqual([]);
    }
  },
  60_000 + ROUNDS * 20_000,
);

it('the same edge by 20 writers is stored once, and all answer with it', async () => {
  teams = await buildGraph();
  const [source_id, target_id] = (teams[0] as (typeof teams)[0]).tasks as [string, string];
  const client = app.as(person);
  const answers = await Promise.all(
    Array.from({ length: WRITERS }, (_, at) =>
      at % 2 === 0
        ? client.post('/api/work-items/relations', { source_id, target_id, relation_type: 'blocks' })
        : client.post('/api/work-items/relations', { source_id: target_id, target_id: source_id, relation_type: 'blocked_by' }),
    ),
  );
  const done = answers.filter(({ status }) => status !== 503);
  expect(done.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(new Set(done.map(({ body }) => body.relation_id)).size).toBe(1);
  expect(await app.services.db('relations').where({ from_id: source_id, to_id: target_id })).toHaveLength(1);
});

it('an edge against the purge of its target leaves no edge without its end', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const team = await buildTeam(app);
    const project = await buildProject(app, team);
    const source = await buildTask(app, team, project);
    const target = await buildTask(app, team, project);
    await app.as(team.member).delete(`/api/tasks/${target.task_id}`);
    const relate = () =>
      app.as(team.member).post('/api/work-items/relations', {
        source_id: source.task_id,
        target_id: target.task_id,
        relation_type: 'related_to',
      });
    const [restored, purged, ...related] = await Promise.all([
      app.as(team.member).post(`/api/trash/task/${target.task_id}/restore`),
      app.as(team.manager).delete(`/api/trash/task/${target.task_id}`),
      relate(),
      relate(),
    ]);
    for (const { status } of related) expect([200, 201, 404]).toContain(status);
    expect([restored.status, purged.status].toSorted((a, b) => a - b)).toEqual([200, 404]);
    const { rows } = await app.services.db.raw<{ rows: unknown[] }>(
      'select 1 from relations r where not exists (select from item_place p where p.item_id = r.to_id) and r.team_id = ?',
      [team.team_id],
    );
    expect(rows).toEqual([]);
  }
});
