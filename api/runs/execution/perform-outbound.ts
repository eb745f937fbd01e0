import { run, type Statement } from '../../../db/statement.js';
import type { ActionResult } from '../../../workflows/contract.js';
import type { Services } from '../../core/context.js';
import { OutboundFailure } from '../../core/http-client/failure.js';
import { redactSecrets } from '../../core/http-client/redact-secrets.js';
import type { OutboundContext, OutboundResult } from '../../actions/action-type.js';
import { ActionRefused } from '../../actions/action-refused.js';
import { outboundTypes } from '../../actions/registry.js';
import { keptOf } from '../../actions/send-action-request.js';
import { OUTCOME_UNKNOWN } from './close-steps.sql.js';
import { failStep, scheduleRetry } from './action-failure.js';
import { fillInSecrets } from './action-secrets.js';
import type { RunExecution } from './claim-run.js';
import { type ActiveStep, withStep, type Step, maxAttempts } from './with-step.js';
import { creatorContext } from './load-run.js';
import { renderParams } from './read-params.js';
import { recordDryRun } from './dry-run.js';
import { checkConsent, readAuthors } from './version-author.js';

/** Longest wait that another server may ask for, ms: a day of it would look like a run that hangs. */
const MAX_WAIT_MS = 600_000;

/** $1 run, $2 index: the attempt is counted, and waits for no time any more. */
const startStatement: Statement = {
  name: 'start_outbound',
  text: /* sql */ `
    update run_actions set status = 'running', attempts = attempts + 1, due_at = null
    where run_id = $1 and index = $2 returning started_at`,
};

/** $1 run, $2 index, $3 status, $4 error (jsonb), $5 output (jsonb), $6 type, $7 key. The effect's key can be taken once (R4). */
const outcomeStatement = (name: string, where: string): Statement => ({
  name,
  text: /* sql */ `
with done as (
  update run_actions set status = $3::text, error = $4::jsonb, output = $5::jsonb, finished_at = now()
  where run_id = $1::uuid and index = $2::int and ${where} returning run_id, index
)
insert into effects (run_id, action_index, entity_type, entity_id)
select run_id, index, $6::text, $7::text from done where $3 = 'succeeded'`,
});
const endStatement = outcomeStatement('end_outbound', "status = 'running'");
/** The run ended first: what it says of its request is not known is known now. */
const lateStatement = outcomeStatement('late_outbound', `error->>'code' = '${OUTCOME_UNKNOWN}'`);

/** Ready to go: everything that the database knows has been read. */
interface Ready {
  type: string;
  errand: OutboundContext;
  attempts: number;
  send: () => Promise<OutboundResult>;
}

/**
 * `within`: the services in the attempt's transaction. Null in a test run, which sends nothing: it was only rehearsed.
 * @throws ActionRefused, or a refusal of its parameters or its creator
 */
async function prepare(within: Services, services: Services, begun: ActiveStep, step: Step): Promise<Ready | null> {
  const { index } = step;
  const type = outboundTypes()[step.type];
  if (!type) throw new ActionRefused({ code: 'action_unavailable', message: `There is no action ${step.type}` });
  const attempts = maxAttempts(begun, index);
  if (step.attempts >= attempts) {
    throw new ActionRefused({ code: 'no_answer', message: 'Every attempt broke off before its answer was known' });
  }
  const ctx = creatorContext(within, begun, begun.creator); // who may no longer act sends nothing either
  if (type.integration) checkConsent(await readAuthors(within.db, begun), begun, type.integration.provider);
  const { params, secrets } = await fillInSecrets(ctx, type, begun, index);
  if (begun.is_test) {
    await recordDryRun(within.db, begun, index, type.label, renderParams(type, begun, index, type.secrets && secrets));
    return null;
  }
  const [started] = await run<{ started_at: Date }>(within.db, startStatement, [begun.run_id, index]);
  const errand: OutboundContext = {
    services,
    team_id: begun.team_id,
    creator_id: begun.creator_id,
    event: begun.event,
    key: `${begun.run_id}:${index}`,
    attempt: step.attempts + 1,
    firstAt: started?.started_at ?? new Date(),
    secrets,
    hidden: new Set(secrets.values()),
  };
  return { type: type.type, errand, attempts, send: () => type.send(errand, params) };
}

