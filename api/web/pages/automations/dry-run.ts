import { z } from 'zod';
import { findRights } from '../../../automation/definitions/find-rights.js';
import { getAutomation } from '../../../automation/definitions/get-automation.js';
import { AutomationParams, type AutomationRecord } from '../../../automation/definitions/schema.js';
import { GATE } from '../../../automation/actions/rules.js';
import { describeRuns } from '../../../automation/runs/describe-runs.js';
import { executeAutomation, findMatching } from '../../../automation/runs/dispatch/execute-automation.js';
import { listRecordedEvents } from '../../../automation/runs/dispatch/list-recorded-events.js';
import {
  buildTaskEvent,
  findTaskEvents,
  isInActivity,
  listTaskEvents,
  readTaskFor,
  startsByTask,
  type TaskEvent,
} from '../../../automation/runs/dispatch/task-events.js';
import { explainSkipped } from '../../../automation/runs/explain-skipped.js';
import { getRun } from '../../../automation/runs/get-run.js';
import { describeDryRun } from '../../../automation/runs/staging/describe-dry-run.js';
import type { Context } from '../../../platform/context.js';
import { DomainError, invalidFields } from '../../../platform/errors.js';
import { Id } from '../../../platform/fields.js';
import { readGate } from '../../wording/automation-text.js';
import { wordDiff } from '../../wording/word-diff.js';
import { type FormError, page, type Page, type PageRequest, type View, type Redirect, requireUser } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { showLines } from '../agent/plan-lines.js';
import { findAsIf, readAsIf } from './as-if.js';
import { readOwnWords, type TeamWords } from './own-words.js';
import { sampleFor } from './severe-field.js';
import { automationPath, VersionField } from './switches.js';

/** Recorded events to choose from. */
const MAX_EVENTS = 8;
/** Tasks to choose from. */
const MAX_TASKS = 6;
/** A task that stands for an event: the newest change of it that starts the automation. */
const TASK_EVENT = /^task:([\w.:@-]{1,128})$/;
/** Bytes of a form: an event as it is stored, as forms encode it. */
const FORM_BYTES = 256 * 1024;

/** The value that the custom field of the condition gets of a task; empty: what the task has. */
const Becomes = z.string().max(80);

/** Where the event comes from: the trigger's sample, a recorded run, a task, or the text field. `version`: the one that the page showed. */
const EventForm = z.object({
  event: z.union([z.enum(['sample', 'own']), z.string().regex(TASK_EVENT), Id]).default('sample'),
  event_json: z.string().max(FORM_BYTES).default(''),
  becomes: Becomes.optional(),
  version: VersionField,
});
type EventForm = z.output<typeof EventForm>;

type Visitor = Pick<PageRequest, 'ctx' | 'me'>;

const readWords = ({ ctx, me }: Visitor, { team_id }: AutomationRecord): Promise<TeamWords | undefined> =>
  readOwnWords(ctx, requireUser({ me }), team_id);

/** Returns the sample of the trigger; that of a custom field is about one of the team. */
const sampleOf = ({ trigger_type, condition }: AutomationRecord, own: TeamWords | undefined): Record<string, unknown> =>
  sampleFor(trigger_type, condition, own);

