import { run } from '../../db/statement.js';
import { type OutboxEvent, subscriberKind } from '../../api/platform/outbox/subscriber.js';

/** What the probe has received; the test creates the table `probe_received`. */
const insert = {
  name: 'probe_received',
  text: 'insert into probe_received (subscriber_id, event_id, event_type) select * from unnest($1::uuid[], $2::uuid[], $3::text[])',
};

interface Definition {
  subscriber_id: string;
}
interface Match extends Definition {
  event: OutboxEvent;
}

/** A kind of the tests: each row `probe` in `event_subscriptions` is a subscriber, and receives every event of its owner. */
export const probe = subscriberKind<Definition, Match>({
  name: 'probe',
  audience: `select s.owner_id as subscriber_id, 1 as version from event_subscriptions s
    where s.kind = 'probe' and s.owner_id in (o.team_id, o.actor_id) and o.subject = any(s.event_types)`,
  definitions: {
    name: 'probe_definitions',
    text: 'select id as subscriber_id, version from unnest($1::uuid[], $2::int[]) as wanted(id, version)',
  },
  compile: (row) => ({ definition: { subscriber_id: row['subscriber_id'] as string }, bytes: 100 }),
  decide: (event, { subscriber_id }) => ({ event, subscriber_id }),
  countBytes: () => 100,
  async enqueue({ db }, matches) {
    const values = [
      matches.map(({ subscriber_id }) => subscriber_id),
      matches.map(({ event }) => event.event_id),
      matches.map(({ event }) => event.subject),
    ];
    await run(db, insert, values);
    return {};
  },
});
