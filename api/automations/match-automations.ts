import { setImmediate as nextTurn } from 'node:timers/promises';
import { v5 as uuidv5 } from 'uuid';
import type { RunStep } from '../../workflows/contract.js';
import type { Services } from '../core/context.js';
import { type ConditionScope, conditionScope, evaluateCondition } from './condition.js';
import { type ArmedAutomation, createRuns, type NewRun } from './create-run.js';
import { tripBreaker } from './trip-breaker.js';
import { triggersOfEvent, triggersOfSubjects } from './triggers.js';

/** An event of the outbox with the automations that may hear it; times are text as PostgreSQL writes them. */
export interface HeardEvent {
  outbox_id: number;
  subject: string;
  event_id: string;
  team_id: string | null;
  project_id: string | null;
  payload: Record<string, unknown>;
  correlation_id: string;
  depth: number;
  created_at: string;
  now: string;
  automations: ArmedAutomation[] | null;
  project: object | null;
  actor: object | null;
}

/** A run that is to be started, with what its workflow and its operators are told. */
export interface StartOrder {
  outbox_id: number;
  payload: { run_id: string; incarnation: number };
  correlation_id: string;
  run_id: string;
  automation_id: string;
  automation_name: string;
  team_id: string | null;
  project_id: string | null;
  creator_id: string;
  trigger_type: string;
  depth: number;
  is_test: boolean;
  entity_id: string | null;
  steps: RunStep[];
}

/** Which trigger types an event of a subject may amount to, as SQL. */
const TRIGGERS_OF = `'${JSON.stringify(triggersOfSubjects).replaceAll("'", "''")}'::jsonb`;

const ARMED = /* sql */ `a.is_active and a.deleted_at is null
  and a.trigger_type = any(array(select jsonb_array_elements_text(${TRIGGERS_OF} -> o.subject)))`;

/** Who did it, where somebody did: a payload that says something else is nobody's, and stops no survey. */
const ACTOR = /* sql */ `case when pg_input_is_valid(o.payload->>'actor_id', 'uuid') then (o.payload->>'actor_id')::uuid end`;

/**
 * The automations a that may hear the event o of the outbox, as a `from` with its `where`. An armed automation hears the events of its
 * team, or of its live project; a personal one those of its creator (F1). A delivery may concern several projects of a team (F2).
 * Whether a change amounts to a trigger such as task.completed is judged behind this, by its payload. Each of the two branches has
 * an index, and the project is looked up by its key, so that an event does not meet what others have armed.
 */
export const HEARERS = /* sql */ `(
    select a.* from automations a where a.team_id = o.team_id and ${ARMED}
    union all
    select a.* from automations a where a.team_id is null and a.created_by = ${ACTOR} and ${ARMED}
  ) a
  where a.project_id is null or ((select p.deleted_at is null from projects p where p.project_id = a.project_id)
    and case when o.payload ? 'project_ids' then o.payload->'project_ids' ? a.project_id::text else a.project_id = o.project_id end)`;

/** An event o of the outbox as a `HeardEvent`. */
export const HEARD_EVENT = /* sql */ `json_build_object('outbox_id', o.outbox_id, 'subject', o.subject, 'event_id', o.event_id,
  'team_id', o.team_id, 'project_id', o.project_id, 'payload', o.payload, 'correlation_id', o.correlation_id, 'depth', o.depth,
  'created_at', o.created_at, 'now', now(),
  'automations', (select json_agg(json_build_object('automation_id', a.automation_id, 'name', a.name, 'team_id', a.team_id,
    'project_id', a.project_id, 'created_by', a.created_by, 'trigger_type', a.trigger_type, 'condition', a.condition,
    'version', a.version) order by a.automation_id) from ${HEARERS}),
  'project', (select json_build_object('project_id', p.project_id, 'name', p.name, 'status', p.status) from projects p where p.project_id = o.project_id),
  'actor', (select json_build_object('user_id', u.user_id, 'name', u.name, 'email', u.email) from users u where u.user_id = ${ACTOR}))`;

/** The id of the run that an event sets off in an automation: the same for the same two, so it can exist once (R3). */
const runIdOf = (automationId: string, eventId: string): string => uuidv5(eventId, automationId);

