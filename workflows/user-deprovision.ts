import { proxyLocalActivities } from '@temporalio/workflow';
import type {
  DeprovisionActivities,
  DeprovisionActivity,
  DeprovisionInput,
  DeprovisionResult,
  DeprovisionStep,
  DeprovisionStepName,
} from './contracts/deprovision-contract.js';
import { upsertAttributes } from './upsert-attributes.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { showDetails } from './show-details.js';

/** Short database writes, retried until they succeed: none can be rejected. */
const OPTIONS = {
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
} as const;
const { planDeprovision } = proxyLocalActivities<DeprovisionActivities>(OPTIONS);
const activities = proxyLocalActivities<Record<DeprovisionStepName, DeprovisionActivity>>(OPTIONS);

const WORDS: Record<DeprovisionStepName, string> = {
  revokeTokens: 'Tokens revoked',
  endSessions: 'Sessions ended',
  deactivateAutomations: 'Automations disabled',
  leaveTeam: 'Removed, tasks reassigned',
  askOthers: 'Other approvers notified',
};

const getName = ({ step, teamId }: DeprovisionStep): string => `${WORDS[step]}${teamId ? ` in team \`${teamId}\`` : ''}`;
/** Returns a line about a finished step: numbers and ids only. */
function buildLine(step: DeprovisionStep, result: DeprovisionResult): string {
  const said = Object.entries(result).flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]));
  return `✓ ${getName(step)}: ${said.join(', ') || 'nothing to do'}`;
}

/**
 * Runs the deprovision steps in order. PostgreSQL stores the job, performs each step once, and returns what remains. It is asked
 * again at the end, because a concurrent request may have added something.
 */
export async function userDeprovision(input: DeprovisionInput): Promise<string> {
  let plan = await planDeprovision(input.jobId);
  if (!plan) return 'nothing to do: the job has ended';
  const said = plan.done.map((step) => buildLine(step, step.result));
  const show = (headline: string, rest: DeprovisionStep[]): void => {
    const lines = [...said, ...rest.map((step) => `· ${getName(step)}`)];
    showDetails(`### ${headline}\n\n${lines.map((line) => `- ${line}`).join('\n')}`);
  };
  upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: 'running' });
  for (; plan && plan.steps.length > 0; plan = await planDeprovision(input.jobId)) {
    for (const [at, step] of plan.steps.entries()) {
      show(`Deprovisioning \`${plan.userId}\``, plan.steps.slice(at));
      said.push(buildLine(step, await activities[step.step](input.jobId, step.teamId)));
    }
  }
  upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: 'succeeded' });
  show('Deprovisioned', []);
  return `completed in ${said.length} steps`;
}
