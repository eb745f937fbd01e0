import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import { searchMembers } from '../../../identity/teams/search-members.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import { ClampedInt, TaskId } from '../../../platform/fields.js';
import type { Context } from '../../../platform/context.js';
import { toDomainError } from '../../../platform/database/database-errors.js';
import { getProject } from '../../../work/projects/get-project.js';
import type { ProjectRecord } from '../../../work/projects/schema.js';
import { searchItems } from '../../../work/search/search-items.js';
import { findTaskRows } from '../../../work/tasks/read/find-task-rows.js';
import { ITEM_TYPES } from '../../../work/graph/item-place.js';
import { TaskAct } from '../projects/task-action.js';
import { loadTaskActions } from '../projects/task-actions.js';
import { findDestinations, wordsIn } from '../../navigation/find-destinations.js';
import { page, type Page, requireUser } from '../../page.js';
import { backPath, projectPath } from '../projects/paths.js';
import { loadTaskList } from '../projects/task-list.js';
import { membersIn, namesOf } from '../../wording/names.js';
import { suggestTargets } from './relation-target.js';

/** Results of one page; more exact words find the others. */
const SHOWN = 50;
/** Items that the palette shows. */
const SHOWN_IN_PALETTE = 8;
/** People that the palette shows. */
const MAX_PEOPLE = 5;
const MAX_QUERY = 500;

/** A query that the API would reject counts as empty, except that it is cut to the permitted length. */
const Query = z.object({
  q: z
    .string()
    .transform((text) =>
      text.includes('\0') || !text.isWellFormed() ? '' : Array.from(text.trim()).slice(0, MAX_QUERY).join(''),
    )
    .catch(''),
});

/** The palette also knows the project of the page that it is on, or the last one, and the address of the page. */
const PaletteQuery = Query.extend({
  project: z.uuid().optional().catch(undefined),
  back: z.string().max(2_000).optional().catch(undefined),
  /** The first of the tasks that an action would change, and their number. */
  task: TaskId.optional().catch(undefined),
  tasks: ClampedInt(1, 100, 1).catch(1),
  /** Tasks whose pages this browser opened last, the newest first. */
  recent: z
    .string()
    .max(2_000)
    .transform((text) => text.split(','))
    .pipe(z.array(TaskId).max(SHOWN_IN_PALETTE))
    .catch([]),
  /** The chooser that is open. */
  act: TaskAct.optional().catch(undefined),
});

/** Finds for a query; of tasks also what their rows show. */
async function find(ctx: Context, query: string, limit: number) {
  const found = query === '' ? undefined : await searchItems(ctx, { query, limit });
  const ids = found?.results.flatMap(({ item_type, item_id }) => (item_type === 'task' ? [item_id] : [])) ?? [];
  return { found, taskRows: await findTaskRows(ctx, ids) };
}

/** Returns the tasks of a browser's last pages that the caller may still read, in their order. */
async function findRecent(ctx: Context, { teams }: User, ids: readonly string[]) {
  const rows = await findTaskRows(ctx, ids);
  return ids.flatMap((id) => {
    const row = rows[id];
    const team_name = teams.find(({ team_id }) => team_id === row?.team_id)?.name;
    return row ? [{ row, result: { item_type: 'task', item_id: id, title: row.title, team_name } }] : [];
  });
}

/** Beside what is typed: the item that names another, and the type of what it can name. */
const SuggestQuery = Query.extend({
  of: TaskId.catch(''),
  type: z.enum(['task']).optional().catch(undefined),
});

const NEW_TASK = /^(?:new|add|create)\s+task\b:?\s*/i;

/** Returns the task that a query would create; undefined without a text or a project that takes tasks of the user. */
async function taskToCreate(ctx: Context, me: User, { q, project, back }: z.output<typeof PaletteQuery>) {
  const text = q.replace(NEW_TASK, '');
  if (text === '' || project === undefined) return undefined;
  const json = await getProject(ctx, project).catch((error: unknown) => {
    // The last project may be in the trash, or of another user of this browser.
    if (toDomainError(error).status < 500) return undefined;
    throw error;
  });
  if (json === undefined) return undefined;
  const { name, team_id } = JSON.parse(json) as ProjectRecord;
  const role = me.teams.find((team) => team.team_id === team_id)?.role;
  if (!isAllowed('task.write', (role ?? null) as Seat | null)) return undefined;
  return { text, project_id: project, project: name, back: backPath(back, projectPath(project)), isAsked: text !== q };
}

export const searchPages: Page[] = [
  page({
    method: 'get',
    path: '/app/search',
    access: 'search.use',
    query: Query,
    async handle({ ctx, me, query: { q } }) {
      const user = requireUser({ me });
      const { found, taskRows } = await find(ctx, q, SHOWN);
      const tasks = Object.values(taskRows);
      const members = await membersIn(ctx, user, tasks);
      const here = `/app/search?${String(new URLSearchParams({ q }))}`;
      const groups = ITEM_TYPES.map((type) => ({
        type,
        results: found?.results.filter(({ item_type }) => item_type === type) ?? [],
      })).filter(({ results }) => results.length > 0);
      const title = q === '' ? 'Search' : `${q} · Search`;
      const { pages, actions } = findDestinations(user, q);
      return {
        view: 'items/search',
        title,
        scripts: ['work.js'],
        data: {
          ...(await loadTaskList(ctx, user, { tasks, members, here })),
          names: namesOf(user, members),
          q,
          found,
          taskRows,
          groups,
          destinations: q === '' ? [] : [...pages, ...actions],
        },
      };
    },
  }),
  page({
    method: 'get',
    path: '/app/suggest',
    access: 'search.use',
    query: SuggestQuery,
    async handle({ ctx, me, query: { q, of, type } }) {
      const choices = q === '' ? [] : await suggestTargets(ctx, requireUser({ me }), q, { itemId: of, type });
      return { view: 'items/suggest', title: 'Suggestions', isFragment: true, data: { choices } };
    },
  }),
  page({
    method: 'get',
    path: '/app/palette',
    access: 'search.use',
    query: PaletteQuery,
    async handle({ ctx, me, query }) {
      const [user, { q }] = [requireUser({ me }), query];
      const { task: taskId, tasks: count, act } = query;
      const tasks = taskId === undefined ? null : await loadTaskActions(ctx, user, { taskId, count, q, act });
      const here = backPath(query.back, '/app');
      if (act !== undefined) {
        const none = { pages: [], actions: [], people: [], items: [], recent: [], taskRows: {}, creates: undefined };
        const data = { tasks, act, here, ...none };
        return { view: 'items/palette', title: 'Palette', isFragment: true, data };
      }
      const [{ found, taskRows }, creates, recent, people] = await Promise.all([
        find(ctx, q, SHOWN_IN_PALETTE),
        taskToCreate(ctx, user, query),
        findRecent(ctx, user, q === '' ? query.recent : []),
        searchMembers(ctx, wordsIn(q), MAX_PEOPLE),
      ]);
      const { pages, actions } = findDestinations(user, q);
      const rows = { ...taskRows, ...Object.fromEntries(recent.map(({ row }) => [row.task_id, row])) };
      const opened = recent.map(({ result }) => result);
      const items = found?.results ?? [];
      const data = { tasks, act, here, pages, actions, people, items, recent: opened, taskRows: rows, creates };
      return { view: 'items/palette', title: 'Palette', isFragment: true, data };
    },
  }),
];
