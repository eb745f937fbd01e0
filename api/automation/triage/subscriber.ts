import { ciSubject } from './ci-subject.js';
import { defineStatement, run } from '../../../db/statement.js';
import type { Services } from '../../platform/context.js';
import { type Enqueued, type OutboxEvent, subscriberKind } from '../../platform/outbox/subscriber.js';

interface Definition {
  teamId: string;
}

/** A failure for a team: the delivery, and what names its run. */
interface Match {
  team_id: string;
  receipt_id: string;
  subject: string;
  correlation_id: string;
}

/** $1 = rows. The worker starts or wakes the triage of each run. */
const insertStatement = defineStatement({
  name: 'enqueue_ci_triage',
  text: /* sql */ `
    insert into outbox (kind, subject, team_id, payload, correlation_id)
    select 'triage.ci', m.subject, m.team_id, jsonb_build_object('team_id', m.team_id, 'receipt_id', m.receipt_id), m.correlation_id
    from jsonb_to_recordset($1::jsonb) as m(subject text, team_id uuid, receipt_id uuid, correlation_id uuid)`,
});

const ROW_BYTES = 300;

function decide({ payload, correlation_id }: OutboxEvent, { teamId }: Definition): Match | undefined {
  const { repo, run_id, sha, receipt_id } = payload;
  const subject = ciSubject(teamId, { repo, run_id, sha });
  if (subject === null || typeof receipt_id !== 'string') return undefined;
  return { team_id: teamId, receipt_id, subject, correlation_id };
}

async function enqueue({ db }: Services, matches: readonly Match[]): Promise<Enqueued> {
  await run(db, insertStatement, [JSON.stringify(matches)]);
  return {};
}

/** The CI triage of teams that have enabled it: database triggers keep their rows in `event_subscriptions`. */
export const triage = subscriberKind<Definition, Match>({
  name: 'triage',
  audience: /* sql */ `
  select s.owner_id as subscriber_id, 1 as version from event_subscriptions s
  where s.kind = 'triage' and s.owner_id = o.team_id and o.subject = any(s.event_types)`,
  definitions: defineStatement({
    name: 'triage_definitions',
    text: 'select id as subscriber_id, version from unnest($1::uuid[], $2::int[]) as wanted(id, version)',
  }),
  compile: (row) => ({ definition: { teamId: row['subscriber_id'] as string }, bytes: 100 }),
  decide,
  countBytes: () => ROW_BYTES,
  enqueue,
});
