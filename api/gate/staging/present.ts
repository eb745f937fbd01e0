import { getAction } from '../work-actions/catalogue.js';
import { withVisibleNames } from '../../platform/validation/invisible.js';
import { isUuid } from '../../platform/ids.js';
import { fieldTitle } from '../../work/custom-fields/field-title.js';
import { CUSTOM_FIELDS, customFieldsIn } from './custom-values.js';
import { parseReference } from './references.js';
import type { ActionLine, FieldLine } from './schema.js';
import type { StagedAction } from './staged-action.js';

/** Words for ids of users, projects and items; an id without a name stays an id. */
export type Names = Readonly<Record<string, string>>;

/** An action to show, with what its source knows beside it. */
export interface Presented extends StagedAction {
  /** By default the name of its tool. */
  type?: string;
  /** Name that an automation gives the action. */
  name?: string | null;
  /** Words for an action without a tool. */
  label?: string;
  refused?: { message: string } | null;
  /** Why it is not performed. */
  skipped?: string;
  /** It was performed: its target may have changed after it was staged, so what it would have left as it was is not known. */
  isDone?: boolean;
  /** Marks in the parameters that stand for secrets, with the names of the secrets. */
  secrets?: Readonly<Record<string, string>>;
  /** Who changed the target since, and when. */
  changed?: ActionLine['changed'];
  /** Values of the target when the action was staged, where `before` has those of now. */
  was?: Readonly<Record<string, unknown>> | null;
}

const LABELS: Readonly<Record<string, string>> = {
  task_id: 'task',
  project_id: 'project',
  parent_task_id: 'parent',
  source_id: 'item',
  target_id: 'related item',
  relation_type: 'relation',
  assigned_to: 'assigned to',
  lead_id: 'lead',
  user_ids: 'to',
  role: 'to all with at least the role',
  is_archived: 'archived',
  cycle_id: 'cycle',
  stage_id: 'stage',
};
const RELATIONS: Readonly<Record<string, string>> = {
  parent_child: 'is the parent of',
  blocking: 'blocks',
  blocked_by: 'is blocked by',
  blocks: 'blocks',
  related_to: 'is related to',
  attached_to: 'is attached to',
  belongs_to: 'belongs to',
  caused_by: 'is caused by',
  recurrence_of: 'is the next occurrence of',
};
/** Fields that hold ids, by what the ids name. */
const ID_FIELDS: Readonly<Record<string, 'item' | 'user'>> = {
  task_id: 'item',
  project_id: 'item',
  cycle_id: 'item',
  stage_id: 'item',
  parent_task_id: 'item',
  source_id: 'item',
  target_id: 'item',
  assigned_to: 'user',
  lead_id: 'user',
  user_ids: 'user',
  mentions: 'user',
};

/** Returns an entry by a name that anybody may have chosen, such as `constructor`. */
const getOwnEntry = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** Length above which a text is long; so is one of more than three lines. */
const LONG_TEXT = 240;
export const isLongText = (text: string | null): boolean =>
  text !== null && (text.length > LONG_TEXT || text.split('\n', 4).length > 3);

/** What the lines of one decision share. */
interface Words {
  names: Names;
  /** Names that stand for more than one id. */
  doubled: ReadonlySet<string>;
  titles: ReadonlyMap<number, string | null>;
}

function getName(id: string, { names, doubled, titles }: Words): string {
  const k = parseReference(id);
  if (k !== undefined) {
    const title = titles.get(k);
    return title ? `the new “${withVisibleNames(title)}” of step ${k}` : `what step ${k} creates`;
  }
  const name = getOwnEntry(names, id) ?? getOwnEntry(names, id.toLowerCase());
  if (name === undefined) return withVisibleNames(id);
  return withVisibleNames(doubled.has(name) ? `${name} (${id})` : name);
}

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === '';

function toScalarText(value: unknown): string {
  return typeof value === 'string' ? value : String(value as number | boolean);
}

/** Returns a value as text; null if there is none. */
function toText(field: string, value: unknown, words: Words): string | null {
  if (isEmpty(value)) return null;
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object' || each === null))
    return value.map((each) => toText(field, each, words) ?? 'none').join(', ') || null;
  if (typeof value === 'object') return withVisibleNames(JSON.stringify(value, null, 2));
  const text = toScalarText(value);
  const custom = customFieldOf(field);
  if (custom !== undefined) return withVisibleNames(getOwnEntry(words.names, `${custom} ${text}`) ?? text);
  // A definition may name a stage: no id that others chose stands for it.
  if (field === 'stage_id' && !isUuid(text)) return withVisibleNames(text);
  if (field === 'relation_type') return getOwnEntry(RELATIONS, text) ?? withVisibleNames(text);
  return Object.hasOwn(ID_FIELDS, field) ? getName(text, words) : withVisibleNames(text);
}

