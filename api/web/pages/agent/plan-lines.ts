import { z } from 'zod';
import { getAction } from '../../../actions/work/catalogue.js';
import type { ChangedSince, LastChange } from '../../../activity/last-changes.js';
import type { PlanRecord } from '../../../agent/plans/decisions/schema.js';
import type { PlanAction } from '../../../agent/plans/schema.js';
import { withVisibleNames } from '../../../core/validation/invisible.js';
import { type TextPart, type WordDiff, wordDiff } from '../../wording/word-diff.js';

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
  /** It would fill more than a few lines, so that it shows on demand. */
  isLong: boolean;
  /** What differs between two long texts; null if they are short, or are shown one after the other. */
  parts: TextPart[] | null;
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
  /** Of a stale one, who changed the target and when, as far as the reader may know. */
  changed: { by: string | null; at: string } | null;
  isReversible: boolean;
  result: 'applied' | 'skipped' | null;
}

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

/** Length above which a text is long; so is one of more than three lines. */
const LONG_TEXT = 240;

const isLongText = (text: string | null): boolean => text !== null && (text.length > LONG_TEXT || text.split('\n', 4).length > 3);

/** What the lines of a page share. */
export interface LineContext {
  /** Words for ids of users, projects and items. */
  names: Readonly<Record<string, string>>;
  /** Newest changes of stale targets, by id. */
  changes?: ReadonlyMap<string, LastChange>;
  /** Id of the reader. */
  userId: string;
  compare: WordDiff;
}

/** Returns what the lines of a page share, with a comparison of its own. */
export const lineContext = (
  names: LineContext['names'],
  userId: string,
  changes: ReadonlyMap<string, LastChange>,
): LineContext => ({ names, userId, changes, compare: wordDiff() });

function fieldLine(name: string, before: string | null, after: string | null, compare: WordDiff): FieldLine {
  const isLong = isLongText(before) || isLongText(after);
  return { name, before, after, isLong, parts: isLong && before !== null && after !== null ? compare(before, after) : null };
}

function fieldsOf({ before, after, params }: PlanAction, { names, compare }: LineContext): FieldLine[] {
  const long = Object.fromEntries(LONG.flatMap((field) => (field in params ? [[field, params[field]]] : [])));
  const to: Record<string, unknown> = { ...long, ...after };
  const keys = [...new Set([...Object.keys(before ?? {}), ...Object.keys(to)])];
  return keys
    .map((key) =>
      fieldLine(
        LABELS[key] ?? key.replaceAll('_', ' '),
        textOf(before?.[key], names),
        after === null && !(key in long) ? null : textOf(to[key], names),
        compare,
      ),
    )
    .filter(({ name, before: from, after: into }) =>
      // The heading names the target; only a new title is a change.
      name === 'title' ? from !== null && into !== null : name !== 'team id' && (from !== null || into !== null),
    );
}

/** Title of the target as it is now: of an action that renames it, the old one. */
const headingOf = ({ title, before, after }: PlanAction): string =>
  withVisibleNames(typeof before?.['title'] === 'string' && after?.['title'] !== undefined ? before['title'] : title);

const isDeletion = ({ tool }: PlanAction): boolean => getAction(tool).kind === 'remove';

/** What a deletion takes away, and what goes with it. */
const removedFields = (action: PlanAction, context: LineContext): FieldLine[] =>
  fieldsOf(action, context).map((field) => ({ ...field, before: field.before ?? field.after, after: null, parts: null }));

/** Returns the targets of a plan that have changed since it was staged. */
export function staleTargetsOf({ actions, stale, created_at: since }: Pick<PlanRecord, 'actions' | 'stale' | 'created_at'>) {
  const indexes = new Set(stale.map(({ index }) => index));
  return actions.flatMap(({ index, entity_type, entity_id }): ChangedSince[] =>
    indexes.has(index) && entity_id !== null && (entity_type === 'task' || entity_type === 'project')
      ? [{ entity_type, entity_id, since }]
      : [],
  );
}

function changeOf({ entity_id }: PlanAction, { changes, userId }: LineContext): PlanLine['changed'] {
  const change = changes?.get(entity_id ?? '');
  if (!change) return null;
  const { user_id, user_name, timestamp: at } = change;
  return { by: user_id === userId ? 'you' : user_name && withVisibleNames(user_name), at };
}

const hasPage = ({ entity_type, entity_id }: PlanAction): boolean =>
  entity_id !== null && !entity_id.startsWith('$') && ['task', 'project', 'note'].includes(entity_type);

/** Returns the changes of a plan, the riskiest first. */
export function linesOf(plan: Pick<PlanRecord, 'actions' | 'stale' | 'results'>, context: LineContext): PlanLine[] {
  const stale = new Set(plan.stale.map(({ index }) => index));
  const results = new Map(plan.results?.map(({ index, status }) => [index, status]));
  return plan.actions
    .map((action) => ({
      index: action.index,
      verb: getAction(action.tool).words.verb,
      title: headingOf(action),
      href: hasPage(action) ? `/app/items/${encodeURIComponent(action.entity_id ?? '')}` : null,
      risk: action.risk,
      fields: isDeletion(action) ? removedFields(action, context) : fieldsOf(action, context),
      isDeletion: isDeletion(action),
      isStale: stale.has(action.index),
      changed: stale.has(action.index) ? changeOf(action, context) : null,
      isReversible: action.reversible,
      result: results.get(action.index) ?? null,
    }))
    .sort((a, b) => RISK_ORDER[a.risk] - RISK_ORDER[b.risk] || a.index - b.index);
}
