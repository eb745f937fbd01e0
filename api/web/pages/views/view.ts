import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { findPlaces } from '../../../work/graph/item-place.js';
import { listFields } from '../../../work/custom-fields/list-fields.js';
import { present } from '../../../work/saved-views/present.js';
import { readView } from '../../../work/saved-views/read-view.js';
import { checkView } from '../../../work/saved-views/check-view.js';
import { createView } from '../../../work/saved-views/create-view.js';
import { listMatches } from '../../../work/saved-views/results/list-results.js';
import { MANUAL_ORDER } from '../../../work/saved-views/sort-fields.js';
import { parseCustomKey } from '../../../work/saved-views/rules.js';
import { SavedViewParams, type SavedViewRecord, ViewFilters } from '../../../work/saved-views/schema.js';
import { updateView } from '../../../work/saved-views/update-view.js';
import { ClampedInt } from '../../../platform/fields.js';
import { findTaskRows } from '../../../work/tasks/read/find-task-rows.js';
import type { TaskRow } from '../../../work/tasks/read/task-row.js';
import { type FormError, page, type Page, type PageRequest, requireUser, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { createFormatter } from '../../wording/formatter.js';
import { mapTeamNames, membersIn, namesOf } from '../../wording/names.js';
import { toColumns } from '../projects/board.js';
import { parseInput } from '../projects/form-fields.js';
import { loadGroupHeads } from '../projects/group-heads.js';
import { countHeads, inStages } from '../projects/stage-groups.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import { backPath } from '../projects/paths.js';
import { loadTaskList, writableTeams } from '../projects/task-list.js';
import { describeView } from './describe-view.js';
import { listReadyViews, ShownViewParams } from './ready-views.js';
import { columnsOf, CopyForm, EditForm, listEditChoices, mergeForm, ShownForm, toFields } from './edit-form.js';

/** Rows of a list, and cards of a board: a board has no pages. */
const ROWS = 100;
const CARDS = 500;

/** What the page shows of a result, whatever its entity. */
type Row = Record<string, unknown> & { team_id: string | null };

/** Names of the custom fields that the view shows, by their keys. */
async function fieldNames(ctx: Context, view: SavedViewRecord): Promise<Record<string, string>> {
  const keys = view.columns.flatMap((column) => parseCustomKey(column) ?? []);
  if (keys.length === 0 || view.team_id === null) return {};
  const fields = await listFields(ctx, { team_id: view.team_id });
  return Object.fromEntries(fields.map(({ key, name }) => [key, name]));
}

/** Name of the only project that the view filters by; undefined if there are several, or the user may not read it. */
async function findProjectName(ctx: Context, { teams }: User, { filters }: SavedViewRecord): Promise<string | undefined> {
  const [id, ...others] = ViewFilters.safeParse(filters).data?.project_id ?? [];
  if (id === undefined || others.length > 0) return undefined;
  const project = (await findPlaces(ctx, [id])).get(id);
  const role = teams.find(({ team_id }) => team_id === project?.team_id)?.role;
  return isAllowed('project.read', (role ?? null) as Seat | null) ? project?.title : undefined;
}

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
  /** What the form shows; without it, what is saved. */
  given?: Fields | undefined;
  offset?: number;
  problem?: FormError;
}

/** Returns the view as it is looked up: as saved, or with what a form has changed. @throws VALIDATION_ERROR */
function applyForm(saved: SavedViewRecord, given: Fields | undefined): SavedViewRecord {
  if (given === undefined) return saved;
  const view = { ...saved, ...mergeForm(saved, parseInput(ShownForm, given)) };
  checkView({ ...view, filters: ViewFilters.parse(view.filters) });
  return view;
}

/** Returns a view that is ready made, or a saved one. */
const readOne = async (ctx: Context, me: User, viewId: string): Promise<SavedViewRecord> =>
  listReadyViews(me).find(({ view_id }) => view_id === viewId) ??
  present(await readView(ctx, SavedViewParams.parse({ view_id: viewId }).view_id));

/** Returns the query of a page with the same form: empty, or with its question mark. */
function toQuery(given: Fields | undefined, offset: number): string {
  const fields = Object.entries({ ...given, ...(offset > 0 ? { offset } : {}) });
  const pairs = fields.flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)] as [string, string]));
  return pairs.length === 0 ? '' : `?${String(new URLSearchParams(pairs))}`;
}

/** The form of a view, and who may send it. */
async function loadForm(ctx: Context, me: User, saved: SavedViewRecord, given: Fields | undefined) {
  const fields = given ?? toFields(saved);
  return {
    form: { given: fields, ...(await listEditChoices(ctx, me, saved, fields)) },
    canSave: saved.owner_id === me.user_id,
    canCopy: me.teams.some(({ role }) => isAllowed('saved_view.write', role as Seat)),
  };
}

