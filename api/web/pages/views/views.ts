import { isAllowed, type Seat } from '../../../platform/access/access.js';
import { deleteView } from '../../../work/saved-views/delete-view.js';
import { listViews } from '../../../work/saved-views/list-views.js';
import { SavedViewParams } from '../../../work/saved-views/schema.js';
import { setDefault } from '../../../work/saved-views/set-default.js';
import { type FormError, page, type Page, type PageRequest, requireUser, type View } from '../../page.js';
import { mapTeamNames } from '../../wording/names.js';
import { listReadyViews } from './ready-views.js';

/** Views of one page of the list; nobody has more of their own. */
const SHOWN = 500;

async function showViews({ ctx, me }: Pick<PageRequest, 'ctx' | 'me'>): Promise<View> {
  const user = requireUser({ me });
  const data = {
    ready: listReadyViews(user),
    views: await listViews(ctx, { limit: SHOWN, offset: 0 }),
    canWrite: user.teams.some(({ role }) => isAllowed('saved_view.write', role as Seat)),
    teamNames: mapTeamNames(user),
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
