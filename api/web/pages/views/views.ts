import { isAllowed, type Seat } from '../../../platform/access/access.js';
import { createView } from '../../../work/saved-views/create-view.js';
import { deleteView } from '../../../work/saved-views/delete-view.js';
import { listViews } from '../../../work/saved-views/list-views.js';
import { GROUP_FIELDS, STATUSES_OF, VIEW_ENTITIES } from '../../../work/saved-views/rules.js';
import { SORT_FIELDS } from '../../../work/saved-views/sort-fields.js';
import { SavedViewParams, VIEWER } from '../../../work/saved-views/schema.js';
import { setDefault } from '../../../work/saved-views/set-default.js';
import { NONE } from '../../../work/tasks/filters.js';
import { TASK_PRIORITIES } from '../../../work/tasks/rules.js';
import { type FormError, page, type Page, type PageRequest, requireUser, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { DUE_CHOICES } from '../../wording/due-names.js';
import { mapTeamNames } from '../../wording/names.js';
import { nameSortField } from '../../wording/sort-names.js';
import { listReadyViews } from './ready-views.js';
import { listChoices, chosenIn, resolveFilters, ViewForm } from './view-form.js';

/** Views of one page of the list; nobody has more of their own. */
const SHOWN = 500;

async function showViews(
  { ctx, me }: Pick<PageRequest, 'ctx' | 'me'>,
  refused: { problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const user = requireUser({ me });
  const views = await listViews(ctx, { limit: SHOWN, offset: 0 });
  const { problem, given = {} } = refused;
  const choices = await listChoices(ctx, user);
  const data = {
    ready: listReadyViews(user),
    views,
    problem,
    given,
    teams: user.teams.filter(({ role }) => isAllowed('saved_view.write', role as Seat)),
    teamNames: mapTeamNames(user),
    entities: VIEW_ENTITIES,
    statuses: { task: STATUSES_OF.task, project: STATUSES_OF.project },
    priorities: TASK_PRIORITIES,
    dues: DUE_CHOICES,
    sortFields: SORT_FIELDS.task.filter((field) => field !== 'position').map((field) => [field, nameSortField(field)]),
    groupFields: GROUP_FIELDS.task.map((field) => [field, nameSortField(field)]),
    chosen: chosenIn(given),
    projects: choices.projects,
    creators: [[VIEWER, 'The viewer'], ...choices.people],
    cycles: [[NONE, 'No cycle'], ...choices.cycles],
    stages: choices.stages.length > 0 ? [[NONE, 'No stage'], ...choices.stages] : [],
    people: [[VIEWER, 'The viewer'], [NONE, 'Nobody'], ...choices.people],
  };
  return { view: 'views/views', title: 'Views', data };
}

/** Why a button was refused, on the page of the list. */
const bounced = (_visit: unknown, { message }: FormError) =>
  Promise.resolve({ to: '/app/views', notice: { kind: 'bad' as const, text: message } });

export const viewListPages: Page[] = [
  page({
    method: 'get',
    path: '/app/views',
    access: 'saved_view.read',
    handle: (visit) => showViews(visit),
  }),
  page({
    method: 'post',
    path: '/app/views',
    access: 'saved_view.write',
    form: ViewForm,
    async handle({ ctx, form }) {
      const { name, entity_type, team_id, is_shared, layout, sort, direction, group_by } = form;
      const view = await createView(ctx, {
        name,
        entity_type,
        team_id,
        is_shared,
        layout,
        filters: resolveFilters(form),
        sort: sort === undefined ? [] : [{ field: sort, direction }],
        group_by: group_by ?? null,
      });
      return { to: `/app/views/${view.view_id}`, notice: { kind: 'good', text: 'View saved' } };
    },
    onError: (visit, problem) => showViews(visit, { problem, given: visit.form }),
  }),
  page({
    method: 'post',
    path: '/app/views/:view_id/default',
    access: 'saved_view.own',
    params: SavedViewParams,
    async handle({ ctx, params }) {
      const { name } = await setDefault(ctx, params.view_id);
      return { to: '/app/views', notice: { kind: 'good', text: `${name} is your default.` } };
    },
    onError: bounced,
  }),
  page({
    method: 'post',
    path: '/app/views/:view_id/delete',
    access: 'saved_view.own',
    params: SavedViewParams,
    async handle({ ctx, params }) {
      await deleteView(ctx, params.view_id);
      return { to: '/app/views', notice: { kind: 'good', text: 'The view was deleted.' } };
    },
    onError: bounced,
  }),
];
