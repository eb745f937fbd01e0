/** States of a project; any may follow any, and none keeps from writing (C1). */
export const PROJECT_STATUSES = ['active', 'archived', 'completed'] as const;

/** What a caller may set of a project. */
export interface ProjectFields {
  name: string;
  description: string | null;
  status: (typeof PROJECT_STATUSES)[number];
  start_date: string | null;
  end_date: string | null;
}

/** An empty description is none (contract, section 2). */
export const orNull = (description: string | null | undefined): string | null => description || null;

/** What differs, as `{field: {from, to}}` (F5). */
export function changesBetween(before: ProjectFields, after: ProjectFields): Record<string, { from: unknown; to: unknown }> {
  const fields = ['name', 'description', 'status', 'start_date', 'end_date'] as const;
  const changed = fields.filter((field) => before[field] !== after[field]);
  return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
}
