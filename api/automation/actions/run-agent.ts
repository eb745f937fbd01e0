import { z } from 'zod';
import { askForRun } from '../../agent/run-steps/ask-for-run.js';
import { stepFailure } from '../../agent/run-steps/step-failures.js';
import { LinkItem, MAX_LINKS } from '../../agent/sessions/schema.js';
import { toDomainError } from '../../platform/database/database-errors.js';
import { Text } from '../../platform/fields.js';
import type { OutboundAction, OutboundResult } from '../../gate/contract/action-type.js';
import { ActionRefused } from '../../gate/contract/action-refused.js';

const MAX_INSTRUCTION = 8_000;
/**
 * After this the step looks for its answer by itself, ms. A turn takes 170 seconds at most once it has begun, and its end wakes the run
 * (docs/decisions/agent.md#model-budgets).
 */
const LOOK_AFTER_MS = 180_000;

const Params = z.object({
  instruction: Text.min(1).max(MAX_INSTRUCTION).meta({ description: 'What to propose, as in a message to the agent' }),
  link: z
    .array(LinkItem)
    .max(MAX_LINKS)
    .optional()
    .meta({ description: 'Items that it may read and change. Default: the task, note and project of the event' }),
});

const getId = (record: unknown, name: string): string | undefined => {
  const value = typeof record === 'object' && record !== null ? (record as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' ? value : undefined;
};

/** Returns the items that an event is about. */
function buildLinks(event: Readonly<Record<string, unknown>>): LinkItem[] {
  const task = getId(event['task'], 'task_id');
  const note = getId(event['note'], 'note_id');
  const project = getId(event, 'project_id');
  return [
    ...(task === undefined ? [] : [{ item_type: 'task' as const, item_id: task }]),
    ...(note === undefined ? [] : [{ item_type: 'note' as const, item_id: note }]),
    ...(project === undefined ? [] : [{ item_type: 'project' as const, item_id: project }]),
  ];
}

/** Returns what an answer of the agent means for the step. */
function toResult(answer: Awaited<ReturnType<typeof askForRun>>): OutboundResult {
  if (answer.state === 'staged') return { output: { action_id: answer.action_id } };
  if (answer.state === 'open') return { output: {}, lookAfterMs: LOOK_AFTER_MS };
  return { output: {}, failure: { ...stepFailure(answer.code), waitMs: answer.waitMs } };
}

/**
 * Asks the agent for a plan, which waits for a confirmation. The rules answer at once; a model answers later, and the run waits for it. Then
 * the run goes on: it changed nothing.
 */
export const runAgent: OutboundAction<z.output<typeof Params>> = {
  type: 'run_agent',
  label: 'Ask the agent for a plan',
  category: 'core',
  params: Params,
  answersLater: true,
  // It proposes and changes nothing.
  risk: 'low',
  complete: ({ link, ...params }, event) => ({ ...params, link: link ?? buildLinks(event) }),
  async send({ creator, run, attempt }, { instruction, link = [] }) {
    try {
      return toResult(await askForRun(creator, { ...run, instruction, links: link }, attempt));
    } catch (thrown) {
      const error = toDomainError(thrown);
      if (error.status === 500) throw thrown;
      const { reason } = error.extra;
      const code = typeof reason === 'string' ? reason : error.code.toLowerCase();
      throw new ActionRefused({ code, message: error.message }, error.status > 500);
    }
  },
};
