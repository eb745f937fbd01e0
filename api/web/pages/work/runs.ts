import { cancelRun } from '../../../automation/runs/cancel-run.js';
import { getRun } from '../../../automation/runs/get-run.js';
import { canDispatch } from '../../../automation/runs/dispatch/can-dispatch.js';
import { GATE } from '../../../automation/actions/rules.js';
import { getApproval } from '../../../automation/runs/approvals/list-approvals.js';
import { retryRun } from '../../../automation/runs/dead-letter/retry-run.js';
import { type RunRecord, RunParams } from '../../../automation/runs/schema.js';
import { explainSkipped } from '../../../automation/runs/explain-skipped.js';
import { describeRuns } from '../../../automation/runs/describe-runs.js';
import { describeGate } from '../../../automation/runs/staging/describe-gates.js';
import { describeSteps } from '../../../automation/runs/staging/describe-steps.js';
import { numbersIn, showGates, type ShownLine, showLines } from '../agent/plan-lines.js';
import { wordDiff } from '../../wording/word-diff.js';
import { getVersion } from '../../../automation/definitions/versions/list-versions.js';
import type { VersionRecord } from '../../../automation/definitions/versions/schema.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { DomainError } from '../../../platform/errors.js';
import { withVisibleNames } from '../../../platform/validation/invisible.js';
import { markNotifications } from '../../../work/notifications/mark-notifications.js';
import { namesIn, mapTeamNames } from '../../wording/names.js';
import { type Redirect, page, type Page, requireUser, type FormError } from '../../page.js';
import { temporalUi } from './temporal-lists.js';

/** Returns the run's URL in the Temporal UI, for those who see it. */
function workflowUrl({ config }: Context, me: User, { workflow_id }: RunRecord): string | null {
  const ui = temporalUi(config, me);
  if (!ui || !workflow_id) return null;
  const path = `/namespaces/${encodeURIComponent(config.TEMPORAL_NAMESPACE)}/workflows/${encodeURIComponent(workflow_id)}`;
  return new URL(path, ui).href;
}

/** Returns the automation version of the run; null if the automation was deleted. */
async function findDefinition(ctx: Context, run: RunRecord): Promise<VersionRecord | null> {
  try {
    return await getVersion(ctx, run.automation_id, run.automation_version);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'RESOURCE_NOT_FOUND') return null;
    throw error;
  }
}

/** Returns every action of the run in words, and what its open gate releases. */
async function splitLines(ctx: Context, run: RunRecord, definition: VersionRecord | null, creatorId: string) {
  const compare = wordDiff();
  const actions = run.actions.map(({ type, index }) => definition?.actions[index] ?? { type });
  const steps = await describeSteps(ctx, {
    ...run,
    queued_at: new Date(run.queued_at),
    schedule_timezone: definition?.schedule_timezone ?? 'UTC',
    creator_id: creatorId,
    done: new Set(run.actions.flatMap(({ index, status }) => (status === 'succeeded' ? [index] : []))),
    actions: actions as Record<string, unknown>[],
  });
  const gate = run.status === 'paused' ? await describeGate(ctx, run.run_id) : undefined;
  return {
    steps: showLines(steps, compare),
    described: showGates(gate ? { [run.run_id]: gate } : {}),
  };
}

/** Returns the gate of an action: its decision, or the pending approval. */
const toGateView = ({ approval }: RunRecord, { index, type, output }: RunRecord['actions'][number]) =>
  approval?.gate_index === index ? approval : type === GATE && output?.['decision'] ? output : null;

/** Returns why the condition of an action skipped it, or will skip it once its gate is approved. */
function readSkipped({ status, output }: RunRecord['actions'][number], line: ShownLine | undefined): string | null {
  const why = output?.['skipped'];
  if (status === 'skipped') return typeof why === 'string' ? withVisibleNames(why) : null;
  return status === 'staged' ? (line?.skipped ?? null) : null;
}

