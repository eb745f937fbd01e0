/** Every event that an endpoint can subscribe to, by name, with its description. `webhook.test` goes to the endpoint that asks for it. */
export const WEBHOOK_EVENTS = {
  'task.created': 'A task was created',
  'task.updated': 'A task was changed in any way',
  'task.status_changed': 'The status of a task changed',
  'task.assigned': 'A task was assigned',
  'task.completed': 'A task was completed',
  'task.deleted': 'A task was moved to the trash',
  'task.restored': 'A task was restored from the trash',
  'task.due_soon': 'A task is due within a day',
  'task.overdue': 'A task is overdue',
  'comment.created': 'Someone commented on a task',
  'project.created': 'A project was created',
  'project.updated': 'A project was changed in any way',
  'project.status_changed': 'The status of a project changed',
  'project.deleted': 'A project was moved to the trash',
  'project.restored': 'A project was restored from the trash',
  'note.created': 'A note was created',
  'cycle.started': 'A cycle started',
  'cycle.completed': 'A cycle was completed',
  'team.member_added': 'Someone joined the team',
  'team.member_removed': 'Someone left the team',
  'runner.job_finished': 'A job of a runner ended, however it ended',
  'bulk.job_finished': 'An export or import ended, however it ended',
  'automation.run_failed': 'A run of an automation failed',
  'automation.run_paused': 'A run of an automation waits for an approval',
  'approval.requested': 'A run asks for an approval',
  'approval.decided': 'An approval was given or refused',
  'approval.expired': 'Nobody decided about an approval in time',
  'agent.plan_staged': 'The agent proposed a plan',
  'agent.plan_applied': 'A plan of the agent was applied',
  'webhook.disabled': 'Another endpoint of the team was disabled',
} as const;

export type WebhookEvent = keyof typeof WEBHOOK_EVENTS | 'webhook.test';

const NAMES = Object.keys(WEBHOOK_EVENTS) as (keyof typeof WEBHOOK_EVENTS)[];

const familyOf = (name: string): string => `${name.split('.', 1)[0]}.*`;

/** Every entry that `events` of an endpoint may hold: names, families, and everything. */
export const EVENT_PATTERNS: readonly string[] = ['*', ...new Set(NAMES.map(familyOf)), ...NAMES];

/** Returns whether an endpoint's patterns ask for an event. */
export const isWanted = (patterns: ReadonlySet<string>, name: string): boolean =>
  Object.hasOwn(WEBHOOK_EVENTS, name) && (patterns.has('*') || patterns.has(name) || patterns.has(familyOf(name)));
