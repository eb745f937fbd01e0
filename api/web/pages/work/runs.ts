import { cancelRun } from '../../../runs/cancel-run.js';
import { getRun } from '../../../runs/get-run.js';
import { canDispatch } from '../../../runs/dispatch/can-dispatch.js';
import { GATE } from '../../../actions/rules.js';
import { getApproval } from '../../../runs/approvals/list-approvals.js';
import { retryRun } from '../../../runs/dead-letter/retry-run.js';
import { type RunRecord, RunParams } from '../../../runs/schema.js';
import { describeRuns } from '../../../runs/describe-runs.js';
import { actorName, type Definition, type Plan, planRuns } from '../../../runs/planned-actions.js';
import { getVersion } from '../../../automations/versions/list-versions.js';
import type { VersionRecord } from '../../../automations/versions/schema.js';
import type { Context } from '../../../core/context.js';
import { DomainError } from '../../../core/errors.js';
import { markNotifications } from '../../../notifications/mark-notifications.js';
import { namesIn } from '../../wording/names.js';
import { type Redirect, page, type Page, requireUser, type FormError } from '../../page.js';

/** Returns the run's URL in the Temporal UI, if configured. */
function workflowUrl({ config }: Context, { workflow_id }: RunRecord): string | null {
  if (!config.TEMPORAL_UI_URL || !workflow_id) return null;
  const path = `/namespaces/${encodeURIComponent(config.TEMPORAL_NAMESPACE)}/workflows/${encodeURIComponent(workflow_id)}`;
  return new URL(path, config.TEMPORAL_UI_URL).href;
}

/** Returns the automation version of the run; null if the automation was deleted. */
async function definitionOf(ctx: Context, run: RunRecord): Promise<VersionRecord | null> {
  try {
    return await getVersion(ctx, run.automation_id, run.automation_version);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'RESOURCE_NOT_FOUND') return null;
    throw error;
  }
}

/** Returns what every action of the run does, or would do, and by what people recognize the run. */
async function planOf(
  ctx: Context,
  run: RunRecord,
  definition: VersionRecord | null,
): Promise<Plan & { actor: string | undefined }> {
  const actions = run.actions.map(({ type, name, index }): Definition => {
    const params = definition?.actions[index]?.params as Definition['params'];
    return { type, name, ...(params && { params }) };
  });
  const creator_id = (await describeRuns(ctx, [run]))[run.run_id]?.creator_id as string;
  const planned = { ...run, creator_id, actions };
  const [[plan], actor] = await Promise.all([planRuns(ctx, [planned]), actorName(ctx, planned)]);
  return { ...(plan as Plan), actor };
}

/** Returns the gate of an action: its decision, or the pending approval. */
const gateOf = ({ approval }: RunRecord, { index, type, output }: RunRecord['actions'][number]) =>
  approval?.gate_index === index ? approval : type === GATE && output?.['decision'] ? output : null;

/** Returns the run's actions with their parameters, if known. */
const stepsOf = (run: RunRecord, { actions }: Plan) =>
  run.actions.map((action, at) => ({
    ...action,
    isGate: action.type === GATE,
    approval: gateOf(run, action),
    params: actions[at]?.facts ?? [],
  }));

/** Returns what runs if the open gate is approved. */
const stagedOf = (run: RunRecord, { actions }: Plan) => actions.filter((_action, at) => run.actions[at]?.status === 'staged');

/** Returns the display fields with their labels. */
const displayFactsOf = ({ facts }: Plan) =>
  Object.entries(facts).map(([name, value]) => ({ name: name.replace('_', ' '), value }));

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
        definitionOf(ctx, run),
        namesIn(ctx, person, [run]),
        run.status === 'paused' ? getApproval(ctx, run.run_id) : null,
        canDispatch(ctx, run.run_id),
      ]);
      const plan = await planOf(ctx, run, definition);
      const team = person.teams.find(({ team_id }) => team_id === run.team_id);
      const data = {
        run,
        gate,
        names,
        steps: stepsOf(run, plan),
        staged: stagedOf(run, plan),
        actor: plan.actor,
        facts: displayFactsOf(plan),
        team: team?.name ?? 'Personal',
      };
      return {
        view: 'work/run',
        title: run.automation_name,
        data: { ...data, ...dispatches, event: JSON.stringify(run.event, null, 2), workflowUrl: workflowUrl(ctx, run) },
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
