import { describeActions } from '../../../automation/definitions/describe-actions.js';
import { findRights } from '../../../automation/definitions/find-rights.js';
import { getAutomation } from '../../../automation/definitions/get-automation.js';
import { AutomationParams, type AutomationRecord } from '../../../automation/definitions/schema.js';
import { startsByTask } from '../../../automation/runs/dispatch/task-events.js';
import { findWarnings, hintAtOwnChanges } from '../../../automation/definitions/warnings.js';
import { findHook } from '../../../automation/hooks/read-hook.js';
import { GATE } from '../../../automation/actions/rules.js';
import { describeRuns } from '../../../automation/runs/describe-runs.js';
import { namesAt } from '../../../automation/runs/names-at.js';
import { listRuns } from '../../../automation/runs/list-runs.js';
import type { Context } from '../../../platform/context.js';
import { describeTrigger, readGate, splitStages } from '../../wording/automation-text.js';
import { namePlace } from '../../wording/field-texts.js';
import { namesIn } from '../../wording/names.js';
import { wordDiff } from '../../wording/word-diff.js';
import { page, type Page, requireUser } from '../../page.js';
import { showLines } from '../agent/plan-lines.js';
import { sayCondition } from './condition-form.js';
import { readOwnWords } from './own-words.js';

/** Runs that the page shows; the list of runs has all. */
const RECENT_RUNS = 8;

/** Returns every action in words; a gate by what it requires. */
async function readSteps(
  ctx: Context,
  { team_id, created_by, actions }: Pick<AutomationRecord, 'team_id' | 'created_by' | 'actions'>,
) {
  const lines = showLines(await describeActions(ctx, { team_id, created_by }, actions), wordDiff());
  return actions.map((action, index) => ({
    ...action,
    line: lines[index],
    gate: action.type === GATE ? readGate(action.params) : null,
  }));
}

/** Returns the name of the project whose events alone match; null without one, or if it is in the trash. */
async function findProjectName(
  ctx: Context,
  { team_id, created_by, project_id }: Pick<AutomationRecord, 'team_id' | 'created_by' | 'project_id'>,
): Promise<string | null> {
  if (project_id === null) return null;
  const [names = {}] = await namesAt(ctx, [{ place: team_id ?? created_by, items: [project_id], users: [] }]);
  return names[project_id] ?? null;
}

/** Returns warnings as sentences of the page, which names the trigger itself. */
const listWarnings = async (ctx: Context, automation: AutomationRecord & Parameters<typeof findWarnings>[1]): Promise<string[]> =>
  [...(await findWarnings(ctx, automation)), ...hintAtOwnChanges(automation)].map((text) => {
    const said = namePlace(text, automation.actions).replace(
      `events of ${automation.trigger_type} have`,
      'events of this trigger have',
    );
    return said.charAt(0).toUpperCase() + said.slice(1);
  });

export const automationPages: Page[] = [
  page({
    method: 'get',
    path: '/app/automations/:automation_id',
    access: 'automation.read',
    params: AutomationParams,
    async handle({ ctx, me, params: { automation_id } }) {
      const automation = await getAutomation(ctx, automation_id);
      const person = requireUser({ me });
      const [steps, rights, runs, names] = await Promise.all([
        readSteps(ctx, automation),
        findRights(ctx, automation),
        listRuns(ctx, automation_id, { limit: RECENT_RUNS, offset: 0 }),
        namesIn(ctx, person, [automation]),
      ]);
      const hasAddress = automation.trigger_type === 'webhook';
      const [about, project, warnings, hook, own] = await Promise.all([
        describeRuns(ctx, runs),
        findProjectName(ctx, automation),
        rights.mayChange ? listWarnings(ctx, automation) : [],
        hasAddress ? findHook(ctx, automation_id) : undefined,
        readOwnWords(ctx, person, automation.team_id),
      ]);
      const team = person.teams.find(({ team_id }) => team_id === automation.team_id);
      const shown = { automation, hasAddress, hook, steps, runs, about, names, project, warnings, ...rights };
      const data = {
        ...shown,
        trigger: describeTrigger(automation),
        sayCondition: (text: string) => sayCondition(text, automation.trigger_type, own),
        stages: splitStages(automation.actions),
        team: team?.name ?? 'Personal',
        isAboutTask: startsByTask(automation.trigger_type),
        needsEvent: !['manual', 'schedule'].includes(automation.trigger_type),
      };
      return { view: 'automations/automation', title: automation.name, data };
    },
  }),
];
