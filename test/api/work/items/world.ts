import { subscribe } from '../../../factories/events.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { type Answer, type Client, startApp, type TestApp } from '../../../support/app.js';

/** A team and a project for each test, over one app for the file. */
export interface ItemWorld {
  app: TestApp;
  team: TestTeam;
  project: { project_id: string };
  /** The team's member. */
  member: Client;
  /** Creates an item of the project; throws if that fails. */
  make: (type: string, fields?: Record<string, unknown>) => Promise<{ item_id: string; version: number }>;
  task: (fields?: Record<string, unknown>) => ReturnType<typeof buildTask>;
}

export const UNKNOWN = '019a9f00-0000-7000-8000-000000000001';

/** Registers the hooks of a test file; what is returned is filled anew before each test. `acquireTimeoutMs` as in `startApp`. */
export function itemWorld(acquireTimeoutMs?: number): ItemWorld {
  const world = {} as ItemWorld;
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
  world.make = async (type, fields = {}) => {
    const made = await world.member.post('/api/work-items', { type, title: `A ${type}`, ...world.project, ...fields });
    if (made.status !== 201) throw new Error(`no ${type}: ${JSON.stringify(made.body)}`);
    return made.body;
  };
  world.task = (fields = {}) => buildTask(world.app, world.team, world.project, fields);
  return world;
}

/** Many items of the four stored types in one statement, behind the product's back. */
export async function plantItems({ app, team, project }: ItemWorld, count: number, inProject = true): Promise<void> {
  await app.services.db.raw(
    /* sql */ `
    with given as (
      select i, uuidv7()::text as id, (array['note', 'file', 'whiteboard', 'doc'])[1 + i % 4] as type
      from generate_series(0, :count::int - 1) i
    ), keys as (insert into item_keys select id, type from given)
    insert into items (item_id, item_type, team_id, project_id, title, content, kind, created_by, created_at)
    select id, type, :team_id, :project_id, 'Planted ' || i, 'Words', case type when 'note' then 'note' end, :user_id,
      now() + i * interval '1 microsecond' from given`,
    {
      count,
      team_id: team.team_id,
      project_id: inProject ? project.project_id : null,
      user_id: team.member.user_id,
    } as never,
  );
}

export const listIds = ({ body }: Answer): string[] => body.map(({ item_id }: { item_id: string }) => item_id);
