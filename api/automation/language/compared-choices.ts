import type { ASTNode } from '@marcbachmann/cel-js';
import { parseCondition } from './condition.js';
import { CUSTOM_FIELDS, FIELD_KEY, FIELD_TEXTS, FIELD_VALUES } from './condition-fields.js';
import { listChildren } from './condition-grammar.js';
import { readPath } from './condition-rows.js';

/** A comparison of a custom field with texts. */
interface ComparedTexts {
  /** Keys of the fields that may be meant. */
  keys: readonly string[];
  texts: readonly string[];
  /** What the texts are compared with: values of choices, their labels, or the key of the field itself. */
  as: 'value' | 'label' | 'key';
}

const readText = (node: ASTNode): string[] => (node.op === 'value' && typeof node.args === 'string' ? [node.args] : []);

/** Returns the path and the texts that a node compares, in either order; none for another node. */
function readComparison(node: ASTNode): { path: string; texts: string[] }[] {
  if (node.op !== '==' && node.op !== '!=' && node.op !== 'in') return [];
  const sides = node.args;
  return [sides, sides.toReversed() as typeof sides].flatMap(([one, other]) => {
    const path = readPath(one);
    const texts = other.op === 'list' ? other.args.flatMap(readText) : readText(other);
    return path === undefined || texts.length === 0 ? [] : [{ path, texts }];
  });
}

const listComparisons = (node: ASTNode): { path: string; texts: string[] }[] => [
  ...readComparison(node),
  ...listChildren(node).flatMap(listComparisons),
];

/**
 * Lists what a condition compares the custom fields of a task with. A changed value belongs to the fields whose keys the condition names; it is not listed
 * where it names none. Bounded by the limits of a condition.
 */
export function listComparedTexts(condition: string): ComparedTexts[] {
  const ast = parseCondition(condition);
  const found = ast ? listComparisons(ast) : [];
  const named = found.flatMap(({ path, texts }) => (path === FIELD_KEY ? texts : []));
  return found.flatMap(({ path, texts }): ComparedTexts[] => {
    if (path === FIELD_KEY) return texts.map((key) => ({ keys: [key], texts: [], as: 'key' }));
    const own = path.startsWith(`${CUSTOM_FIELDS}.`) ? [path.slice(CUSTOM_FIELDS.length + 1)] : undefined;
    if (own) return [{ keys: own, texts, as: 'value' }];
    const as = FIELD_VALUES.includes(path) ? 'value' : FIELD_TEXTS.includes(path) ? 'label' : undefined;
    return as === undefined || named.length === 0 ? [] : [{ keys: named, texts, as }];
  });
}
