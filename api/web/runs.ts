import { getAutomation } from '../automations/get-automation.js';
import { getRun } from '../automations/get-run.js';
import { GATE } from '../automations/rules.js';
import { listApprovals } from '../automations/approvals/list-approvals.js';
import { type AutomationRecord, type RunRecord, RunParams } from '../automations/schema.js';
import type { Context } from '../core/context.js';
import { DomainError } from '../core/errors.js';
import { namesIn } from './names.js';
import { page, type Page, personOf } from './page.js';

/** The run in the Temporal UI, where its address is known. */
function workflowUrl({ config }: Context, { workflow_id }: RunRecord): string | null {
  if (!config.TEMPORAL_UI_URL || !workflow_id) return null;
  const path = `/namespaces/${encodeURIComponent(config.TEMPORAL_NAMESPACE)}/workflows/${encodeURIComponent(workflow_id)}`;
  return new URL(path, config.TEMPORAL_UI_URL).href;
}

/** The definition that the run follows; null once it was edited or is gone. */
async function definitionOf(ctx: Context, run: RunRecord): Promise<AutomationRecord | null> {
  try {
    const automation = await getAutomation(ctx, run.automation_id);
    return automation.version === run.automation_version ? automation : null;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'RESOURCE_NOT_FOUND') return null;
    throw error;
  }
}

const printed = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The run's actions with what each was told to do, as far as that is known. */
function stepsOf(run: RunRecord, definition: AutomationRecord | null) {
  return run.actions.map((action) => ({
    ...action,
    isGate: action.type === GATE,
    approval: run.approval?.gate_index === action.index ? run.approval : null,
    params: Object.entries(definition?.actions[action.index]?.params ?? {}).map(([name, value]) => ({
      name,
      value: printed(value),
    })),
  }));
}

export const runPages: Page[] = [
  page({
    method: 'get',
    path: '/app/runs/:run_id',
    who: 'automation.read',
    params: RunParams,
    async handle({ ctx, me, params }) {
      const run = await getRun(ctx, params.run_id);
      const person = personOf({ me });
      const [definition, names, { approvals }] = await Promise.all([
        definitionOf(ctx, run),
        namesIn(ctx, person, [run]),
        run.status === 'paused' ? listApprovals(ctx, 200) : { approvals: [] },
      ]);
      const gate = approvals.find(({ run_id }) => run_id === run.run_id) ?? null;
      const team = person.teams.find(({ team_id }) => team_id === run.team_id);
      const data = { run, gate, names, steps: stepsOf(run, definition), team: team?.name ?? 'Personal' };
      return {
        view: 'run',
        title: run.automation_name,
        data: { ...data, event: JSON.stringify(run.event, null, 2), workflowUrl: workflowUrl(ctx, run) },
      };
    },
  }),
];