async function showView(
  { ctx, me }: Pick<PageRequest, 'ctx' | 'me'>,
  viewId: string,
  { given, offset = 0, problem }: Asked = {},
): Promise<View> {
  const user = requireUser({ me });
  const saved = await readOne(ctx, user, viewId);
  // What was refused is in the form, and the page shows what is saved.
  const view = problem ? saved : applyForm(saved, given);
  const stages = view.team_id !== null && view.entity_type === 'task' ? await findStages(ctx, [view.team_id]) : [];
  const isBoard = view.layout === 'board' && view.entity_type === 'task';
  const isManual = isBoard ? view.sort.length === 0 || view.sort[0]?.field === MANUAL_ORDER : false;
  const sort = isManual ? [{ field: MANUAL_ORDER, direction: 'asc' as const }] : view.sort;
  const window = isBoard ? { limit: CARDS, offset: 0 } : { limit: ROWS, offset };
  const [{ body, count, more, truncated }, groups, names, form, project] = await Promise.all([
    listMatches(ctx, isBoard ? { ...view, sort } : inStages({ ...view, sort }, stages), window),
    isBoard ? [] : countHeads(ctx, view, stages),
    fieldNames(ctx, view),
    loadForm(ctx, user, saved, given),
    findProjectName(ctx, user, view),
  ]);
  const results = JSON.parse(body as string) as Row[];
  const members = await membersIn(ctx, user, view.team_id === null ? results : [...results, view]);
  const people = namesOf(user, members);
  const path = `/app/views/${viewId}`;
  const edits = problem ? undefined : given;
  const here = backPath(`${path}${toQuery(edits, isBoard ? 0 : offset)}`, path);
  const taskRows = await tasksAmong(ctx, view, results);
  const list = await loadTaskList(ctx, user, { tasks: Object.values(taskRows), members, here });
  const columns = isBoard ? toColumns(Object.values(taskRows), writableTeams(user), list.statusPlaces) : columnsOf(view);
  const data = {
    ...form,
    ...list,
    problem,
    isEdited: given !== undefined,
    view,
    about: describeView(view, {
      people,
      cycles: Object.fromEntries(form.form.cycles),
      stages: Object.fromEntries(form.form.stages),
      project,
      ...createFormatter(user),
    }),
    owner: people[view.owner_id],
    isManual,
    results,
    taskRows,
    columns,
    names: people,
    groups,
    group: await loadGroupHeads(ctx, user, { by: view.group_by, groups, rows: results, people, stages }),
    fieldNames: names,
    teamNames: mapTeamNames(user),
    isOwner: form.canSave,
    previous: offset > 0 ? toQuery(edits, Math.max(0, offset - ROWS)) : undefined,
    next: more && !truncated && !isBoard ? toQuery(edits, offset + count) : undefined,
    isCut: more && isBoard,
    cards: CARDS,
  };
  return { view: isBoard ? 'views/board' : 'views/list', title: view.name, data, scripts: ['work.js'] };
}

/** The page of a view. With `edited`, the other fields are those of its form. */
const ViewQuery = z.looseObject({ offset: ClampedInt(0, 10_000, 0).catch(0), edited: z.string().optional() });

const formIn = ({ offset: _offset, ...given }: z.output<typeof ViewQuery>): Fields | undefined =>
  given.edited === undefined ? undefined : given;

export const viewPages: Page[] = [
  page({
    method: 'get',
    path: '/app/views/:view_id',
    access: 'saved_view.read',
    params: ShownViewParams,
    query: ViewQuery,
    handle: (visit) => showView(visit, visit.params.view_id, { given: formIn(visit.query), offset: visit.query.offset }),
    // Without a form the same error comes again, as a page of its own.
    onError: (visit, problem) => showView(visit, visit.params.view_id, { given: formIn(visit.query), problem }),
  }),
  page({
    method: 'post',
    path: '/app/views/:view_id',
    access: 'saved_view.own',
    params: SavedViewParams,
    form: EditForm,
    async handle({ ctx, me, params, form }) {
      const { name, updated_at } = form;
      const changes = mergeForm(await readOne(ctx, requireUser({ me }), params.view_id), form);
      await updateView(ctx, params.view_id, { name, ...changes }, updated_at);
      return { to: `/app/views/${params.view_id}`, notice: { kind: 'good', text: 'View saved' } };
    },
    onError: (visit, problem) => showView(visit, visit.params.view_id, { given: visit.form, problem }),
  }),
  page({
    method: 'post',
    path: '/app/views/:view_id/copy',
    access: 'saved_view.write',
    params: ShownViewParams,
    form: CopyForm,
    async handle({ ctx, me, params, form }) {
      const view = await readOne(ctx, requireUser({ me }), params.view_id);
      const { entity_type, team_id } = view;
      const { view_id } = await createView(ctx, { name: form.name, entity_type, team_id, ...mergeForm(view, form) });
      return { to: `/app/views/${view_id}`, notice: { kind: 'good', text: 'View saved' } };
    },
    onError: (visit, problem) => showView(visit, visit.params.view_id, { given: visit.form, problem }),
  }),
];
