import { z } from 'zod';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { listFields } from '../../../work/custom-fields/list-fields.js';
import { present } from '../../../work/saved-views/present.js';
import { readView } from '../../../work/saved-views/read-view.js';
import { listGroups } from '../../../work/saved-views/results/list-groups.js';
import { listResults } from '../../../work/saved-views/results/list-results.js';
import { parseCustomKey } from '../../../work/saved-views/rules.js';
import { SavedViewParams, type SavedViewRecord } from '../../../work/saved-views/schema.js';
import { ClampedInt } from '../../../platform/fields.js';
import type { Task } from '../../../work/tasks/schema.js';
import { page, type Page, type PageRequest, requireUser, type View } from '../../page.js';
import { createFormatter } from '../../wording/formatter.js';
import { namesIn, mapTeamNames } from '../../wording/names.js';
import { toColumns } from '../projects/board.js';
import { describeView } from './describe-view.js';

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

async function showView({ ctx, me }: Pick<PageRequest, 'ctx' | 'me'>, viewId: string, offset: number): Promise<View> {
  const user = requireUser({ me });
  const view = present(await readView(ctx, viewId));
  const isBoard = view.layout === 'board' && view.entity_type === 'task';
  const window = isBoard ? { limit: CARDS, offset: 0 } : { limit: ROWS, offset };
  const [{ body, count, more, truncated }, counted, names] = await Promise.all([
    listResults(ctx, viewId, window),
    view.group_by === null || isBoard ? undefined : listGroups(ctx, viewId),
    fieldNames(ctx, view),
  ]);
  const results = JSON.parse(body as string) as Row[];
  const writes = new Set(user.teams.filter(({ role }) => isAllowed('task.write', role as Seat)).map(({ team_id }) => team_id));
  const people = await namesIn(ctx, user, view.team_id === null ? results : [...results, view]);
  const data = {
    view,
    about: describeView(view, { people, ...createFormatter(user) }),
    owner: people[view.owner_id],
    isBoard,
    results,
    columns: isBoard ? toColumns(results as unknown as Task[], ({ team_id }) => writes.has(team_id)) : [],
    here: `/app/views/${viewId}`,
    names: people,
    groups: counted?.groups ?? [],
    fieldNames: names,
    customKeys: view.columns.flatMap((column) => parseCustomKey(column) ?? []),
    people,
    teamNames: mapTeamNames(user),
    isOwner: view.owner_id === user.user_id,
    offset,
    next: more && !truncated && !isBoard ? offset + count : undefined,
    isCut: more && isBoard,
    cards: CARDS,
  };
  return { view: isBoard ? 'views/board' : 'views/list', title: view.name, data, ...(isBoard && { scripts: ['work.js'] }) };
}

export const viewPages: Page[] = [
  page({
    method: 'get',
    path: '/app/views/:view_id',
    access: 'saved_view.read',
    params: SavedViewParams,
    query: z.object({ offset: ClampedInt(0, 10_000, 0).catch(0) }),
    handle: (visit) => showView(visit, visit.params.view_id, visit.query.offset),
  }),
];
