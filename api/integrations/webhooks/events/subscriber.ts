import { run } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import type { DeliveredEvent } from './body.js';
import { eventsOfChange } from './events-of-change.js';
import { type Enqueued, type OutboxEvent, subscriberKind } from '../../../platform/outbox/subscriber.js';
import { AUDIENCE, definitionsStatement, insertStatement } from './subscriber.sql.js';

interface Definition {
  webhook_id: string;
  patterns: ReadonlySet<string>;
}

/** What a change amounts to for one endpoint. */
interface Match {
  webhook_id: string;
  team_id: string | null;
  correlation_id: string;
  events: DeliveredEvent[];
}

/** Bytes of a row of the queue. */
const ROW_BYTES = 200;
const DEFINITION_BYTES = 500;

function compile(row: Record<string, unknown>): { definition: Definition; bytes: number } {
  const { subscriber_id, events } = row as { subscriber_id: string; events: string[] | null };
  return {
    definition: { webhook_id: subscriber_id, patterns: new Set(events ?? []) },
    bytes: DEFINITION_BYTES + (events?.length ?? 0) * 100,
  };
}

function decide(event: OutboxEvent, { webhook_id, patterns }: Definition): Match | undefined {
  const events = eventsOfChange(event, patterns);
  return events.length === 0 ? undefined : { webhook_id, team_id: event.team_id, correlation_id: event.correlation_id, events };
}

/** Writes each event once for all endpoints, and a row of the queue for each endpoint. Wakes the dispatcher after the commit. */
async function enqueue({ db }: Services, matches: readonly Match[]): Promise<Enqueued> {
  const events = new Map(
    matches.flatMap(({ team_id, correlation_id, events: own }) =>
      own.map((event) => [event.event_id, { ...event, team_id, correlation_id }]),
    ),
  );
  const deliveries = matches.flatMap(({ webhook_id, events: own }) =>
    own.map(({ event_id, event_type }) => ({ webhook_id, event_id, event_type })),
  );
  const bodies = [...events.values()];
  await run(db, insertStatement, [
    bodies.map(({ event_id }) => event_id),
    bodies.map(({ team_id }) => team_id),
    bodies.map(({ event_type }) => event_type),
    bodies.map(({ body }) => body),
    deliveries.map(({ webhook_id }) => webhook_id),
    deliveries.map(({ event_id }) => event_id),
    deliveries.map(({ event_type }) => event_type),
  ]);
  const endpoints = new Map(matches.map(({ webhook_id, team_id }) => [webhook_id, { webhook_id, team_id: team_id as string }]));
  return { afterCommit: async ({ wakeWebhooks }) => wakeWebhooks?.([...endpoints.values()], bodies) };
}

/** Endpoints of the event's team: database triggers keep their row in `event_subscriptions`. */
export const webhooks = subscriberKind<Definition, Match>({
  name: 'webhook',
  audience: AUDIENCE,
  definitions: definitionsStatement,
  compile,
  decide,
  countBytes: ({ events }) => events.reduce((sum, { body }) => sum + body.length / 4 + ROW_BYTES, 0),
  enqueue,
});