/** What templates and conditions see as `event` (F5). */
const eventOf = (event: HeardEvent): Record<string, unknown> => ({
  type: event.subject,
  event_id: event.event_id,
  occurred_at: new Date(event.created_at).toISOString(),
  team_id: event.team_id,
  project_id: event.project_id,
  ...event.payload,
});

function judge({ condition }: ArmedAutomation, scope: () => ConditionScope): Pick<NewRun, 'skip_reason' | 'condition_error'> {
  if (!condition) return {};
  const { matched, error } = evaluateCondition(condition, scope());
  return { skip_reason: matched ? null : 'condition_false', condition_error: error };
}

/** The runs that an event sets off, one after the other: queued for what fires, skipped (a row only, no workflow) for what its condition leaves out. */
function* runsOf(heard: HeardEvent, maxDepth: number): Generator<NewRun> {
  const triggers = triggersOfEvent(heard.subject, heard.payload);
  const event = eventOf(heard);
  const around = { project: heard.project, actor: heard.actor, now: new Date(heard.now) };
  let converted: ConditionScope | undefined;
  const scope = () => (converted ??= conditionScope(event, around));
  for (const automation of heard.automations ?? []) {
    if (!triggers.includes(automation.trigger_type)) continue;
    yield {
      outbox_id: heard.outbox_id,
      run_id: runIdOf(automation.automation_id, heard.event_id),
      automation,
      event,
      trigger_type: automation.trigger_type,
      depth: heard.depth,
      triggered_by: (heard.payload['actor_id'] as string | null | undefined) ?? null,
      correlation_id: heard.correlation_id,
      ...(heard.depth > maxDepth ? { skip_reason: 'loop' } : judge(automation, scope)),
    };
  }
}

/** Conditions are judged for so long before whatever else this process does has its turn, ms. */
const TURN_MS = 20;

/**
 * The runs that events set off. A thousand automations may hear one event, each with a condition that takes as long as one may: what
 * this process does besides, steps of runs and mails among it, goes on meanwhile.
 */
export async function judgeEvents(events: readonly HeardEvent[], maxDepth: number): Promise<NewRun[]> {
  const runs: NewRun[] = [];
  let since = performance.now();
  for (const event of events) {
    for (const run of runsOf(event, maxDepth)) {
      runs.push(run);
      if (performance.now() - since < TURN_MS) continue;
      await nextTurn();
      since = performance.now();
    }
  }
  return runs;
}

const entityOf = ({ event }: NewRun): string | null => {
  const { task, linked_task_ids } = event as { task?: { task_id?: string } | null; linked_task_ids?: string[] };
  return task?.task_id ?? linked_task_ids?.[0] ?? null;
};

/**
 * Judges a batch of events and, in one commit, takes them out of the outbox and writes the runs that they set off. Two relays that
 * judge one event at the same time make its runs once. `leaseSeconds`: for so long the orders are the caller's to hand over.
 * @returns the orders to start what fires
 */
export async function matchAutomations(
  services: Services,
  events: readonly HeardEvent[],
  leaseSeconds: number | null,
): Promise<StartOrder[]> {
  const runs = await judgeEvents(events, services.config.AUTOMATION_MAX_DEPTH);
  const ids = events.map(({ outbox_id }) => outbox_id);
  const made = new Map((await createRuns(services, runs, ids, leaseSeconds)).map((each) => [each.run_id, each]));
  const caused = runs
    .filter(({ depth, skip_reason, run_id }) => depth > 0 && !skip_reason && made.has(run_id))
    .map(({ automation }) => automation.automation_id);
  if (caused.length > 0) await tripBreaker(services, [...new Set(caused)]);
  return runs.flatMap((run) => {
    const { order_id, steps } = made.get(run.run_id) ?? { order_id: null, steps: [] };
    if (order_id === null) return [];
    const { automation_id, name: automation_name, team_id, project_id, created_by: creator_id } = run.automation;
    const { run_id, trigger_type, depth, correlation_id } = run;
    const payload = { run_id, incarnation: 1 };
    const whose = { automation_id, automation_name, team_id, project_id, creator_id };
    return [
      {
        outbox_id: order_id,
        payload,
        correlation_id,
        run_id,
        ...whose,
        trigger_type,
        depth,
        is_test: false,
        entity_id: entityOf(run),
        steps,
      },
    ];
  });
}
