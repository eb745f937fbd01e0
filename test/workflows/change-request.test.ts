import type { Client } from '@temporalio/client';
import { changeRequests } from '../../activities/change-requests.js';
import { maintenanceActivities } from '../../activities/maintenance.js';
import { requestWorkflowId } from '../../workflows/contracts/request-contract.js';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.js';
import { buildTeam, type TestTeam } from '../factories/people.js';
import { about, OPERATION } from '../factories/requests.js';
import type { TestApp } from '../support/app.js';
import { readKept } from '../support/histories.js';
import { until, startWithWorker } from '../support/worker.js';
import { isWaiting, playRequest, REQUEST_PLAYS, SECRET, waitingRequest } from './record-request.js';

let app: TestApp;
let temporal: Client;
let end: () => Promise<void>;
let team: TestTeam;

beforeAll(async () => {
  ({ app, temporal, end } = await startWithWorker());
});
afterAll(() => end());
beforeEach(async () => {
  team = await buildTeam(app);
});

const stage = () => ({ app, team, temporal });
const db = () => app.services.db;
const row = (request_id: string) => db()('change_requests').where({ request_id }).first();
const handleOf = ({ request_id }: { request_id: string }) => temporal.workflow.getHandle(requestWorkflowId(request_id));
const detailsOf = async (request: { request_id: string }): Promise<string> =>
  (await handleOf(request).query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
const minute = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
const past = () => db().raw("now() - interval '1 second'");

it('a request waits as a workflow that an operator can find and read, without a word of its contents', async () => {
  const request = await waitingRequest(stage(), {
    operation: undefined,
    operations: ['payments', 'shell', 'shell'].map((system) => ({ ...OPERATION, system, arguments: { [SECRET]: SECRET } })),
    requirement: { role: 'admin', approvals: 1 },
  });
  const described = await handleOf(request).describe();
  const heading = 'Change request: 3 operations on payments, shell';
  expect(await described.staticSummary()).toBe(heading);
  const attribute = (key: keyof typeof SEARCH_ATTRIBUTES) => described.typedSearchAttributes.get(SEARCH_ATTRIBUTES[key] as never);
  expect([attribute('Process'), attribute('RunState'), attribute('GateState')]).toEqual(['change_request', 'paused', 'pending']);
  const { expires_at } = await row(request.request_id);
  expect(attribute('GateExpiresAt')).toEqual(expires_at);
  expect([attribute('TeamId'), attribute('EntityId'), attribute('ActorId'), attribute('TriggerType')]).toEqual([
    team.team_id,
    request.request_id,
    team.member.user_id,
    'api',
  ]);
  const query = `RunState="paused" AND GateState="pending" AND ExecutionStatus="Running" AND EntityId="${request.request_id}"`;
  await until(async () => (await temporal.workflow.count(query)).count === 1);
  expect((await detailsOf(request)).split('\n\n').slice(0, 3)).toEqual([
    `### ${heading}`,
    'From the API',
    `» Waiting for 1 of 1 approvals of the role admin or above, until ${minute(expires_at)}`,
  ]);

  await about(app.as(team.admin), request).approve();
  await isWaiting(temporal, request, 2);
  const { use_until } = await row(request.request_id);
  expect(await detailsOf(request)).toContain(
    `» Approved by \`${team.admin.user_id}\`. Waiting for the requester to use it, until ${minute(use_until)}`,
  );
  await about(app.as(team.member), request).redeem();
  await isWaiting(temporal, request, 3);
  expect(await detailsOf(request)).toContain(`» Used by \`${team.member.user_id}\`. Waiting for the report of its outcome`);
  await about(app.as(team.member), request).report({ status: 'succeeded', output: SECRET });
  expect(await handleOf(request).result()).toEqual({ state: 'redeemed', reason: null, outcome: 'succeeded' });
  expect(await detailsOf(request)).toContain('Ended: used, outcome **succeeded**');
  expect(await readKept(handleOf(request))).not.toContain(SECRET);
  // The sweep itself sees what is there.
  expect(await readKept(handleOf(request))).toContain('payments, shell');
});

/** How each way ends: the row, and what its workflow returns. */
const ENDS: Record<string, [status: string, reason: string | null, outcome: string | null]> = {
  reported: ['redeemed', null, 'failed'],
  forgotten: ['redeemed', null, 'unknown'],
  rejected: ['rejected', 'approver', null],
  cancelled: ['cancelled', 'requester', null],
  lapsed: ['expired', 'time', null],
  unused: ['expired', 'use_window', null],
  quorum: ['cancelled', 'requester', null],
  restarted: ['cancelled', 'requester', null],
  continued: ['cancelled', 'requester', null],
};

it.each(REQUEST_PLAYS)('ends when its request is %s', async (play) => {
  const workflowId = await playRequest(stage(), play);
  const request_id = workflowId.slice('request:'.length);
  const { status, closed_reason, outcome } = await row(request_id);
  expect([status, closed_reason, outcome]).toEqual(ENDS[play]);
  expect(await temporal.workflow.getHandle(workflowId).result()).toEqual({ state: status, reason: closed_reason, outcome });
  const executions = temporal.workflow.list({ query: `WorkflowId="${workflowId}"` });
  for await (const { runId } of executions)
    expect(await readKept(temporal.workflow.getHandle(workflowId, runId))).not.toContain(SECRET);
});

it('the clock of the database ends it without anything that wakes the workflow', async () => {
  // So short that nobody is reminded.
  const request = await waitingRequest(stage(), { expires_in_seconds: 60 });
  await db()('change_requests')
    .where({ request_id: request.request_id })
    .update({ expires_at: db().raw("clock_timestamp() + interval '1 second'") });
  await handleOf(request).signal('decided');
  expect(await handleOf(request).result()).toMatchObject({ state: 'expired', reason: 'time' });
  expect(await db()('notifications').where({ request_id: request.request_id, kind: 'change_ended' })).toMatchObject([
    { user_id: team.member.user_id },
  ]);
});

it('reminds once, those who may approve, in the app and by mail', async () => {
  const request = await waitingRequest(stage(), { expires_in_seconds: 7_200 });
  const { request_id } = request;
  await db()('mails').delete();
  await db()('change_requests').where({ request_id }).update({ remind_at: past() });
  for (let count = 1; count <= 2; count += 1) await handleOf(request).signal('decided');
  await until(async () => (await row(request_id)).reminded_at);
  await isWaiting(temporal, request, 2);
  const told = await db()('notifications').where({ kind: 'change_reminder', request_id }).pluck<string[]>('user_id');
  expect(told.toSorted()).toEqual([team.admin.user_id, team.manager.user_id].toSorted());
  expect((await db()('mails').pluck<string[]>('recipient')).toSorted()).toEqual(
    [team.admin.email, team.manager.email].toSorted(),
  );
});

it('the maintenance job does what is due where no workflow is there, each with one entry', async () => {
  const [late, unused, unknown, later] = [
    await waitingRequest(stage()),
    await waitingRequest(stage()),
    await waitingRequest(stage()),
    await waitingRequest(stage()),
  ];
  for (const request of [unused, unknown]) await about(app.as(team.manager), request).approve();
  await about(app.as(team.member), unknown).redeem();
  for (const request of [late, unused, unknown]) await handleOf(request).terminate('lost');
  const move = ({ request_id }: { request_id: string }, column: string) =>
    db()('change_requests')
      .where({ request_id })
      .update({ [column]: past() });
  await move(late, 'expires_at');
  await move(unused, 'use_until');
  await move(unknown, 'outcome_due');
  const jobs = maintenanceActivities(app.services);
  await Promise.all([1, 2, 3].map(() => jobs.runMaintenanceJob('change-requests')));
  expect((await row(late.request_id)).status).toBe('expired');
  expect((await row(unused.request_id)).closed_reason).toBe('use_window');
  expect((await row(unknown.request_id)).outcome).toBe('unknown');
  expect((await row(later.request_id)).status).toBe('pending');
  for (const [{ request_id }, action] of [
    [late, 'expire'],
    [unused, 'expire'],
    [unknown, 'report'],
  ] as const)
    expect(await db()('audit_entries').where({ entity_id: request_id, action })).toMatchObject([
      { actor_type: 'system', team_id: team.team_id },
    ]);
});

it('the reconciler starts what is missing, and nothing twice', async () => {
  const [lost, used, over] = [await waitingRequest(stage()), await waitingRequest(stage()), await waitingRequest(stage())];
  await about(app.as(team.manager), used).approve();
  await about(app.as(team.member), used).redeem();
  await about(app.as(team.member), over).cancel();
  await handleOf(over).result();
  const ids = [lost, used, over].map(({ request_id }) => request_id);
  await until(async () => (await db()('outbox').whereIn('subject', ids)).length === 0);
  for (const request of [lost, used]) await handleOf(request).terminate('lost');
  // Temporal's list of what runs may be a moment old.
  for (const id of ids.slice(0, 2))
    await until(async () => (await temporal.workflow.count(`ExecutionStatus="Running" AND EntityId="${id}"`)).count === 0);
  const dispatcher = changeRequests.connect(temporal, {
    taskQueuePrefix: app.services.config.TASK_QUEUE_PREFIX,
    searchable: true,
    eager: false,
    giveUpHours: 24,
  });
  expect(await dispatcher.reconcile(app.services)).toBe(2);
  for (const request of [lost, used]) await isWaiting(temporal, request);
  expect(await Promise.all(ids.map(async (id) => (await row(id)).incarnation as number))).toEqual([2, 2, 1]);
  for (const id of ids.slice(0, 2))
    await until(async () => (await temporal.workflow.count(`ExecutionStatus="Running" AND EntityId="${id}"`)).count === 1);
  expect(await dispatcher.reconcile(app.services)).toBe(0);
});
