import { defineStatement, run, type Statement } from '../../../../db/statement.js';
import type { ActionResult } from '../../../../workflows/contracts/run-contract.js';
import type { Services } from '../../../platform/context.js';
import { OutboundFailure } from '../../../platform/http-client/failure.js';
import { redactSecrets } from '../../../platform/http-client/redact-secrets.js';
import type { OutboundContext, OutboundResult } from '../../../gate/contract/action-type.js';
import { ActionRefused } from '../../../gate/contract/action-refused.js';
import { outboundTypes } from '../../actions/registry.js';
import { truncateKept } from '../../actions/send-action-request.js';
import { OUTCOME_UNKNOWN } from '../record/close-steps.sql.js';
import { failStep, scheduleRetry } from './action-failure.js';
import { listWanted, pickAnswer } from './answers.js';
import { fillInSecrets } from './action-secrets.js';
import type { RunExecution } from './claim-run.js';
import { unlessChanged } from './unless-changed.js';
import { type ActiveStep, withStep, type Step, type StepOutcome, maxAttempts } from './with-step.js';
import { creatorContext } from './load-run.js';
import { renderParams } from './read-params.js';
import { ifItHolds } from '../staging/only-if.js';
import { recordDryRun } from './dry-run.js';
import { checkConsent, readAuthors } from './version-author.js';

/**
 * Maximum wait that another server may request, in ms. A longer one would make the run look stuck
 * (docs/decisions/automation.md#longest-waits).
 */
const MAX_WAIT_MS = 600_000;

/**
 * $1 = run id, $2 = index, $3 = whether the attempt is new, $4 = whether its answer may come later. Counts a new attempt and clears its due
 * time; also the last error, if its absence is to say that the attempt is under way.
 */
const startStatement = defineStatement({
  name: 'start_outbound',
  text: /* sql */ `
    update run_actions set status = 'running', attempts = attempts + $3::boolean::int, due_at = null,
      error = case when $4::boolean then null else error end
    where run_id = $1 and index = $2 returning started_at`,
});

/**
 * $1 = run id, $2 = index, $3 = status, $4 = error (jsonb), $5 = output (jsonb), $6 = type, $7 = key. The unique effect key
 * allows one success.
 */
const outcomeStatement = (name: string, where: string): Statement =>
  defineStatement({
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
/** Replaces the unknown outcome of a request whose run ended first. */
const lateStatement = outcomeStatement('late_outbound', `error->>'code' = '${OUTCOME_UNKNOWN}'`);

/** An attempt whose database reads are done. */
interface Ready {
  type: string;
  outbound: OutboundContext;
  attempts: number;
  /** Fields of the answer that later steps read. */
  wanted: readonly string[];
  send: () => Promise<OutboundResult>;
}

/**
 * Prepares an attempt; `within` holds the services in its transaction. Returns null for a test run, which only records a dry run.
 * @throws ActionRefused, or an error about its parameters or its creator
 */
async function prepare(within: Services, services: Services, begun: ActiveStep, step: Step): Promise<Ready | null> {
  const { index } = step;
  const type = outboundTypes()[step.type];
  if (!type) throw new ActionRefused({ code: 'action_unavailable', message: `Unknown action ${step.type}` });
  const attempts = maxAttempts(begun, index);
  const answersLater = type.answersLater === true;
  const isNew = !answersLater || step.attempts === 0 || step.error !== null;
  if (isNew && step.attempts >= attempts) {
    throw new ActionRefused({ code: 'no_answer', message: 'No attempt got a response' });
  }
  const ctx = creatorContext(within, begun, begun.creator); // checks that the creator may still act
  if (type.integration) checkConsent(await readAuthors(within.db, begun), begun, type.integration.provider);
  const { params, secrets, author_ids: secret_author_ids } = await fillInSecrets(ctx, type, begun, index);
  if (begun.is_test) {
    await recordDryRun(within.db, begun, index, type.label, renderParams(type, begun, index, type.secrets ? secrets : undefined));
    return null;
  }
  const [started] = await run<{ started_at: Date }>(within.db, startStatement, [begun.run_id, index, isNew, answersLater]);
  const outbound: OutboundContext = {
    services,
    team_id: begun.team_id,
    creator_id: begun.creator_id,
    creator: { ...ctx, ...services },
    run: {
      run_id: begun.run_id,
      index,
      automation_id: begun.automation_id,
      automation_name: begun.automation_name,
      team_id: begun.team_id,
      depth: begun.depth + 1,
    },
    key: `${begun.run_id}:${index}`,
    attempt: step.attempts + (isNew ? 1 : 0),
    firstAt: started?.started_at ?? new Date(),
    secrets,
    secret_author_ids,
    hidden: new Set(secrets.values()),
  };
  const wanted = listWanted(begun.actions, index);
  return { type: type.type, outbound, attempts, wanted, send: () => type.send(outbound, params) };
}

/**
 * Sends the request and returns its outcome. Logs an internal error by its name only: its message may contain what was to be
 * sent.
 */
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
    const message = 'Internal error';
    return { output: {}, failure: { code: 'internal_error', message, isRetryable: false } };
  }
}

