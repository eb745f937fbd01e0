import { z } from 'zod';
import { checkCondition, evaluateCondition, parseCondition } from '../../../automation/language/condition.js';
import { CUSTOM_FIELDS } from '../../../automation/language/condition-fields.js';
import { listPaths as listRead } from '../../../automation/language/explain-condition.js';
import { listAnswerReads } from '../../../automation/language/answer-paths.js';
import { checkOnlyIf } from '../../../automation/language/only-if.js';
import { conditionScope } from '../../../automation/language/condition-scope.js';
import { page, type Page, requireUser } from '../../page.js';
import { readOwnWords, type TeamWords } from './own-words.js';
import { sampleFor } from './severe-field.js';

/** What a condition comes to on the sample of a trigger. `marked`: the source before, at and after the position of a fault. */
interface ConditionCheck {
  /** `later`: it reads an answer, which only a run has. */
  state: 'none' | 'wrong' | 'true' | 'false' | 'fails' | 'later';
  message: string | null;
  position: number | null;
  marked: { before: string; at: string; after: string } | null;
  sample: string;
  /** Paths for conditions and templates, with their values in the sample. */
  paths: { path: string; value: string }[];
}

/** Made-up records for the variables that are not part of the event. */
const PROJECT = { name: 'Apollo', status: 'active' };
const ACTOR = { name: 'Ada Marsh', email: 'ada@example.com' };

const MAX_PATHS = 40;
const MAX_PATH_STEPS = 3;
const MAX_VALUE_LENGTH = 40;

/** Lists the single values of an event by their paths. */
function* listPaths(value: unknown, path: string, left: number): Generator<{ path: string; value: string }> {
  if (typeof value !== 'object' || value === null || left === 0) {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    yield { path, value: text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text };
    return;
  }
  for (const [key, each] of Object.entries(value)) yield* listPaths(each, `${path}.${key}`, left - 1);
}

/** Positions count code points. */
function mark(source: string, position: number): NonNullable<ConditionCheck['marked']> {
  const points = Array.from(source);
  const join = (from: number, to?: number): string => points.slice(from, to).join('');
  return { before: join(0, position), at: join(position, position + 1), after: join(position + 1) };
}

/** Returns the sample with the custom fields that a condition reads; those that it does not have are without values. */
function withFields(sample: Record<string, unknown>, condition: string): Record<string, unknown> {
  const task = sample['task'] as { custom_fields?: object } | null | undefined;
  const ast = task ? parseCondition(condition) : undefined;
  const keys = (ast ? listRead(ast) : []).flatMap((path) =>
    path.startsWith(`${CUSTOM_FIELDS}.`) ? [[path.slice(CUSTOM_FIELDS.length + 1), null]] : [],
  );
  return keys.length === 0
    ? sample
    : { ...sample, task: { ...task, custom_fields: { ...Object.fromEntries(keys), ...task?.custom_fields } } };
}

/** Checks a condition, and evaluates it on the sample of a trigger; an unknown trigger has an empty one. */
export function checkOnSample(
  triggerType: string,
  condition: string,
  own: TeamWords | undefined,
  check = checkCondition,
): ConditionCheck {
  const event = sampleFor(triggerType, condition, own);
  const about = {
    sample: JSON.stringify(event, null, 2),
    paths: [...listPaths(event, 'event', MAX_PATH_STEPS)].slice(0, MAX_PATHS),
    message: null,
    position: null,
    marked: null,
  };
  if (condition.trim() === '') return { ...about, state: 'none' };
  const verdict = check(condition);
  if (!verdict.ok) {
    const { message, position } = verdict;
    return { ...about, state: 'wrong', message, position, marked: position === null ? null : mark(condition, position) };
  }
  const project = { project_id: event['project_id'] ?? null, ...PROJECT };
  const actor = { user_id: event['actor_id'] ?? null, ...ACTOR };
  const { matched, error } = evaluateCondition(
    condition,
    conditionScope(withFields(event, condition), { project, actor, now: new Date() }),
  );
  if (error !== null) return { ...about, state: 'fails', message: error };
  return { ...about, state: matched ? 'true' : 'false' };
}

/** The same for the condition of one step. */
export function checkStepOnSample(triggerType: string, condition: string, own: TeamWords | undefined): ConditionCheck {
  const checked = checkOnSample(triggerType, condition, own, checkOnlyIf);
  const isLater = checked.state !== 'wrong' && listAnswerReads({ if: condition }).length > 0;
  return isLater ? { ...checked, state: 'later', message: null } : checked;
}

/** Characters of a condition in an address; the check refuses longer ones anyway. */
const MAX_CONDITION = 4_000;
/** The team of the automation, whose fields the sample is about. */
const TeamQuery = z.uuid().nullable().catch(null);

export const conditionPages: Page[] = [
  page({
    method: 'get',
    path: '/app/automations/condition',
    access: 'automation.catalogue',
    query: z.object({
      team: TeamQuery,
      trigger_type: z.string().max(100).catch(''),
      condition: z.string().max(MAX_CONDITION).catch(''),
    }),
    async handle({ ctx, me, query: { team, trigger_type, condition } }) {
      const own = await readOwnWords(ctx, requireUser({ me }), team);
      const data = { check: checkOnSample(trigger_type, condition, own) };
      return { view: 'automations/condition-page', title: 'Condition', data };
    },
  }),
  page({
    method: 'get',
    path: '/app/automations/condition/:step',
    access: 'automation.catalogue',
    params: z.object({ step: z.coerce.number().int().min(0).max(99).catch(0) }),
    query: z.looseObject({ team: TeamQuery, trigger_type: z.string().max(100).catch('') }),
    async handle({ ctx, me, params: { step }, query: { team, trigger_type, ...typed } }) {
      const source = typed[`s${step}.if`];
      const condition = typeof source === 'string' ? source.slice(0, MAX_CONDITION) : '';
      const own = await readOwnWords(ctx, requireUser({ me }), team);
      const data = { index: step, check: checkStepOnSample(trigger_type, condition, own) };
      return { view: 'automations/only-if-page', title: 'Condition of a step', data };
    },
  }),
];
