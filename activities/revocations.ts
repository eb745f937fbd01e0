import { ApplicationFailure } from '@temporalio/activity';
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Services } from '../api/core/context.js';
import { logScope } from '../api/core/telemetry/log.js';
import { OutboundFailure } from '../api/core/http-client/failure.js';
import type { Dispatcher } from '../api/outbox/dispatch-outbox.js';
import { revokeConnection } from '../api/integrations/revoke-connection.js';
import { CONNECTION_REVOCATION, type RevocationActivities, revocationWorkflowId, taskQueue } from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import { each } from './worker/each.js';
import { isWorkflowOpen } from './worker/open-workflows.js';
import { newId } from '../api/core/ids.js';

/**
 * Maximum wait that a service may request, in ms: the workflow has a day in total (workflows/connection-revocation.ts)
 * (docs/decisions.md#longest-waits).
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

interface Start {
  outbox_id: number;
  correlation_id: string;
  revocation_id: string;
  user_id: string;
  provider: string;
}

/** $1 = leased rows. */
const details = {
  name: 'revocation_dispatches',
  text: /* sql */ `
    select o.outbox_id, o.correlation_id, r.revocation_id, r.user_id, r.provider
    from outbox o join integration_revocations r on r.revocation_id = (o.payload->>'revocation_id')::uuid
    where o.outbox_id = any($1::bigint[])`,
};

/** Revocations without a row in the outbox. Their workflow ends after a day and is then not restarted. */
const OPEN = /* sql */ `
  select s.revocation_id, s.user_id, s.provider from integration_revocations s
  where s.created_at > now() - interval '1 day'
    and not exists (select from outbox o where o.kind = 'integration.revoke' and o.subject = s.revocation_id::text)`;

/** Starts the workflows that revoke tokens at services. */
export class RevocationDispatcher implements Dispatcher<Start> {
  readonly kinds = ['integration.revoke'];
  readonly details = details;

  constructor(
    private readonly client: Client,
    private readonly options: { taskQueuePrefix: string; searchable: boolean },
  ) {}

  /**
   * Restarts the workflow of every revocation that has none, after a lost store or a terminated workflow. Bypasses the outbox: a
   * second worker finds the workflow, or starts one with nothing to do. Returns the number.
   */
  async reconcile({ db, log }: Services): Promise<number> {
    const { rows } = await db.raw<{ rows: Omit<Start, 'outbox_id' | 'correlation_id'>[] }>(OPEN);
    let restarted = 0;
    await each(rows, async (row) => {
      if (await isWorkflowOpen(this.client, revocationWorkflowId(row.revocation_id))) return;
      await this.dispatch({ ...row, correlation_id: newId() });
      restarted += 1;
    });
    if (restarted > 0) log.warn({ restarted }, 'revocations without a workflow were restarted');
    return restarted;
  }

  async dispatch({ revocation_id, user_id, provider, correlation_id }: Omit<Start, 'outbox_id'>): Promise<void> {
    const attributes = [
      { key: ATTRIBUTE.Process, value: 'connection_revocation' },
      { key: ATTRIBUTE.ActorId, value: user_id },
      { key: ATTRIBUTE.CorrelationId, value: correlation_id },
    ];
    const started = logScope.run({ correlation_id }, () =>
      this.client.workflow.start(CONNECTION_REVOCATION, {
        workflowId: revocationWorkflowId(revocation_id),
        taskQueue: taskQueue(this.options.taskQueuePrefix, 'core'),
        args: [revocation_id],
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `Revoke tokens of ${provider}`,
        ...(this.options.searchable ? { typedSearchAttributes: attributes } : {}),
      }),
    );
    await started.catch((error: unknown) => {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    });
  }
}
