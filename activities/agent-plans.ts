import { watchPlan } from '../api/agent/plans/waiting/watch-plan.js';
import { openPlansStatement, planDispatchesStatement, restartPlansStatement } from '../api/agent/plans/waiting/watch-plan.sql.js';
import type { Services } from '../api/platform/context.js';
import { AGENT_PLAN, type AgentPlanInput, type PlanActivities, planWorkflowId } from '../workflows/contracts/plan-contract.js';
import { DECIDED_SIGNAL } from '../workflows/contracts/run-contract.js';
import { defineRowWorkflow } from './row-workflow.js';

/** An outbox row that starts or wakes a plan. */
interface Row {
  outbox_id: number;
  kind: 'plan.start' | 'plan.wake';
  correlation_id: string;
  action_id: string;
  session_id: string;
  /** Of a chat: the team of its first change. */
  team_id: string | null;
  project_id: string | null;
  staged_for: string;
  source: string;
  status: string;
  depth: number;
  expires_at: Date;
  changes: number;
  high: number;
}

/** What caused a plan, in the words of the search attribute. */
const TRIGGERS: Record<string, string> = {
  chat: 'chat',
  overnight_triage: 'schedule',
  ci_failure_triage: 'event',
  automation: 'event',
  mcp: 'mcp',
};

/** Staged plans. */
export const agentPlans = defineRowWorkflow<Row, { action_id: string }>({
  notes: [
    {
      process: 'agent_plan',
      workflowId: 'plan:<action_id>',
      shows: 'Plans of the agent that wait; sort by `GateExpiresAt` to see the oldest deadline first',
    },
  ],
  invariants: [
    {
      name: 'plans_carried',
      words: 'No plan is staged for more than 60 s without an open workflow',
      sql: /* sql */ `
        select action_id::text as violation from agent_plans
        where status = 'staged' and staged_at < clock_timestamp() - interval '60 seconds' order by staged_at`,
      buildWorkflowId: planWorkflowId,
    },
  ],
  activities: { core: (services: Services): PlanActivities => ({ readPlan: (actionId) => watchPlan(services, actionId) }) },
  plural: 'plans',
  kinds: ['plan.start', 'plan.wake'],
  dispatches: planDispatchesStatement,
  workflow: AGENT_PLAN,
  getId: ({ action_id }) => planWorkflowId(action_id),
  input: ({ action_id }): AgentPlanInput => ({ actionId: action_id }),
  attributes: (row) => ({
    RunState: 'paused',
    GateState: 'pending',
    GateExpiresAt: row.expires_at,
    TriggerType: TRIGGERS[row.source] ?? row.source,
    EntityId: row.action_id,
    ActorId: row.staged_for,
    Depth: row.depth > 0 ? row.depth : null,
    TeamId: row.team_id,
    ProjectId: row.project_id,
  }),
  /** Counts, never a title. */
  summary: ({ changes, high }) => `Plan: ${changes} ${changes === 1 ? 'change' : 'changes'}${high > 0 ? `, ${high} high` : ''}`,
  details: ({ action_id, session_id }) => [`Plan \`${action_id}\` of session \`${session_id}\``],
  fairnessKey: ({ team_id, staged_for }) => team_id ?? staged_for,
  /** A plan that was decided before its start needs no workflow. A wake of a staged plan whose workflow was lost starts it again. */
  async dispatch(row, link, services) {
    const isFound = row.kind === 'plan.wake' && (await link.signal(planWorkflowId(row.action_id), { signal: DECIDED_SIGNAL }));
    if (!isFound && row.status === 'staged') await link.start(row, services);
  },
  wake: { signal: DECIDED_SIGNAL },
  key: 'action_id',
  open: openPlansStatement,
  restart: restartPlansStatement,
});