/** What came of it. A fault of ours is told by its kind alone: its words may hold what was to be sent. */
async function dispatch(services: Services, { send }: Ready): Promise<OutboundResult> {
  try {
    return await send();
  } catch (thrown) {
    if (thrown instanceof OutboundFailure) {
      const { reason: code, message, isRetryable, waitMs } = thrown;
      return { output: {}, failure: { code, message, isRetryable, waitMs } };
    }
    if (thrown instanceof ActionRefused) return { output: {}, failure: { ...thrown.failure, isRetryable: thrown.isRetryable } };
    services.log.error({ kind: (thrown as Error).name }, 'an outbound action failed on our side');
    const message = 'Something went wrong on our side';
    return { output: {}, failure: { code: 'internal_error', message, isRetryable: false } };
  }
}

/** What is stored of an answer: no secret, however it was written, and no more than a reader wants. */
const recorded = ({ output, isCut }: OutboundResult, hidden: ReadonlySet<string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(output).map(([name, value]) => [
      name,
      typeof value === 'string' ? keptOf(redactSecrets(hidden, value, isCut)) : value,
    ]),
  );

/** What came of an attempt, in the rows. One that may go well the next time waits there for it, unless it was the last. */
async function record(
  services: Services,
  carrier: RunExecution,
  index: number,
  ready: Ready,
  sent: OutboundResult,
): Promise<ActionResult> {
  const { errand, attempts, type } = ready;
  const failure = sent.failure && { code: sent.failure.code, message: sent.failure.message };
  const isAgain = sent.failure?.isRetryable === true && errand.attempt < attempts;
  const status = failure ? 'failed' : 'succeeded';
  const output = JSON.stringify(recorded(sent, errand.hidden));
  const outcome = [carrier.runId, index, status, failure ? JSON.stringify(failure) : null, output, type, errand.key];
  let isLate = true;
  const end: Parameters<typeof withStep>[3] = async (db, row, step) => {
    isLate = false;
    if (failure && isAgain) {
      // Taken for dead, while it only waited: its next attempt is under way, and nobody hears this answer.
      if (step.attempts > errand.attempt) return { status: 'running', error: null };
      const askedMs = Math.min(sent.failure?.waitMs ?? 0, MAX_WAIT_MS);
      return scheduleRetry(db, row, index, failure, { attempt: errand.attempt, askedMs });
    }
    await run(db, endStatement, outcome);
    return { status, error: failure ?? null };
  };
  const result = await withStep(services, carrier, index, end, 'rest');
  if (isLate) await run(services.db, lateStatement, outcome);
  return result;
}

async function attempt(services: Services, carrier: RunExecution, index: number): Promise<ActionResult> {
  let ready: Ready | null = null;
  const start: Parameters<typeof withStep>[3] = async (db, row, step) => {
    ready = await prepare({ ...services, db }, services, row, step);
    return { status: ready ? 'running' : 'succeeded', error: null };
  };
  const begun = await withStep(services, carrier, index, start, 'start');
  return ready ? record(services, carrier, index, ready, await dispatch(services, ready)) : begun;
}

/**
 * One attempt at an action that leaves the house: what it needs is read and the attempt counted in one transaction, then it is sent
 * without any, then its outcome is recorded in another. Asked at least once, so what it sends carries a key that is the same at
 * every attempt (R4). The last attempt records its failure; after an earlier one the row says when the next is due. What
 * came of a request is recorded also when the run has ended meanwhile.
 * @throws what was thrown, when PostgreSQL is away
 * Source: decisions F5, F7, F12; durability notes, 3.2; ADR 10 and 11.
 */
export async function performOutbound(services: Services, carrier: RunExecution, index: number): Promise<ActionResult> {
  const result = await attempt(services, carrier, index).catch((thrown: unknown) => failStep(services, carrier, index, thrown));
  services.notifyRelay();
  return result;
}
