import { z } from 'zod';
import { run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { invalidFields } from '../../platform/errors.js';
import { Id } from '../../platform/fields.js';
import { getProject } from '../../work/projects/get-project.js';
import { TASK_STATUSES } from '../../work/tasks/rules.js';
import { tasksOfProject, tasksOfTeams } from './list-tasks.sql.js';
import { fitRows } from './rules.js';
import { mcpTool } from './tool.js';

const MAX_TASKS = 100;

const Input = z.strictObject({
  project_id: Id.optional(),
  team_id: Id.optional(),
  status: z.enum(TASK_STATUSES).optional(),
  assigned_to_me: z.boolean().default(false),
  limit: z.int().min(1).max(MAX_TASKS).default(50),
  cursor: z.string().max(400).optional().meta({ description: '`next_cursor` of the page before' }),
});

type Row = Record<string, unknown> & { json: string; created_at: string; task_id: string };

const writeCursor = ({ created_at, task_id }: Row): string =>
  Buffer.from(JSON.stringify([created_at, task_id])).toString('base64url');

const Cursor = z.tuple([z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?\+00$/), z.string().max(128)]);

/** @throws VALIDATION_ERROR a cursor that no page has */
function readCursor(cursor: string | undefined): [string | null, string | null] {
  if (cursor === undefined) return [null, null];
  try {
    return Cursor.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
  } catch {
    throw invalidFields([{ field: 'arguments.cursor', message: 'cursor is none of a page before', type: 'invalid_format' }]);
  }
}

async function listTasks(ctx: Context, { project_id, team_id, status, assigned_to_me, limit, cursor }: z.output<typeof Input>) {
  const after = readCursor(cursor);
  // Says whether the project is unknown or another team's.
  if (project_id !== undefined) await getProject(ctx, project_id);
  const place = project_id ?? team_id ?? null;
  const values = [requireUser(ctx), rolesFor('task.list'), place, status ?? null, assigned_to_me, ...after, limit + 1];
  const found = await run<Row>(ctx.db, project_id === undefined ? tasksOfTeams : tasksOfProject, values);
  const shown = found.slice(0, limit);
  const { rows: tasks } = fitRows(shown.map(({ json }) => JSON.parse(json) as unknown));
  const last = shown[tasks.length - 1];
  const more = tasks.length < found.length;
  return { tasks, next_cursor: more && last ? writeCursor(last) : null };
}

export const listTasksTool = mcpTool({
  name: 'list_tasks',
  title: 'List tasks',
  description:
    'Tasks of your teams, or of one team or project, oldest first, at most 100 a page. Long texts are cut. Pass next_cursor as cursor for the next page.',
  scope: 'tasks:read',
  input: Input,
  readOnly: true,
  call: listTasks,
});
