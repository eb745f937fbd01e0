import type { BareClause, Target } from '../clauses.js';

/** Fields of a clause that hold a target. */
const FIELDS = ['target', 'of', 'source', 'by', 'project'] as const;

/** Returns what a clause is about, in its fields. */
export const targetsIn = (clause: BareClause): Target[] =>
  FIELDS.flatMap((field) => (clause as Partial<Record<(typeof FIELDS)[number], Target | null>>)[field] ?? []);

/** Returns a clause with each of its targets replaced. */
export function withTargets<C extends BareClause>(clause: C, replace: (target: Target) => Target): C {
  const given = clause as Partial<Record<(typeof FIELDS)[number], Target | null>>;
  const changed = FIELDS.flatMap((field) => (given[field] ? [[field, replace(given[field])] as const] : []));
  return { ...clause, ...Object.fromEntries(changed) };
}

/** Whether a target is what was said before. */
export const isPronoun = (target: Target): boolean => target.kind === 'it' || target.kind === 'them' || target.kind === 'same';
