import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { deleteView } from '../../../work/saved-views/delete-view.js';
import { listViews } from '../../../work/saved-views/list-views.js';
import { VIEW_ENTITIES } from '../../../work/saved-views/rules.js';
import { SavedViewParams, type SavedViewRecord } from '../../../work/saved-views/schema.js';
import { setDefault } from '../../../work/saved-views/set-default.js';
import { type FormError, page, type Page, requireUser } from '../../page.js';
import { mapTeamNames } from '../../wording/names.js';
import { listReadyViews } from './ready-views.js';

/** Views of one page of the list; nobody has more of their own. */
const SHOWN = 500;
/** Of a user with a default, `/app/views` is that view. */
const LIST = '/app/views?all=yes';
const WHAT = { task: 'tasks', project: 'projects', work_item: 'work items' } as const;

/** Returns the views that a user may see, and the one that the entry *Views* opens: their default, of tasks before that of other things. */
async function loadViews(
  ctx: Context,
  { user_id }: User,
): Promise<{ views: SavedViewRecord[]; opened: SavedViewRecord | undefined }> {
  const views = await listViews(ctx, { limit: SHOWN, offset: 0 });
  const own = views.filter(({ owner_id, is_default }) => is_default && owner_id === user_id);
  return { views, opened: VIEW_ENTITIES.flatMap((entity) => own.filter(({ entity_type }) => entity_type === entity))[0] };
}

/** Why a button was refused, on the page of the list. */
const bounced = (_visit: unknown, { message }: FormError) =>
  Promise.resolve({ to: LIST, notice: { kind: 'bad' as const, text: message } });

export const viewListPages: Page[] = [
  page({
    method: 'get',
    path: '/app/views',
    access: 'saved_view.read',
    // The list, also for a user with a default.
    query: z.object({ all: z.string().optional().catch(undefined) }),
    async handle({ ctx, me, query }) {
      const user = requireUser({ me });
      const { views, opened } = await loadViews(ctx, user);
      if (opened && query.all === undefined) return { to: `/app/views/${opened.view_id}` };
      const data = {
        ready: listReadyViews(user),
        views,
        opened,
        canWrite: user.teams.some(({ role }) => isAllowed('saved_view.write', role as Seat)),
        teamNames: mapTeamNames(user),
      };
      return { view: 'views/views', title: 'Views', data };
    },
  }),
  page({
    method: 'post',
    path: '/app/views/:view_id/default',
    access: 'saved_view.own',
    params: SavedViewParams,
    async handle({ ctx, me, params }) {
      const { name, entity_type, view_id } = await setDefault(ctx, params.view_id);
      const { opened } = await loadViews(ctx, requireUser({ me }));
      const text =
        opened === undefined || opened.view_id === view_id
          ? `Views opens “${name}” from now on. A link at the top of it leads to this list.`
          : `“${name}” is your default of ${WHAT[entity_type]}. Views opens “${opened.name}”, that of ${WHAT[opened.entity_type]}.`;
      return { to: LIST, notice: { kind: 'good', text } };
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
      return { to: LIST, notice: { kind: 'good', text: 'The view was deleted.' } };
    },
    onError: bounced,
  }),
];
