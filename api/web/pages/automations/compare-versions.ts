import { diffArrays } from 'diff';
import type { VersionRecord } from '../../../automation/definitions/versions/schema.js';
import { describeTrigger } from '../../wording/automation-text.js';
import type { TextPart, WordDiff } from '../../wording/word-diff.js';

/** One field of two versions; `parts` marks what differs, null if both texts are to be shown one after the other. */
interface FieldChange {
  name: string;
  before: string | null;
  after: string | null;
  parts: TextPart[] | null;
}

/** One action of two versions. Numbers count from 1; null where the version lacks it. */
interface ActionChange {
  kind: 'same' | 'added' | 'removed' | 'changed';
  type: string;
  name: string | null;
  from: number | null;
  to: number | null;
  fields: FieldChange[];
}

export interface VersionDiff {
  fields: FieldChange[];
  actions: ActionChange[];
}

type Action = VersionRecord['actions'][number];

const toText = (value: unknown): string | null =>
  value === undefined || value === null ? null : typeof value === 'string' ? value : JSON.stringify(value, null, 2);

/** Returns the fields of which two records differ. */
function changedFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  compare: WordDiff,
): FieldChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
    const [from, to] = [toText(before[name]), toText(after[name])];
    if (from === to) return [];
    return [{ name, before: from, after: to, parts: from !== null && to !== null ? compare(from, to) : null }];
  });
}

const toFields = ({ name, params, on_failure, retry }: Action): Record<string, unknown> => ({
  ...params,
  ...(name !== undefined && { 'name of the step': name }),
  ...(on_failure === 'stop' && { 'on failure': 'stop' }),
  ...(retry && { attempts: retry.max_attempts }),
});

/** Keys in one order: two actions are the same whatever order their parameters were written in. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

interface Numbered {
  action: Action;
  at: number;
}
const plain = ({ action: { type, name } }: Numbered) => ({ type, name: name ?? null, fields: [] });

/** Pairs removed actions with added ones of the same type, in their order: those were changed. */
function pairUp(removed: readonly Numbered[], added: readonly Numbered[], compare: WordDiff): ActionChange[] {
  const left = [...added];
  const gone = removed.map((one): ActionChange => {
    const match = left.findIndex(({ action }) => action.type === one.action.type);
    if (match === -1) return { ...plain(one), kind: 'removed', from: one.at, to: null };
    const [other = one] = left.splice(match, 1);
    const fields = changedFields(toFields(one.action), toFields(other.action), compare);
    return { ...plain(other), kind: 'changed', from: one.at, to: other.at, fields };
  });
  return [...gone, ...left.map((one): ActionChange => ({ ...plain(one), kind: 'added', from: null, to: one.at }))];
}

function changedActions(before: readonly Action[], after: readonly Action[], compare: WordDiff): ActionChange[] {
  const found: ActionChange[] = [];
  let [from, to] = [0, 0];
  let removed: Numbered[] = [];
  const take = (source: readonly Action[], start: number, count: number): Numbered[] =>
    source.slice(start, start + count).map((action, index) => ({ action, at: start + index + 1 }));
  for (const { count, added, removed: isRemoved } of diffArrays(before.map(canonical), after.map(canonical))) {
    if (isRemoved) {
      removed = take(before, from, count);
      from += count;
      continue;
    }
    const taken = take(after, to, count);
    found.push(...pairUp(removed, added ? taken : [], compare));
    removed = [];
    if (!added)
      found.push(...taken.map((one, nth): ActionChange => ({ ...plain(one), kind: 'same', from: from + nth + 1, to: one.at })));
    to += count;
    if (!added) from += count;
  }
  return [...found, ...pairUp(removed, [], compare)];
}

/** Returns the differences between two versions of an automation: of its fields, and action by action. */
export function compareVersions(before: VersionRecord, after: VersionRecord, compare: WordDiff): VersionDiff {
  const toShown = (version: VersionRecord) => ({
    name: version.name,
    trigger: describeTrigger(version),
    condition: version.condition,
  });
  return {
    fields: changedFields(toShown(before), toShown(after), compare),
    actions: changedActions(before.actions, after.actions, compare),
  };
}
