import { stored } from '../declare.js';
import { Plan, TASK, TEAM } from './shapes.js';

const PLAN = {
  action_id: '0197a000-0000-7000-8000-000000000008',
  session_id: '0197a000-0000-7000-8000-000000000009',
  source: 'overnight_triage',
  risk: 'low',
  status: 'staged',
  summary: '2 comments',
  team_id: TEAM,
  project_id: TASK.project_id,
  actions: 2,
};

export const agentEvents = {
  'agent.plan_staged': stored({
    payload: { plan: Plan },
    trigger: 'The agent proposes a plan',
    past: 'The agent proposed a plan',
    webhook: true,
    sample: { plan: PLAN },
  }),
  'agent.plan_applied': stored({
    payload: { plan: Plan },
    trigger: 'A plan of the agent is applied',
    past: 'A plan of the agent was applied',
    webhook: true,
    sample: { plan: { ...PLAN, status: 'applied' } },
  }),
};
