import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { createView } from '../../../work/saved-views/create-view.js';
import { present } from '../../../work/saved-views/present.js';
import { readView } from '../../../work/saved-views/read-view.js';
import { listMatches } from '../../../work/saved-views/results/list-results.js';
import { CreateSavedView, SavedViewParams, type SavedViewRecord } from '../../../work/saved-views/schema.js';
import { MANUAL_ORDER } from '../../../work/saved-views/sort-fields.js';
import { updateView } from '../../../work/saved-views/update-view.js';
import { findTaskRows } from '../../../work/tasks/read/find-task-rows.js';
import type { TaskRow } from '../../../work/tasks/read/task-row.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import { type FormError, page, type Page, type PageRequest, requireUser, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { mapTeamNames, membersIn } from '../../wording/names.js';
import { filterData } from '../filters/filter-bar.js';
import { toColumns } from '../projects/board.js';
import { loadGroupHeads } from '../projects/group-heads.js';
import { backPath } from '../projects/paths.js';
import { countHeads, inStages } from '../projects/stage-groups.js';
import { loadTaskList, writableTeams } from '../projects/task-list.js';
import { isNew, listReadyViews, NEW_VIEWS, ShownViewParams } from './ready-views.js';
import { loadViewAround, teamsOf, viewBar } from './view-bar.js';
import { applyBar, type Bar, barIn, columnsOf, differs, namedFields, toBar, viewQuery, ViewQuery } from './view-query.js';

/** Rows of a list, and cards of a board: a board has no pages. */
const ROWS = 100;
const CARDS = 500;

/** What the page shows of a result, whatever its entity. */
type Row = Record<string, unknown> & { team_id: string | null };

/** Returns the tasks among the results of a view, by id. */
async function tasksAmong(ctx: Context, { entity_type }: SavedViewRecord, results: Row[]): Promise<Record<string, TaskRow>> {
  if (entity_type === 'task') return Object.fromEntries(results.map((row) => [row['task_id'], row as unknown as TaskRow]));
  return findTaskRows(
    ctx,
    results.flatMap(({ type, item_id }) => (type === 'task' && typeof item_id === 'string' ? [item_id] : [])),
  );
}

/** How the page of a view is asked for, beside its id. */
interface Asked {
  /** What the bar says; without it, what is saved. */
  bar?: Bar | undefined;
  offset?: number;
  problem?: FormError;
  /** A form that was refused, as it was typed. */
  given?: Fields;
}

/** Returns a view that is ready made, or a saved one. */
const readOne = async (ctx: Context, me: User, viewId: string): Promise<SavedViewRecord> =>
  [...NEW_VIEWS, ...listReadyViews(me)].find(({ view_id }) => view_id === viewId) ??
  present(await readView(ctx, SavedViewParams.parse({ view_id: viewId }).view_id));

/** What the page offers to save, and who may. */
function savingOf(me: User, saved: SavedViewRecord, view: SavedViewRecord, { bar, problem, given }: Asked) {
  const base = `/app/views/${saved.view_id}`;
  const isOwner = saved.owner_id === me.user_id;
  return {
    base,
    query: viewQuery(bar),
    isView: true,
    saves: '/views/save',
    isNew: isNew(saved.view_id),
    isOwner,
    canCopy: me.teams.some(({ role }) => isAllowed('saved_view.write', role as Seat)),
    isChanged: bar !== undefined && differs(saved, view),
    saved,
    problem,
    given: given ?? { name: isOwner ? saved.name : '', ...(saved.is_shared && isOwner && { is_shared: 'yes' }) },
    isRefused: given !== undefined,
  };
}

/** Returns a view with the order that its page has: a board without one has that of its cards. */
function inOrder(view: SavedViewRecord, isBoard: boolean) {
  const isManual = isBoard && (view.sort.length === 0 || view.sort[0]?.field === MANUAL_ORDER);
  return { isManual, ordered: isManual ? { ...view, sort: [{ field: MANUAL_ORDER, direction: 'asc' as const }] } : view };
}