/** Returns the output to store: secrets redacted in any encoding, texts truncated; and what later steps read. */
const recorded = (sent: OutboundResult, { outbound: { hidden }, wanted }: Ready): Record<string, unknown> => ({
  ...shorten(sent, hidden),
  ...(wanted.length > 0 && pickAnswer(wanted, sent, hidden)),
});
const shorten = ({ output, isCut }: OutboundResult, hidden: ReadonlySet<string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(output).map(([name, value]) => [
      name,
      typeof value === 'string' ? truncateKept(redactSecrets(hidden, value, isCut)) : value,
    ]),
  );

/** Returns the outcome of an attempt whose answer comes later. Nothing is written: a running step without an error says it. */
const awaitAnswer = (lookAfterMs: number): StepOutcome => ({
  status: 'running',
  error: null,
  wait: { msLeft: lookAfterMs, until: new Date(Date.now() + lookAfterMs).toISOString(), forAnswer: true },
});

/** Records the outcome of an attempt. Schedules a retry if the failure is retryable and attempts remain. */
async function record(
  services: Services,
  owner: RunExecution,
  index: number,
  ready: Ready,
  sent: OutboundResult,
): Promise<ActionResult> {
  const { outbound, attempts, type } = ready;
  const { lookAfterMs } = sent;
  if (lookAfterMs !== undefined) return withStep(services, owner, index, async () => awaitAnswer(lookAfterMs), 'rest');
  const failure = sent.failure && { code: sent.failure.code, message: sent.failure.message };
  const canRetry = sent.failure?.isRetryable === true && outbound.attempt < attempts;
  const status = failure ? 'failed' : 'succeeded';
  const output = JSON.stringify(recorded(sent, ready));
  const outcome = [owner.runId, index, status, failure ? JSON.stringify(failure) : null, output, type, outbound.key];
  let isLate = true;
  const end: Parameters<typeof withStep>[3] = async (db, row, step) => {
    isLate = false;
    if (failure && canRetry) {
      // The attempt timed out but finished late; the next attempt is running, so ignore this one.
      if (step.attempts > outbound.attempt) return { status: 'running', error: null };
      const askedMs = Math.min(sent.failure?.waitMs ?? 0, MAX_WAIT_MS);
      return scheduleRetry(db, row, index, failure, { attempt: outbound.attempt, askedMs });
    }
    await run(db, endStatement, outcome);
    return { status, error: failure ?? null };
  };
  const result = await withStep(services, owner, index, end, 'rest');
  if (isLate) await run(services.db, lateStatement, outcome);
  return result;
}

async function attempt(services: Services, owner: RunExecution, index: number): Promise<ActionResult> {
  let ready: Ready | null = null;
  const start: Parameters<typeof withStep>[3] = async (db, row, step) => {
    const within = { ...services, db };
    const begin = async (): Promise<StepOutcome> => {
      ready = await prepare(within, services, row, step);
      return { status: ready ? 'running' : 'succeeded', error: null };
    };
    // An attempt may have arrived: a request that is sent again is not asked for again.
    return step.attempts === 0 ? unlessChanged(within, row, step, begin) : begin();
  };
  const begun = await withStep(services, owner, index, ifItHolds(start), 'start');
  return ready ? record(services, owner, index, ready, await dispatch(services, ready)) : begun;
}

/**
 * Performs one attempt of an outbound action. One transaction reads what it needs and counts the attempt, the request is sent
 * outside any transaction, and another transaction records the outcome (ADR 10 and 11). Sent at least once, so the request
 * carries a key that is the same at every attempt. The last attempt records the failure; an earlier one records when the next is
 * due. The outcome is recorded even if the run has ended.
 * @throws the error itself if PostgreSQL is unavailable
 */
export async function performOutbound(services: Services, owner: RunExecution, index: number): Promise<ActionResult> {
  const result = await attempt(services, owner, index).catch((thrown: unknown) => failStep(services, owner, index, thrown));
  services.notifyRelay();
  return result;
}
