import { z } from 'zod';
import { GATE } from '../../../automation/actions/rules.js';
import { CreateAutomation, type AutomationRecord } from '../../../automation/definitions/schema.js';
import type { VersionRecord } from '../../../automation/definitions/versions/schema.js';
import { invalidFields } from '../../../platform/errors.js';
import { ZOD_MESSAGES } from '../../../platform/validation/messages.js';

/** What the builder edits of an automation. Absent fields have their defaults. */
export interface Draft {
  name: string;
  description: string | null;
  trigger_type: string;
  condition: string | null;
  schedule_cron: string | null;
  schedule_timezone: string | null;
  project_id: string | null;
  actions: DraftAction[];
}

/** A type, not an interface: the schema of the API takes further keys. */
export type DraftAction = {
  type: string;
  name?: string;
  if?: string;
  params: Record<string, unknown>;
  on_failure?: 'continue' | 'stop';
  retry?: { max_attempts: number };
};

/** What one text holds each: all but the steps. */
export const TEXT_FIELDS = [
  'name',
  'description',
  'trigger_type',
  'condition',
  'schedule_cron',
  'schedule_timezone',
  'project_id',
] as const satisfies (keyof Draft)[];
export const DRAFT_FIELDS = [...TEXT_FIELDS, 'actions'] as const satisfies (keyof Draft)[];

/** A gate to begin with. */
export const SUGGESTED_GATE: DraftAction = {
  type: GATE,
  params: { role: 'manager', if_unchanged: 'skip', if_changed: 'ask_again' },
};

/** A new automation: a gate comes first. */
export const blankDraft = (): Draft => ({
  name: '',
  description: null,
  trigger_type: 'task.completed',
  condition: null,
  schedule_cron: null,
  schedule_timezone: null,
  project_id: null,
  actions: [SUGGESTED_GATE],
});

type GivenAction = NonNullable<z.output<typeof CreateAutomation>['actions']>[number];

const OWN_KEYS = ['type', 'name', 'if', 'params', 'on_failure', 'retry'];

/** Returns an action with its parameters under `params` and without what is the default. */
function toDraftAction(action: GivenAction | AutomationRecord['actions'][number]): DraftAction {
  const { type, name, params, on_failure, retry } = action;
  const beside = Object.fromEntries(Object.entries(action).filter(([key]) => !OWN_KEYS.includes(key)));
  return {
    type,
    ...(name && { name }),
    ...(action.if && { if: action.if }),
    params: params ?? beside,
    ...(on_failure === 'stop' && { on_failure }),
    ...(retry && { retry }),
  };
}

/** Returns what a version keeps of a definition, as the builder edits it. */
export const versionDraft = (version: VersionRecord): Partial<Draft> => ({
  name: version.name,
  trigger_type: version.trigger_type as Draft['trigger_type'],
  condition: version.condition,
  schedule_cron: version.schedule_cron,
  schedule_timezone: version.schedule_timezone,
  actions: version.actions.map(toDraftAction),
});

/** Returns an automation as the builder edits it. */
export const draftOf = (automation: AutomationRecord): Draft => ({
  name: automation.name,
  description: automation.description,
  trigger_type: automation.trigger_type,
  condition: automation.condition,
  schedule_cron: automation.schedule_cron,
  schedule_timezone: automation.schedule_timezone,
  project_id: automation.project_id,
  actions: automation.actions.map(toDraftAction),
});

const shape = CreateAutomation.pick({
  name: true,
  description: true,
  trigger_type: true,
  condition: true,
  schedule_cron: true,
  schedule_timezone: true,
  project_id: true,
  actions: true,
}).strict();

/** A definition that is not to be saved yet may lack its name. */
const unnamed = shape.extend({ name: z.string().default('') });

/**
 * Checks the form of a definition; the operation checks the rest.
 * @throws VALIDATION_ERROR naming the fields
 */
export function parseDraft(given: unknown, accepted: typeof shape | typeof unnamed = shape): Draft {
  const result = accepted.safeParse(given, ZOD_MESSAGES);
  if (!result.success) {
    throw invalidFields(
      result.error.issues.map((issue) => ({ field: issue.path.join('.'), message: issue.message, type: issue.code })),
    );
  }
  const { data } = result;
  return {
    name: data.name,
    description: data.description ?? null,
    trigger_type: data.trigger_type,
    condition: data.condition ?? null,
    schedule_cron: data.schedule_cron ?? null,
    schedule_timezone: data.schedule_timezone ?? null,
    project_id: data.project_id ?? null,
    actions: (data.actions ?? []).map(toDraftAction),
  };
}

/** Returns a draft as JSON, without what is empty. */
export const writeDraft = (draft: Draft): string =>
  JSON.stringify(
    Object.fromEntries(DRAFT_FIELDS.map((field) => [field, draft[field]]).filter(([, value]) => value !== null)),
    null,
    2,
  );

/** Reads a definition written as JSON; it may lack its name. @throws VALIDATION_ERROR no JSON, or no definition */
export function readDraft(text: string): Draft {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const message = `Not valid JSON: ${(error as Error).message.slice(0, 200)}`;
    throw invalidFields([{ field: 'json', message, type: 'custom' }]);
  }
  return parseDraft(value, unnamed);
}
