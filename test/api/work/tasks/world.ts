import { subscribe } from '../../../factories/events.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';

/** Repetitions of each race; more by CAS_ROUNDS (`npm run test:long`). */
export const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 8);

/** A team and a project for each test, over one app for the file. */
export interface TaskWorld {
  app: TestApp;
  team: TestTeam;
  project: { project_id: string };
  /** The team's member. */
  member: Client;
  /** Creates a task through the API's own operation. */
  make: (fields?: Record<string, unknown>) => ReturnType<typeof buildTask>;
  read: (taskId: string) => Promise<Record<string, unknown>>;
  row: (taskId: string) => Promise<Record<string, unknown>>;
  /** Every row that changes of this task left behind, oldest first. */
  traces: (taskId: string) => Promise<{ audit: Trace[]; activity: Trace[]; events: Trace[] }>;
}

type Trace = Record<string, unknown>;

/** Registers the hooks of a test file; what is returned is filled anew before each test. `acquireTimeoutMs` as in `startApp`. */
export function taskWorld(acquireTimeoutMs?: number): TaskWorld {
  const world = {} as TaskWorld;
  const db = () => world.app.services.db;
  beforeAll(async () => {
    world.app = await startApp({}, acquireTimeoutMs);
  });
  afterAll(() => world.app.close());
  beforeEach(async () => {
    world.team = await buildTeam(world.app);
    await subscribe(world.app, world.team);
    world.project = await buildProject(world.app, world.team);
    world.member = world.app.as(world.team.member);
  });
  world.make = (fields = {}) => buildTask(world.app, world.team, world.project, fields);
  world.read = async (taskId) => (await world.member.get(`/api/tasks/${taskId}`)).body as Record<string, unknown>;
  world.row = (taskId) => db()('tasks').where({ task_id: taskId }).first() as unknown as Promise<Trace>;
  world.traces = async (taskId) => ({
    audit: (await db()('audit_entries').where({ entity_id: taskId }).orderBy('timestamp')) as Trace[],
    activity: (await db()('activity').where({ entity_id: taskId }).orderBy('activity_id')) as Trace[],
    events: (await db()('outbox').whereRaw("payload->'task'->>'task_id' = ?", [taskId]).orderBy('outbox_id')) as Trace[],
  });
  return world;
}

/** Many tasks in one statement, behind the product's back; returns their ids in the order of the list. */
export async function plantTasks({ app, team, project }: TaskWorld, count: number, more: PlantOptions = {}): Promise<string[]> {
  const prefix = `p${Math.random().toString(36).slice(2)}`;
  await app.services.db.raw(
    /* sql */ `
    with given as (
      select i, :prefix || '.' || lpad(i::text, 6, '0') as id,
        case when i % :family::int <> 0 then :prefix || '.' || lpad((i - i % :family::int)::text, 6, '0') end as parent
      from generate_series(0, :count::int - 1) i
    ), keys as (insert into item_keys select id, 'task' from given),
    marks as (insert into search_dirty (team_id, item_id) select :team_id, id from given)
    insert into tasks (task_id, project_id, team_id, title, description, created_by, assigned_to, parent_task_id, created_at)
    select id, :project_id, :team_id, 'Planted ' || i, :description, :user_id, :user_id, parent, now() + i * interval '1 microsecond'
    from given`,
    {
      prefix,
      count,
      family: more.family ?? 1,
      description: more.description ?? null,
      project_id: project.project_id,
      team_id: team.team_id,
      user_id: team.member.user_id,
    } as never,
  );
  return Array.from({ length: count }, (_, i) => `${prefix}.${String(i).padStart(6, '0')}`);
}

interface PlantOptions {
  /** Every so many tasks form a parent and its children; 1: all at the top. */
  family?: number;
  description?: string;
}
