import { z } from 'zod';
import { derived, type Payload, stored } from '../declare.js';
import { CASCADE, changed, Changes, changedTo, FIELD, Field, PERSON, STAGE, TASK, Task } from './shapes.js';

const assignee = (payload: Payload): unknown =>
  (payload['task'] as { assigned_to?: unknown } | null | undefined)?.assigned_to ?? null;
const taskChanged = (field: string, from: unknown, to: unknown) => ({
  type: 'task.updated',
  task: { ...TASK, [field]: to },
  ...changed(field, from, to),
});

const about = { task: Task, changes: Changes };
/** Tasks that another deletion or restoration took along, without long descriptions. Only webhooks receive them, each task as an event. */
const page = { cascade_id: z.uuid(), tasks: z.array(z.looseObject({ task_id: z.string() })) };
const pageSample = { cascade_id: CASCADE, tasks: [TASK] };

export const taskEvents = {
  'task.created': stored({
    payload: about,
    trigger: 'A task is created',
    past: 'A task was created',
    webhook: true,
    sample: { task: TASK, changes: {} },
  }),
  'task.updated': stored({
    payload: about,
    trigger: 'A task is changed in any way, custom fields apart',
    past: 'A task was changed',
    webhook: 'A task was changed in any way',
    sample: taskChanged('title', 'Sign-in fails', TASK.title),
  }),
  'task.status_changed': derived({
    of: { 'task.updated': (payload) => changedTo(payload, 'status') !== undefined },
    trigger: 'The status of a task changes',
    past: 'The status of a task changed',
    webhook: true,
    sample: taskChanged('status', 'todo', 'in_progress'),
  }),
  'task.stage_changed': derived({
    of: { 'task.updated': (payload) => changedTo(payload, 'stage_id') !== undefined },
    trigger: 'A task moves to another stage, or out of one',
    past: 'A task moved to another stage, or out of one',
    webhook: true,
    sample: {
      type: 'task.updated',
      task: { ...TASK, status: 'in_review', stage_id: STAGE },
      changes: { ...changed('status', 'in_progress', 'in_review').changes, ...changed('stage_id', null, STAGE).changes },
    },
  }),
  'task.field_changed': stored({
    payload: { ...about, field: Field },
    trigger: 'A custom field of a task is changed',
    past: 'A custom field of a task was changed',
    webhook: true,
    sample: {
      task: TASK,
      field: FIELD,
      changes: { ...changed('value', null, 's1').changes, ...changed('text', null, 'S1 – down').changes },
    },
  }),
  'task.priority_changed': derived({
    of: { 'task.updated': (payload) => changedTo(payload, 'priority') !== undefined },
    trigger: 'The priority of a task changes',
    past: 'The priority of a task changed',
    webhook: true,
    sample: taskChanged('priority', 'medium', 'urgent'),
  }),
  'task.assigned': derived({
    of: {
      'task.created': (payload) => assignee(payload) !== null,
      'task.updated': (payload) => (changedTo(payload, 'assigned_to') ?? null) !== null,
    },
    trigger: 'A task is assigned',
    past: 'A task was assigned',
    webhook: true,
    sample: taskChanged('assigned_to', null, PERSON),
  }),
  'task.completed': derived({
    // Done with a resolution is closed, and not completed.
    of: { 'task.updated': (payload) => changedTo(payload, 'status') === 'done' && !changedTo(payload, 'resolution') },
    trigger: 'A task is completed',
    past: 'A task was completed',
    webhook: true,
    sample: taskChanged('status', 'in_review', 'done'),
  }),
  'task.canceled': derived({
    of: { 'task.updated': (payload) => Boolean(changedTo(payload, 'resolution')) },
    trigger: 'A task is canceled or closed as a duplicate',
    past: 'A task was canceled or closed as a duplicate',
    webhook: true,
    sample: {
      type: 'task.updated',
      task: { ...TASK, status: 'done', resolution: 'canceled' },
      changes: { ...changed('status', 'todo', 'done').changes, ...changed('resolution', null, 'canceled').changes },
    },
  }),
  'task.deleted': stored({
    payload: { task: Task, cascade_id: z.uuid() },
    trigger: 'A task is moved to the trash',
    past: 'A task was moved to the trash',
    webhook: true,
    sample: { task: TASK, cascade_id: CASCADE },
  }),
  'task.restored': stored({
    payload: { ...about, cascade_id: z.uuid() },
    trigger: 'A task is restored from the trash',
    past: 'A task was restored from the trash',
    webhook: true,
    sample: { task: TASK, changes: {}, cascade_id: CASCADE },
  }),
  'task.cascade_deleted': stored({
    payload: page,
    recordEvent: 'task.deleted',
    past: 'Tasks were moved to the trash',
    sample: pageSample,
  }),
  'task.cascade_restored': stored({
    payload: page,
    recordEvent: 'task.restored',
    past: 'Tasks were restored from the trash',
    sample: pageSample,
  }),
  'task.due_soon': stored({
    payload: about,
    trigger: 'A task is due within a day',
    past: 'A task is due within a day',
    webhook: true,
    sample: { actor_id: null, task: { ...TASK, due_date: '2026-11-21' }, changes: {} },
  }),
  'task.overdue': stored({
    payload: about,
    trigger: 'A task is overdue',
    past: 'A task is overdue',
    webhook: true,
    sample: { actor_id: null, task: { ...TASK, due_date: '2026-11-19' }, changes: {} },
  }),
};
