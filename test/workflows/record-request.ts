import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { CHANGE_REQUEST, requestWorkflowId } from '../../workflows/contracts/request-contract.js';
import type { TestTeam } from '../factories/people.js';
import { about, buildRequest, OPERATION, type TestRequest } from '../factories/requests.js';
import type { TestApp } from '../support/app.js';
import { until } from '../support/worker.js';

/** Ways in which a change request goes. */
export const REQUEST_PLAYS = [
  'reported',
  'forgotten',
  'rejected',
  'cancelled',
  'lapsed',
  'unused',
  'quorum',
  'restarted',
  'continued',
] as const;

interface Stage {
  app: TestApp;
  team: TestTeam;
  temporal: Client;
}

/** Words of a request that no history and no operator may see. */
export const SECRET = 'sesame-4711';

/** Waits until the workflow has begun that many timers. */
export const isWaiting = (temporal: Client, { request_id }: { request_id: string }, timers = 1) =>
  until(async () => {
    const handle = temporal.workflow.getHandle(requestWorkflowId(request_id));
    const { events = [] } = await handle.fetchHistory().catch(() => ({ events: [] }));
    return (events ?? []).filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes).length >= timers;
  });

/** A request of the member whose workflow waits. It holds the secret wherever a requester may write. */
export async function waitingRequest(
  { app, team, temporal }: Stage,
  fields: Record<string, unknown> = {},
): Promise<TestRequest & { revision: number }> {
  const request = await buildRequest(app, team, team.member, {
    title: `Release ${SECRET}`,
    reason: SECRET,
    operation: { ...OPERATION, target: SECRET, arguments: { [SECRET]: SECRET }, summary: SECRET },
    context: { [SECRET]: SECRET },
    ...fields,
  });
  await isWaiting(temporal, request);
  return request as TestRequest & { revision: number };
}

/** Plays one way of a request. Returns the id of its workflow, which has ended. */
export async function playRequest(stage: Stage, play: string): Promise<string> {
  const { app, team, temporal } = stage;
  const { db, config } = app.services;
  const request = await waitingRequest(stage, {
    ...(play === 'quorum' && { requirement: { approvals: 2 } }),
    ...(play === 'lapsed' && { expires_in_seconds: 7_200 }),
  });
  const { request_id } = request;
  const workflowId = requestWorkflowId(request_id);
  const handle = () => temporal.workflow.getHandle(workflowId);
  const [asker, approver] = [about(app.as(team.member), request), about(app.as(team.manager), request)];
  // The time of the column has come, and something wakes the workflow to see it.
  const due = async (column: string) => {
    await db('change_requests')
      .where({ request_id })
      .update({ [column]: db.raw("now() - interval '1 second'") });
    await handle().signal('decided');
  };
  const restart = async (rounds?: number) => {
    await handle().terminate('lost');
    if (rounds) {
      const taskQueue = `${config.TASK_QUEUE_PREFIX}core`;
      await temporal.workflow.start(CHANGE_REQUEST, { workflowId, taskQueue, args: [{ requestId: request_id, rounds }] });
    } else {
      const { correlation_id } = await db('change_requests').where({ request_id }).first();
      const payload = { request_id, incarnation: 1 };
      await db('outbox').insert({ kind: 'request.wake', subject: request_id, payload, correlation_id });
      await until(async () => (await handle().describe()).status.name === 'RUNNING');
    }
    await isWaiting(temporal, request);
  };
  const use = async () => {
    await approver.approve({ comment: SECRET });
    await isWaiting(temporal, request, 2);
    await asker.redeem({ redemption_id: randomUUID() });
    await isWaiting(temporal, request, 3);
  };
  switch (play) {
    case 'reported':
      await use();
      await asker.report({ status: 'failed', exit_code: 2, output: SECRET, details: { [SECRET]: SECRET } });
      break;
    case 'forgotten':
      await use();
      await due('outcome_due');
      break;
    case 'rejected':
      await approver.reject({ comment: SECRET });
      break;
    case 'lapsed':
      await due('remind_at');
      await isWaiting(temporal, request, 2);
      await due('expires_at');
      break;
    case 'unused':
      await approver.approve();
      await isWaiting(temporal, request, 2);
      await due('use_until');
      break;
    // The first of two approvals only wakes the workflow to read the row again.
    case 'quorum':
      await approver.approve();
      await isWaiting(temporal, request, 2);
      await about(app.as(team.admin), request).approve();
      await isWaiting(temporal, request, 3);
      await asker.cancel({ reason: SECRET });
      break;
    case 'restarted':
      await restart();
      await asker.cancel();
      break;
    case 'continued':
      await restart(1);
      await approver.approve();
      await until(() => isContinued(temporal, workflowId));
      await asker.cancel();
      break;
    default:
      await asker.cancel({ reason: SECRET });
  }
  await handle().result();
  return workflowId;
}

/** Whether the present execution continues another one. */
async function isContinued(temporal: Client, workflowId: string): Promise<boolean> {
  const { events } = await temporal.workflow.getHandle(workflowId).fetchHistory();
  return Boolean(events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId);
}
