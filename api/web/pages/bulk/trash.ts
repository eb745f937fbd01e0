import { z } from 'zod';
import { listTrash } from '../../../bulk/trash/list-trash.js';
import { restoreItem } from '../../../bulk/trash/restore-item.js';
import { restoreProject } from '../../../bulk/trash/restore-project.js';
import { type TrashEntry, TrashedItemParams, TrashedProjectParams, TrashedTaskParams } from '../../../bulk/trash/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { ClampedInt } from '../../../platform/fields.js';
import { STORED_TYPES } from '../../../work/items/rules.js';
import { restoreTask } from '../../../work/tasks/write/restore-task.js';
import { page, type Page, requireUser } from '../../page.js';
import { backPath } from '../projects/paths.js';
import { mapTeamNames, namesIn } from '../../wording/names.js';

const TRASH = '/app/trash';
const PAGE_SIZE = 50;

const RestoreForm = z.object({
  type: z.enum(['task', 'project', ...STORED_TYPES]),
  id: z.string().max(200),
  back: z.string().max(2_000).optional(),
});

/** Restores an entry of the trash. @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED | RESOURCE_CONFLICT its project is in the trash */
function restore(ctx: Context, { type, id }: z.output<typeof RestoreForm>) {
  if (type === 'task') return restoreTask(ctx, TrashedTaskParams.parse({ task_id: id }).task_id);
  if (type === 'project') return restoreProject(ctx, TrashedProjectParams.parse({ project_id: id }).project_id);
  return restoreItem(ctx, type, TrashedItemParams.parse({ item_id: id }).item_id);
}

export const trashPages: Page[] = [
  page({
    method: 'get',
    path: TRASH,
    access: 'trash.list',
    query: z.object({ offset: ClampedInt(0, 100_000, 0).catch(0) }),
    async handle({ ctx, me, query: { offset } }) {
      const person = requireUser({ me });
      const found: TrashEntry[] = await listTrash(ctx, { limit: PAGE_SIZE + 1, offset });
      const entries = found.slice(0, PAGE_SIZE);
      const writable = person.teams.filter(({ role }) => isAllowed('trash.restore', role as Seat)).map(({ team_id }) => team_id);
      const data = {
        entries: entries.map((entry) => ({ ...entry, mayRestore: writable.includes(entry.team_id) })),
        names: await namesIn(ctx, person, entries),
        teamNames: mapTeamNames(person),
        previous: offset > 0 ? Math.max(0, offset - PAGE_SIZE) : undefined,
        next: found.length > PAGE_SIZE ? offset + PAGE_SIZE : undefined,
      };
      return { view: 'bulk/trash', title: 'Trash', data };
    },
  }),
  page({
    method: 'post',
    path: `${TRASH}/restore`,
    access: 'trash.restore',
    form: RestoreForm,
    async handle({ ctx, form }) {
      const { restored_count: count } = await restore(ctx, form);
      const text = count === 1 ? 'Restored.' : `Restored, with ${count - 1} more of the same deletion.`;
      return { to: backPath(form.back, TRASH), notice: { kind: 'good', text } };
    },
    onError: ({ form }, { message }) =>
      Promise.resolve({ to: backPath(form['back'], TRASH), notice: { kind: 'bad', text: message } }),
  }),
];