function getKind(field: string, values: readonly unknown[], texts: readonly (string | null)[]): FieldLine['kind'] {
  if (values.some((value) => typeof value === 'object' && value !== null && !Array.isArray(value))) return 'json';
  if (texts.some(isLongText)) return 'long';
  return Object.hasOwn(ID_FIELDS, field) ? 'id' : 'text';
}

const OF_CUSTOM_FIELD = `${CUSTOM_FIELDS} · `;
/** Returns the id of the custom field that a line is about, or its key in a definition; undefined for any other line. */
const customFieldOf = (field: string): string | undefined =>
  field.startsWith(OF_CUSTOM_FIELD) ? field.slice(OF_CUSTOM_FIELD.length) : undefined;

/** A parameter of ours in words. A key inside it is not ours, and stays as it is: two that differ must not look alike. */
function getLabel(field: string, names: Names): string {
  const custom = customFieldOf(field);
  if (custom !== undefined) return fieldTitle(getOwnEntry(names, custom) ?? custom);
  const [own = '', ...keys] = field.split(' · ');
  return [getOwnEntry(LABELS, own) ?? own.replaceAll('_', ' '), ...keys].join(' · ');
}

function buildLine(field: string, from: unknown, to: unknown, words: Words): FieldLine {
  const [before, after] = [toText(field, from, words), toText(field, to, words)];
  const name = withVisibleNames(getLabel(field, words.names));
  return { name, before, after, kind: getKind(field, [from, to], [before, after]) };
}

