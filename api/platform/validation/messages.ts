import type { z } from 'zod';
import type { FieldError } from '../errors.js';

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

/** Longest field name in a message: names of unknown keys come from the caller. */
const MAX_NAME_LENGTH = 64;

/** Unknown keys that a message names. */
const MAX_KEYS = 5;

const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
};
const FORMATS: Record<string, string> = {
  email: 'an email address',
  url: 'a URL',
  guid: 'a UUID',
  uuid: 'a UUID',
  date: 'an ISO 8601 date',
  datetime: 'an ISO 8601 date-time',
};

const toText = (value: unknown): string => (typeof value === 'string' ? value : String(value));
const plural = (count: number | bigint, noun: string): string => `${count} ${noun}${Number(count) === 1 ? '' : 's'}`;

function typeReason({ expected, input }: RawIssue): string {
  if (input === undefined) return 'is required';
  const wanted = TYPES[String(expected)] ?? `of type ${String(expected)}`;
  return `must be ${wanted}${input === null ? ', not null' : ''}`;
}

/** Lists the allowed values, which no caller should have to look up. */
function valueReason(values: readonly unknown[], input: unknown): string {
  const allowed = values.map(toText).join(', ');
  if (input === undefined) return `is required${values.length > 1 ? `: one of ${allowed}` : ''}`;
  return values.length > 1 ? `must be one of ${allowed}` : `must be ${allowed}`;
}

function sizeReason(origin: string, bound: number | bigint, isMinimum: boolean, isInclusive: boolean): string {
  if (origin === 'string') {
    if (isMinimum && bound === 1) return 'must not be empty';
    return `is ${isMinimum ? 'shorter' : 'longer'} than ${plural(bound, 'character')}`;
  }
  if (origin === 'array' || origin === 'set') return `must have at ${isMinimum ? 'least' : 'most'} ${plural(bound, 'item')}`;
  if (isInclusive) return `must be at ${isMinimum ? 'least' : 'most'} ${bound}`;
  return `must be ${isMinimum ? 'greater' : 'less'} than ${bound}`;
}

/** Returns the types that the alternatives of a union accept; undefined if they fail further inside. */
function unionReason(errors: readonly (readonly Issue[])[]): string {
  const wanted = errors.map(([issue]) =>
    issue?.code === 'invalid_type' && issue.path.length === 0 ? TYPES[issue.expected] : undefined,
  );
  return wanted.length === 0 || wanted.includes(undefined)
    ? 'has an invalid form'
    : `must be ${[...new Set(wanted)].join(' or ')}`;
}

/** Returns what is wrong as a predicate without its field, such as `is longer than 200 characters`. */
function getReason(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return typeReason(issue);
    case 'invalid_value':
      return valueReason(issue.values, issue.input);
    case 'too_small':
      return sizeReason(issue.origin, issue.minimum, true, issue.inclusive !== false);
    case 'too_big':
      return sizeReason(issue.origin, issue.maximum, false, issue.inclusive !== false);
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? 'in the documented format'}`;
    case 'invalid_union':
      return unionReason(issue.errors);
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys
        .slice(0, MAX_KEYS)
        .map((key) => key.slice(0, MAX_NAME_LENGTH))
        .join(', ')}`;
    default:
      return 'is invalid';
  }
}

/**
 * Messages of every schema that declares none. All messages are predicates in lower case, to which `buildSentence` adds the field;
 * a message that begins with a capital letter is a sentence already.
 */
export const ZOD_MESSAGES = { error: getReason };

/** The same for a query, in which a parameter that is given twice is a list. */
export const QUERY_MESSAGES = {
  error: (issue: RawIssue) => (Array.isArray(issue.input) ? 'is given more than once; send it once' : getReason(issue)),
};

/** Returns the name of a field as messages show it: `title`, `tags[2]`, `preferences.timezone`. */
const getName = (path: readonly PropertyKey[]): string =>
  path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index > 0 ? '.' : ''}${String(step)}`))
    .join('')
    .slice(0, MAX_NAME_LENGTH);

/** Returns the whole sentence about a field: `title is required`. `subject` stands for a value without a name. */
export function buildSentence({ path, message }: Pick<Issue, 'path' | 'message'>, subject = 'The value'): string {
  return /^[a-z]/.test(message) ? `${getName(path) || subject} ${message}` : message;
}

/** A body of the wrong JSON type, such as an array, counts as invalid JSON. */
const getType = (place: string, { path, code }: Issue): string =>
  place === 'body' && path.length === 0 && code === 'invalid_type' ? 'json_invalid' : code;

/**
 * Replaces the issue of a union by those of its one alternative that accepts the type of the value, such as one item and a list of
 * them, so that they name what is wrong inside.
 */
function insideUnion(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const fitting = issue.errors.filter((issues) => !issues.some(({ path, code }) => path.length === 0 && code === 'invalid_type'));
  const [only, ...others] = fitting;
  if (!only || others.length > 0) return [issue];
  return only.flatMap((inner) => insideUnion({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** Leaves out what other checks say of a value that has the wrong type: a string is no list that is too long. */
function withoutFollowUps(issues: Issue[]): Issue[] {
  const wrongTypes = new Set(issues.flatMap(({ code, path }) => (code === 'invalid_type' ? [path.map(String).join('.')] : [])));
  return issues.filter(({ code, path }) => code === 'invalid_type' || !wrongTypes.has(path.map(String).join('.')));
}

/** Returns the entries of `detail.errors`. `place`: `body`, `query`, `path`, or `body.3` for an item of a list. */
export const fieldErrors = (place: string, { issues }: { issues: readonly Issue[] }): FieldError[] =>
  withoutFollowUps(issues.flatMap(insideUnion)).map((issue) => ({
    field: [place, ...issue.path].map(String).join('.'),
    message: buildSentence(issue, place === 'body' ? 'The body' : 'The item'),
    type: getType(place, issue),
  }));
