import type { User } from '../../../identity/auth/schema.js';
import type { Config } from '../../../platform/config.js';

/** Filters of the list of workflows that belong to the tabs of Runs, in the order in which they are shown. */
export const WORKFLOW_QUERIES = {
  waiting: [
    { label: 'waiting for an approval', query: 'RunState="paused" AND GateState="pending" AND ExecutionStatus="Running"' },
    { label: 'waiting for a time', query: 'RunState="waiting" AND ExecutionStatus="Running"' },
  ],
  failed: [
    { label: 'failed runs', query: 'RunState="failed" AND IsTest=false' },
    { label: 'retries', query: 'Attempt > 1 AND ExecutionStatus="Running"' },
    { label: 'workflows that ended badly', query: 'ExecutionStatus IN ("Failed", "Terminated", "TimedOut")' },
  ],
} as const;

type Tab = keyof typeof WORKFLOW_QUERIES;
const isTab = (show: string): show is Tab => Object.hasOwn(WORKFLOW_QUERIES, show);

/** Returns the address of the Temporal UI for those who operate runs: managers, admins of a team and of the instance. Others have no use for it. */
export const temporalUi = ({ TEMPORAL_UI_URL: ui }: Config, { role, teams }: User): string | undefined =>
  role === 'admin' || teams.some((team) => ['manager', 'admin'].includes(team.role)) ? ui : undefined;

/** Returns links to the Temporal UI's lists that belong to a tab of Runs; none without the UI's address, or for another tab. */
export function workflowLists(config: Config, me: User, show: string): { label: string; href: string }[] {
  const ui = temporalUi(config, me);
  if (!ui || !isTab(show)) return [];
  return WORKFLOW_QUERIES[show].map(({ label, query }) => {
    const address = new URL(`/namespaces/${encodeURIComponent(config.TEMPORAL_NAMESPACE)}/workflows`, ui);
    address.searchParams.set('query', query);
    return { label, href: address.href };
  });
}
