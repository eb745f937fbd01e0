/** The rows read by a poll and a pass do not grow with other pending rows. */
import { pollStatement, takeEventsStatement } from '../../api/platform/outbox/match-events.sql.js';
import { SUBSCRIBERS } from '../../activities/subscribers.js';
import { buildProject, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { explain, nodesOf, type PlanNode } from '../support/plans.js';
import { crowd } from './crowd.js';

const NOBODY = '00000000-0000-0000-0000-000000000000';
let app: TestApp;
let team: TestTeam;

/** A team with 1,000 automations, all for one project. */
async function buildCrowd(): Promise<[TestTeam, { project_id: string }]> {
  const crowded = await buildTeam(app);
  const project = await buildProject(app, crowded);
  await crowd(app, crowded, { automations: 1_000 });
  await db()('automations').where({ team_id: crowded.team_id }).update({ project_id: project.project_id });
  return [crowded, project];
}

beforeEach(async () => {
  app = await startApp();
});
afterEach(() => app.close());

const db = () => app.services.db;
const describeRows = (node: PlanNode): number =>
  (node['Actual Loops'] ?? 1) * ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0));
/** Rows of a table that the statement has looked at, a subplan's at each of its executions. */
async function read(statement: { name: string; text: string }, values: unknown[], table: string): Promise<number> {
  const plan = await explain(app.database.url, { ...statement, values });
  return nodesOf(plan)
    .filter((node) => node['Relation Name'] === table)
    .reduce((sum, node) => sum + describeRows(node), 0);
}
const addEvents = (project_id: string | null, count: number) =>
  db().raw(
    `insert into outbox (kind, subject, team_id, project_id, actor_id, payload, correlation_id)
     select 'event', 'task.created', ?::uuid, ?::uuid, ?::uuid, '{}', uuidv7() from generate_series(1, ?::int)`,
    [team.team_id, project_id, team.manager.user_id, count],
  );

it.each(['another project', 'no project', 'the project, which is in the trash'])(
  '1,000 automations for one project and events of %s',
  async (whose) => {
    for (let strangers = 0; strangers < 2; strangers += 1) await buildCrowd();
    let project: { project_id: string };
    [team, project] = await buildCrowd();
    const other = await buildProject(app, team);
    if (whose.includes('trash')) await db()('projects').where(project).update({ deleted_at: db().fn.now() });
    await addEvents(whose === 'no project' ? null : whose === 'another project' ? other.project_id : project.project_id, 1_000);
    await db().raw('analyze');
    for (const table of ['automations', 'projects']) {
      expect(await read(pollStatement(SUBSCRIBERS), [NOBODY], table)).toBeLessThan(1_000);
      expect(await read(takeEventsStatement(SUBSCRIBERS), [NOBODY, null], table)).toBeLessThan(1_000);
    }
  },
);

it('100,000 rows of other kinds that are not due, and 50,000 events', async () => {
  team = await buildTeam(app);
  await addEvents(null, 50_000);
  await db().raw(
    `insert into outbox (kind, subject, payload, correlation_id, next_attempt_at)
     select 'run.start', 'x', '{}', uuidv7(), now() + interval '1 minute' from generate_series(1, 100000)`,
  );
  await db().raw('analyze');
  expect(await read(pollStatement(SUBSCRIBERS), [NOBODY], 'outbox')).toBeLessThan(2_000);
});