/** @throws VALIDATION_ERROR no JSON object */
function parseEvent(text: string): Record<string, unknown> {
  const refuse = (message: string) => invalidFields([{ field: 'event_json', message, type: 'custom' }]);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuse(`Not valid JSON: ${(error as Error).message.slice(0, 200)}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw refuse('Must be a JSON object');
}

/** Returns the event that a form names. @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a run that the caller may not read */
async function readEvent(
  visitor: Visitor,
  automationId: string,
  { event, event_json, becomes }: EventForm,
): Promise<Record<string, unknown>> {
  if (event === 'own') return parseEvent(event_json);
  const { ctx } = visitor;
  const automation = await getAutomation(ctx, automationId);
  const [, taskId] = TASK_EVENT.exec(event) ?? [];
  if (event !== 'sample' && taskId === undefined) return (await getRun(ctx, event)).event;
  const own = await readWords(visitor, automation);
  if (taskId === undefined) return sampleOf(automation, own);
  return buildTaskEvent(ctx, automation, taskId, readAsIf(findAsIf(automation, own), becomes));
}

/** Returns what the actions would do, a gate by what it requires. */
async function readResult(ctx: Context, automation: AutomationRecord, runId: string) {
  const run = await getRun(ctx, runId);
  const { lines, actor, tried } = await describeDryRun(ctx, automation.automation_id, runId);
  // A run keeps the version that it began with; one that was edited meanwhile shows the gate's parameters as lines.
  const isCurrent = run.automation_version === automation.version;
  const steps = showLines(lines, wordDiff()).map((line, index) => {
    const action = automation.actions[index];
    return { line, gate: isCurrent && action?.type === GATE ? readGate(action.params) : null, isGate: line.type === GATE };
  });
  const { condition } =
    run.skip_reason === 'condition_false' && isCurrent
      ? await explainSkipped(ctx, run, automation.condition)
      : { condition: null };
  return { run, steps, actor, tried, isCurrent, condition };
}

/** Undefined for a task that is gone, of another team, or one that the user may not read. */
async function findTitle(ctx: Context, automation: AutomationRecord, taskId: string): Promise<string | undefined> {
  try {
    return (await readTaskFor(ctx, automation, taskId)).title;
  } catch (error) {
    if (error instanceof DomainError && error.status < 500) return undefined;
    throw error;
  }
}

/** Returns the tasks that stand for events: those that a search found, else those that changed last, with the one that is chosen. */
async function listTasks(ctx: Context, automation: AutomationRecord, query: string, chosen: string): Promise<TaskEvent[]> {
  const found = await (query === ''
    ? listTaskEvents(ctx, automation, MAX_TASKS)
    : findTaskEvents(ctx, automation, query, MAX_TASKS));
  const [, taskId] = TASK_EVENT.exec(chosen) ?? [];
  if (taskId === undefined || found.some(({ task_id }) => task_id === taskId)) return found;
  const title = await findTitle(ctx, automation, taskId);
  return title === undefined ? found : [{ task_id: taskId, title, change: null }, ...found];
}

/** What the page shows again, and whom it looks for. */
interface Shown {
  runId?: string;
  chosen?: string;
  becomes?: string;
  problem?: FormError;
  given?: Fields;
  /** Words of the title of a task. */
  find?: string;
}

async function showDryRun(
  visitor: Visitor,
  automationId: string,
  { runId, chosen, becomes, problem, given = {}, find = '' }: Shown = {},
): Promise<View> {
  const { ctx } = visitor;
  const automation = await getAutomation(ctx, automationId);
  const [own, rights, events, tasks] = await Promise.all([
    readWords(visitor, automation),
    findRights(ctx, automation),
    listRecordedEvents(ctx, automation, MAX_EVENTS),
    startsByTask(automation.trigger_type) ? listTasks(ctx, automation, find.trim(), chosen ?? '') : null,
  ]);
  const isOpen = chosen === undefined && find === '';
  const [matching, about, result] = await Promise.all([
    isOpen ? findMatching(ctx, automation, events) : undefined,
    describeRuns(ctx, events),
    runId === undefined ? null : readResult(ctx, automation, runId),
  ]);
  const first = isOpen ? (matching ?? events[0])?.run_id : undefined;
  const asIf = findAsIf(automation, own);
  const sent = VersionField.safeParse(given['version']).data;
  const data = {
    automation,
    outdated: sent !== automation.version && problem ? sent : undefined,
    events: events.map(({ event: _event, ...each }) => ({ ...each, queued_at: each.queued_at.toISOString() })),
    noneHolds: isOpen && events.length > 0 && !matching,
    about,
    tasks,
    isInActivity: isInActivity(automation.trigger_type),
    isMade: TASK_EVENT.test(chosen ?? ''),
    find,
    // What one changes begins as the event that was tried, or is chosen.
    text: JSON.stringify(
      result?.run.event ?? events.find(({ run_id }) => run_id === first)?.event ?? sampleOf(automation, own),
      null,
      2,
    ),
    asIf,
    becomes: becomes ?? asIf?.compared,
    chosen: chosen ?? first ?? (tasks?.[0] ? `task:${tasks[0].task_id}` : 'sample'),
    result,
    problem,
    given,
    ...rights,
  };
  return { view: 'automations/dry-run', title: `Dry run of ${automation.name}`, data };
}

const Chosen = z.object({
  event: z
    .union([z.enum(['sample', 'own']), z.string().regex(TASK_EVENT), z.uuid()])
    .optional()
    .catch(undefined),
  becomes: Becomes.optional().catch(undefined),
});
/** What a form or an address chose, to be shown again. */
const shownAgain = ({ event: chosen, becomes }: z.output<typeof Chosen>): Pick<Shown, 'chosen' | 'becomes'> => ({
  ...(chosen !== undefined && { chosen }),
  ...(becomes !== undefined && { becomes }),
});

const onError: NonNullable<Page['onError']> = ({ ctx, me, params, form }, problem) =>
  showDryRun({ ctx, me }, (params as { automation_id: string }).automation_id, {
    chosen: 'sample',
    ...shownAgain(Chosen.parse(form)),
    problem,
    given: form,
  });

/** A form that executes an automation for the event that was chosen. `next`: where it leads, by ids of automation and run and by what was chosen. */
const runPage = (
  path: Page['path'],
  isTest: boolean,
  next: (automationId: string, runId: string, form: EventForm) => Redirect,
): Page =>
  page({
    method: 'post',
    path,
    access: 'automation.dispatch',
    limit: 'automation_dispatch',
    params: AutomationParams,
    form: EventForm,
    formBytes: FORM_BYTES,
    async handle({ ctx, me, params: { automation_id }, form }) {
      const event = await readEvent({ ctx, me }, automation_id, form);
      const { run_id } = await executeAutomation(ctx, automation_id, { event, version: form.version }, isTest);
      return next(automation_id, run_id, form);
    },
    onError,
  });

export const dryRunPages: Page[] = [
  page({
    method: 'get',
    path: '/app/automations/:automation_id/dry-run',
    access: 'automation.read',
    params: AutomationParams,
    query: z.object({ find: z.string().max(200).catch('') }),
    handle: ({ ctx, me, params, query }) => showDryRun({ ctx, me }, params.automation_id, query),
  }),
  runPage('/app/automations/:automation_id/dry-run', true, (automationId, runId, { event, becomes }) => ({
    to: `${automationPath(automationId)}/dry-run/${runId}?${new URLSearchParams({ event, ...(becomes !== undefined && { becomes }) }).toString()}`,
  })),
  page({
    method: 'get',
    path: '/app/automations/:automation_id/dry-run/:dry_run_id',
    access: 'automation.dispatch',
    // A trial locks what it would change.
    limit: 'automation_dispatch',
    params: AutomationParams.extend({ dry_run_id: Id }),
    query: Chosen,
    handle: ({ ctx, me, params, query }) =>
      showDryRun({ ctx, me }, params.automation_id, { runId: params.dry_run_id, ...shownAgain(query) }),
  }),
  runPage('/app/automations/:automation_id/run', false, (_automationId, runId) => ({
    to: `/app/runs/${runId}`,
    notice: { kind: 'good', text: 'Run started.' },
  })),
];
