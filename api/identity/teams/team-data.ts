import { planData } from '../../agent/plans/team-data.js';
import { sessionData } from '../../agent/sessions/team-data.js';
import { automationData } from '../../automation/definitions/team-data.js';
import { gatewayData } from '../../automation/gateway/team-data.js';
import { runnerData } from '../../automation/runners/team-data.js';
import { approvalData } from '../../automation/runs/team-data.js';
import { secretData } from '../../automation/secrets/team-data.js';
import { bulkData } from '../../bulk/jobs/team-data.js';
import { repositoryData } from '../../integrations/forge/team-data.js';
import { requestData } from '../../gate/requests/team-data.js';
import { webhookData } from '../../integrations/webhooks/team-data.js';
import type { Context } from '../../platform/context.js';
import type { TeamData } from '../../platform/team-data.js';
import { customFieldData } from '../../work/custom-fields/team-data.js';
import { cycleData } from '../../work/cycles/team-data.js';
import { projectData } from '../../work/projects/team-data.js';
import { itemData } from '../../work/items/team-data.js';
import { savedViewData } from '../../work/saved-views/team-data.js';
import { taskData } from '../../work/tasks/team-data.js';
import { invitationData } from './invitations/team-data.js';

/** What goes with a team or a member, in the order in which rows are locked. A new feature goes where its other writers lock it. */
export const TEAM_DATA: readonly TeamData[] = [
  projectData,
  cycleData,
  customFieldData,
  invitationData,
  planData,
  itemData,
  taskData,
  approvalData,
  requestData,
  gatewayData,
  automationData,
  sessionData,
  repositoryData,
  secretData,
  savedViewData,
  runnerData,
  webhookData,
  bulkData,
];

type Phase = Exclude<keyof TeamData, 'tables'>;
type Subject<Name extends Phase> = Parameters<NonNullable<TeamData[Name]>>[1];

/** Calls one function of each feature, in order, in the caller's transaction. Returns their counts as one object. */
export async function runTeamData<Name extends Phase>(
  ctx: Context,
  phase: Name,
  subject: Subject<Name>,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const data of TEAM_DATA) {
    const work = data[phase] as ((ctx: Context, subject: Subject<Name>) => Promise<object | undefined>) | undefined;
    Object.assign(counts, await work?.(ctx, subject));
  }
  return counts;
}
