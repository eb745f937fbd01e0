import { run } from '../../../db/statement.js';
import type { TriageResult } from '../../../workflows/contracts/triage-contract.js';
import { isAllowed } from '../../platform/access/access.js';
import type { InstanceRole } from '../../platform/access/actor.js';
import { type Context, inTransaction, type Services, serviceContext } from '../../platform/context.js';
import { DomainError } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { findLinkedTasks } from '../../integrations/forge/links/find-linked-tasks.js';
import { normalise, type NormalisedEvent } from '../../integrations/forge/rules.js';
import { bindingsStatement, failureStatement, stagedFailuresStatement, triagedCommitStatement } from './ci.sql.js';
import { type CiFailure, type CiTask, fullSha, proposalsFor, safeName, safeUrl } from './ci-rules.js';
import { connectedAs } from '../../integrations/connections/connected-as.js';
import { ciSubject } from './ci-subject.js';
import { stageTriage } from './stage-triage.js';

type FailureEvent = Extract<NormalisedEvent, { type: 'forge.workflow_run_failed' | 'forge.check_suite_failed' }>;

interface Delivery extends Record<string, unknown> {
  event: string | null;
  payload: unknown;
  received_at: Date;
}
interface Binding extends Record<string, unknown> {
  project_id: string | null;
  user_id: string;
  email: string;
  role: InstanceRole;
  is_active: boolean;
}

function failureIn({ event, payload }: Delivery): FailureEvent | null {
  const found = normalise(event ?? '', payload);
  if (found?.type === 'forge.workflow_run_failed' || found?.type === 'forge.check_suite_failed') return found;
  return null;
}

const describe = ({ payload }: FailureEvent): CiFailure & { run_id: number | null } => ({
  branch: payload.branch,
  sha: payload.sha,
  name: 'name' in payload ? payload.name : null,
  url: 'url' in payload ? payload.url : null,
  run_id: 'run_id' in payload ? payload.run_id : null,
});

/** Finds the binding in whose creator's name the plan is staged: the first whose creator may write in the team now. */
async function actingBinding(ctx: Context, teamId: string, bindings: readonly Binding[]) {
  for (const binding of bindings) {
    const { user_id: userId, email, role, is_active } = binding;
    const creator: Context = { ...ctx, actor: { type: 'job', userId, email, role } };
    if (is_active && isAllowed('task.write', await findSeat(creator, teamId))) return { binding, creator };
  }
  return undefined;
}

/**
 * Staged plans of failed runs in a team. Anyone who may open a pull request can make runs fail, on any number of branches: the other plans of
 * the team need room too.
 */
const MAX_STAGED = 50;

async function isFull(ctx: Context, teamId: string): Promise<boolean> {
  const [row] = await run<{ staged: number }>(ctx.db, stagedFailuresStatement, [teamId, MAX_STAGED]);
  return (row?.staged ?? 0) >= MAX_STAGED;
}

/** A check suite fails with its runs, which say more. */
async function hasFailedRuns(ctx: Context, teamId: string, event: FailureEvent): Promise<boolean> {
  if (event.type !== 'forge.check_suite_failed') return false;
  const values = [teamId, event.payload.repo, fullSha(event.payload.sha)];
  const [row] = await run<{ found: boolean }>(ctx.db, triagedCommitStatement, values);
  return row?.found === true;
}

async function stageFailure(ctx: Context, teamId: string, receiptId: string): Promise<TriageResult> {
  const [delivery] = await run<Delivery>(ctx.db, failureStatement, [receiptId, teamId]);
  if (!delivery) return { outcome: 'off' };
  const event = failureIn(delivery);
  const subject_key = event && ciSubject(teamId, event.payload);
  if (!event || !subject_key || (await hasFailedRuns(ctx, teamId, event))) return { outcome: 'nothing' };
  if (await isFull(ctx, teamId)) return { outcome: 'refused', code: 'too_many_plans' };
  const repo = event.payload.repo?.toLowerCase();
  const bindings = await run<Binding>(ctx.db, bindingsStatement, [repo, teamId, delivery.received_at]);
  if (bindings.length === 0) return { outcome: 'off' };
  const acting = await actingBinding(ctx, teamId, bindings);
  if (!acting) return { outcome: 'blocked' };
  const { run_id, ...failure } = describe(event);
  const { project_id } = acting.binding;
  const tasks = (await findLinkedTasks(ctx, event, [teamId])).map(({ task }) => task as CiTask);
  const { host } = new URL(ctx.config.FORGE_URL);
  const actions = proposalsFor(failure, tasks, project_id, host);
  if (actions.length === 0) return { outcome: 'nothing' };
  const name = safeName(failure.name, 'checks');
  const branch = safeName(failure.branch, 'unknown branch');
  return stageTriage(acting.creator, {
    kind: 'ci_triage',
    source: 'ci_failure_triage',
    team_id: teamId,
    subject_key,
    title: `CI failed: ${name} on ${branch}`,
    actions,
    behind: await connectedAs(ctx.db, 'forge', event.payload.sender),
    trigger: {
      type: event.type,
      repo: event.payload.repo,
      forge_run_id: run_id,
      project_id,
      name,
      branch,
      sha: fullSha(failure.sha),
      url: safeUrl(failure.url, host),
      receipt_id: receiptId,
    },
  });
}

/**
 * Stages the plan of a failed CI run for a team that has bound the repository, once, in one transaction. Uses the permissions of the
 * user who bound it, and fixed words: names of workflows and branches are anybody's.
 * @throws retryable errors; a refusal is an outcome
 */
export async function triageFailure(services: Services, teamId: string, receiptId: string): Promise<TriageResult> {
  try {
    return await inTransaction(serviceContext(services, 'triage'), (ctx) => stageFailure(ctx, teamId, receiptId));
  } catch (error) {
    if (!(error instanceof DomainError) || error.status >= 500) throw error;
    services.log.warn({ err: error, team_id: teamId }, 'a CI triage was refused');
    return { outcome: 'refused', code: error.code };
  }
}
