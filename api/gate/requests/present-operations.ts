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

/** Returns a value as text, so that no two values look alike: the text `1` has quotes, the number has none. */
const toText = (value: unknown): string =>
  withVisibleNames(typeof value === 'string' && !isAmbiguous(value) ? value : JSON.stringify(value));

const toLine = (name: string, value: unknown): FieldLine => {
  const after = toText(value);
  return { name: withVisibleNames(name), before: null, after, kind: isLongText(after) ? 'long' : 'text' };
};

const isBranch = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

/** Longest pointer, UTF-16 units, under which each leaf has a line of its own: many leaves below a long key would repeat it many times. */
const MAX_POINTER = 200;

/** Returns a line for each leaf, under its JSON pointer (RFC 6901) without the first slash; a long pointer has one line, of JSON. */
function listLeaves(value: object, at = ''): FieldLine[] {
  return Object.entries(value).flatMap(([key, item]: [string, unknown]) => {
    const pointer = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return isBranch(item) && pointer.length <= MAX_POINTER
      ? listLeaves(item, pointer)
      : [toLine(pointer.length > 1 ? pointer.slice(1) : pointer, item)];
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
      verb: `${system}: ${withVisibleNames(name)}`,
      title: target === null ? null : withVisibleNames(target),
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
      changed: null,
    };
  });
