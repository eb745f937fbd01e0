import { v5 as uuidv5 } from 'uuid';
import { type CompiledCondition, compileCondition } from '../../language/condition.js';
import { type ConditionScope, conditionScope } from '../../language/condition-scope.js';
import { createRuns, type NewRun } from '../../runs/record/create-run.js';
import { recordSkipped, SKIPPED_RUN_BYTES, type SkippedRun, deriveSkippedId } from '../../runs/record/record-skipped.js';
import { nameTask } from '../../language/name-task.js';
import { tripBreaker } from './trip-breaker.js';
import { triggersOfEvent } from '../../../platform/events/event-types.js';
import type { Services } from '../../../platform/context.js';
import { AUDIENCE, definitionsStatement } from './subscriber.sql.js';
import { type Enqueued, type OutboxEvent, subscriberKind } from '../../../platform/outbox/subscriber.js';

interface Definition {
  automation: { automation_id: string; version: number; name: string };
  trigger_type: string;
  condition: CompiledCondition | null;
  actions: number;
}

/** Bytes of a compiled condition per character (57 measured), and of the rest of a definition. */
const BYTES_PER_CHARACTER = 60;
const DEFINITION_BYTES = 1_000;
/** Bytes that a run writes besides its event, and per action. */
const RUN_BYTES = 500;
const ACTION_BYTES = 300;

type Row = {
  subscriber_id: string;
  version: number;
  name: string;
  trigger_type: string;
  condition: string | null;
  actions: number;
};

function compile(row: Record<string, unknown>): { definition: Definition; bytes: number } {
  const { subscriber_id, version, name, trigger_type, condition, actions } = row as Row;
  const definition: Definition = {
    automation: { automation_id: subscriber_id, version, name },
    trigger_type,
    condition: condition === null || condition === '' ? null : compileCondition(condition),
    actions,
  };
  return { definition, bytes: DEFINITION_BYTES + (condition?.length ?? 0) * BYTES_PER_CHARACTER };
}

/** Derived data of an event, shared by all its automations. */
interface EventData {
  /** Event as templates and conditions see it. */
  event: Readonly<Record<string, unknown>>;
  triggers: string[];
  bytes: number;
  scope?: ConditionScope;
}
const dataByEvent = new WeakMap<OutboxEvent, EventData>();

function getEventData(outboxEvent: OutboxEvent): EventData {
  let found = dataByEvent.get(outboxEvent);
  if (!found) {
    const { subject, event_id, created_at, team_id, project_id, payload } = outboxEvent;
    const occurred_at = new Date(created_at).toISOString();
    const event = { type: subject, event_id, occurred_at, team_id, project_id, ...nameTask(payload, outboxEvent) };
    found = { event, triggers: triggersOfEvent(subject, payload), bytes: JSON.stringify(event).length };
    dataByEvent.set(outboxEvent, found);
  }
  return found;
}

function getConditionScope({ project, actor, now }: OutboxEvent, about: EventData): ConditionScope {
  return (about.scope ??= conditionScope(about.event, { project, actor, now: new Date(now) }));
}

/** Derives the run's id from event and automation, so that it is created once. */
const deriveRunId = (automationId: string, eventId: string): string => uuidv5(eventId, automationId);

/** Decides the run of an event and an automation: queued if its condition is true, otherwise skipped (no event, no workflow). */
function decide(
  event: OutboxEvent,
  { automation, trigger_type, condition, actions }: Definition,
): (NewRun & { bytes: number }) | undefined {
  const about = getEventData(event);
  if (!about.triggers.includes(trigger_type)) return undefined;
  const verdict = condition?.evaluate(getConditionScope(event, about)) ?? { matched: true, error: null };
  return {
    run_id: deriveRunId(automation.automation_id, event.event_id),
    automation,
    event: about.event,
    trigger_type,
    depth: event.depth,
    triggered_by: (event.payload['actor_id'] as string | null | undefined) ?? null,
    cause_user_ids: event.cause_user_ids,
    correlation_id: event.correlation_id,
    skip_reason: verdict.matched ? null : 'condition_false',
    condition_error: verdict.error,
    bytes: verdict.matched ? about.bytes + RUN_BYTES + actions * ACTION_BYTES : SKIPPED_RUN_BYTES,
  };
}

const toSkippedRun = (run: NewRun, skip_reason: SkippedRun['skip_reason']): SkippedRun => ({
  run_id: deriveSkippedId(run.run_id, new Date(run.event['occurred_at'] as string)),
  automation_id: run.automation.automation_id,
  automation_version: run.automation.version,
  triggered_by: run.triggered_by ?? null,
  depth: run.depth,
  skip_reason,
  condition_error: skip_reason === 'loop' ? null : (run.condition_error ?? null),
});

/**
 * Creates the runs, and records those that their condition or their depth skips. Disables automations that other runs start too
 * often after the commit. The skipped ones come last: their team's budget is locked until the commit.
 */
async function enqueue(services: Services, matches: readonly NewRun[], leaseSeconds: number | null): Promise<Enqueued> {
  const isTooDeep = ({ depth }: NewRun): boolean => depth > services.config.AUTOMATION_MAX_DEPTH;
  const isSkipped = (run: NewRun): boolean => isTooDeep(run) || run.skip_reason != null;
  const runs = matches.filter((run) => !isSkipped(run));
  const skipped = matches.filter(isSkipped).map((run) => toSkippedRun(run, isTooDeep(run) ? 'loop' : 'condition_false'));
  // Sent together; awaited in order, because a statement after a failure only reports the aborted transaction.
  const creating = runs.length === 0 ? Promise.resolve([]) : createRuns(services, runs, leaseSeconds);
  const recording = recordSkipped(services, skipped);
  await Promise.allSettled([creating, recording]);
  const created = await creating;
  await recording;
  const starts = created.flatMap(({ start }) => start ?? []);
  const caused = [...new Set(starts.filter(({ depth }) => depth > 0).map(({ automation_id }) => automation_id))];
  return { starts, ...(caused.length > 0 ? { afterCommit: (after) => tripBreaker(after, caused) } : {}) };
}

export const automations = subscriberKind<Definition, NewRun & { bytes: number }>({
  name: 'automation',
  audience: AUDIENCE,
  definitions: definitionsStatement,
  compile,
  decide,
  countBytes: ({ bytes }) => bytes,
  enqueue,
});
