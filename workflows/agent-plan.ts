import { allHandlersFinished, condition, defineSignal, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import { type AgentPlanInput, DECIDED_SIGNAL, type PlanActivities, type PlanView } from './contract.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { showDetails } from './show-details.js';
import { upsertAttributes } from './upsert-attributes.js';

/** A short database write, retried until it succeeds. */
const { readPlan } = proxyLocalActivities<PlanActivities>({
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
  summary: 'Read plan',
});

const decided = defineSignal(DECIDED_SIGNAL);

/** What the search attribute of gates shows of a plan that has ended. */
const GATE_STATE: Record<Exclude<PlanView['state'], 'staged'>, string> = {
  applied: 'approved',
  discarded: 'rejected',
  stale: 'stale',
  expired: 'lapsed',
  gone: 'rejected',
};

const minute = (iso: string | null): string => (iso === null ? '' : `${iso.slice(0, 16).replace('T', ' ')} UTC`);

const SOURCES: Record<string, string> = {
  chat: 'From a chat',
  overnight_triage: 'From the overnight triage',
  ci_failure_triage: 'From the triage of a failed CI run',
  automation: 'From an automation',
  mcp: 'From an outside agent',
};

function stateOf({ state, expiresAt, decidedBy, decidedAt, reason }: PlanView): string {
  if (state === 'staged') return `» Waiting for a person to confirm or discard, until ${minute(expiresAt)}`;
  const by = decidedBy === null ? '' : ` by \`${decidedBy}\``;
  const at = decidedAt === null ? '' : ` at ${minute(decidedAt)}`;
  const why = reason === null || reason === 'person' ? '' : ` (\`${reason}\`)`;
  return `Ended: **${state}**${why}${by}${at}`;
}

/** Name of the plan for operators: counts only. */
const nameOf = ({ changes, high }: PlanView): string =>
  `Plan: ${changes} ${changes === 1 ? 'change' : 'changes'}${high > 0 ? `, ${high} high` : ''}`;

const detailsOf = (view: PlanView): string => {
  if (view.state === 'gone') return 'There is no such plan';
  return [`### ${nameOf(view)}`, SOURCES[view.source ?? ''] ?? '', stateOf(view)].join('\n\n');
};

/**
 * A staged plan, which waits for a person. PostgreSQL holds it and decides; a signal or a timer only wakes the workflow to read the row
 * again. Returns how it ended.
 */
export async function agentPlan(input: AgentPlanInput): Promise<Pick<PlanView, 'state' | 'reason' | 'decidedBy'>> {
  let wakes = 0;
  setHandler(decided, () => {
    wakes += 1;
  });
  let seen = wakes; // read before the row, so that no wake is lost
  let view = await readPlan(input.actionId);
  while (view.state === 'staged') {
    const waited = seen;
    showDetails(detailsOf(view));
    const summary = view.reminds ? 'Reminder' : 'Plan expires';
    await condition(() => wakes > waited, Math.max(view.msLeft, 1), { summary });
    seen = wakes;
    view = await readPlan(input.actionId);
  }
  upsertAttributes(
    input,
    { key: SEARCH_ATTRIBUTES.RunState, value: view.state },
    { key: SEARCH_ATTRIBUTES.GateState, value: GATE_STATE[view.state] },
  );
  showDetails(detailsOf(view));
  await condition(allHandlersFinished);
  const { state, reason, decidedBy } = view;
  return { state, reason, decidedBy };
}
