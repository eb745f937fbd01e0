import type { z } from 'zod';
import { type Context, inTransaction } from '../../platform/context.js';
import { invalid, invalidFields } from '../../platform/errors.js';
import { requireScopeIfStrict } from '../../platform/access/require-scope.js';
import { fieldErrors, ZOD_MESSAGES } from '../../platform/validation/messages.js';
import { changeProject } from '../projects/change-project.js';
import { toDays } from '../projects/project-fields.js';
import { orNull } from '../projects/rules.js';
import { UpdateTask } from '../tasks/schema.js';
import { updateTask } from '../tasks/write/update-task.js';
import { changeItem } from './change-item.js';
import { findWritableItem } from './find-work-item.js';
import { pickFreeFields, freeFieldsWriter } from './free-fields.js';
import { getWorkItem, type WorkItemAnswer } from './get-work-item.js';
import type { StoredType } from './rules.js';
import { REPLACEMENTS, type ReplaceWorkItem } from './schema.js';

type Replacement<T extends keyof typeof REPLACEMENTS> = z.output<(typeof REPLACEMENTS)[T]>;

/** What every type is called with: the version that the caller has read, and the new free fields. */
interface Whole {
  version: number | null;
  fields: Record<string, unknown>;
}

/** @throws VALIDATION_ERROR with all problems at once */
function parse<T extends keyof typeof REPLACEMENTS>(type: T, body: ReplaceWorkItem): Replacement<T> {
  const parsed = REPLACEMENTS[type].safeParse(body, ZOD_MESSAGES);
  if (parsed.success) return parsed.data as Replacement<T>;
  throw invalidFields(fieldErrors('body', parsed.error));
}

async function replaceTask(ctx: Context, itemId: string, body: Replacement<'task'>, { version, fields }: Whole): Promise<void> {
  const known = Object.entries(body).filter(([key]) => Object.hasOwn(UpdateTask.shape, key));
  const next = {
    ...(Object.fromEntries(known) as UpdateTask),
    description: body.description ?? null,
    status: body.status ?? 'todo',
    version,
  };
  await updateTask(ctx, itemId, next, freeFieldsWriter(itemId, fields));
}

async function replaceProject(
  ctx: Context,
  itemId: string,
  body: Replacement<'project'>,
  { version, fields }: Whole,
): Promise<void> {
  requireScopeIfStrict(ctx, 'projects:write');
  const project = body['project_id'] as unknown;
  if (project != null && project !== itemId) throw invalid('A project is in no other project');
  const days = toDays(body);
  await changeProject(ctx, itemId, { version, beside: freeFieldsWriter(itemId, fields) }, (before) => ({
    name: body.title,
    description: orNull(body.description),
    status: body.status ?? 'active',
    start_date: days.start_date === undefined ? before.start_date : days.start_date,
    end_date: days.end_date === undefined ? before.end_date : days.end_date,
    lead_id: body.lead_id === undefined ? before.lead_id : body.lead_id,
  }));
}

/** Default texts of a type: an empty content of a note or a doc, none of the others. */
const toContent = (type: StoredType, content: string | null | undefined): string | null =>
  type === 'note' || type === 'doc' ? (content ?? '') : null;

async function replaceStored(
  ctx: Context,
  itemId: string,
  type: StoredType,
  body: Replacement<StoredType> & Partial<Replacement<'note'>>,
  { version, fields }: Whole,
): Promise<void> {
  await changeItem(ctx, { itemId, type, version, projectId: body.project_id ?? null }, () => ({
    title: body.title,
    description: orNull(body.description),
    content: toContent(type, body.content),
    kind: type === 'note' ? (body.kind ?? 'note') : null,
    status: body.status ?? 'active',
    fields,
  }));
}

/**
 * Replaces what the record of an item shows: missing fields are reset to their defaults. Fields of a task or a project that the record does
 * not show stay unless they are given (docs/decisions/work.md#replaced-work-items). A task stays in its project unless another one is given.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED | RESOURCE_CONFLICT stale version | INVALID_REQUEST another type or team, and the errors
 * of the type's operation | VALIDATION_ERROR
 */
export async function replaceWorkItem(
  ctx: Context,
  itemId: string,
  body: ReplaceWorkItem,
  version: number | null,
): Promise<WorkItemAnswer> {
  return inTransaction(ctx, async (ctx) => {
    const { type, team_id } = await findWritableItem(ctx, itemId);
    if (body.type !== undefined && body.type !== type) throw invalid('The type of an item cannot change');
    if (body.team_id != null && body.team_id !== team_id) throw invalid('The team of an item cannot change');
    const whole: Whole = { version, fields: pickFreeFields(type, body) };
    if (type === 'task') await replaceTask(ctx, itemId, parse(type, body), whole);
    else if (type === 'project') await replaceProject(ctx, itemId, parse(type, body), whole);
    else await replaceStored(ctx, itemId, type, parse(type, body), whole);
    return getWorkItem(ctx, itemId);
  });
}
