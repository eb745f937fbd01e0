import type { Client } from '@temporalio/client';
import { planWorkflowId } from '../../workflows/contracts/plan-contract.js';
import { buildSession, staged } from '../factories/agent.js';
import { buildTask, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { until } from '../support/worker.js';

/** Ways in which a staged plan ends. */
export const PLAN_ENDS = ['applied', 'discarded', 'stale', 'lapsed', 'restarted', 'followed'] as const;

interface Stage {
  app: TestApp;
  team: TestTeam;
  project: { project_id: string };
  temporal: Client;
}

/** Waits until the workflow has begun that many timers. */
const isWaiting = (temporal: Client, action_id: string, timers = 1) =>
  until(async () => {
    const handle = temporal.workflow.getHandle(planWorkflowId(action_id));
    const { events = [] } = await handle.fetchHistory().catch(() => ({ events: [] }));
    return (events ?? []).filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes).length >= timers;
  });

/** Plays one end of a plan of the team, whose reminder comes first. Returns the id of its workflow. */
export async function playPlan({ app, team, project, temporal }: Stage, end: string): Promise<string> {
  const { db } = app.services;
  const task = await buildTask(app, team, project);
  const session = await buildSession(app, team, { kind: 'automation' });
  const action = { tool: 'task.set_status' as const, entity_id: task.task_id, params: { status: 'done' } };
  const { action_id } = await staged(app, team.member, [action], { session, source: 'automation', lifeHours: 168 });
  await isWaiting(temporal, action_id);
  const workflowId = planWorkflowId(action_id);
  const due = (column: string) =>
    db('agent_plans')
      .where({ action_id })
      .update({ [column]: db.raw("now() - interval '1 second'") });
  const decide = (confirmed: boolean) =>
    app.as(team.member).post('/api/ai-workspace/agent/confirm', { session_id: session.session_id, action_id, confirmed });
  if (end === 'restarted') {
    await temporal.workflow.getHandle(workflowId).terminate('lost');
    const { correlation_id } = await db('agent_plans').where({ action_id }).first();
    const payload = { action_id, incarnation: 1 };
    await db('outbox').insert({ kind: 'plan.wake', subject: action_id, payload, correlation_id });
    await until(async () => (await temporal.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING');
    await isWaiting(temporal, action_id);
  }
  // The first history with the marker of the patch; the others were recorded before it.
  if (end === 'followed') {
    await temporal.workflow.getHandle(workflowId).signal('decided');
    await isWaiting(temporal, action_id, 2);
  }
  if (end === 'stale') await app.as(team.manager).patch(`/api/tasks/${task.task_id}`, { title: 'Edited' });
  if (end === 'lapsed') {
    await due('remind_at');
    await temporal.workflow.getHandle(workflowId).signal('decided');
    await until(() => db('agent_plans').where({ action_id }).whereNotNull('reminded_at').first());
    await due('expires_at');
    await temporal.workflow.getHandle(workflowId).signal('decided');
  } else await decide(end !== 'discarded');
  await temporal.workflow.getHandle(workflowId).result();
  return workflowId;
}
