import { z } from 'zod';
import { FORGE_EVENTS, type ForgeEventType } from './forge-events.js';

/** Changed fields; long texts by their sizes. */
export const Changes = z.record(
  z.string(),
  z.union([z.object({ from_bytes: z.int(), to_bytes: z.int() }), z.object({ from: z.unknown(), to: z.unknown() })]),
);
const Task = z.looseObject({
  task_id: z.string(),
  title: z.string(),
  project_id: z.string(),
  team_id: z.string(),
  status: z.string(),
});
const Project = z.looseObject({ project_id: z.string(), name: z.string(), team_id: z.string(), status: z.string() });
const Comment = z.looseObject({ comment_id: z.string(), task_id: z.string(), content: z.string() });
const Note = z.looseObject({ note_id: z.string(), title: z.string(), team_id: z.string(), kind: z.string() });
const Relation = z.looseObject({
  relation_id: z.string(),
  source_id: z.string(),
  target_id: z.string(),
  relation_type: z.string(),
});
const Cycle = z.looseObject({
  cycle_id: z.string(),
  name: z.string(),
  team_id: z.string(),
  number: z.int(),
  status: z.string(),
});
const Plan = z.looseObject({ action_id: z.string(), session_id: z.string(), source: z.string(), risk: z.string() });
const Webhook = z.looseObject({ webhook_id: z.string(), host: z.string(), disabled_reason: z.string() });
const RunnerJob = z.looseObject({ job_id: z.string(), team_id: z.string(), status: z.string() });
const BulkJob = z.looseObject({ job_id: z.string(), team_id: z.string(), kind: z.string(), status: z.string() });
const Member = z.looseObject({ user_id: z.string(), role: z.string() });
const aboutRun = {
  entity_type: z.literal('automation_run'),
  entity_id: z.string(),
  changes: Changes,
  object: z.looseObject({ run_id: z.string() }),
};
/** Tasks that another deletion or restoration took along, without long descriptions. Only webhooks receive them, each task as an event. */
const TaskPage = { cascade_id: z.uuid(), tasks: z.array(z.looseObject({ task_id: z.string() })) };
const fromForge = {
  repo: z.string().nullable(),
  task: Task.nullable(),
  linked_task_ids: z.array(z.string()),
  project_ids: z.array(z.string()),
  receipt_id: z.string(),
};

/**
 * All event types with the fields of their payloads. The table `event_types` holds the same names, so a new one also needs a
 * migration; `record_change` rejects any other.
 */
const FIELDS = {
  'task.created': { task: Task, changes: Changes },
  'task.updated': { task: Task, changes: Changes },
  'task.deleted': { task: Task, cascade_id: z.uuid() },
  'task.restored': { task: Task, changes: Changes, cascade_id: z.uuid() },
  'task.cascade_deleted': TaskPage,
  'task.cascade_restored': TaskPage,
  'task.due_soon': { task: Task, changes: Changes },
  'task.overdue': { task: Task, changes: Changes },
  'comment.created': { comment: Comment, task: Task },
  'project.created': { project: Project, changes: Changes },
  'project.updated': { project: Project, changes: Changes },
  'project.deleted': { project: Project, cascade_id: z.uuid() },
  'project.restored': { project: Project, changes: Changes, cascade_id: z.uuid() },
  'note.created': { note: Note },
  'cycle.started': { cycle: Cycle, changes: Changes },
  'cycle.completed': { cycle: Cycle, changes: Changes },
  'relation.created': { relation: Relation },
  'team.member_added': { member: Member },
  'team.member_removed': { member: Member },
  'agent.plan_staged': { plan: Plan },
  'agent.plan_applied': { plan: Plan },
  'runner.job_finished': { job: RunnerJob, changes: Changes },
  'bulk.job_finished': { job: BulkJob },
  'automation.run_failed': aboutRun,
  'automation.run_paused': aboutRun,
  'approval.requested': aboutRun,
  'approval.decided': aboutRun,
  'approval.expired': aboutRun,
  'webhook.disabled': { webhook: Webhook },
  ...(Object.fromEntries(FORGE_EVENTS.map((type) => [type, fromForge])) as Record<ForgeEventType, typeof fromForge>),
};

export type EventType = keyof typeof FIELDS;

export const EVENT_TYPES = Object.keys(FIELDS) as EventType[];

/** The event of a change, with the fields of its type. `event_id` only if the cause determines it. */
export type ChangeEvent = {
  [Type in EventType]: { type: Type; payload: { [Field in keyof (typeof FIELDS)[Type]]: unknown }; event_id?: string };
}[EventType];

/** Returns the schema of an event's stored payload. */
export const payloadSchema = (type: EventType) => z.looseObject({ actor_id: z.uuid().nullable(), ...FIELDS[type] });
