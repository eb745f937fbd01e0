/** What a view is over. */
export const VIEW_ENTITIES = ['task', 'project', 'work_item'] as const;
export type ViewEntity = (typeof VIEW_ENTITIES)[number];

export const LAYOUTS = ['list', 'board'] as const;

export const MAX_VIEWS_PER_USER = 200;
export const MAX_SORT_FIELDS = 5;
/** Rows that pages of results reach, as those of the list of work items. */
export const MAX_RESULTS = 10_000;

/** Filters with values of each entity, and those without. */
const VALUE_FILTERS_OF: Readonly<Record<ViewEntity, readonly string[]>> = {
  task: ['status', 'priority', 'assigned_to', 'created_by', 'cycle_id', 'stage_id', 'tags', 'project_id', 'custom_fields'],
  project: ['status', 'project_id', 'custom_fields'],
  work_item: ['status', 'project_id'],
};
const OTHER_FILTERS_OF: Readonly<Record<ViewEntity, readonly string[]>> = {
  task: ['due', 'due_before', 'due_after', 'q'],
  project: ['q'],
  work_item: ['q'],
};
/** Filters of each entity. What has values also leaves them out, as `not_status`. */
export const filtersOf = (entity: ViewEntity): string[] => [
  ...VALUE_FILTERS_OF[entity].flatMap((name) => [name, `not_${name}`]),
  ...OTHER_FILTERS_OF[entity],
];

/** Days that a task can be due in, which move with the calendar of the viewer, and on no day. */
export const DUE_RANGES = ['overdue', 'today', 'week', 'next_7', 'none'] as const;
export type DueRange = (typeof DUE_RANGES)[number];

/** Statuses of each entity, in their order; of a task also why nobody completed it. */
export const STATUSES_OF: Readonly<Record<ViewEntity, readonly string[]>> = {
  task: ['todo', 'in_progress', 'in_review', 'done', 'canceled', 'duplicate'],
  project: ['active', 'completed', 'archived'],
  work_item: ['todo', 'in_progress', 'in_review', 'done', 'active', 'completed', 'archived'],
};

/** Fields of the record that each entity groups by. */
export const GROUP_FIELDS: Readonly<Record<ViewEntity, readonly string[]>> = {
  task: ['status', 'priority', 'assigned_to', 'project_id', 'cycle_id', 'stage_id'],
  project: ['status', 'team_id'],
  work_item: ['type', 'status', 'project_id'],
};

/** Entities whose items can have custom fields. */
export const hasCustomFields = (entity: ViewEntity): entity is 'task' | 'project' => entity !== 'work_item';
