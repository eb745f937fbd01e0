import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../support/app.js';

/** How often a race is run (T-CAS); `CAS_ROUNDS=10000` for a campaign. */
export const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 20);

/** A team and a project for each test, over one app for the file. */
export interface TaskWorld {
  app: TestApp;
  team: TestTeam;
  project: { project_id: string };
  /** The team's member. */
  member: Client;
  /** A task through the product's own door. */
  make: (fields?: Record<string, unknown>) => ReturnType<typeof buildTask>;
  read: (taskId: string) => Promise<Record<string, unknown>>;
  row: (taskId: string) => Promise<Record<string, unknown>>;
  /** Every row that changes of this task left behind, oldest first. */
  traces: (taskId: string) => Promise<{ audit: Trace[]; activity: Trace[]; events: Trace[] }>;
}

type Trace = Record<string, unknown>;

/** Registers the hooks of a test file; what is returned is filled anew before each test. */
export function taskWorld(): TaskWorld {
  const world = {} as TaskWorld;
  const db = () => world.app.services.db;
  beforeAll(async () => {
    world.app = await startApp();
  });
  afterAll(() => world.app.close());
  beforeEach(async () => {
    world.team = await buildTeam(world.app);
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
