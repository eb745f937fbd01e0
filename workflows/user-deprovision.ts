import { proxyLocalActivities } from '@temporalio/workflow';
import type {
  DeprovisionActivities,
  DeprovisionActivity,
  DeprovisionInput,
  DeprovisionResult,
  DeprovisionStep,
  DeprovisionStepName,
} from './contract.js';
import { upsertAttributes } from './upsert-attributes.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { showDetails } from './show-details.js';

/** Short writes to the database, tried until they get through: nothing in them may be refused. */
const OPTIONS = {
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
} as const;
const { planDeprovision } = proxyLocalActivities<DeprovisionActivities>(OPTIONS);
const activities = proxyLocalActivities<Record<DeprovisionStepName, DeprovisionActivity>>(OPTIONS);

const WORDS: Record<DeprovisionStepName, string> = {
  revokeTokens: 'Tokens revoked',
  endSessions: 'Sessions ended',
  deactivateAutomations: 'Automations switched off',
  leaveTeam: 'Seat taken, tasks handed on',
  askOthers: 'Others asked to decide',
};

const nameOf = ({ step, teamId }: DeprovisionStep): string => `${WORDS[step]}${teamId ? ` in team \`${teamId}\`` : ''}`;
/** A line of what was done: numbers and ids only. */
function lineOf(step: DeprovisionStep, result: DeprovisionResult): string {
  const said = Object.entries(result).flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]));
  return `✓ ${nameOf(step)}: ${said.join(', ') || 'nothing to do'}`;
}

/**
 * Takes somebody out of the installation step by step: order only. PostgreSQL holds the job, does each step once, and says what is
 * left; asked again at the end, because a request that was under way may have added something meanwhile.
 */
export async function userDeprovision(input: DeprovisionInput): Promise<string> {
  let plan = await planDeprovision(input.jobId);
  if (!plan) return 'nothing to do: the job is over';
  const said = plan.done.map((step) => lineOf(step, step.result));
  const show = (headline: string, rest: DeprovisionStep[]): void => {
    const lines = [...said, ...rest.map((step) => `· ${nameOf(step)}`)];
    showDetails(`### ${headline}\n\n${lines.map((line) => `- ${line}`).join('\n')}`);
  };
  upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: 'running' });
  for (; plan && plan.steps.length > 0; plan = await planDeprovision(input.jobId)) {
    for (const [at, step] of plan.steps.entries()) {
      show(`Taking \`${plan.userId}\` out`, plan.steps.slice(at));
      said.push(lineOf(step, await activities[step.step](input.jobId, step.teamId)));
    }
  }
  upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: 'succeeded' });
  show('Done', []);
  return `done in ${said.length} steps`;
}
