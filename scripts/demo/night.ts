import { planWorkflowId } from '../../workflows/contracts/plan-contract.js';
import { call, printStep } from './helpers.js';

interface PendingPlan {
  session_id: string;
  action_id: string;
  plan_hash: string;
  summary: string;
  source: string;
  expires_at: string;
  actions: { index: number; tool: string; title: string; params: Record<string, unknown> }[];
  stale: { index: number }[];
}

/** Changes of the night's plan that Max confirms; the rest he leaves out. */
const CONFIRMED = 3;

/** Max reads what the night proposes for Acme and confirms a part of it. Returns the workflow of the plan. */
export async function playNight(ada: string, max: string): Promise<Record<string, string>> {
  const teams = (await call('GET', '/api/teams', { token: ada })).body as { team_id: string; name: string }[];
  const teamId = teams.find(({ name }) => name === 'Acme')?.team_id ?? '';
  const { overnight_triage } = (await call('GET', `/api/ai-workspace/settings?team_id=${teamId}`, { token: ada })).body;
  const { pending } = (await call('GET', '/api/ai-workspace/agent/pending?limit=100', { token: max })).body as {
    pending: PendingPlan[];
  };
  const plan = pending.find(({ source }) => source === 'overnight_triage');
  if (!plan) {
    printStep('The night’s triage of Acme has been decided already', `the next one is at ${overnight_triage.next_run_at}`);
    return {};
  }
  const lines = plan.actions.slice(0, 4).map(({ tool, title, params }) => `${tool} “${title}” ${JSON.stringify(params)}`);
  printStep(
    `The night’s triage proposes for Acme: ${plan.summary}; it waits until ${plan.expires_at}`,
    lines.join('\n            '),
  );
  const stale = new Set(plan.stale.map(({ index }) => index));
  const action_indexes = plan.actions.flatMap(({ index }) => (stale.has(index) ? [] : [index])).slice(0, CONFIRMED);
  const { session_id, action_id, plan_hash } = plan;
  const body = { session_id, action_id, plan_hash, action_indexes };
  const decided = (await call('POST', '/api/ai-workspace/agent/confirm', { token: max, body })).body;
  printStep(
    `Max ticks ${action_indexes.length} of them and confirms; what he left out rests for 14 days`,
    `${decided.message}; the next night is at ${overnight_triage.next_run_at}`,
  );
  return { 'the night’s plan': planWorkflowId(action_id) };
}
