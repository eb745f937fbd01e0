import type { ASTNode } from '@marcbachmann/cel-js';
import { parseCondition } from './condition.js';
import { type ConditionField, FIELD_KEY, type FieldKind } from './condition-fields.js';

/** Comparisons of a row, in words. */
export const COMPARISONS = {
  is: 'is',
  is_not: 'is not',
  one_of: 'is one of',
  none_of: 'is none of',
  contains: 'contains',
  lacks: 'does not contain',
  begins: 'begins with',
  over: 'is greater than',
  at_least: 'is at least',
  under: 'is less than',
  at_most: 'is at most',
  empty: 'is empty',
  filled: 'is not empty',
} as const;
export type Comparison = keyof typeof COMPARISONS;

/** Comparisons that take no value. */
const WITHOUT_VALUE: readonly Comparison[] = ['empty', 'filled'];

export interface ConditionRow {
  /** A path; empty in a row that is not filled in. */
  field: string;
  comparison: Comparison;
  /** Several are separated by commas. */
  value: string;
}

/** A condition as rows, of which all or any must hold. */
export interface ConditionRows {
  join: 'all' | 'any';
  rows: ConditionRow[];
}

const operatorOf = (join: ConditionRows['join']): string => (join === 'all' ? '&&' : '||');
const JOINS: Readonly<Record<string, ConditionRows['join']>> = { '&&': 'all', '||': 'any' };
const ORDER: Readonly<Record<string, Comparison>> = { '>': 'over', '>=': 'at_least', '<': 'under', '<=': 'at_most' };
const SYMBOLS: Partial<Record<Comparison, string>> = {
  is: '==',
  is_not: '!=',
  ...Object.fromEntries(Object.entries(ORDER).map(([symbol, comparison]) => [comparison, symbol])),
};
const NEGATED: Partial<Record<Comparison, Comparison>> = { one_of: 'none_of', contains: 'lacks' };
const CALLS: Readonly<Record<string, Comparison>> = { contains: 'contains', startsWith: 'begins' };

const EVERY = Object.keys(COMPARISONS) as Comparison[];
const ALLOWED: Readonly<Record<FieldKind, readonly Comparison[]>> = {
  text: EVERY,
  any: EVERY,
  number: ['is', 'is_not', 'one_of', 'none_of', 'over', 'at_least', 'under', 'at_most', ...WITHOUT_VALUE],
  flag: ['is', 'is_not', ...WITHOUT_VALUE],
  list: ['contains', 'lacks', ...WITHOUT_VALUE],
};

/** Forms send any text as a field. */
const PATH = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;
const NUMBER = /^-?\d+(\.\d+)?$/;
const FLAGS: Readonly<Record<string, string>> = { true: 'true', yes: 'true', false: 'false', no: 'false' };

/** Compares values as pages show them: `In review` means `in_review`. */
const toKey = (value: string): string => value.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Finds the value that a text means: the value itself, else one that is shown by this text. */
function findValue({ values = [], texts = {}, isOpen }: Omit<ConditionField, 'path'>, given: string): string | undefined {
  const key = toKey(given);
  const isMeant = (one: string): boolean => toKey(one) === key || toKey(texts[one] ?? '') === key;
  const known = values.find((one) => one === given) ?? (key === '' ? undefined : values.find(isMeant));
  return known ?? (isOpen && given !== '' ? given : undefined);
}

/** Returns a value as CEL; undefined if the field cannot hold it. */
function toLiteral(value: string, kind: FieldKind): string | undefined {
  if (kind === 'number') return NUMBER.test(value) ? value : undefined;
  if (kind === 'flag') return FLAGS[value.toLowerCase()];
  if (kind === 'any' && (NUMBER.test(value) || value === 'true' || value === 'false')) return value;
  return JSON.stringify(value);
}

