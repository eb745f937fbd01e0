import { isSent } from '../../api/automation/actions/registry.js';
import { failDispatch } from '../../api/automation/runs/execution/fail-dispatch.js';
import { restartRun } from '../../api/automation/runs/execution/restart-run.js';
import { webAddress } from '../../api/platform/config.js';
import type { Services } from '../../api/platform/context.js';
import { TaskId } from '../../api/platform/fields.js';
import type { AnyDispatcher } from '../../api/platform/outbox/dispatch-outbox.js';
import type { RunStart } from '../../api/platform/outbox/subscriber.js';
import {
  AUTOMATION_RUN,
  type AutomationRunInput,
  DECIDED_SIGNAL,
  runWorkflowId,
} from '../../workflows/contracts/run-contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../../workflows/search-attributes.js';
import { openRunsStatement, runDispatchesStatement } from './automation-runs.sql.js';
import { automationActivities, outboundActivities } from '../automations.js';
import { defineRowWorkflow } from '../row-workflow.js';
import { canOwnRun, freeRun, getIncarnation, type OpenRun, readOpenRun, recoverRun, wakeExecution } from './run-execution.js';
import { restartUnclaimed } from './unclaimed-runs.js';
import { escapeMarkdown } from '../worker/escape-markdown.js';
import type { OpenWorkflow } from '../worker/open-workflows.js';
import type { RowLink } from '../worker/reconcile-rows.js';

/** An outbox row that starts or wakes a run's workflow, with the fields that operators see. */
export interface Dispatch extends Omit<RunStart, 'payload'> {
  kind: 'run.start' | 'run.wake';
  payload: { run_id: string; incarnation?: number; gate_index?: number };
}

/** An open run with the expected state of its workflow. */
interface CheckedRun extends OpenRun {
  state: 'paused' | 'waiting' | null;
  until: Date | null;
}

/** Returns one line for the list of workflows, at most 200 bytes. */
function buildSummary(row: Dispatch): string {
  const text = `${escapeMarkdown(row.automation_name)} · ${row.trigger_type}${row.retry_of ? ' · replay' : ''}`;
  return Buffer.byteLength(text) <= 200
    ? text
    : `${Buffer.from(text)
        .subarray(0, 190)
        .toString('utf8')
        .replace(/\uFFFD+$/, '')}…`;
}

function buildDetails(row: Dispatch, config: Services['config']): string[] {
  const getPageUrl = (runId: string): string => webAddress(config, `/app/runs/${runId}`);
  const { run_id, automation_id, retry_of, triggered_by } = row;
  return [
    `Run \`${run_id}\`: [page](${getPageUrl(run_id)})`,
    `Automation \`${automation_id}\``,
    ...(retry_of
      ? [`Replay of the failed run \`${retry_of}\`: [page](${getPageUrl(retry_of)}), workflow \`${runWorkflowId(retry_of)}\``]
      : []),
    ...(triggered_by ? [`${retry_of ? 'Replayed' : 'Triggered'} by \`${triggered_by}\``] : []),
  ];
}

const getStartIncarnation = ({ payload }: Dispatch): number => payload.incarnation ?? 1;

const buildInput = (row: Dispatch): AutomationRunInput => ({
  runId: row.run_id,
  incarnation: getStartIncarnation(row),
  plan: {
    automationName: escapeMarkdown(row.automation_name),
    triggerType: row.trigger_type,
    // A step without a name is labeled by its type.
    steps: row.steps.map((step) => ({
      ...step,
      ...(step.label !== step.type && { label: escapeMarkdown(step.label) }),
      sends: isSent(step.type),
    })),
    ...(row.is_test ? { isTest: true as const } : {}),
  },
  showsEnd: true,
});

/** Starts the first incarnation without reading the row: only a conflicting execution reveals a repeated start. */
async function start(row: Dispatch, link: RowLink<Dispatch>, services: Services): Promise<void> {
  if (getStartIncarnation(row) > 1 || !(await link.start(row, services))) await startAgain(row, link, services);
}

/**
 * Starts a run that may have been started before. Ignores a start of another incarnation than the row's. Wakes the execution that owns the run;
 * if the one that claimed it is lost, restarts the run under the next incarnation.
 */
async function startAgain(row: Dispatch, link: RowLink<Dispatch>, services: Services): Promise<void> {
  const isOwn = (run: OpenRun | undefined): run is OpenRun => run?.incarnation === getStartIncarnation(row);
  const before = await readOpenRun(services, row.run_id);
  if (!isOwn(before)) return;
  const found = await freeRun(link.client, before);
  if (found === 'carried') return;
  // The execution may have claimed and ended the run between the two.
  const open = await readOpenRun(services, row.run_id);
  if (!isOwn(open)) return;
  if (open.claimed_by === null) await link.start(row, services, { workflowIdReusePolicy: 'ALLOW_DUPLICATE' });
  else if (await restartRun(services.db, open, found.free)) services.notifyRelay();
}

