import { v5 as uuidv5, v7 as uuidv7 } from 'uuid';
import { run, type Statement } from '../../db/statement.js';
import type { Context, Services } from '../core/context.js';
import { conditionScope, evaluateCondition } from './condition.js';
import { type ArmedAutomation, createRun } from './create-run.js';
import { triggersOfEvent } from './triggers.js';

/** An event as it stands in the outbox. */
export interface OutboxEvent {
  outbox_id: number;
  subject: string;
  event_id: string;
  team_id: string | null;
  project_id: string | null;
  payload: Record<string, unknown>;
  correlation_id: string;
  depth: number;
  caused_by_run: string | null;
  created_at: Date;
}

/** Deepest chain of automations setting each other off (F11). */
const MAX_DEPTH = 10;

/**
 * $1 events as [{outbox_id, team_id, project_id, project_ids, actor_id, triggers}]. An armed automation hears the events of its
 * team, or of its live project; a personal one those of its creator (F1). A delivery may concern several projects of a team (F2).
 */
const matchStatement: Statement = {
  name: 'match_automations',
  text: /* sql */ `
    select e.outbox_id, to_json(a) as automation,
      case when p.project_id is null then null else json_build_object('project_id', p.project_id, 'name', p.name, 'status', p.status) end as project,
      case when u.user_id is null then null else json_build_object('user_id', u.user_id, 'name', u.name, 'email', u.email) end as actor,
      now() as now
    from jsonb_to_recordset($1::jsonb) as e(outbox_id bigint, team_id uuid, project_id uuid, project_ids uuid[], actor_id uuid, triggers text[])
    join automations a on a.trigger_type = any(e.triggers) and a.is_active and a.deleted_at is null
      and (a.team_id = e.team_id or (a.team_id is null and a.created_by = e.actor_id))
    left join projects own on own.project_id = a.project_id
    left join projects p on p.project_id = e.project_id
    left join users u on u.user_id = e.actor_id
    where a.project_id is null or (a.project_id = any(e.project_ids) and own.deleted_at is null)
    order by e.outbox_id, a.automation_id`,
};

interface Match extends Record<string, unknown> {
  outbox_id: number;
  automation: ArmedAutomation;
  project: object | null;
  actor: object | null;
  now: Date;
}

/** The id of the run that an event sets off in an automation: the same for the same two, so it can exist once (R3). */
const runIdOf = (automationId: string, eventId: string): string => uuidv5(eventId, automationId);

/** What templates and conditions see as `event` (F5). */
const eventOf = (event: OutboxEvent): Record<string, unknown> => ({
  type: event.subject,
  event_id: event.event_id,
  occurred_at: event.created_at.toISOString(),
  team_id: event.team_id,
  project_id: event.project_id,
  ...event.payload,
});

function judge(match: Match, event: OutboxEvent): { skip: 'loop' | 'condition_false' | null; conditionError: string | null } {
  if (event.depth > MAX_DEPTH) return { skip: 'loop', conditionError: null };
  const { condition } = match.automation;
  if (!condition) return { skip: null, conditionError: null };
  const scope = conditionScope(eventOf(event), { project: match.project, actor: match.actor, now: match.now });
  const { matched, error } = evaluateCondition(condition, scope);
  return { skip: matched ? null : 'condition_false', conditionError: error };
}

/**
 * Finds the armed automations of a batch of events, judges their conditions and writes a run for each: queued for what fires,
 * skipped (a row only, no workflow) for what does not. Runs in the relay's transaction. Returns the number of runs queued.
 */
export async function matchAutomations(services: Services, events: OutboxEvent[]): Promise<number> {
  const asked = events.map(({ outbox_id, subject, team_id, project_id, payload }) => ({
    outbox_id,
    team_id,
    project_id,
    project_ids: payload['project_ids'] ?? [project_id],
    actor_id: payload['actor_id'] ?? null,
    triggers: triggersOfEvent(subject, payload),
  }));
  const matches = await run<Match>(services.db, matchStatement, [JSON.stringify(asked)]);
  let queued = 0;
  for (const match of matches) {
    const event = events.find(({ outbox_id }) => outbox_id === match.outbox_id) as OutboxEvent;
    const { skip, conditionError } = judge(match, event);
    const ctx: Context = {
      ...services,
      actor: { type: 'system', name: 'relay' },
      requestId: uuidv7(),
      correlationId: event.correlation_id,
      ip: null,
      userAgent: null,
    };
    const created = await createRun(ctx, {
      run_id: runIdOf(match.automation.automation_id, event.event_id),
      automation: match.automation,
      event: eventOf(event),
      trigger_type: match.automation.trigger_type,
      depth: event.depth,
      triggered_by: (event.payload['actor_id'] as string | null | undefined) ?? null,
      skip_reason: skip,
      condition_error: conditionError,
    });
    if (created && !skip) queued += 1;
  }
  return queued;
}
