/** What an export may contain, in the order of its file: whatever a row refers to usually stands before it. */
export const ENTITIES = [
  'projects',
  'project_updates',
  'custom_fields',
  'cycles',
  'tasks',
  'comments',
  'notes',
  'work_items',
  'relations',
  'custom_field_values',
  'automations',
] as const;
export type Entity = (typeof ENTITIES)[number];

/** Kinds of rows: the value of `entity` in each. */
export const ROW_KINDS = {
  projects: 'project',
  project_updates: 'project_update',
  custom_fields: 'custom_field',
  cycles: 'cycle',
  tasks: 'task',
  comments: 'comment',
  notes: 'note',
  work_items: 'work_item',
  relations: 'relation',
  custom_field_values: 'custom_field_value',
  automations: 'automation',
} as const satisfies Record<Entity, string>;
export type RowKind = (typeof ROW_KINDS)[Entity];

export const EXPORT_FORMATS = ['ndjson', 'json', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
/** What an import reads: the formats of an export, and those of other products. */
export const FORMATS = [...EXPORT_FORMATS, 'jira_csv', 'linear_csv', 'github_json'] as const;

export const JOB_KINDS = ['export', 'import'] as const;
export const JOB_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type BulkJobStatus = (typeof JOB_STATUSES)[number];
export type FinalStatus = Extract<BulkJobStatus, 'succeeded' | 'failed' | 'cancelled'>;

export const isEnded = (status: BulkJobStatus): status is FinalStatus => status !== 'queued' && status !== 'running';

/** Jobs of a team that have not ended: one has the team's place, the others wait. */
export const MAX_OPEN_JOBS = 20;
/** Files of a team that can be downloaded at the same time. */
export const MAX_FILES = 100;
/** Bytes of them together, before another export. */
export const MAX_FILE_BYTES = 20 * 1024 * 1024 * 1024;
/** Lifetime of the file of an export, days. */
export const FILE_DAYS = 7;
/** Failed lines of an import that a job lists. */
export const MAX_ERRORS = 100;
/** Errors of each job in a list. */
export const MAX_LISTED_ERRORS = 5;
/** Claims of a job; a job that loses its worker more often than this has failed. */
export const MAX_ATTEMPTS = 10;

/**
 * Returns the entities of an export in the order of its file. Fields come with their values, unless the file is a table, which has rows of one
 * kind.
 */
export function listEntities(wanted: readonly Entity[] | undefined, format: ExportFormat): Entity[] {
  const named = new Set(wanted ?? ENTITIES);
  if (format !== 'csv' && named.has('custom_fields')) named.add('custom_field_values');
  return ENTITIES.filter((entity) => named.has(entity));
}
