import { z } from 'zod';
import { getFirstSteps } from '../../../identity/example/get-first-steps.js';
import { isAdmitted } from '../../../platform/access/access.js';
import { describeRuns } from '../../../automation/runs/describe-runs.js';
import type { ApprovalPage } from '../../../automation/runs/approvals/list-approvals.js';
import { listWaiting, type Waiting } from '../../../approvals/list-decisions.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { searchRuns } from '../../../automation/runs/search-runs.js';
import { loadTaskList } from '../projects/task-list.js';
import { listNextTasks } from '../../../work/tasks/read/list-next-tasks.js';
import { listOwnInvitations } from '../../../identity/teams/invitations/list-own-invitations.js';
import { mapTeamNames, membersIn, namesOf } from '../../wording/names.js';
import { navigationOf } from '../../navigation/places.js';
import { page, type Page, requireUser } from '../../page.js';
import { groupByDue } from './group-by-due.js';
import { actionableApprovals } from './actionable-approvals.js';
import { type Entry, readEntries } from './decision-entries.js';

/** The first of the tasks; a view has all of them. */
const TASKS = 20;
/** Invitations; a page has all of them. */
const FEW = 6;
/** Runs among what else there is. */
const RUNS = 4;
/** Gates and change requests to decide; the list shows the others. */
const CARDS = 3;
/** Change requests of which these are taken: the user may not decide each. */
const REQUESTS = 10;

/** Returns the first gates and change requests that the user may decide, nearest deadline first, with what their cards show. */
async function loadMine(ctx: Context, me: User, pending: ApprovalPage) {
  const gates = actionableApprovals(me, pending.approvals).slice(0, CARDS);
  const { rows } = isAdmitted('request.read', ctx.actor)
    ? await listWaiting(ctx, { kind: 'request', state: 'pending', limit: REQUESTS })
    : { rows: [] };
  const { entries, ...shown } = await readEntries(ctx, me, [
    ...gates.map(({ run_id }): Waiting => ({ kind: 'gate', id: run_id })),
    ...rows,
  ]);
  const deadlineOf = ({ gate, request }: Entry): number => Date.parse((gate ?? request)?.expires_at ?? '');
  const mine = entries.filter(({ isMine }) => isMine).toSorted((a, b) => deadlineOf(a) - deadlineOf(b));
  return { entries: mine.slice(0, CARDS), ...shown };
}

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
      const person = requireUser({ me });
      const [runs, { tasks, total }, invitations, waits] = await Promise.all([
        searchRuns(ctx, { state: 'begun', limit: RUNS }),
        listNextTasks(ctx, TASKS),
        listOwnInvitations(ctx, { limit: FEW, offset: 0 }),
        loadMine(ctx, person, pending),
      ]);
      const mayTake = isAdmitted('automation.write', ctx.actor);
      const [steps, members, about] = await Promise.all([
        mayTake ? getFirstSteps(ctx, person, runs.length > 0) : null,
        membersIn(ctx, person, [...runs, ...tasks]),
        describeRuns(ctx, runs),
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
          waits,
          runs,
          ...groupByDue(person, tasks, total),
          openTasks: total,
          names: namesOf(person, members),
          about,
          teamNames,
        },
      };
    },
  }),
];
