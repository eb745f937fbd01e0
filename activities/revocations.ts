import { ApplicationFailure } from '@temporalio/activity';
import { revokeConnection } from '../api/integrations/connections/revoke-connection.js';
import type { Services } from '../api/platform/context.js';
import { OutboundFailure } from '../api/platform/http-client/failure.js';
import { CONNECTION_REVOCATION, type RevocationActivities, revocationWorkflowId } from '../workflows/contract.js';
import { defineStatement } from '../db/statement.js';
import { defineRowWorkflow } from './row-workflow.js';

/**
 * Maximum wait that a service may request, in ms: the workflow has a day in total (workflows/connection-revocation.ts)
 * (docs/decisions/automation.md#longest-waits).
 */
const MAX_WAIT_MS = 3_600_000;

/** Activities that call other servers, for the queue `outbound`. */
export const revocationActivities = (services: Services): RevocationActivities => ({
  async revokeConnection(revocationId) {
    try {
      return await revokeConnection(services, revocationId);
    } catch (thrown) {
      if (!(thrown instanceof OutboundFailure) || thrown.waitMs === null) throw thrown;
      const nextRetryDelay = Math.min(thrown.waitMs, MAX_WAIT_MS);
      throw ApplicationFailure.create({ type: thrown.reason, message: thrown.message, nextRetryDelay });
    }
  },
});

/** An outbox row that starts a revocation. */
interface Row {
  outbox_id: number;
  correlation_id: string;
  revocation_id: string;
  user_id: string;
  provider: string;
}

/** $1 = leased rows. */
const dispatches = defineStatement({
  name: 'revocation_dispatches',
  text: /* sql */ `
    select o.outbox_id, o.correlation_id, r.revocation_id, r.user_id, r.provider
    from outbox o join integration_revocations r on r.revocation_id = (o.payload->>'revocation_id')::uuid
    where o.outbox_id = any($1::bigint[])`,
});

/**
 * $1 = revocation id after which to continue, $2 = row limit. Revocations without a row in the outbox. Their workflow ends after a day and is then
 * not restarted.
 */
const open = defineStatement({
  name: 'open_revocations',
  text: /* sql */ `
    select s.revocation_id from integration_revocations s
    where s.created_at > now() - interval '1 day' and s.revocation_id > $1
      and not exists (select from outbox o where o.kind = 'integration.revoke' and o.subject = s.revocation_id::text)
    order by s.revocation_id limit $2`,
});

/** $1 = revocation ids. Enqueues their starts again. */
const restart = defineStatement({
  name: 'restart_revocations',
  text: /* sql */ `
    insert into outbox (kind, subject, payload, correlation_id)
    select 'integration.revoke', s.revocation_id::text, jsonb_build_object('revocation_id', s.revocation_id), uuidv7()
    from integration_revocations s where s.revocation_id = any($1::uuid[]) returning outbox_id`,
});

/** Tokens of deleted connections, which their services revoke. */
export const revocations = defineRowWorkflow<Row, { revocation_id: string }>({
  notes: [
    {
      process: 'connection_revocation',
      workflowId: 'revoke:<revocation_id>',
      shows: 'Tokens of a deleted connection that its service has not revoked yet',
    },
  ],
  invariants: [
    {
      name: 'revocations_carried',
      words: 'No revocation of the last 23 hours has been without an open workflow for more than 60 s',
      sql: /* sql */ `
        select revocation_id::text as violation from integration_revocations
        where created_at between now() - interval '23 hours' and clock_timestamp() - interval '60 seconds' order by created_at`,
      buildWorkflowId: revocationWorkflowId,
    },
  ],
  activities: { outbound: revocationActivities },
  plural: 'revocations',
  kinds: ['integration.revoke'],
  dispatches,
  workflow: CONNECTION_REVOCATION,
  getId: ({ revocation_id }) => revocationWorkflowId(revocation_id),
  input: ({ revocation_id }) => revocation_id,
  attributes: ({ user_id }) => ({ ActorId: user_id }),
  summary: ({ provider }) => `Revoke tokens of ${provider}`,
  key: 'revocation_id',
  open,
  restart,
});
