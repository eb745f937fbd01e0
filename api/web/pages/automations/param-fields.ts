import { isDeepStrictEqual } from 'node:util';
import { fieldLabel, fieldText } from '../../wording/field-texts.js';
import { buildParamsSchema } from '../../../automation/actions/list-action-types.js';
import { availableActions } from '../../../automation/actions/registry.js';

/** How a form edits a parameter. `json` holds any value; every other kind is for the values that it can write down. */
export type FieldKind = 'text' | 'long' | 'number' | 'duration' | 'choice' | 'flag' | 'list' | 'pairs' | 'json';

/** A parameter of an action as a form field, from the schema of the action. */
export interface ParamField {
  name: string;
  label: string;
  kind: FieldKind;
  isRequired: boolean;
  /** It may be left out because the event has it. */
  isDefaulted: boolean;
  /** It is shown at once, empty or not. */
  isMain: boolean;
  hint: string | null;
  options: readonly string[];
  /** Words of the options that have some. */
  optionTexts: Readonly<Record<string, string>>;
  /** The options under the headings of a list, where it has some. */
  groups?: readonly { label: string; options: readonly string[] }[];
}

/** A text that a form holds for a parameter, or why it holds none. */
type Decoded = { value: unknown } | { error: string };

/** Units of a duration in a form, in seconds; the longest that fits a value is shown. */
export const UNITS: Readonly<Record<string, number>> = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 };

type Schema = Readonly<Record<string, unknown>>;

/** A text up to this length has one line. */
const MAX_LINE = 250;

/** Returns the alternatives of a schema without null. */
function alternatives(schema: Schema): Schema[] {
  const nested = schema['anyOf'] as Schema[] | undefined;
  if (nested) return nested.flatMap(alternatives);
  return schema['type'] === 'null' ? [] : [schema];
}

const typeOf = ({ type }: Schema): unknown => (Array.isArray(type) ? type.find((each: unknown) => each !== 'null') : type);

const isScalar = (schema: unknown): boolean => ['string', 'number', 'boolean'].includes(String(typeOf((schema ?? {}) as Schema)));

/** An address has one line, however long it may be; a described text without a limit, such as a note, has many. */
function isLongText({ maxLength, description, example }: Schema): boolean {
  if (String(example).startsWith('http')) return false;
  return ((maxLength as number | undefined) ?? (description === undefined ? 0 : MAX_LINE + 1)) > MAX_LINE;
}

function kindOf(schema: Schema): { kind: FieldKind; options: readonly string[] } {
  const all = alternatives(schema);
  const options = all.flatMap((each) => (each['enum'] as string[] | undefined) ?? []);
  if (options.length > 0) return { kind: 'choice', options };
  const [first = {}] = all;
  const simple = (kind: FieldKind) => ({ kind, options: [] });
  switch (typeOf(first)) {
    case 'boolean':
      return { kind: 'flag', options: ['true', 'false'] };
    case 'integer':
    case 'number':
      return simple('number');
    case 'string':
      return simple(isLongText(first) ? 'long' : 'text');
    case 'array':
      return simple(isScalar(first['items']) ? 'list' : 'json');
    case 'object':
      return simple(first['additionalProperties'] !== undefined ? 'pairs' : 'json');
    default:
      return simple('json');
  }
}

function buildFields(type: string): ParamField[] {
  const action = availableActions().find((each) => each.type === type);
  if (!action) return [];
  const { properties = {}, required = [] } = buildParamsSchema(action) as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => {
    const described = [schema, ...alternatives(schema)].find((each) => typeof each['description'] === 'string');
    const isDefaulted = action.defaulted?.some((each) => each === name) ?? false;
    const hint = (described?.['description'] as string | undefined)?.replaceAll('`', '') ?? null;
    const text = fieldText(type, name);
    const { kind, options } = kindOf(schema);
    return {
      name,
      label: fieldLabel(type, name),
      kind: kind === 'number' && SECONDS.test(name) ? 'duration' : kind === 'long' && name.endsWith('_id') ? 'text' : kind,
      options,
      optionTexts: text?.options ?? {},
      isRequired: required.includes(name),
      isDefaulted,
      isMain: MAIN.includes(name),
      hint: isDefaulted
        ? `${text?.hint ?? ''}. Left empty: the ${name.replace('_id', '')} of the event`
        : (text?.hint ?? (options.length > 0 ? null : hint)),
    };
  });
}

