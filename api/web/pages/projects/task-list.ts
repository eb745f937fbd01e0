import type { User } from '../../../identity/auth/schema.js';
import type { Member } from '../../../identity/teams/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { listCycles } from '../../../work/cycles/list-cycles.js';
import { mayHold } from '../../../work/cycles/rules.js';
import type { Cycle } from '../../../work/cycles/schema.js';
import { findPlaces } from '../../../work/graph/item-place.js';
import { STATUS_CHOICES, TASK_PRIORITIES } from '../../../work/tasks/rules.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import { toPlaces } from '../../../work/tasks/stages/places.js';
import type { TaskRow } from '../../../work/tasks/read/task-row.js';
import { loadAround } from './around-tasks.js';
import { listTargets } from './place-choices.js';
import { loadRowFields } from './row-fields.js';

/** Cycles of one state that a team's tasks can be moved to. */
const MAX_CYCLES = 100;
/** Teams of one list whose cycles and projects are offered for what is ticked. */
const MAX_TEAMS = 5;

type Placed = Pick<TaskRow, 'task_id' | 'team_id' | 'project_id'>;

/** Returns the cycles that may get one of the tasks, all of teams whose tasks the user may change. */
export async function loadCycles(ctx: Context, tasks: readonly Omit<Placed, 'task_id'>[]): Promise<Cycle[]> {
  const found = await loadOpenCycles(ctx, [...new Set(tasks.map(({ team_id }) => team_id))]);
  return found.filter((cycle) => tasks.some((task) => mayHold(cycle, task)));
}

/** Returns the cycles of some teams that are not over. */
export async function loadOpenCycles(ctx: Context, teamIds: readonly string[]): Promise<Cycle[]> {
  const teams = teamIds.slice(0, MAX_TEAMS);
  const states = ['active', 'planned'] as const;
  const found = await Promise.all(
    teams.flatMap((team_id) => states.map((status) => listCycles(ctx, { team_id, status, limit: MAX_CYCLES, offset: 0 }))),
  );
  return found.flat();
}

/** Returns the ids of the teams whose tasks the user may change. */
export const writableTeams = ({ teams }: User): Set<string> =>
  new Set(teams.filter(({ role }) => isAllowed('task.write', role as Seat)).map(({ team_id }) => team_id));

/** A list of tasks on a page. */
interface ListedTasks {
  tasks: readonly (Placed & Pick<TaskRow, 'estimate'>)[];
  /** Members of the teams of the tasks, by team. */
  members: ReadonlyMap<string, readonly Member[]>;
  /** Path and query of the page. */
  here: string;
  /** Rows name their projects, where these are several. */
  isAcross?: true;
  /** Keys of the custom fields that a view names. */
  named?: readonly string[] | undefined;
}

/** Returns the names of the projects of tasks by id; none where all tasks are of one. */
async function nameProjects(ctx: Context, tasks: ListedTasks['tasks']): Promise<Record<string, string>> {
  const ids = [...new Set(tasks.map(({ project_id }) => project_id))];
  const places =
    ids.length > 1
      ? await findPlaces(
          ctx,
          ids.filter((id) => id !== null),
        )
      : [];
  return Object.fromEntries([...places].map(([id, { title }]) => [id, title]));
}

/** Loads what `tasks/list.eta` shows of a list of tasks, and offers for those that are ticked. */
export async function loadTaskList(ctx: Context, me: User, { tasks, members, here, isAcross, named }: ListedTasks) {
  const writes = writableTeams(me);
  const mine = tasks.filter(({ team_id }) => writes.has(team_id));
  const teams = new Set(mine.map(({ team_id }) => team_id));
  const teamIds = new Set(tasks.map(({ team_id }) => team_id));
  const [around, cycles, targets, stages, projectNames, fields] = await Promise.all([
    loadAround(
      ctx,
      me,
      tasks.map(({ task_id }) => task_id),
    ),
    loadCycles(ctx, mine),
    Promise.all([...teams].slice(0, MAX_TEAMS).map((teamId) => listTargets(ctx, teamId))),
    findStages(ctx, teamIds),
    isAcross ? nameProjects(ctx, tasks) : {},
    loadRowFields(ctx, tasks, named),
  ]);
  const people = [...members].flatMap(([teamId, some]) => (teams.has(teamId) ? some : []));
  return {
    here,
    ...fields,
    writes,
    tickable: mine.length,
    around,
    cycles,
    targets: targets.flat(),
    members: [...new Map(people.map((one) => [one.user_id, one])).values()],
    stages,
    projectNames,
    statuses: STATUS_CHOICES,
    // The stages of one team are none for tasks of another.
    statusPlaces: toPlaces(teamIds.size === 1 ? stages : []),
    priorities: TASK_PRIORITIES,
    // Where others have an estimate, each row offers one.
    isEstimated: tasks.some(({ estimate }) => estimate !== null),
  };
}