/** Indents JSON; any other text, and JSON that was cut, stays as it is. */
function toIndented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Returns what a server answered to a request: its status, and its body as it is kept, with hidden characters shown. */
function readAnswer({ output }: RunRecord['actions'][number]): { status: number; body: string } | null {
  const { status, body } = output ?? {};
  return typeof status === 'number' ? { status, body: typeof body === 'string' ? withVisibleNames(toIndented(body)) : '' } : null;
}

/** Returns the run's actions in words. */
const readSteps = (run: RunRecord, lines: readonly ShownLine[]) =>
  run.actions.map((action, at) => ({
    ...action,
    isGate: action.type === GATE,
    approval: toGateView(run, action),
    line: lines[at],
    skipped: readSkipped(action, lines[at]),
    answer: readAnswer(action),
  }));

/** Returns the display fields with their labels; of an event that was built again, the task. */
const listDisplayFacts = (facts: Readonly<Record<string, string>>, rebuilt: Record<string, unknown> | null) => {
  const { title } = (rebuilt?.['task'] ?? {}) as { title?: string };
  const shown = { ...facts, ...(title !== undefined && { task: title }) };
  return Object.entries(shown).map(([name, value]) => ({ name: name.replace('_', ' '), value }));
};

const backToRun = ({ params }: { params: { run_id: string } }, { message }: FormError): Promise<Redirect> =>
  Promise.resolve({ to: `/app/runs/${params.run_id}`, notice: { kind: 'bad', text: message } });

export const runPages: Page[] = [
  page({
    method: 'get',
    path: '/app/runs/:run_id',
    access: 'automation.read',
    params: RunParams,
    async handle({ ctx, me, params }) {
      const run = await getRun(ctx, params.run_id);
      const person = requireUser({ me });
      // Opening the run marks its notifications as read, but not while impersonating.
      if (!person.impersonated_by) await markNotifications(ctx, { run_id: run.run_id });
      const [definition, names, gate, dispatches] = await Promise.all([
        findDefinition(ctx, run),
        namesIn(ctx, person, [run]),
        run.status === 'paused' ? getApproval(ctx, run.run_id) : null,
        canDispatch(ctx, run.run_id),
      ]);
      const about = (await describeRuns(ctx, [run]))[run.run_id];
      const { steps, described } = await splitLines(ctx, run, definition, about?.creator_id as string);
      const team = person.teams.find(({ team_id }) => team_id === run.team_id);
      const skipped =
        run.skip_reason === 'condition_false' ? await explainSkipped(ctx, run, definition?.condition ?? null) : null;
      const data = {
        run,
        skipped,
        gate,
        names,
        about: { [run.run_id]: about },
        described,
        steps: readSteps(run, steps),
        numbers: await numbersIn(ctx, [...steps, ...(described[run.run_id]?.lines ?? [])]),
        hasAutomation: definition !== null,
        facts: listDisplayFacts(about?.facts ?? {}, skipped?.isRebuilt ? skipped.event : null),
        teamNames: mapTeamNames(person),
        team: team?.name ?? 'Personal',
      };
      return {
        view: 'work/run',
        title: run.automation_name,
        data: {
          ...data,
          ...dispatches,
          event: JSON.stringify(skipped?.event ?? run.event, null, 2),
          workflowUrl: workflowUrl(ctx, person, run),
        },
      };
    },
  }),
  page({
    method: 'post',
    path: '/app/runs/:run_id/replay',
    access: 'automation.dispatch',
    limit: 'automation_dispatch',
    params: RunParams,
    async handle({ ctx, params }) {
      const { run_id } = await retryRun(ctx, params.run_id, { actions: 'failed' });
      return { to: `/app/runs/${run_id}`, notice: { kind: 'good', text: 'Replay started.' } };
    },
    onError: backToRun,
  }),
  page({
    method: 'post',
    path: '/app/runs/:run_id/cancel',
    access: 'automation.dispatch',
    params: RunParams,
    async handle({ ctx, params }) {
      await cancelRun(ctx, params.run_id);
      return { to: `/app/runs/${params.run_id}`, notice: { kind: 'good', text: 'Cancelled. Completed actions are not undone.' } };
    },
    onError: backToRun,
  }),
];