async function showView({ ctx, me }: Pick<PageRequest, 'ctx' | 'me'>, viewId: string, asked: Asked = {}): Promise<View> {
  const { bar, offset = 0 } = asked;
  const user = requireUser({ me });
  const saved = await readOne(ctx, user, viewId);
  const view = applyBar(saved, bar);
  const stages = view.team_id !== null && view.entity_type === 'task' ? await findStages(ctx, [view.team_id]) : [];
  const isBoard = view.layout === 'board' && view.entity_type === 'task';
  const { isManual, ordered } = inOrder(view, isBoard);
  const window = isBoard ? { limit: CARDS, offset: 0 } : { limit: ROWS, offset };
  const [{ body, count, more, truncated }, groups] = await Promise.all([
    listMatches(ctx, isBoard ? ordered : inStages(ordered, stages), window),
    isBoard ? [] : countHeads(ctx, view, stages),
  ]);
  const results = JSON.parse(body as string) as Row[];
  const members = await membersIn(ctx, user, [...results, ...teamsOf(user, view)]);
  const shown = bar ?? toBar(saved);
  const around = await loadViewAround(ctx, user, view, shown, members);
  const saving = savingOf(user, saved, view, asked);
  const here = backPath(`${saving.base}${viewQuery(bar, { offset: isBoard ? undefined : offset || undefined })}`, saving.base);
  const taskRows = await tasksAmong(ctx, view, results);
  const list = await loadTaskList(ctx, user, {
    tasks: Object.values(taskRows),
    members,
    here,
    isAcross: true,
    named: namedFields(view),
  });
  const data = {
    ...list,
    ...filterData(shown, user, around, viewBar(user, view, shown, around.fields)),
    ...saving,
    view,
    owner: around.names[view.owner_id],
    isManual,
    results,
    taskRows,
    columns: isBoard ? toColumns(Object.values(taskRows), writableTeams(user), list.statusPlaces) : columnsOf(view),
    names: around.names,
    groups,
    group: await loadGroupHeads(ctx, user, { by: view.group_by, groups, rows: results, people: around.names, stages }),
    fieldNames: Object.fromEntries(around.fields.map(({ key, name }) => [key, name])),
    teamNames: mapTeamNames(user),
    previous: offset > 0 ? viewQuery(bar, { offset: Math.max(0, offset - ROWS) || undefined }) : undefined,
    next: more && !truncated && !isBoard ? viewQuery(bar, { offset: offset + count }) : undefined,
    isCut: more && isBoard,
    cards: CARDS,
  };
  return { view: isBoard ? 'views/board' : 'views/list', title: view.name, data, scripts: ['work.js'] };
}

const Sharing = z.string().optional();
const CopyForm = z.object({ name: CreateSavedView.shape.name, is_shared: Sharing });
/** With the time of the change that the page showed. */
const EditForm = CopyForm.extend({ updated_at: z.string().max(40) });

/** The page of a form that was refused. */
const refused = (visit: PageRequest<z.output<typeof ShownViewParams>, z.output<typeof ViewQuery>, Fields>, problem: FormError) =>
  showView(visit, visit.params.view_id, { bar: barIn(visit.query), problem, given: visit.form });

export const viewPages: Page[] = [
  page({
    method: 'get',
    path: '/app/views/:view_id',
    access: 'saved_view.read',
    params: ShownViewParams,
    query: ViewQuery,
    handle: (visit) => showView(visit, visit.params.view_id, { bar: barIn(visit.query), offset: visit.query.offset }),
    // Without its bar the same error comes again, as a page of its own.
    onError: (visit, problem) => showView(visit, visit.params.view_id, { problem }),
  }),
  page({
    method: 'post',
    path: '/app/views/:view_id',
    access: 'saved_view.own',
    params: SavedViewParams,
    query: ViewQuery,
    form: EditForm,
    async handle({ ctx, me, params, query, form: { name, is_shared, updated_at } }) {
      const view = applyBar(await readOne(ctx, requireUser({ me }), params.view_id), barIn(query));
      const { filters, sort, group_by, layout, columns, team_id } = view;
      const changes = { name, is_shared: is_shared !== undefined, filters, sort, group_by, layout, columns, team_id };
      await updateView(ctx, params.view_id, changes, updated_at);
      return { to: `/app/views/${params.view_id}`, notice: { kind: 'good', text: 'View saved' } };
    },
    onError: refused,
  }),
  page({
    method: 'post',
    path: '/app/views/:view_id/copy',
    access: 'saved_view.write',
    params: ShownViewParams,
    query: ViewQuery,
    form: CopyForm,
    async handle({ ctx, me, params, query, form: { name, is_shared } }) {
      const view = applyBar(await readOne(ctx, requireUser({ me }), params.view_id), barIn(query));
      const { entity_type, team_id, filters, sort, group_by, layout, columns } = view;
      const definition = { entity_type, team_id, filters, sort, group_by, layout, columns };
      const { view_id } = await createView(ctx, { name, is_shared: is_shared !== undefined, ...definition });
      return { to: `/app/views/${view_id}`, notice: { kind: 'good', text: 'View saved' } };
    },
    onError: refused,
  }),
];
