import { createHash } from 'node:crypto';
import { Project } from '../../../db/models/project.js';
import { authorize } from '../../platform/access/access.js';
import { type Context } from '../../platform/context.js';
import { DomainError, invalid, invalidFields, notFound } from '../../platform/errors.js';
import { seatInTeam, findSeat } from '../../platform/access/seats.js';
import { fileStore } from '../../work/items/files/store/file-store.js';
import { newObjectKey } from '../../work/items/files/store/object-store.js';
import { isStatusChoice } from '../../work/tasks/rules.js';
import { findStages } from '../../work/tasks/stages/find-stages.js';
import { HEAD_BYTES, isCompressed } from '../formats/input.js';
import { createBulkJob } from '../jobs/create-job.js';
import { FILE_DAYS } from '../rules.js';
import type { BulkJobRef } from '../schema.js';
import { findInput } from './find-input.js';
import type { RequestImport } from './schema.js';
import type { OnConflict } from './write/batch.js';

/** Options of an import, as its job keeps them. */
export interface ImportOptions extends Record<string, unknown> {
  on_conflict: OnConflict;
  project_id: string | null;
  /** Missing in jobs of older versions, as `states`. */
  run_automations?: boolean;
  states?: Readonly<Record<string, string>>;
  /** Upload or file that holds the input; null if the job has an object of its own. */
  file_id: string | null;
}

const DAY_MS = 86_400_000;

const compressed = () =>
  new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The input is compressed', {
    detail: 'Send the text of the file without compression.',
  });

/** @throws RESOURCE_NOT_FOUND no such project | PERMISSION_DENIED | INVALID_REQUEST of another team */
async function checkProject(ctx: Context, teamId: string, projectId: string): Promise<void> {
  const project = await Project.query(ctx.db).findById(projectId).modify('live');
  if (!project) throw notFound('Project');
  if (project.team_id === teamId) return;
  authorize('project.read', await findSeat(ctx, project.team_id));
  throw invalid('project_id must be a project of the team');
}

/** @throws VALIDATION_ERROR a stage that the team does not have */
async function checkStates(ctx: Context, teamId: string, states: Readonly<Record<string, string>>): Promise<void> {
  const own = new Set((await findStages(ctx, [teamId])).map(({ stage_id }) => stage_id));
  const [strange] = Object.entries(states).filter(([, place]) => !isStatusChoice(place) && !own.has(place));
  if (strange)
    throw invalidFields([{ field: `body.states.${strange[0]}`, message: 'must be a stage of the team', type: 'custom' }]);
}

/** The input of a job: an object of its own, or a file that stays where it is. */
interface Input {
  object_key: string | null;
  size: number;
  sha256: string;
}

/** @throws RESOURCE_NOT_FOUND the team has no such upload or file | UNSUPPORTED_MEDIA_TYPE compressed */
async function fileInput(ctx: Context, teamId: string, fileId: string): Promise<Input> {
  const input = await findInput(ctx, teamId, fileId);
  if (!input) throw notFound('File', { detail: 'Uploads are kept for 7 days.' });
  const { object_key, size, sha256 } = input;
  const last = Math.min(HEAD_BYTES, size) - 1;
  const head = last < 0 ? undefined : await fileStore(ctx.config).get(object_key, { first: 0, last });
  if (head && isCompressed(Buffer.concat(await head.toArray()))) throw compressed();
  return { object_key: null, size, sha256 };
}

/** Stores the data of a request. @throws UNSUPPORTED_MEDIA_TYPE compressed */
async function inlineInput(ctx: Context, data: string): Promise<Input> {
  const bytes = Buffer.from(data);
  if (isCompressed(bytes)) throw compressed();
  const object_key = newObjectKey();
  async function* once() {
    yield bytes;
  }
  await fileStore(ctx.config).put(object_key, once());
  return { object_key, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/**
 * Requests an import: a job that writes the records of a file into a team (docs/decisions/bulk.md#bulk-data). The input is in the store before the
 * job exists.
 * @throws INVALID_REQUEST a dry run, or a project of another team | VALIDATION_ERROR a stage of another team | RESOURCE_NOT_FOUND no such team, project or file | PERMISSION_DENIED
 * below manager | RESOURCE_CONFLICT too many open jobs | UNSUPPORTED_MEDIA_TYPE compressed
 */
export async function requestImport(ctx: Context, body: RequestImport): Promise<BulkJobRef> {
  const { team_id, format, data, file_id = null, on_conflict, project_id = null, run_automations = false, states } = body;
  if (body.dry_run !== undefined) {
    throw invalid('dry_run is not supported: an import writes', { detail: 'Import into a new team, or undo the import.' });
  }
  authorize('bulk.run', await seatInTeam(ctx, team_id));
  if (project_id !== null) await checkProject(ctx, team_id, project_id);
  if (states) await checkStates(ctx, team_id, states);
  const input = file_id === null ? await inlineInput(ctx, data as string) : await fileInput(ctx, team_id, file_id);
  const options: ImportOptions = { on_conflict, project_id, run_automations, file_id, ...(states && { states }) };
  const expires_at = input.object_key === null ? null : new Date(Date.now() + FILE_DAYS * DAY_MS);
  try {
    const details = { format, on_conflict, project_id, run_automations, size: input.size, sha256: input.sha256 };
    return await createBulkJob(ctx, { team_id, kind: 'import', format, options, ...input, expires_at }, details);
  } catch (error) {
    // Nothing was committed for certain; after a lost connection the sweep decides.
    if (error instanceof DomainError && input.object_key !== null) await fileStore(ctx.config).remove(input.object_key);
    throw error;
  }
}