/** Adds to a line what its field held when it was asked about, if that is another value than now. */
function withAsked(line: FieldLine, field: string, was: Readonly<Record<string, unknown>> | null, words: Words): FieldLine {
  if (was === null || !Object.hasOwn(was, field)) return line;
  const asked = toText(field, was[field], words);
  return asked === line.before ? line : { ...line, asked };
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Takes an object of single values apart, such as the headers of a request, and values of custom fields, some of which are lists. */
const apart = ([name, value]: [string, unknown]): [string, unknown][] =>
  isPlain(value) && (name === CUSTOM_FIELDS || Object.values(value).every((each) => typeof each !== 'object' || each === null))
    ? Object.entries(value).map(([key, each]): [string, unknown] => [`${name} · ${key}`, each])
    : [[name, value]];

/** Puts the names of secrets where the parameters hold marks. */
function withSecretNames(value: unknown, secrets: Readonly<Record<string, string>>): unknown {
  const marks = Object.entries(secrets);
  if (marks.length === 0) return value;
  let text = JSON.stringify(value);
  for (const [mark, name] of marks) text = text.replaceAll(mark, () => JSON.stringify(`{{secret:${name}}}`).slice(1, -1));
  return JSON.parse(text) as unknown;
}

/** The parameters, without the one that names the target in the heading. */
function buildParams({ params, entity_id, title, secrets = {} }: Presented): [string, unknown][] {
  const shown = withSecretNames(params ?? {}, secrets) as Record<string, unknown>;
  return Object.entries(shown)
    .filter(([name, value]) => !(name === 'task_id' && value === entity_id && title !== null))
    .flatMap(apart);
}

/** Takes the custom fields of a record apart: each has a line. */
function withFieldsApart(record: Presented['before']): Record<string, unknown> | null {
  if (record === null || !Object.hasOwn(record, CUSTOM_FIELDS)) return record && { ...record };
  const { [CUSTOM_FIELDS]: custom, ...others } = record;
  return { ...others, ...Object.fromEntries(apart([CUSTOM_FIELDS, custom])) };
}

/** Every field that the action changes, and every parameter that it gives besides: one that it finds as wanted is no change. */
function listFields(action: Presented, words: Words): FieldLine[] {
  const before = withFieldsApart(action.before);
  const after = withFieldsApart(action.after);
  const was = withFieldsApart(action.was ?? null);
  const { tool } = action;
  const params = buildParams(action);
  const isUpdate = tool !== null && getAction(tool).kind === 'update';
  const effects = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const changed = effects.map((key) => {
    // A long text of a creation stands in the parameters only.
    const given = params.find(([name]) => name === key)?.[1];
    const to = after !== null && key in after ? after[key] : before === null ? given : undefined;
    return withAsked(buildLine(key, before?.[key], to, words), key, was, words);
  });
  const wanted = params
    .filter(([name]) => !effects.includes(name))
    .map(([name, value]) => buildLine(name, isUpdate && before !== null && !action.isDone ? value : undefined, value, words));
  const isShown = ({ name, before: from, after: to }: FieldLine): boolean => name !== 'team id' && (from !== null || to !== null);
  return [...changed.filter(isShown), ...wanted];
}

/** What a deletion takes away, and what goes with it. */
const removedFields = (action: Presented, words: Words): FieldLine[] =>
  listFields(action, words).map((field) => ({ ...field, before: field.before ?? field.after, after: null }));

/** Title of the target as it is now: of an action that renames it, the old one, where the source gives the new one. */
function getHeading({ title, before, after, tool }: Presented): string | null {
  const [old] = ['title', 'name'].filter((field) => after?.[field] === title).map((field) => before?.[field]);
  const heading = tool !== null && typeof old === 'string' ? old : title;
  return heading === null ? null : withVisibleNames(heading);
}

/** The heading of a creation is its title. */
const isHeading = (field: FieldLine, { before, tool }: Presented, heading: string | null): boolean =>
  tool !== null && field.name === 'title' && before?.['title'] === undefined && field.after === heading;

const hasPage = ({ entity_type, entity_id, title }: Presented): boolean =>
  title !== null &&
  entity_id !== null &&
  parseReference(entity_id) === undefined &&
  ['task', 'project', 'note'].includes(entity_type ?? '');

/** A target that could not be tried has the name that its readers may know. */
function withName(action: Presented, { names }: Words): Presented {
  const { title, entity_id } = action;
  return title === null && entity_id !== null ? { ...action, title: getOwnEntry(names, entity_id) ?? null } : action;
}

function presentOne(given: Presented, words: Words): ActionLine {
  const action = withName(given, words);
  const { index, tool, entity_id, risk, reversible, name, label, refused, skipped, changed } = action;
  const spec = tool === null ? null : getAction(tool);
  const verb = spec?.words.verb ?? label ?? action.type ?? '';
  const heading = getHeading(action);
  const isDeletion = spec?.kind === 'remove';
  const fields = isDeletion ? removedFields(action, words) : listFields(action, words);
  return {
    index,
    type: action.type ?? tool ?? '',
    verb: name ? `${withVisibleNames(name)} (${verb})` : verb,
    title: heading,
    href: hasPage(action) ? `/app/items/${encodeURIComponent(entity_id ?? '')}` : null,
    risk,
    reversible,
    is_deletion: isDeletion,
    fields: fields.filter((field) => isDeletion || !isHeading(field, action, heading)),
    refused: refused ? withVisibleNames(refused.message) : null,
    skipped: skipped === undefined ? null : withVisibleNames(skipped),
    changed: changed ?? null,
  };
}

/** Returns the names that stand for more than one id. */
function doubledIn(names: Names): Set<string> {
  const seen = new Set<string>();
  return new Set(Object.values(names).filter((name) => seen.has(name) || !seen.add(name)));
}

/** Returns staged actions in words, in their order: pages, mails and the API show these lines and nothing else. */
export function presentActions(actions: readonly Presented[], names: Names): ActionLine[] {
  const titles = new Map(actions.map(({ index, title }) => [index, title]));
  const words: Words = { names, doubled: doubledIn(names), titles };
  return actions.map((action) => presentOne(action, words));
}

/** Returns the ids that staged actions name, by what they name, each once: of a custom field also with each value, whose words are the team's. */
export function idsIn(actions: readonly Presented[]): Record<'item' | 'user', string[]> {
  const found = { item: new Set<string>(), user: new Set<string>() };
  for (const { params, before, after, was = null } of actions) {
    for (const record of [params, before, after, was]) {
      for (const [field, value] of Object.entries(record ?? {})) {
        const kind = getOwnEntry(ID_FIELDS, field);
        if (kind === undefined) continue;
        for (const id of [value].flat()) if (typeof id === 'string' && parseReference(id) === undefined) found[kind].add(id);
      }
      for (const [id, value] of Object.entries(customFieldsIn(record))) {
        if (!isUuid(id)) continue;
        found.item.add(id);
        for (const each of [value].flat()) if (typeof each === 'string') found.item.add(`${id} ${each}`);
      }
    }
  }
  return { item: [...found.item], user: [...found.user] };
}
