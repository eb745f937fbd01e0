/** What tests of conversations begin with: a running app, and a team with the project Harbor, new for each test. */
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { pretendWorker, talk } from './talk.js';

interface Harbor {
  app: TestApp;
  team: TestTeam;
  project: { project_id: string };
  /** The link of the project. */
  linked: { item_type: string; item_id: string };
}

/** A day that many days from now, YYYY-MM-DD, in UTC. */
export const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** Sets an app up for the tests of a file, and a team and a project for each. */
export function useHarbor() {
  const now = {} as Harbor;
  beforeAll(async () => {
    now.app = await startApp();
    await pretendWorker(now.app);
  });
  afterAll(() => now.app.close());
  beforeEach(async () => {
    now.team = await buildTeam(now.app);
    now.project = await buildProject(now.app, now.team, { name: 'Harbor' });
    now.linked = { item_type: 'project', item_id: now.project.project_id };
  });
  const db = () => now.app.services.db;
  const addTask = async (title: string, fields: Record<string, unknown> = {}, project = now.project): Promise<string> =>
    (await buildTask(now.app, now.team, project, { title, ...fields })).task_id as string;
  return Object.assign(now, {
    db,
    addTask,
    addProject: (name: string) => buildProject(now.app, now.team, { name }),
    /** A task that was canceled, or is a duplicate. */
    addDropped: async (title: string, resolution = 'canceled', fields: Record<string, unknown> = {}): Promise<string> => {
      const id = await addTask(title, fields);
      await now.app.as(now.team.member).patch(`/api/tasks/${id}`, { status: 'done', resolution });
      return id;
    },
    rename: (person: Person, display_name: string) =>
      db()('users').where({ user_id: person.user_id }).update({ display_name, name: display_name }),
    /** Begins a talk of the member, about the project if nothing else is linked. */
    begin: (...links: Parameters<typeof talk>[2][]) =>
      talk(now.app, now.team.member, ...(links.length > 0 ? links : [now.linked])),
  });
}
