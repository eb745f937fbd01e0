/** Reads `"$k"`, which names what action k creates; undefined for any other value. No id contains `$`. */
export function referenceOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^\$(0|[1-9][0-9]{0,3})$/.test(value)) return undefined;
  return Number(value.slice(1));
}

interface Referring {
  entityId: string | null;
  params: Record<string, unknown>;
}

const fieldsOf = ({ params }: Referring, references: readonly string[]): [field: string, k: number][] =>
  references.flatMap((field): [string, number][] => {
    const k = referenceOf(params[field]);
    return k === undefined ? [] : [[field, k]];
  });

/** Returns the indexes of the actions to which an action refers, ascending, each once. */
export function needsOf(action: Referring, references: readonly string[] = []): number[] {
  const target = referenceOf(action.entityId);
  const all = [...fieldsOf(action, references).map(([, k]) => k), ...(target === undefined ? [] : [target])];
  return [...new Set(all)].sort((a, b) => a - b);
}

/** Replaces the references in an action's target and in the fields `references`, each by what `replace` returns for its index. */
export function replaceReferences(
  action: Referring,
  replace: (k: number) => string,
  references: readonly string[] = [],
): Referring {
  const target = referenceOf(action.entityId);
  const fields = fieldsOf(action, references).map(([field, k]) => [field, replace(k)] as const);
  return {
    entityId: target === undefined ? action.entityId : replace(target),
    params: { ...action.params, ...Object.fromEntries(fields) },
  };
}
