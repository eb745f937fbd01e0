import { z } from 'zod';
import type { PlanRecord } from '../../../agent/plans/decisions/schema.js';
import type { PlanAction } from '../../../agent/plans/schema.js';
import { withVisibleNames } from '../../../core/validation/invisible.js';

/** Indexes of the ticked changes: one box is a string, several are a list, and a box of alike changes holds several. */
export const TickedIndexes = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => (Array.isArray(given) ? given : [given]).flatMap((text) => text.split(',')).map(Number))
  .pipe(z.array(z.int().min(0).max(49)));

/** A field of a change, in words. */
interface FieldLine {
  name: string;
  /** Null for a creation, or if it had no value. */
  before: string | null;
  /** Null for a deletion, or if it gets no value. */
  after: string | null;
}

/** One change of a plan, as a card shows it. */
export interface PlanLine {
  index: number;
  verb: string;
  title: string;
  /** Page of the target; null for what does not exist yet, and for relations. */
  href: string | null;
  risk: PlanAction['risk'];
  fields: FieldLine[];
  /** It removes its target: the fields show what goes. */
  isDeletion: boolean;
  isStale: boolean;
  isReversible: boolean;
  result: 'applied' | 'skipped' | null;
}

const VERBS: Record<PlanAction['tool'], string> = {
  'task.create': 'Create task',
  'task.update': 'Change task',
  'task.set_status': 'Change status',
  'task.assign': 'Assign',
  'task.comment': 'Comment on',
  'task.delete': 'Delete task',
  'project.update': 'Change project',
  'relation.create': 'Relate',
  'relation.delete': 'Remove relation of',
  'note.create': 'Write note',
  'task.restore': 'Restore task',
  'comment.delete': 'Delete comment on',
  'note.delete': 'Delete note',
};

const RISK_ORDER = { high: 0, medium: 1, low: 2 } as const;

function textOf(value: unknown, names: Readonly<Record<string, string>>): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (Array.isArray(value)) return value.map((each) => textOf(each, names) ?? '').join(', ') || null;
  if (typeof value === 'object') return JSON.stringify(value);
  const text = String(value as string | number | boolean);
  return withVisibleNames(names[text] ?? text);
}

const LABELS: Readonly<Record<string, string>> = {
  project_id: 'project',
  parent_task_id: 'parent',
  source_id: 'item',
  target_id: 'related item',
  relation_type: 'relation',
  assigned_to: 'assigned to',
};
/** Fields that hold the id of an item. */
const IDS = ['project_id', 'parent_task_id', 'source_id', 'target_id'];

/** Returns the ids of items that the fields of a plan name. */
export const itemIdsOf = (plan: Pick<PlanRecord, 'actions'>): string[] =>
  plan.actions.flatMap(({ before, after }) =>
    IDS.flatMap((field) => [before?.[field], after?.[field]].filter((id) => typeof id === 'string')),
  );

/** Long texts stand in the parameters only. */
const LONG = ['content', 'description'];

function fieldsOf({ before, after, params }: PlanAction, names: Readonly<Record<string, string>>): FieldLine[] {
  const long = Object.fromEntries(LONG.flatMap((field) => (field in params ? [[field, params[field]]] : [])));
  const to: Record<string, unknown> = { ...long, ...after };
  const keys = [...new Set([...Object.keys(before ?? {}), ...Object.keys(to)])];
  return keys
    .map((key) => ({
      name: LABELS[key] ?? key.replaceAll('_', ' '),
      before: textOf(before?.[key], names),
      after: after === null && !(key in long) ? null : textOf(to[key], names),
    }))
    .filter(({ name, before: from, after: into }) =>
      // The heading names the target; only a new title is a change.
      name === 'title' ? from !== null && into !== null : name !== 'team id' && (from !== null || into !== null),
    );
}

/** Title of the target as it is now: of an action that renames it, the old one. */
const headingOf = ({ title, before, after }: PlanAction): string =>
  withVisibleNames(typeof before?.['title'] === 'string' && after?.['title'] !== undefined ? before['title'] : title);

const isDeletion = ({ tool }: PlanAction): boolean => tool.endsWith('.delete');

/** What a deletion takes away, and what goes with it. */
const removedFields = (action: PlanAction, names: Readonly<Record<string, string>>): FieldLine[] =>
  fieldsOf(action, names).map(({ name, before, after }) => ({ name, before: before ?? after, after: null }));

/** Returns the changes of a plan, the riskiest first. `names`: words for ids of users, projects and items. */
export function linesOf(
  plan: Pick<PlanRecord, 'actions' | 'stale' | 'results'>,
  names: Readonly<Record<string, string>>,
): PlanLine[] {
  const stale = new Set(plan.stale.map(({ index }) => index));
  const results = new Map(plan.results?.map(({ index, status }) => [index, status]));
  return plan.actions
    .map((action) => ({
      index: action.index,
      verb: VERBS[action.tool],
      title: headingOf(action),
      href:
        action.entity_id && !action.entity_id.startsWith('$') && ['task', 'project', 'note'].includes(action.entity_type)
          ? `/app/items/${encodeURIComponent(action.entity_id)}`
          : null,
      risk: action.risk,
      fields: isDeletion(action) ? removedFields(action, names) : fieldsOf(action, names),
      isDeletion: isDeletion(action),
      isStale: stale.has(action.index),
      isReversible: action.reversible,
      result: results.get(action.index) ?? null,
    }))
    .sort((a, b) => RISK_ORDER[a.risk] - RISK_ORDER[b.risk] || a.index - b.index);
}
