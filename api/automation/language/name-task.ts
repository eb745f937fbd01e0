import type { OutboxEvent } from '../../platform/outbox/subscriber.js';
import { wordTaskName } from '../../work/search/named-tasks.js';

type Event = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Event => typeof value === 'object' && value !== null;

/**
 * Returns an event whose task has what people call it and its stage, and the values of its custom fields: the record lacks them, because names can
 * change. A change of the stage has the names before and after; that of a custom field is what the event says. Pure.
 */
export function nameTask(event: Event, { team_key, names }: Pick<OutboxEvent, 'team_key' | 'names'>): Event {
  const { task, changes } = event;
  if (!isRecord(task)) return event;
  const { stages = {}, custom_fields = {} } = names ?? {};
  const nameStage = (id: unknown): string | null => (typeof id === 'string' ? (stages[id] ?? null) : null);
  const { field } = event;
  const value = isRecord(field) && isRecord(changes) ? changes['value'] : undefined;
  const moved = isRecord(changes) ? changes['stage_id'] : undefined;
  // The values are read later, when the field may have changed again.
  const now = isRecord(value) ? { ...custom_fields, [String((field as Event)['key'])]: value['to'] ?? null } : custom_fields;
  return {
    ...event,
    task: { ...task, name: wordTaskName(team_key, task['number']), stage: nameStage(task['stage_id']), custom_fields: now },
    ...(isRecord(moved) && {
      changes: { ...(changes as Event), stage: { from: nameStage(moved['from']), to: nameStage(moved['to']) } },
    }),
  };
}