/** Whether a comparison takes one whole value, which a list of choices can offer. */
export const takesWhole = (comparison: Comparison, kind: FieldKind): boolean =>
  kind === 'list' ? comparison === 'contains' || comparison === 'lacks' : comparison === 'is' || comparison === 'is_not';

const VALUE_HINTS: Partial<Record<FieldKind, string>> = { number: 'Enter a number', flag: 'Enter yes or no' };

/** Returns a row as CEL, or what is wrong with it. */
function writeRow(
  { field, comparison, value }: ConditionRow,
  about: Omit<ConditionField, 'path'>,
): { text: string } | { error: string } {
  const { kind, values: known, texts: shown = {} } = about;
  if (!PATH.test(field)) return { error: 'Choose a field of the list' };
  if (!ALLOWED[kind].includes(comparison)) return { error: `This field cannot be compared by “${COMPARISONS[comparison]}”` };
  if (comparison === 'empty' || comparison === 'filled') {
    const sign = comparison === 'empty' ? '==' : '!=';
    return { text: kind === 'list' ? `size(${field}) ${sign} 0` : `${field} ${sign} null` };
  }
  const isMany = comparison === 'one_of' || comparison === 'none_of';
  const given = isMany ? value.split(',').map((each) => each.trim()) : [value];
  const isWhole = isMany || takesWhole(comparison, kind);
  const values = isWhole && known ? given.map((each) => findValue(about, each)) : given;
  if (values.includes(undefined)) return { error: `Enter one of: ${known?.map((one) => shown[one] ?? one).join(', ')}` };
  const literals = values.map((each) => toLiteral(each as string, kind));
  if (literals.includes(undefined)) return { error: VALUE_HINTS[kind] ?? 'Enter a value' };
  const literal = literals.join(', ');
  const contains = kind === 'list' ? `${literal} in ${field}` : `${field}.contains(${literal})`;
  const texts: Partial<Record<Comparison, string>> = {
    one_of: `${field} in [${literal}]`,
    none_of: `!(${field} in [${literal}])`,
    contains,
    lacks: `!(${contains})`,
    begins: `${field}.startsWith(${literal})`,
  };
  return { text: texts[comparison] ?? `${field} ${SYMBOLS[comparison]} ${literal}` };
}

/** Writes rows as the text of a condition; `errors`: what is wrong, by the number of a row. Rows without a field do not count. */
export function writeConditionRows(
  { join, rows }: ConditionRows,
  fields: readonly ConditionField[],
): { text: string; errors: ReadonlyMap<number, string> } {
  const errors = new Map<number, string>();
  const texts = rows.flatMap((row, index) => {
    if (row.field === '') return [];
    const written = writeRow(row, fields.find(({ path }) => path === row.field) ?? { kind: 'any' });
    if ('text' in written) return [written.text];
    errors.set(index, written.error);
    return [];
  });
  return { text: texts.join(` ${operatorOf(join)} `), errors };
}

/** `task` is another name of a field of the event. */
const ROOTS: Readonly<Record<string, string>> = { task: 'event.task', changes: 'event.changes' };

/** Returns the path of fields that a node names, such as `event.task.title`; undefined for another node. */
export function readPath(node: ASTNode | undefined): string | undefined {
  if (node?.op === 'id') return ROOTS[node.args] ?? node.args;
  if (node?.op !== '.') return undefined;
  const before = readPath(node.args[0]);
  return before === undefined ? undefined : `${before}.${node.args[1]}`;
}

function readValue(node: ASTNode | undefined): string | undefined {
  if (node?.op === '-_') return node.args.op === 'value' ? `-${String(node.args.args)}` : undefined;
  return node?.op === 'value' && node.args !== null ? String(node.args) : undefined;
}

const isNothing = (node: ASTNode): boolean => node.op === 'value' && (node.args === null || node.args === 0n);
const rowOf = (
  field: string | undefined,
  comparison: Comparison | undefined,
  value: string | undefined,
): ConditionRow | undefined =>
  field === undefined || comparison === undefined || value === undefined ? undefined : { field, comparison, value };

