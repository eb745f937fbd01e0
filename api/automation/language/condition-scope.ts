import { HIDDEN, MAX_ENTRIES, type Variable } from './condition-grammar.js';

/** A JSON body has at most 32 levels; the event wraps it. */
const MAX_SCOPE_DEPTH = 40;

type CelValue = null | boolean | string | number | bigint | Date | CelValue[] | { [key: string]: CelValue };
declare const converted: unique symbol;

/** The variables as CEL values. Only `conditionScope` creates one; the brand excludes raw JSON. */
export type ConditionScope = Readonly<Record<Variable, CelValue>> & { readonly [converted]: true };

/**
 * Converts the variables of one event once for all its conditions. JSON integers become CEL ints, so that `event.number + 1 == 8`
 * works; lists and maps keep their first 200 entries; `now` is the only timestamp. `task` and `changes` are aliases of the
 * event's fields; `forge` is the whole event if it came from the code host.
 */
export function conditionScope(
  event: object,
  context: { project: object | null; actor: object | null; now: Date; steps?: object | undefined },
): ConditionScope {
  const known = (toCel(event) ?? null) as { [key: string]: CelValue } | null;
  const field = (name: Variable | 'type'): CelValue => known?.[name] ?? null;
  return {
    event: known,
    task: field('task'),
    changes: field('changes'),
    project: toCel(context.project) ?? null,
    actor: toCel(context.actor) ?? null,
    forge: isFromForge(field('type')) ? known : null,
    now: context.now,
    steps: toCel(context.steps ?? {}) ?? null,
  } as Readonly<Record<Variable, CelValue>> as ConditionScope;
}

/** Events of the code host; the dependency alert has a prefix of its own. */
const isFromForge = (type: CelValue): boolean =>
  typeof type === 'string' && (type.startsWith('forge.') || type.startsWith('security.'));

/** Converts JSON to CEL. Undefined if not representable or too deep; a map then lacks the key, so that reading it is an error. */
function toCel(value: unknown, depth = 0): CelValue | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint' || value === null) return value;
  if (typeof value !== 'object' || depth === MAX_SCOPE_DEPTH) return undefined;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString(); // as in JSON
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((item) => toCel(item, depth + 1) ?? null);
  const map: { [key: string]: CelValue } = Object.create(null);
  let left = MAX_ENTRIES;
  for (const key of Object.keys(value)) {
    if (left === 0) break;
    const item = HIDDEN.has(key) ? undefined : toCel((value as Record<string, unknown>)[key], depth + 1);
    if (item === undefined) continue;
    map[key] = item;
    left -= 1;
  }
  return map;
}
