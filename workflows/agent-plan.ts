import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  patched,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import type { AgentPlanInput, PlanActivities, PlanView } from './contracts/plan-contract.js';
import { DECIDED_SIGNAL } from './contracts/run-contract.js';
import { followRow } from './follow-row.js';
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

function describeState({ state, expiresAt, decidedBy, decidedAt, reason }: PlanView): string {
  if (state === 'staged') return `» Waiting for a person to confirm or discard, until ${minute(expiresAt)}`;
  const by = decidedBy === null ? '' : ` by \`${decidedBy}\``;
  const at = decidedAt === null ? '' : ` at ${minute(decidedAt)}`;
  const why = reason === null || reason === 'person' ? '' : ` (\`${reason}\`)`;
  return `Ended: **${state}**${why}${by}${at}`;
}

/** Name of the plan for operators: counts only. */
const buildHeading = ({ changes, high }: PlanView): string =>
  `Plan: ${changes} ${changes === 1 ? 'change' : 'changes'}${high > 0 ? `, ${high} high` : ''}`;

const buildDetails = (view: PlanView): string => {
  if (view.state === 'gone') return 'There is no such plan';
  return [`### ${buildHeading(view)}`, SOURCES[view.source ?? ''] ?? '', describeState(view)].join('\n\n');
};

/** Rounds of one execution; a round is a signal or a timer. */
const ROUNDS = 200;

type PlanResult = Pick<PlanView, 'state' | 'reason' | 'decidedBy'>;
type EndedPlan = { end: PlanResult };
type Waiting = { waitMs: number; summary: string };

/** Waits as executions do that started before this workflow used `followRow`: their histories have no marker of the patch. */
async function followUnpatched(look: () => Promise<Waiting | EndedPlan>): Promise<PlanResult> {
  let wakes = 0;
  setHandler(decided, () => {
    wakes += 1;
  });
  for (;;) {
    const seen = wakes; // read before the row, so that no wake is lost
    const found = await look();
    if ('end' in found) {
      await condition(allHandlersFinished);
      return found.end;
    }
    await condition(() => wakes > seen, Math.max(found.waitMs, 1), { summary: found.summary });
  }
}

/**
 * A staged plan, which waits for a person. PostgreSQL holds it and decides; a signal or a timer only wakes the workflow to read the row
 * again. Returns how it ended.
 */
export async function agentPlan(input: AgentPlanInput): Promise<PlanResult> {
  const look = async (): Promise<Waiting | EndedPlan> => {
    const view = await readPlan(input.actionId);
    const { state, reason, decidedBy, msLeft, reminds } = view;
    if (state !== 'staged')
      upsertAttributes(
        input,
        { key: SEARCH_ATTRIBUTES.RunState, value: state },
        { key: SEARCH_ATTRIBUTES.GateState, value: GATE_STATE[state] },
      );
    showDetails(buildDetails(view));
    return state === 'staged'
      ? { waitMs: msLeft, summary: reminds ? 'Reminder' : 'Plan expires' }
      : { end: { state, reason, decidedBy } };
  };
  if (!patched('follow-row')) return followUnpatched(look);
  const ended = await followRow([decided], ROUNDS, look);
  return ended ? ended.end : continueAsNew<typeof agentPlan>(input);
}
