import { diffArrays } from 'diff';
import type { VersionRecord } from '../../../automation/definitions/versions/schema.js';
import { describeTrigger } from '../../wording/automation-text.js';
import { fieldLabel, fieldText } from '../../wording/field-texts.js';
import { UNITS } from './param-fields.js';
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

/** Names of people and projects by id. */
type Names = Readonly<Record<string, string>>;

/** Returns a value in words; null for none. Lists of single values are lines, and yes and no stand for true and false. */
function toText(value: unknown, names: Names): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return Object.hasOwn(names, value) ? (names[value] as string) : value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((each) => typeof each === 'string'))
    return value.map((each: string) => toText(each, names)).join('\n');
  return JSON.stringify(value, null, 2);
}

/** How values are told. */
export interface Wording {
  compare: WordDiff;
  names: Names;
}

/** Returns the fields of which two records differ. */
function changedFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  { compare, names }: Wording,
): FieldChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
    const [from, to] = [toText(before[name], names), toText(after[name], names)];
    if (from === to) return [];
    return [{ name, before: from, after: to, parts: from !== null && to !== null ? compare(from, to) : null }];
  });
}

const DURATION = /(?:^|_)seconds$/;

/** Writes seconds in the longest unit that divides them. */
function inUnits(seconds: number): string {
  const [unit, size] = Object.entries(UNITS).find(([, each]) => seconds % each === 0) ?? ['seconds', 1];
  const count = seconds / size;
  return `${count} ${count === 1 ? unit.slice(0, -1) : unit}`;
}

/** Returns a parameter by its label, with its value in words where it has some. */
function toField(type: string, [name, value]: [string, unknown]): [string, unknown] {
  const words = fieldText(type, name)?.options;
  const said = typeof value === 'string' && words && Object.hasOwn(words, value) ? words[value] : value;
  return [fieldLabel(type, name), DURATION.test(name) && typeof value === 'number' ? inUnits(value) : said];
}

const toFields = ({ type, name, if: onlyIf, params, on_failure, retry }: Action): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(params).map((one) => toField(type, one))),
  ...(name !== undefined && { 'name of the step': name }),
  ...(onlyIf !== undefined && { 'only if': onlyIf }),
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
function pairUp(removed: readonly Numbered[], added: readonly Numbered[], wording: Wording): ActionChange[] {
  const left = [...added];
  const gone = removed.map((one): ActionChange => {
    const match = left.findIndex(({ action }) => action.type === one.action.type);
    if (match === -1) return { ...plain(one), kind: 'removed', from: one.at, to: null };
    const [other = one] = left.splice(match, 1);
    const fields = changedFields(toFields(one.action), toFields(other.action), wording);
    return { ...plain(other), kind: 'changed', from: one.at, to: other.at, fields };
  });
  return [...gone, ...left.map((one): ActionChange => ({ ...plain(one), kind: 'added', from: null, to: one.at }))];
}

function changedActions(before: readonly Action[], after: readonly Action[], wording: Wording): ActionChange[] {
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
    found.push(...pairUp(removed, added ? taken : [], wording));
    removed = [];
    if (!added)
      found.push(...taken.map((one, nth): ActionChange => ({ ...plain(one), kind: 'same', from: from + nth + 1, to: one.at })));
    to += count;
    if (!added) from += count;
  }
  return [...found, ...pairUp(removed, [], wording)];
}

/** Returns the differences between two versions of an automation: of its fields, and action by action. */
export function compareVersions(before: VersionRecord, after: VersionRecord, wording: Wording): VersionDiff {
  const toShown = (version: VersionRecord) => ({
    name: version.name,
    trigger: describeTrigger(version),
    condition: version.condition,
  });
  return {
    fields: changedFields(toShown(before), toShown(after), wording),
    actions: changedActions(before.actions, after.actions, wording),
  };
}
