/** States of a project; any transition is allowed, and no state makes it read-only. */
export const PROJECT_STATUSES = ['active', 'archived', 'completed'] as const;

/** How a project goes, as its newest update says. */
export const HEALTH = ['on_track', 'at_risk', 'off_track'] as const;

/** Writable fields of a project. */
export interface ProjectFields {
  name: string;
  description: string | null;
  status: (typeof PROJECT_STATUSES)[number];
  start_date: string | null;
  end_date: string | null;
  /** A member of the team. */
  lead_id: string | null;
}

/** Stores an empty description as null. */
export const orNull = (description: string | null | undefined): string | null => description || null;

/** Returns the differences as `{field: {from, to}}`. */
export function changesBetween(before: ProjectFields, after: ProjectFields): Record<string, { from: unknown; to: unknown }> {
  const fields = ['name', 'description', 'status', 'start_date', 'end_date', 'lead_id'] as const;
  const changed = fields.filter((field) => before[field] !== after[field]);
  return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
}
