import { integrationActions } from '../../integrations/connections/registry.js';
import type { ActionDescription, ActionType, DefaultedParam, OutboundAction } from '../../gate/contract/action-type.js';
import { delay } from './delay.js';
import { dispatchRunnerJob } from './dispatch-runner-job.js';
import { httpRequest } from './http-request.js';
import { moveToCycle } from './move-to-cycle.js';
import { notify } from './notify.js';
import { requireApproval } from './require-approval.js';
import { runAgent } from './run-agent.js';
import { sendWebhook } from './send-webhook.js';
import { workActions } from './work-actions.js';

const LOCAL: readonly ActionType[] = [...workActions, moveToCycle, notify];
const SENDING: readonly OutboundAction[] = [httpRequest, sendWebhook, runAgent, dispatchRunnerJob];

const byType = <A extends { type: string }>(actions: readonly A[]): Readonly<Record<string, A>> =>
  Object.assign(Object.create(null) as Record<string, A>, Object.fromEntries(actions.map((action) => [action.type, action])));

/** All local actions by type, without the gate and the delay. */
export const actionTypes = byType(LOCAL);

/** Returns all outbound actions by type. */
export const outboundTypes = (): Readonly<Record<string, OutboundAction>> => byType([...SENDING, ...integrationActions()]);

/** Whether an action waits for another server; all others run in our own database. */
export const isSent = (type: string): boolean => Object.hasOwn(outboundTypes(), type);

/** Returns all actions that an automation may contain: those a run can perform, the gate and the delay. */
export const availableActions = (): readonly ActionDescription[] => [
  ...LOCAL,
  requireApproval,
  delay,
  ...Object.values(outboundTypes()),
];

/** Sources of default values. */
interface DefaultSources {
  event: Readonly<Record<string, unknown>>;
  automation: { project_id: string | null };
}

const idIn = (record: unknown, name: DefaultedParam): unknown =>
  typeof record === 'object' && record !== null && Object.hasOwn(record, name)
    ? (record as Record<string, unknown>)[name]
    : undefined;

const DEFAULTS: Readonly<Record<DefaultedParam, (sources: DefaultSources) => unknown>> = {
  task_id: ({ event }) => idIn(event['task'], 'task_id'),
  project_id: ({ event, automation }) => idIn(event, 'project_id') ?? automation.project_id,
};

/**
 * Fills in omitted `task_id` and `project_id` from the event, then from the automation. Ids contain no braces, so this may
 * precede template rendering.
 */
export function withDefaults(
  type: string,
  params: Readonly<Record<string, unknown>>,
  event: Readonly<Record<string, unknown>>,
  automation: { project_id: string | null },
): Record<string, unknown> {
  const filled: Record<string, unknown> = { ...params };
  for (const name of actionTypes[type]?.defaulted ?? []) {
    if (filled[name] === undefined) filled[name] = DEFAULTS[name]({ event, automation }) ?? undefined;
  }
  return filled;
}
