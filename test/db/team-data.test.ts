import { TEAM_DATA } from '../../api/identity/teams/team-data.js';
import { run } from '../../db/statement.js';
import { startApp, type TestApp } from '../support/app.js';

/** Tables that name a team and that no feature empties when the team is deleted, with the reason. */
const KEPT: Record<string, string> = {
  teams: 'marked as deleted',
  memberships: 'deleted by the operation itself',
  invitations: 'refused for a deleted team',
  activity: 'history, which outlasts the team',
  audit_entries: 'history, which outlasts the team',
  automation_runs: 'history, which outlasts the team',
  cycle_times: 'history, which outlasts the team',
  decision_log: 'history, which outlasts the team',
  deprovision_steps: 'history, which outlasts the team',
  projects: 'in the trash with the projects, until its retention ends',
  tasks: 'in the trash with the projects, until its retention ends',
  task_series: 'in the trash with the projects, until its retention ends',
  relations: 'in the trash with the projects, until its retention ends',
  project_updates: 'in the trash with the projects, until its retention ends',
  comments: 'in the trash with the projects, until its retention ends',
  conversations: 'in the trash with the projects, until its retention ends',
  custom_field_values: 'in the trash with the projects, until its retention ends',
  agent_turns: 'ends with a session or a job that a feature ends',
  bulk_uploads: 'ends with a session or a job that a feature ends',
  runner_log_usage: 'ends with a session or a job that a feature ends',
  agent_settings: 'settings and sums that nobody reads without the team',
  agent_usage: 'settings and sums that nobody reads without the team',
  team_storage: 'settings and sums that nobody reads without the team',
  notifications: 'expires by itself',
  notice_marks: 'expires by itself',
  outbox: 'expires by itself',
  live_changes: 'expires by itself',
  webhook_events: 'expires by itself',
  search_dirty: 'follows the items',
  search_documents: 'follows the items',
  search_team_words: 'follows the items',
};

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const statement = {
  name: 'tables_of_teams',
  text: /* sql */ `
    select c.relname as table from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition and a.attname = 'team_id' and not a.attisdropped
    order by 1`,
};

it('some feature answers for each table that names a team, or a reason stands here', async () => {
  const found = (await run<{ table: string }>(app.services.db, statement, [])).map(({ table }) => table);
  const declared = TEAM_DATA.flatMap(({ tables }) => tables);
  expect(new Set(declared).size).toBe(declared.length);
  expect([...declared, ...Object.keys(KEPT)].toSorted()).toEqual(found);
});
