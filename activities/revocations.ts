import { ApplicationFailure } from '@temporalio/activity';
import { revokeConnection } from '../api/integrations/connections/revoke-connection.js';
import type { Services } from '../api/platform/context.js';
import { OutboundFailure } from '../api/platform/http-client/failure.js';
import {
  CONNECTION_REVOCATION,
  type RevocationActivities,
  revocationWorkflowId,
} from '../workflows/contracts/revocation-contract.js';
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
  // The workflow ends after a day, and is not restarted then.
  table: {
    name: 'integration_revocations',
    rows: 'revocations',
    key: 'revocation_id',
    where: "r.created_at > now() - interval '1 day'",
    copies: [],
  },
});
