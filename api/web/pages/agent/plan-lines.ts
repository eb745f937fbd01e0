import { z } from 'zod';
import type { ChangedSince, LastChange } from '../../../work/activity-feed/last-changes.js';
import type { PlanRecord } from '../../../agent/plans/decisions/schema.js';
import { type DescribedGate, presentChange } from '../../../automation/runs/staging/describe-gates.js';
import { idsIn, isLongText, presentActions } from '../../../gate/staging/present.js';
import { itemIn } from '../../wording/question.js';
import type { Context } from '../../../platform/context.js';
import { findTaskNumbers } from '../../../work/tasks/read/find-task-numbers.js';
import type { ActionLine, FieldLine } from '../../../gate/staging/schema.js';
import { type TextPart, type WordDiff, wordDiff } from '../../wording/word-diff.js';

/** Indexes of the ticked changes: one box is a string, several are a list. */
export const TickedIndexes = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => (Array.isArray(given) ? given : [given]).map(Number))
  .pipe(z.array(z.int().min(0).max(49)));

/** A hash that a form sends back. */
export const Hash = z.string().max(100);

/** A field as a card shows it. */
interface ShownField extends FieldLine {
  /** It would fill more than a few lines, so that it shows on demand. */
  isLong: boolean;
  /** What differs between two long texts; null if they are short, or are shown one after the other. */
  parts: TextPart[] | null;
}

/** One action of a plan or a gate, as a card shows it. */
export interface ShownLine extends Omit<ActionLine, 'fields'> {
  fields: ShownField[];
  /** A change of the target closes a plan: the line cannot be confirmed. */
  isStale: boolean;
  result: 'applied' | 'skipped' | null;
}

/** Returns the numbers of the tasks that decisions are about, by id, as far as the reader may know them. */
export const numbersIn = (ctx: Context, lines: readonly Pick<ActionLine, 'href'>[]): ReturnType<typeof findTaskNumbers> =>
  findTaskNumbers(ctx, [...new Set(lines.flatMap(({ href }) => itemIn(href) ?? []))]);

const RISK_ORDER = { high: 0, medium: 1, low: 2 } as const;

/** Returns the ids of items that the changes of a plan name. */
export const listItemIds = (plan: Pick<PlanRecord, 'actions'>): string[] => idsIn(plan.actions).item;

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

function showField(field: FieldLine, compare: WordDiff): ShownField {
  const { before, after } = field;
  const isLong = isLongText(before) || isLongText(after);
  const isChange = before !== null && after !== null && before !== after;
  return { ...field, isLong, parts: isLong && isChange ? compare(before, after) : null };
}

/** Returns lines of a plan or a gate as a card shows them, in their order. */
export const showLines = (lines: readonly ActionLine[], compare: WordDiff): ShownLine[] =>
  lines.map((line) => ({
    ...line,
    fields: line.fields.map((field) => showField(field, compare)),
    isStale: false,
    result: null,
  }));

/** Returns what gates release, by run id, as their cards show it. */
export function showGates(gates: Readonly<Record<string, DescribedGate>>) {
  const compare = wordDiff();
  return Object.fromEntries(Object.entries(gates).map(([id, gate]) => [id, { ...gate, lines: showLines(gate.lines, compare) }]));
}

/** Returns the targets of a plan that have changed since it was staged. */
export function findStaleTargets({ actions, stale, created_at: since }: Pick<PlanRecord, 'actions' | 'stale' | 'created_at'>) {
  const indexes = new Set(stale.map(({ index }) => index));
  return actions.flatMap(({ index, entity_type, entity_id }): ChangedSince[] =>
    indexes.has(index) && entity_id !== null && (entity_type === 'task' || entity_type === 'project')
      ? [{ entity_type, entity_id, since }]
      : [],
  );
}

/** Returns the changes of a plan, the riskiest first. */
export function splitLines(plan: Pick<PlanRecord, 'actions' | 'stale' | 'results'>, context: LineContext): ShownLine[] {
  const stale = new Set(plan.stale.map(({ index }) => index));
  const results = new Map(plan.results?.map(({ index, status }) => [index, status]));
  const actions = plan.actions.map((action) => ({
    ...action,
    changed: stale.has(action.index) ? presentChange(context.changes?.get(action.entity_id ?? ''), context.userId) : null,
  }));
  return showLines(presentActions(actions, context.names), context.compare)
    .map((line) => ({ ...line, isStale: stale.has(line.index), result: results.get(line.index) ?? null }))
    .sort((a, b) => RISK_ORDER[a.risk] - RISK_ORDER[b.risk] || a.index - b.index);
}
