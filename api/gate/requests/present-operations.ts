import { withVisibleNames } from '../../platform/validation/invisible.js';
import { isLongText } from '../staging/present.js';
import type { ActionLine, FieldLine } from '../staging/schema.js';
import type { ClaimedOperation } from './content.js';

/** Whether a text reads as another value of JSON, or hides a blank at one of its ends. */
function isAmbiguous(text: string): boolean {
  if (text === '' || text.trim() !== text) return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const MARK = '\u27e8';
/** Blanks that look like others, and the bracket that names of characters begin with: a text may not look like the name of a character. */
const ALIKE = new RegExp(`[^\\S \\t\\n]|${MARK}`, 'gu');
const show = (text: string): string =>
  withVisibleNames(
    text.replace(ALIKE, (character) => `${MARK}U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}\u27e9`),
  );

/** Returns a value as text, so that no two values look alike: the text `1` has quotes, the number has none. */
const toText = (value: unknown): string => show(typeof value === 'string' && !isAmbiguous(value) ? value : JSON.stringify(value));

/** Returns a name as text. Quotes show blanks that the page would not, and keep a key apart from the index of a list. */
const toName = (text: string): string => show(/^(?!["[])\S(?: ?\S)*$/.test(text) ? text : JSON.stringify(text));

const toLine = (name: string, value: unknown): FieldLine => {
  const after = toText(value);
  return { name, before: null, after, kind: isLongText(after) ? 'long' : 'text' };
};

const isBranch = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

/** Longest place, UTF-16 units, under which each leaf has a line of its own: many leaves below a long key would repeat it many times. */
const MAX_PLACE = 200;

/**
 * Returns a line for each leaf, under its place: as a JSON pointer (RFC 6901), but a list and an object with the same keys differ. What lies below a long
 * place has one line, of JSON.
 */
function listLeaves(value: object, at = ''): FieldLine[] {
  return Object.entries(value).flatMap(([key, item]: [string, unknown]) => {
    const step = Array.isArray(value) ? `[${key}]` : toName(key).replaceAll('~', '~0').replaceAll('/', '~1');
    const place = `${at}/${step}`;
    return isBranch(item) && place.length <= MAX_PLACE ? listLeaves(item, place) : [toLine(place, item)];
  });
}

/** What the requester says about an operation; it binds nobody. */
const listClaims = ({ summary, risk, reversible }: ClaimedOperation): FieldLine[] => [
  ...(summary === undefined ? [] : [toLine('claimed summary', summary)]),
  ...(risk === undefined ? [] : [toLine('claimed risk', risk)]),
  ...(reversible === undefined ? [] : [toLine('claimed to be reversible', reversible ? 'yes' : 'no')]),
];

/**
 * Returns operations in words, in their order: every leaf of the arguments is in a line. A claim only makes an operation look worse: it is at least of
 * medium risk, and Assent cannot undo it.
 */
export const presentOperations = (operations: readonly ClaimedOperation[]): ActionLine[] =>
  operations.map((operation, index) => {
    const { system, name, target, arguments: given, tool_hash, risk } = operation;
    return {
      index,
      type: 'operation',
      verb: `${system}: ${toName(name)}`,
      title: target === null ? null : toName(target),
      href: null,
      risk: risk === 'high' ? 'high' : 'medium',
      reversible: false,
      is_deletion: false,
      fields: [
        ...listLeaves(given),
        ...(tool_hash === undefined ? [] : [toLine('definition of the tool', tool_hash)]),
        ...listClaims(operation),
      ],
      refused: null,
      skipped: null,
      changed: null,
    };
  });
