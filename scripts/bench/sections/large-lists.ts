import { Agent } from 'node:http';
import type { Knex } from 'knex';
import { readResident } from '../process-table.js';
import type { Result, Section } from '../report.js';
import { taskSources } from '../requests.js';
import { addProject, seed, type World } from '../seed.js';
import { bearer, expect, send } from '../send.js';
import type { ApiService } from '../servers.js';
import { live, toResult } from './strangers.js';

/** Users of one team who read at once. */
const CALLERS = 8;
const ROWS = 10_000;
/** Allowed growth of the API's memory, MB. */
const GOAL_MB = 100;
const SAMPLE_MS = 5;

/** A list with the largest rows that the limits allow, and many of them. */
interface List {
  what: string;
  /** Plants the rows; returns the address of the list. */
  plant: (db: Knex, world: World) => Promise<string>;
}

/** Definitions of almost 64 kB, as many as a team may have. */
const AUTOMATIONS = /* sql */ `
  with made as (
    insert into automations (name, trigger_type, actions, team_id, created_by, updated_by, is_active)
    select 'Large ' || i, 'task.created', (select jsonb_agg(jsonb_build_object('type', 'add_comment', 'on_failure', 'stop',
      'params', jsonb_build_object('task_id', 'x', 'content', repeat('x', 9000)))) from generate_series(1, 7)), :team, :user, :user, false
    from generate_series(1, 1000) i returning automation_id, version, name, trigger_type, actions, created_by
  )
  insert into automation_versions (automation_id, version, name, trigger_type, actions, changed_by)
  select automation_id, version, name, trigger_type, actions, created_by from made`;

/** Documents with free fields of 32 kB. */
const ITEMS = /* sql */ `
  with keys as (insert into item_keys (item_id, item_type) select uuidv7()::text, 'doc' from generate_series(1, ${ROWS}) returning item_id)
  insert into items (item_id, item_type, title, content, fields, team_id, project_id, created_by)
  select item_id, 'doc', 'Large', '', json_build_object('notes', repeat('x', 32000)), :team, :project, :user from keys`;

/** Ten text values of the largest size for each task. */
const VALUES = /* sql */ `
  with made as (
    insert into custom_fields (team_id, name, key, entity_type, field_type, position, created_by)
    select :team, 'Note ' || i, 'note_' || i, 'task', 'text', i, :user from generate_series(1, 10) i returning field_id, team_id, key
  )
  insert into custom_field_values (field_id, entity_id, team_id, entity_type, field_type, key, value_text, updated_by)
  select field_id, task_id, made.team_id, 'task', 'text', key, repeat('x', 2000), :user from made, tasks where project_id = :project`;

const COMMENTS = /* sql */ `
  insert into comments (task_id, team_id, author_id, content)
  select task_id, team_id, :user, repeat('x', 9000) from tasks, generate_series(1, ${ROWS}) where task_id = :task`;

const LISTS: List[] = [
  {
    what: '1,000 automations of 64 kB',
    async plant(db, { teamId, userId }) {
      await db.raw(AUTOMATIONS, { team: teamId, user: userId });
      return '/api/automations';
    },
  },
  {
    what: `${ROWS} documents of 32 kB`,
    async plant(db, world) {
      const project = await addProject(db, world, 0);
      await db.raw(ITEMS, { team: world.teamId, user: world.userId, project });
      return `/api/work-items?type=doc&project_id=${project}`;
    },
  },
  {
    what: `${ROWS} tasks with values of 20 kB`,
    async plant(db, world) {
      const project = await addProject(db, world, ROWS);
      await db.raw(VALUES, { team: world.teamId, user: world.userId, project });
      return `/api/tasks?include=custom_fields&project_id=${project}`;
    },
  },
  {
    what: `${ROWS} comments of 9 kB`,
    async plant(db, world) {
      const project = await addProject(db, world, 1);
      const [task] = await db('tasks').where({ project_id: project }).pluck<string[]>('task_id');
      await db.raw(COMMENTS, { user: world.userId, task: task as string });
      return `/api/tasks/${task}/comments`;
    },
  },
];

/** Users of the same team, with tokens. */
async function findCallers(db: Knex, { teamId }: World): Promise<World[]> {
  const callers: World[] = [];
  for (let at = 0; at < CALLERS; at += 1) callers.push(await seed(db, 0, `caller${at}`));
  await db('memberships').insert(callers.map(({ userId }) => ({ team_id: teamId, user_id: userId, role: 'member' })));
  return callers;
}

interface Read {
  answers: number;
  bytes: number;
}

/** Every caller reads the list again and again for a time. */
async function readFor(ms: number, api: ApiService, callers: World[], path: string): Promise<Read> {
  const over = new Agent({ keepAlive: true, maxSockets: CALLERS });
  const read = { answers: 0, bytes: 0 };
  const until = performance.now() + ms;
  await Promise.all(
    callers.map(async (caller) => {
      while (performance.now() < until) {
        const { bytes } = await expect(200, send(api.port, path, bearer(caller), undefined, over));
        read.answers += 1;
        read.bytes = Math.max(read.bytes, bytes);
      }
    }),
  );
  over.destroy();
  return read;
}

/** Runs `work`; returns by how much a process grew at most meanwhile, MB. */
async function growthDuring<T>(pid: number, work: () => Promise<T>): Promise<{ result: T; grown: number }> {
  const before = readResident(pid);
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, readResident(pid))), SAMPLE_MS);
  try {
    return { result: await work(), grown: (most - before) / 2 ** 20 };
  } finally {
    clearInterval(watch);
  }
}

/** Eight users read the longest lists of the largest rows at once: the memory that takes, and the wait of a user of another team. */
export const largeListsSection: Section = async (servers, world, load) => {
  const stranger = await seed(servers.db, 5_000, 'list-stranger');
  const callers = await findCallers(servers.db, world);
  const sources = taskSources(stranger);
  const seconds = load.seconds * load.rounds;
  const results: Result[] = [];
  for (const { what, plant } of LISTS) {
    const path = await plant(servers.db, world);
    await servers.db.raw('analyze');
    const api = await servers.startApi();
    await live(api.port, 2, sources);
    const alone = await live(api.port, seconds, sources);
    const { result, grown } = await growthDuring(api.pid, () =>
      Promise.all([live(api.port, seconds, sources), readFor(seconds * 1_000, api, callers, path)]),
    );
    const [beside, read] = result;
    const said = `${read.answers} answers of at most ${(read.bytes / 1e6).toFixed(2)} MB`;
    const found = toResult(`${CALLERS} users read ${what}`, alone, beside, said);
    found.goals.push(
      { what: 'growth of the API', value: grown, goal: GOAL_MB, better: 'less', unit: ' MB' },
      { what: 'largest answer', value: read.bytes / 1e6, goal: 10, better: 'less', unit: ' MB' },
    );
    results.push(found);
    await api.stop();
  }
  return results;
};
