import { integrationActions } from '../integrations/registry.js';
import { addComment } from './add-comment.js';
import type { ActionDescription, ActionType, DefaultedParam, OutboundAction } from './action-type.js';
import { assignTask } from './assign-task.js';
import { createTask } from './create-task.js';
import { delay } from './delay.js';
import { httpRequest } from './http-request.js';
import { notify } from './notify.js';
import { PLANNED_ACTIONS } from './planned.js';
import { requireApproval } from './require-approval.js';
import { sendWebhook } from './send-webhook.js';
import { setTaskStatus } from './set-task-status.js';
import { updateTask } from './update-task.js';

const LOCAL: readonly ActionType[] = [createTask, updateTask, setTaskStatus, assignTask, addComment, notify];
const SENDING: readonly OutboundAction[] = [httpRequest, sendWebhook];

const byType = <A extends { type: string }>(actions: readonly A[]): Readonly<Record<string, A>> =>
  Object.assign(Object.create(null) as Record<string, A>, Object.fromEntries(actions.map((action) => [action.type, action])));

/** Every action that is done in our own database, by its type; a gate or a delay is none of them. */
export const actionTypes = byType(LOCAL);

/** Every action that leaves the house. */
export const outboundTypes = (): Readonly<Record<string, OutboundAction>> => byType([...SENDING, ...integrationActions()]);

/** What may stand in an automation: what a run can perform, the gate and the delay. */
export const availableActions = (): readonly ActionDescription[] => [
  ...LOCAL,
  requireApproval,
  delay,
  ...Object.values(outboundTypes()),
];

/** The whole catalogue in the order in which it is listed (F5, F13). */
export const catalogue = (): readonly ActionDescription[] => [...availableActions(), ...PLANNED_ACTIONS];

/** What the defaults are read from, as far as it matters here. */
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
 * The parameters with `task_id` and `project_id`, where they are left out, taken from the event, then from the automation (F5).
 * Ids hold no braces, so this may happen before the templates are rendered.
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
