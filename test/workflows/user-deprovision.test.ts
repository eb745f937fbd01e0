import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Client, Connection } from '@temporalio/client';
import { deprovisionWorkflowId } from '../../workflows/contracts/deprovision-contract.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { lockWaiters } from '../support/database.js';
import { queuePrefix, runWorker, until } from '../support/worker.js';
import { startWorkerProcess } from '../support/worker-process.js';

// Deprovisioning in Temporal; test/api/identity/admin has the single steps.

let app: TestApp;
let root: Person;
let doomed: ChildProcess | undefined;
beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  root = await buildPerson(app, { role: 'admin' });
});
afterAll(async () => {
  doomed?.kill('SIGKILL');
  await app.close();
});

const db = () => app.services.db;
const readSteps = (job_id: string): Promise<string[]> =>
  db()('deprovision_steps').where({ job_id }).orderBy('done_at').pluck('step');

/** A person in two teams, with an open task in each. */
async function buildLeaver(): Promise<{ leaver: Person; teams: TestTeam[]; tasks: string[] }> {
  const leaver = await buildPerson(app);
  const teams = [await buildTeam(app), await buildTeam(app)].toSorted((a, b) => a.team_id.localeCompare(b.team_id));
  const tasks: string[] = [];
  for (const team of teams) {
    const { user_id } = leaver;
    await app.as(team.admin).post(`/api/teams/${team.team_id}/members`, { user_id, role: 'manager' });
    tasks.push((await buildTask(app, team, await buildProject(app, team), { assigned_to: user_id })).task_id);
  }
  return { leaver, teams, tasks };
}

/** Keeps a person's seat from being taken, until what is returned is called. */
async function holdSeat({ user_id }: Person, team: TestTeam | undefined): Promise<() => Promise<void>> {
  const held = await db().transaction();
  await held('memberships').where({ team_id: team?.team_id, user_id }).forUpdate();
  return async () => {
    await held.rollback();
  };
}

it('resumes after a worker is killed between two teams, with every step once', async () => {
  const { leaver, teams, tasks } = await buildLeaver();
  doomed = await startWorkerProcess(app);
  // The second membership is locked, so the worker is killed between the two steps.
  const release = await holdSeat(leaver, teams[1]);
  const answer = await app.as(root).post(`/api/admin/users/${leaver.user_id}/deprovision`, { reason: 'Left the company' });
  const { job_id } = answer.body;
  await until(async () => (await readSteps(job_id)).length === 4);
  await until(async () => (await lockWaiters(db())) > 0);
  doomed.kill('SIGKILL');
  await once(doomed, 'exit');
  await release();

  const worker = await runWorker(app);
  const done = () => db()('deprovision_jobs').where({ job_id, status: 'succeeded' }).first();
  await until(done);
  expect(await readSteps(job_id)).toEqual([
    'deactivateAutomations',
    'revokeTokens',
    'endSessions',
    'leaveTeam',
    'leaveTeam',
    'askOthers',
    'askOthers',
  ]);
  const removed = await db()('audit_entries').where({ action: 'remove_member', user_id: root.user_id });
  expect(new Set(removed.map(({ team_id }) => team_id))).toEqual(new Set(teams.map(({ team_id }) => team_id)));
  expect(removed).toHaveLength(2);
  expect(await db()('tasks').whereIn('task_id', tasks).select('assigned_to', 'version')).toEqual(
    tasks.map(() => ({ assigned_to: null, version: 2 })),
  );
  expect(await db()('memberships').where({ user_id: leaver.user_id })).toEqual([]);

  const connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  const handle = new Client({ connection }).workflow.getHandle(deprovisionWorkflowId(leaver.user_id));
  expect(await handle.result()).toBe('completed in 7 steps');
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails.match(/✓/g)).toHaveLength(7);
  expect(currentDetails).toContain('tasks 1');
  const described = await handle.describe();
  expect(await described.staticSummary()).toBe('Deprovision user');
  expect(JSON.stringify(described.typedSearchAttributes.getAll())).toContain('user_deprovision');

  // Terminated by an operator, or lost with Temporal's file: the job's row brings it back.
  const second = await buildLeaver();
  const releaseSecond = await holdSeat(second.leaver, second.teams[0]);
  const again = await app.as(root).post(`/api/admin/users/${second.leaver.user_id}/deprovision`, { reason: 'Left as well' });
  const lost = new Client({ connection }).workflow.getHandle(deprovisionWorkflowId(second.leaver.user_id));
  await until(async () => (await readSteps(again.body.job_id)).length === 3);
  await lost.terminate('by an operator');
  await releaseSecond();
  // Temporal's list of what runs may be a moment old, and the worker's own pass every 30 s may come first.
  await until(async () => {
    await worker.reconcile();
    return db()('deprovision_jobs').where({ job_id: again.body.job_id, status: 'succeeded' }).first();
  });
  // The row goes after its job was handed over, which the job does not wait for.
  await until(async () => (await db()('outbox').where({ kind: 'user.deprovision' })).length === 0);
  await connection.close();
  await worker.stop();
});
