import type { Knex } from 'knex';
import { requestBytes, type Source } from '../load.js';
import { compare } from '../rounds.js';
import { type Goal, type Section } from '../report.js';
import { addProject, seed, type World } from '../seed.js';
import { bearer, expect, send } from '../send.js';
import type { ApiService, Servers } from '../servers.js';
import { median } from '../statistics.js';
import { rateGoal, withSides } from './requests-section.js';

/** Fields of each task in the list. */
const FIELDS = 10;
/** Tasks of other teams beside the 100,000 of the benchmark's team. */
const OTHERS = 900_000;
/** Every so many tasks have the rare value, and as many of other teams. */
const RARE = 5_000;

const defineField = /* sql */ `
  insert into custom_fields (team_id, name, key, field_type, entity_type, position, created_by)
  values (:team, :key, :key, :type, 'task', 0, :user) returning field_id`;

/** Sets :value in field :field of the team's tasks that a condition selects, without audit entries. */
const setValues = (which: string) => /* sql */ `
  insert into custom_field_values (field_id, entity_id, team_id, entity_type, field_type, key, value_text, updated_by)
  select f.field_id, t.task_id, f.team_id, 'task', f.field_type, f.key, :value, :user
  from custom_fields f join tasks t on t.team_id = f.team_id where f.field_id = :field and ${which}`;

async function plantField(db: Knex, { teamId, userId }: World, key: string): Promise<string> {
  const values = { team: teamId, user: userId, key, type: 'text' };
  const { rows } = await db.raw<{ rows: { field_id: string }[] }>(defineField, values);
  return (rows[0] as { field_id: string }).field_id;
}

/** Gives each 5,000th task of the large projects the same value of one field. */
async function plantRare(db: Knex, world: World): Promise<void> {
  const field = await plantField(db, world, 'rare');
  const tasks = world.tasks.filter((_id, n) => n % RARE === 0);
  await db.raw(setValues('t.task_id = any(:tasks)'), { field, user: world.userId, value: 'yes', tasks } as never);
}

/** Times of one request, alternating with another, ms. */
async function alternate({ port }: ApiService, world: World, paths: readonly [string, string], times: number) {
  const ms: [number[], number[]] = [[], []];
  for (let n = -5; n < times; n += 1)
    for (const at of [0, 1] as const) {
      const answered = await expect(200, send(port, paths[at], bearer(world)));
      if (n >= 0) ms[at].push(answered.ms);
    }
  return [median(ms[0]), median(ms[1])] as const;
}

/** The list of 1,000 tasks with ten fields each, beside the same list without. */
async function listGoal(servers: Servers, world: World, api: ApiService, rounds: number): Promise<Goal> {
  const project = await addProject(servers.db, world, 1_000);
  for (let n = 0; n < FIELDS; n += 1) {
    const field = await plantField(servers.db, world, `field_${n}`);
    await servers.db.raw(setValues('t.project_id = :project'), { field, user: world.userId, value: `value ${n}`, project });
  }
  await servers.db.raw('vacuum (analyze) tasks, custom_fields, custom_field_values, custom_field_documents');
  const path = `/api/tasks?project_id=${project}`;
  const [bare, whole] = await alternate(api, world, [path, `${path}&include=custom_fields`], rounds * 20);
  return { what: 'times the p50 of the list without', value: whole / bare, goal: 1.5, better: 'less', unit: '' };
}

/** A view over the team's 100,000 tasks; returns the path of its results. */
async function plantView({ db }: Servers, { teamId, userId }: World): Promise<string> {
  const filters = JSON.stringify({ status: ['todo', 'in_progress'], priority: ['medium'] });
  const view = {
    owner_id: userId,
    team_id: teamId,
    name: 'Open',
    entity_type: 'task',
    filters,
    sort: '[]',
    layout: 'list',
    columns: [],
  };
  const [row] = await db('saved_views').insert(view).returning<{ view_id: string }[]>('view_id');
  return `/api/saved-views/${row?.view_id}/results?limit=50`;
}

/** Custom fields and saved views over 1,000,000 tasks: what a list with fields, a filter by one and a page of a view cost. */
export const planningSection: Section = async (servers, world, load) => {
  const { db } = servers;
  const others = await seed(db, OTHERS, 'others');
  for (const each of [world, others]) await plantRare(db, each);
  const path = await plantView(servers, world);
  const bytes = requestBytes('GET', path, { ...bearer(world), 'User-Agent': 'bench' });
  const source: Source = { expect: 200, next: () => bytes };
  return withSides(servers, async (sides) => {
    const list = await listGoal(servers, world, sides.product, load.rounds);
    const filtered = '/api/tasks?custom_field%5Brare%5D=yes';
    const [filter] = await alternate(sides.product, world, [filtered, filtered], load.rounds * 50);
    const comparison = await compare(servers, sides, source, load);
    const p50: Goal = { what: 'p50', value: filter, goal: 10, better: 'less', unit: ' ms' };
    return [
      { name: `GET /api/tasks of 1,000 tasks with ${FIELDS} custom fields each`, goals: [list], notes: [] },
      { name: 'GET /api/tasks by a rare value of a custom field, among 1,000,000 tasks', goals: [p50], notes: [] },
      { name: 'results of a view, 50 of 100,000 tasks', comparison, goals: [rateGoal(comparison, 0.75)], notes: [] },
    ];
  });
};
