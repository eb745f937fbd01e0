import type { ASTNode } from '@marcbachmann/cel-js';
import { evaluateCondition, parseCondition } from './condition.js';
import { listChildren } from './condition-grammar.js';
import { listParts, readPath } from './condition-rows.js';
import type { ConditionScope } from './condition-scope.js';

/** One part of a condition, with the values that it read. */
interface ConditionPart {
  text: string;
  state: 'true' | 'false' | 'fails';
  /** Why it could not be evaluated. */
  error: string | null;
  values: { path: string; value: string }[];
}
export interface ConditionExplanation {
  /** How the parts are joined: all, or any, must hold. */
  join: 'all' | 'any';
  parts: ConditionPart[];
}

const MAX_PARTS = 20;
const MAX_VALUES = 6;
const MAX_TEXT = 200;

const cut = (text: string): string => {
  const points = Array.from(text.slice(0, 4 * MAX_TEXT));
  return points.length > MAX_TEXT ? `${points.slice(0, MAX_TEXT).join('')}…` : text;
};

/** Lists the whole paths that a part reads, such as `event.task.priority`. */
export function listPaths(node: ASTNode): string[] {
  const path = readPath(node);
  return path === undefined ? listChildren(node).flatMap(listPaths) : [path];
}

/** Returns a value of the scope as text; undefined for what the scope does not have. */
function readText(scope: ConditionScope, path: string): string | undefined {
  let value: unknown = scope;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return cut(JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? Number(each) : each)) ?? '');
}

function explainPart(node: ASTNode, source: string, scope: ConditionScope): ConditionPart {
  const text = source.slice(node.range.start, node.range.end);
  const { matched, error } = evaluateCondition(text, scope);
  const values = [...new Set(listPaths(node))].flatMap((path) => {
    const value = path.includes('.') ? readText(scope, path) : undefined;
    return value === undefined ? [] : [{ path, value }];
  });
  const state = error === null ? (matched ? 'true' : 'false') : 'fails';
  return { text: cut(text), state, error, values: values.slice(0, MAX_VALUES) };
}

/** PostgreSQL cannot store control characters and lone surrogates. */
const onOneLine = (text: string): string => text.replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ');

/**
 * Says in one line why a condition is false: its first part that does not hold, where all must, and the values that it read. Evaluates no more than
 * the condition itself does.
 */
export function explainFalse(source: string, scope: ConditionScope): string {
  const ast = parseCondition(source);
  if (!ast) return onOneLine(`${cut(source)} is false`);
  const parts = ast.op === '&&' ? listParts(ast, '&&').slice(0, MAX_PARTS) : [ast];
  for (const node of parts) {
    const { text, state, values } = explainPart(node, source, scope);
    if (state === 'true') continue;
    if (state === 'fails') break;
    const read = values.map(({ path, value }) => `${path} is ${value}`).join(', ');
    return onOneLine(`${text} is false${read === '' ? '' : ` (${read})`}`);
  }
  return onOneLine(`${cut(source)} is false`);
}

/**
 * Evaluates each part of a condition alone, so that people see which of them does not hold, and what it compared. Null for a condition that is no
 * longer valid. Bounded by the limits of a condition: at most 20 parts, of 6 values each.
 */
export function explainCondition(source: string, scope: ConditionScope): ConditionExplanation | null {
  const ast = parseCondition(source);
  if (!ast) return null;
  const join = ast.op === '||' ? 'any' : 'all';
  const parts = listParts(ast, join === 'any' ? '||' : '&&').slice(0, MAX_PARTS);
  return { join, parts: parts.map((node) => explainPart(node, source, scope)) };
}
