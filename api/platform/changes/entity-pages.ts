import type { EntityType } from './change-kinds.js';

/** Where the page of an entity is: what precedes its id. Entities without one are absent. */
export const ENTITY_PAGES = {
  task: '/app/items/',
  note: '/app/items/',
  project: '/app/projects/',
  cycle: '/app/cycles/',
  automation_run: '/app/runs/',
  change_request: '/app/approvals/request/',
  agent_plan: '/app/approvals/plan/',
  bulk_job: '/app/bulk/',
  runner_job: '/app/runners/jobs/',
} as const satisfies Partial<Record<EntityType, `/app/${string}/`>>;

const isPaged = (entity: string): entity is keyof typeof ENTITY_PAGES => Object.hasOwn(ENTITY_PAGES, entity);

/** Returns what precedes the id in the address of an entity's page; undefined if it has none. */
export const findPagePath = (entity: string): `/app/${string}/` | undefined =>
  isPaged(entity) ? ENTITY_PAGES[entity] : undefined;
