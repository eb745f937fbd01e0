import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { v7 as uuidv7 } from 'uuid';
import { computeHash, PAT_PREFIX } from '../../api/identity/auth/authenticate.js';

/** Seeded data of the benchmark. */
export interface World {
  /** A personal access token of the team's admin, for the Authorization header. */
  token: string;
  userId: string;
  teamId: string;
  /** Large projects over which new tasks are spread. */
  projects: string[];
  /** A project of 50 tasks. */
  listed: string;
  /** Every task of the large projects. */
  tasks: string[];
}

const TASKS = 100_000;
/** Tasks per large project. */
const CROWD = 5_000;
/** Tasks of the listed project. */
export const LISTED = 50;

const createProject = /* sql */ `
  with key as (insert into item_keys (item_id, item_type) values (:id::text, 'project'))
  insert into projects (project_id, team_id, name, created_by) values (:id::uuid, :team, 'Benchmark', :user)`;

const createTasks = /* sql */ `
  with key as (
    insert into item_keys (item_id, item_type) select uuidv7()::text, 'task' from generate_series(1, :count) returning item_id
  )
  insert into tasks (task_id, project_id, team_id, title, description, priority, tags, created_by)
  select item_id, :project, :team, 'Check valve ' || substr(item_id, 25), 'Pressure, seals, and the note of the last inspection.',
    'medium', '{hardware,weekly}', :user from key`;

/**
 * Creates a team, its admin with a token, a project of 50 tasks and `count` tasks in large projects. `name`: the admin's name, one
 * word.
 */
export async function seed(db: Knex, count = TASKS, name = 'bench'): Promise<World> {
  const [user, team] = [uuidv7(), uuidv7()];
  const token = `${PAT_PREFIX}${randomBytes(32).toString('base64url')}`;
  await db('users').insert({
    user_id: user,
    email: `${name}@bench.test`,
    name: 'Bench',
    username: name,
    display_name: 'Bench',
    avatar: 'https://bench.test/a.png',
  });
  await db('teams').insert({ team_id: team, name: 'Bench', created_by: user });
  await db('memberships').insert({ team_id: team, user_id: user, role: 'admin' });
  await db('personal_access_tokens').insert({
    user_id: user,
    name: 'bench',
    scopes: ['admin:*'],
    token_hash: computeHash(token),
    prefix: token.slice(0, 12),
  });
  const world: World = { token, userId: user, teamId: team, projects: [], listed: '', tasks: [] };
  world.listed = await addProject(db, world, LISTED);
  await grow(db, world, count);
  return world;
}

/** Adds a project with this many tasks; returns its id. */
export async function addProject(db: Knex, { teamId, userId }: World, count: number): Promise<string> {
  const id = uuidv7();
  await db.raw(createProject, { id, team: teamId, user: userId });
  await db.raw(createTasks, { project: id, team: teamId, user: userId, count });
  return id;
}

/** Adds large projects up to `total` tasks; updates statistics and visibility map, as after some time of use. */
export async function grow(db: Knex, world: World, total: number): Promise<void> {
  for (let missing = total - world.tasks.length; missing > 0; missing -= CROWD) {
    world.projects.push(await addProject(db, world, Math.min(missing, CROWD)));
  }
  // Only tables with rows: an empty table that was analyzed is planned as empty until the next analysis; a new one is not.
  await db.raw('vacuum (analyze) users, teams, memberships, personal_access_tokens, item_keys, projects, tasks');
  world.tasks = await db('tasks').whereIn('project_id', world.projects).pluck<string[]>('task_id');
}
