import { referenceOf } from './rules.js';
import type { ToolSpec } from './tools.js';

interface Referring {
  entityId: string | null;
  params: Record<string, unknown>;
}

const fieldsOf = ({ params }: Referring, { references }: ToolSpec): [field: string, k: number][] =>
  references.flatMap((field): [string, number][] => {
    const k = referenceOf(params[field]);
    return k === undefined ? [] : [[field, k]];
  });

/** Returns the indexes of the actions to which an action refers, ascending, each once. */
export function needsOf(action: Referring, spec: ToolSpec): number[] {
  const target = referenceOf(action.entityId);
  const all = [...fieldsOf(action, spec).map(([, k]) => k), ...(target === undefined ? [] : [target])];
  return [...new Set(all)].sort((a, b) => a - b);
}

/** Replaces the references of an action, each by what `replace` returns for its index. */
export function replaceReferences(action: Referring, spec: ToolSpec, replace: (k: number) => string): Referring {
  const target = referenceOf(action.entityId);
  const fields = fieldsOf(action, spec).map(([field, k]) => [field, replace(k)] as const);
  return {
    entityId: target === undefined ? action.entityId : replace(target),
    params: { ...action.params, ...Object.fromEntries(fields) },
  };
}
