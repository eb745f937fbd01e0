import { z } from 'zod';
import { getFirstSteps } from '../../../identity/example/get-first-steps.js';
import { isAdmitted } from '../../../platform/access/access.js';
import { describeRuns } from '../../../automation/runs/describe-runs.js';
import { describeGates } from '../../../automation/runs/staging/describe-gates.js';
import { searchRuns } from '../../../automation/runs/search-runs.js';
import { loadTaskList } from '../projects/task-list.js';
import { listNextTasks } from '../../../work/tasks/read/list-next-tasks.js';
import { listOwnInvitations } from '../../../identity/teams/invitations/list-own-invitations.js';
import { mapTeamNames, membersIn, namesOf } from '../../wording/names.js';
import { showGates } from '../agent/plan-lines.js';
import { navigationOf } from '../../navigation/places.js';
import { page, type Page, requireUser } from '../../page.js';
import { groupByDue } from './group-by-due.js';
import { actionableApprovals } from './actionable-approvals.js';

/** The first of the tasks; a view has all of them. */
const TASKS = 20;
/** Invitations; a page has all of them. */
const FEW = 6;
/** Runs among what else there is. */
const RUNS = 4;
/** Gates among them; the list shows the others. */
const GATES = 3;

export const homePages: Page[] = [
  page({
    method: 'get',
    path: '/app/places',
    access: 'account.read',
    handle: ({ me }) => {
      // Pages take its counts only, so no place is the current one.
      const navigation = navigationOf(requireUser({ me }), '');
      return Promise.resolve({ view: 'work/places', title: 'Places', isFragment: true, data: { navigation } });
    },
  }),
  page({
    method: 'get',
    path: '/app',
    access: 'account.read',
    // All steps, also those that are done or hidden.
    query: z.object({ steps: z.string().optional().catch(undefined) }),
    async handle({ ctx, me, pending, query }) {
      const [runs, { tasks, total }, invitations] = await Promise.all([
        searchRuns(ctx, { state: 'begun', limit: RUNS }),
        listNextTasks(ctx, TASKS),
        listOwnInvitations(ctx, { limit: FEW, offset: 0 }),
      ]);
      const person = requireUser({ me });
      const mine = actionableApprovals(person, pending.approvals);
      const gates = mine.slice(0, GATES);
      const shown = [...gates, ...runs];
      const mayTake = isAdmitted('automation.write', ctx.actor);
      const [steps, members, about, described] = await Promise.all([
        mayTake ? getFirstSteps(ctx, person, runs.length > 0) : null,
        membersIn(ctx, person, [...shown, ...tasks]),
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
        scripts: ['work.js'],
        data: {
          ...(await loadTaskList(ctx, person, { tasks, members, here: '/app' })),
          // After the last step nothing is left to do here.
          steps: steps?.next === null && query.steps === undefined ? null : steps,
          areStepsAsked: query.steps !== undefined,
          invitations,
          gates,
          runs,
          ...groupByDue(person, tasks, total),
          openTasks: total,
          names: namesOf(person, members),
          about,
          described: showGates(described),
          teamNames,
        },
      };
    },
  }),
];
