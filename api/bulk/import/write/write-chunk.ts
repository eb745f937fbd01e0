import type { Chunk } from '../prepare/chunks.js';
import type { ChunkKind, PreparedRow } from '../prepare/sorted-rows.js';
import type { Batch, Write } from './batch.js';
import { writeAutomations } from './write-automations.js';
import { deleteComments, writeComments } from './write-comments.js';
import { setCycleStates, writeCycles } from './write-cycles.js';
import { archiveFields, writeFields } from './write-fields.js';
import { writeNotes, writeWorkItems } from './write-items.js';
import { writeProjects } from './write-projects.js';
import { writeRelations } from './write-relations.js';
import { writeTasks } from './write-tasks.js';
import { writeUpdates } from './write-updates.js';
import { writeValues } from './write-values.js';

const WRITES: Readonly<Record<ChunkKind, Write>> = {
  project: writeProjects,
  project_update: writeUpdates,
  custom_field: writeFields,
  custom_field_archive: archiveFields,
  custom_field_value: writeValues,
  cycle: writeCycles,
  cycle_state: setCycleStates,
  task: writeTasks,
  comment: writeComments,
  comment_deletion: deleteComments,
  note: writeNotes,
  work_item: writeWorkItems,
  relation: writeRelations,
  automation: writeAutomations,
};

/** Writes the rows of a chunk in the open transaction. @throws every error that says nothing about a single row */
export const writeChunk = (batch: Batch, { kind }: Pick<Chunk, 'kind'>, rows: PreparedRow[]): Promise<void> =>
  WRITES[kind](batch, rows);