/** Signals the execution that claimed the run. If it is lost, restarts the run at once, so that a decision does not wait for the reconciler. */
async function wake({ run_id, payload }: Dispatch, { client }: RowLink<Dispatch>, services: Services): Promise<void> {
  const row = await readOpenRun(services, run_id);
  // An execution that has yet to claim the run reads its rows after that.
  const isUnclaimed = row !== undefined && row.claimed_by === null;
  if (!isUnclaimed && (await wakeExecution(client, run_id, row?.claimed_by ?? undefined, payload.gate_index))) return;
  if (row) await recoverRun(services, client, row);
}

/** Returns true if the workflow waits for something else than its row. */
function isBehind({ state, until }: CheckedRun, { attributes }: OpenWorkflow): boolean {
  if ((attributes.get(ATTRIBUTE.RunState) ?? null) !== state) return true;
  const shown = attributes.get(state === 'paused' ? ATTRIBUTE.GateExpiresAt : ATTRIBUTE.NextAttemptAt);
  return state !== null && shown?.getTime() !== until?.getTime();
}

const INVARIANT = {
  name: 'runs_carried',
  words: 'No run stands in queued or running for more than 60 s without an open workflow',
  sql: /* sql */ `
    select r.run_id::text as violation from automation_runs r
    where r.status in ('queued', 'running') and r.queued_at < clock_timestamp() - interval '60 seconds'
      and not exists (select from gates g where g.run_id = r.run_id and g.decided_at > clock_timestamp() - interval '60 seconds')
    order by r.queued_at`,
  buildWorkflowId: runWorkflowId,
};

const ABANDON = {
  kind: 'run.start' as const,
  run: ({ run_id }: Pick<Dispatch, 'run_id'>, services: Services): Promise<void> => failDispatch(services, run_id),
};

/** Returns what the relay needs to end old starts of runs while Temporal is unavailable. */
export const abandonedRuns = (afterHours: number): Pick<AnyDispatcher, 'details' | 'abandon'> => ({
  details: runDispatchesStatement,
  abandon: { ...ABANDON, afterHours, run: (row, services) => ABANDON.run(row as unknown as Dispatch, services) },
});

/** Runs of automations: an execution claims its run under an incarnation, and a restart is a compare-and-set of its own. */
export const automationRuns = defineRowWorkflow<Dispatch, CheckedRun>({
  notes: [{ process: 'automation_run', workflowId: 'run:<run_id>', shows: 'Runs of automations' }],
  invariants: [INVARIANT],
  activities: {
    core: automationActivities,
    outbound: (services, { outboundTurns }) => outboundActivities(services, outboundTurns),
  },
  plural: 'runs',
  kinds: ['run.start', 'run.wake'],
  dispatches: runDispatchesStatement,
  abandon: ABANDON,
  workflow: AUTOMATION_RUN,
  getId: ({ run_id }) => runWorkflowId(run_id),
  input: buildInput,
  attributes: (row) => ({
    AutomationId: row.automation_id,
    ActorId: row.creator_id,
    TriggerType: row.trigger_type,
    Depth: row.depth,
    IsTest: row.is_test,
    TeamId: row.team_id,
    ProjectId: row.project_id,
    // A user-written event may contain any text here; Temporal rejects the whole start for a long one.
    EntityId: row.entity_id && TaskId.parse(row.entity_id) === row.entity_id ? row.entity_id : null,
  }),
  summary: buildSummary,
  details: buildDetails,
  // A team with slow receivers does not delay other teams' requests.
  fairnessKey: ({ team_id, creator_id }) => team_id ?? creator_id,
  startOptions: (row, { eager }) => ({
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
    requestEagerStart: eager,
    ...(getStartIncarnation(row) > 1 && { memo: { incarnation: getStartIncarnation(row) } }),
  }),
  dispatch: (row, link, services) => (row.kind === 'run.start' ? start : wake)(row, link, services),
  wake: { signal: DECIDED_SIGNAL },
  key: 'run_id',
  open: openRunsStatement,
  isBehind,
  owns: (row, { runId, memo }) => canOwnRun(row, { execution: runId, incarnation: getIncarnation(memo) }),
  restart: (row, { client }, services) => recoverRun(services, client, row),
  reconcileBriefly: restartUnclaimed,
});
