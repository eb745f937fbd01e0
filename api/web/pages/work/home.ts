import type { User } from '../../../identity/auth/schema.js';
import { isAdmitted, isAllowed, type Seat } from '../../../platform/access/access.js';
import { webAddress } from '../../../platform/config.js';
import type { Context } from '../../../platform/context.js';
import { createByApi } from '../../wording/create-by-api.js';
import { describeRuns } from '../../../automation/runs/describe-runs.js';
import { describeGates } from '../../../automation/runs/staging/describe-gates.js';
import { searchRuns } from '../../../automation/runs/search-runs.js';
import { listNextTasks } from '../../../work/tasks/read/list-next-tasks.js';
import { listOwnInvitations } from '../../../identity/teams/invitations/list-own-invitations.js';
import { namesIn, mapTeamNames } from '../../wording/names.js';
import { showGates } from '../agent/plan-lines.js';
import { page, type Page, requireUser } from '../../page.js';
import { actionableApprovals } from './actionable-approvals.js';

/** Entries that fit on a first screen. */
const FEW = 6;
/** Gates among them; the list shows the others. */
const GATES = 3;

/** Returns the command that creates a first automation, in the first team where the user may create one; null without one. */
function commandFor(ctx: Context, person: User): string | null {
  if (!isAdmitted('automation.write', ctx.actor)) return null;
  const team = person.teams.find(({ role }) => isAllowed('automation.write', role as Seat));
  return team ? createByApi(webAddress(ctx.config, '/api/automations'), team.team_id) : null;
}

export const homePages: Page[] = [
  page({
    method: 'get',
    path: '/app',
    access: 'account.read',
    async handle({ ctx, me, pending }) {
      const [runs, { tasks, total }, invitations] = await Promise.all([
        searchRuns(ctx, { limit: FEW }),
        listNextTasks(ctx, FEW),
        listOwnInvitations(ctx, { limit: FEW, offset: 0 }),
      ]);
      const person = requireUser({ me });
      const mine = actionableApprovals(person, pending.approvals);
      const gates = mine.slice(0, GATES);
      const shown = [...gates, ...runs];
      const [names, about, described] = await Promise.all([
        namesIn(ctx, person, shown),
        describeRuns(ctx, shown),
        describeGates(
          ctx,
          gates.map(({ run_id }) => run_id),
        ),
      ]);
      const teamNames = mapTeamNames(person);
      return {
        view: 'work/home',
        title: 'Home',
        data: {
          command: runs.length === 0 ? commandFor(ctx, person) : null,
          invitations,
          gates,
          waits: mine.length,
          runs,
          tasks,
          openTasks: total,
          names,
          about,
          described: showGates(described),
          teamNames,
        },
      };
    },
  }),
];
