/** Reads `"$k"`, which names what action k creates; undefined for any other value. No id contains `$`. */
export function parseReference(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^\$(0|[1-9][0-9]{0,3})$/.test(value)) return undefined;
  return Number(value.slice(1));
}

interface Referring {
  entityId: string | null;
  params: Record<string, unknown>;
}

const listFields = ({ params }: Referring, references: readonly string[]): [field: string, k: number][] =>
  references.flatMap((field): [string, number][] => {
    const k = parseReference(params[field]);
    return k === undefined ? [] : [[field, k]];
  });

/** Returns the indexes of the actions to which an action refers, ascending, each once. */
export function listNeeds(action: Referring, references: readonly string[] = []): number[] {
  const target = parseReference(action.entityId);
  const all = [...listFields(action, references).map(([, k]) => k), ...(target === undefined ? [] : [target])];
  return [...new Set(all)].sort((a, b) => a - b);
}

/** Replaces the references in an action's target and in the fields `references`, each by what `replace` returns for its index. */
export function replaceReferences(
  action: Referring,
  replace: (k: number) => string,
  references: readonly string[] = [],
): Referring {
  const target = parseReference(action.entityId);
  const fields = listFields(action, references).map(([field, k]) => [field, replace(k)] as const);
  return {
    entityId: target === undefined ? action.entityId : replace(target),
    params: { ...action.params, ...Object.fromEntries(fields) },
  };
}