/** Name of a parameter that counts seconds. */
const SECONDS = /(?:^|_)seconds$/;

/** What people look for first, in the order in which a step shows it behind what it requires. */
const MAIN = [
  'title',
  'project_id',
  'assigned_to',
  'status',
  'priority',
  'due_date',
  'stage_id',
  'user_ids',
  'role',
  'allow_self_approval',
  'message',
  'content',
  'method',
  'url',
  'headers',
  'body',
  'instruction',
  'cycle_id',
];
/** Returns the place of a field in a step. */
const placeOf = ({ name, isRequired }: ParamField): number => {
  const place = MAIN.indexOf(name);
  return (isRequired ? 0 : 100) + (place < 0 ? MAIN.length : place);
};

const known = new Map<string, ParamField[]>();

/** Returns the parameters of an action as form fields: required ones first, then what people look for; none for an unknown action. */
export function paramFields(type: string): readonly ParamField[] {
  const fields = known.get(type) ?? buildFields(type).sort((a, b) => placeOf(a) - placeOf(b));
  // Types come from callers: only those of the catalogue are kept.
  if (fields.length > 0) known.set(type, fields);
  return fields;
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

function decodePairs(text: string): Decoded {
  const pairs: [string, string][] = [];
  for (const line of lines(text)) {
    const at = line.indexOf(':');
    if (at < 1) return { error: 'Each line needs a name, a colon and a value' };
    pairs.push([line.slice(0, at).trim(), line.slice(at + 1).trim()]);
  }
  return { value: Object.fromEntries(pairs) };
}

function decodeJson(text: string): Decoded {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { error: `Not valid JSON: ${(error as Error).message.slice(0, 200)}` };
  }
}

const NUMBER = /^-?\d+(\.\d+)?$/;

/** Reads a number of some unit as seconds. */
function decodeDuration(text: string, unit: string): number | string {
  if (!NUMBER.test(text)) return text;
  const seconds = Number(text) * (UNITS[unit] ?? 1);
  return unit in UNITS && unit !== 'seconds' ? Math.round(seconds) : seconds;
}

/** Reads the text of a form field; an empty one is no value. Browsers send line ends as CR LF. `unit`: that of a duration. */
export function decodeParam(kind: FieldKind, sent: string, unit = ''): Decoded {
  const text = sent.replaceAll('\r\n', '\n');
  if (text === '' || (kind !== 'text' && kind !== 'long' && text.trim() === '')) return { value: undefined };
  switch (kind) {
    case 'number':
      // A template, or what the check of the action then names.
      return { value: NUMBER.test(text) ? Number(text) : text };
    case 'duration':
      return { value: decodeDuration(text, unit) };
    case 'flag':
      return { value: text === 'true' ? true : text === 'false' ? false : text };
    case 'list':
      return { value: lines(text) };
    case 'pairs':
      return decodePairs(text);
    case 'json':
      return decodeJson(text);
    default:
      return { value: text };
  }
}

function writeDown(kind: FieldKind, value: unknown): string {
  if (kind === 'json') return JSON.stringify(value, null, 2);
  if (kind === 'list' && Array.isArray(value)) return value.map(String).join('\n');
  if (kind === 'pairs' && typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, each]) => `${name}: ${String(each)}`)
      .join('\n');
  return typeof value === 'object' ? '' : String(value as string | number | boolean);
}

/** Returns the longest unit that divides a number of seconds; none for what is no number. */
const unitOf = (value: unknown): string =>
  typeof value === 'number' ? (Object.keys(UNITS).find((unit) => value % (UNITS[unit] as number) === 0) ?? 'seconds') : '';

/**
 * Returns the text of a value in a form field, and the kind of that field: JSON where the parameter's own kind cannot write the value down, so that
 * nothing is lost.
 */
export function encodeParam(
  field: Pick<ParamField, 'kind' | 'options'>,
  value: unknown,
): { kind: FieldKind; text: string; unit: string } {
  const unit = field.kind === 'duration' ? unitOf(value) : '';
  const text = unit === '' ? writeDown(field.kind, value) : String((value as number) / (UNITS[unit] as number));
  const isChosen = field.options.length === 0 || field.options.includes(text);
  const read = decodeParam(field.kind, text.replace(/\r\n|\r|\n/g, '\r\n'), unit);
  if (isChosen && 'value' in read && isDeepStrictEqual(read.value, value)) return { kind: field.kind, text, unit };
  return { kind: 'json', text: writeDown('json', value), unit: '' };
}