function readEquality(node: ASTNode, left: ASTNode, right: ASTNode): ConditionRow | undefined {
  const sized = left.op === 'call' && left.args[0] === 'size' ? left.args[1][0] : undefined;
  if (isNothing(right) && (sized || (right.args as unknown) === null)) {
    return rowOf(readPath(sized ?? left), node.op === '==' ? 'empty' : 'filled', '');
  }
  return rowOf(readPath(left), node.op === '==' ? 'is' : 'is_not', readValue(right));
}

function readIn(left: ASTNode, right: ASTNode): ConditionRow | undefined {
  if (right.op !== 'list') return rowOf(readPath(right), 'contains', readValue(left));
  const values = right.args.map(readValue);
  return values.includes(undefined) ? undefined : rowOf(readPath(left), 'one_of', values.join(', '));
}

function readRow(node: ASTNode): ConditionRow | undefined {
  switch (node.op) {
    case '!_': {
      const row = readRow(node.args);
      return row && rowOf(row.field, NEGATED[row.comparison], row.value);
    }
    case '==':
    case '!=':
      return readEquality(node, node.args[0], node.args[1]);
    case 'in':
      return readIn(node.args[0], node.args[1]);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return rowOf(readPath(node.args[0]), ORDER[node.op], readValue(node.args[1]));
    case 'rcall':
      return rowOf(readPath(node.args[1]), CALLS[node.args[0]], readValue(node.args[2][0]));
    default:
      return undefined;
  }
}

/** Returns the parts that one operator joins. */
export function listParts(node: ASTNode, operator: string): ASTNode[] {
  if (node.op !== operator) return [node];
  const [left, right] = node.args as [ASTNode, ASTNode];
  return [...listParts(left, operator), ...listParts(right, operator)];
}

const findKey = (rows: readonly (ConditionRow | undefined)[]): string | undefined => {
  const keys = rows.filter((row) => row?.field === FIELD_KEY && row.comparison === 'is');
  return keys.length === 1 ? keys[0]?.value : undefined;
};

/** Returns the key of the custom field whose change rows ask for; undefined if they ask for several, or for none. */
export const keyOfRows = ({ join, rows }: ConditionRows): string | undefined => (join === 'all' ? findKey(rows) : undefined);

/** Returns the same of the text of a condition. */
export function keyOfCondition(condition: string): string | undefined {
  const ast = parseCondition(condition);
  return ast && findKey(listParts(ast, '&&').map(readRow));
}

/** A condition without its spaces, quotes and names of the same field. */
const normalize = (ast: ASTNode): string =>
  JSON.stringify(ast, (key, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    const node = value as { op?: unknown; args?: unknown } | null;
    if (typeof node !== 'object' || node === null || !('op' in node)) return key === 'pos' ? undefined : value;
    return { op: node.op, args: node.op === 'id' || node.op === '.' ? (readPath(value as ASTNode) ?? node.args) : node.args };
  });

/**
 * Returns a condition as rows; an empty one has none. Null for a text that rows cannot express: what they write would be another condition.
 */
export function readConditionRows(condition: string, fields: readonly ConditionField[]): ConditionRows | null {
  if (condition.trim() === '') return { join: 'all', rows: [] };
  const ast = parseCondition(condition);
  if (!ast) return null;
  const join = JOINS[ast.op] ?? 'all';
  const rows = listParts(ast, operatorOf(join)).map(readRow);
  if (rows.includes(undefined)) return null;
  const found: ConditionRows = { join, rows: rows as ConditionRow[] };
  // A value that is none of the known ones, such as a stage that has another name by now, stays in its row, which says so.
  const { text, errors } = writeConditionRows(
    found,
    fields.map(({ values: _known, ...field }) => field),
  );
  const again = errors.size === 0 ? parseCondition(text) : undefined;
  return again && normalize(again) === normalize(ast) ? found : null;
}
