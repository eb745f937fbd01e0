import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { authorize } from '../../../platform/access/access.js';
import { seatInTeam } from '../../../platform/access/seats.js';
import type { Context } from '../../../platform/context.js';
import { invalidFields, notFound } from '../../../platform/errors.js';
import { foldName } from '../../../platform/validation/given-name.js';
import { fileStore } from '../../../work/items/files/store/file-store.js';
import { formatPriority, type StatusChoice, type TaskPriority } from '../../../work/tasks/rules.js';
import { InputError } from '../../formats/input.js';
import { findInput, type StoredInput } from '../find-input.js';
import { findMembers } from '../prepare/find-members.js';
import { findPlacesByName } from '../prepare/find-places-by-name.js';
import { Messages } from '../prepare/prepared.js';
import { Strangers } from '../prepare/strangers.js';
import type { ImportPlace, ImportRecord } from '../importers/record.js';
import { checkRecord } from '../records/check-record.js';
import { type ImportFormat, type InputLine, isForeign, readInput } from '../records/read-input.js';
import { MAX_STATES } from '../schema.js';
import { RECOGNIZED_BYTES, recognizeFormat } from './recognize-format.js';

/** What a preview reads of a file at most, in the process that answers requests. The import reads all of it. */
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_LINES = 5_000;
const MAX_SAMPLES = 5;
const MAX_ENTITY = 40;

/** A state of a file of another product. */
export interface PreviewedState {
  name: string;
  tasks: number;
  /** Where its tasks go if the request does not say otherwise. */
  place: { stage_id: string } | { choice: StatusChoice };
}

/** What is previewed. Without a format, the file says it. */
export interface PreviewImport {
  team_id: string;
  file_id: string;
  format: ImportFormat | undefined;
  project_id: string | null;
}

export interface ImportPreview {
  format: ImportFormat;
  /** Whether the file was read to its end; else the counts are those of its beginning. */
  isWhole: boolean;
  /** Records by their kind. */
  counts: ReadonlyMap<string, number>;
  states: PreviewedState[];
  /** Its first tasks. */
  samples: { title: string; priority: string; due_date: string | null }[];
  errors: Messages;
  notes: Messages;
}

/** Counts the states of a file by their names, in any case. */
class SeenStates {
  private readonly seen = new Map<string, PreviewedState>();

  constructor(private readonly find: ImportPlace['getState']) {}

  /** Finds the stage of a state, and counts its task there. */
  readonly get: ImportPlace['getState'] = (name) => {
    const found = this.find(name);
    if (found?.stage_id) this.add(name, { stage_id: found.stage_id });
    return found;
  };

  add(name: string, place: PreviewedState['place']): void {
    const known = this.seen.get(foldName(name));
    if (known) known.tasks += 1;
    else if (this.seen.size < MAX_STATES) this.seen.set(foldName(name), { name: name.trim(), tasks: 1, place });
  }

  get list(): PreviewedState[] {
    return [...this.seen.values()];
  }
}

/** The bytes of an input up to the limit of a preview. @throws RESOURCE_NOT_FOUND the store has lost them */
async function readStart(ctx: Context, { object_key, size }: StoredInput, most: number): Promise<AsyncIterable<Uint8Array>> {
  if (size === 0) return Readable.from([]);
  const bytes = await fileStore(ctx.config).get(object_key, { first: 0, last: Math.min(size, most) - 1 });
  if (!bytes) throw notFound('File');
  return bytes;
}

/** @throws VALIDATION_ERROR it is none that an import reads */
async function recognize(ctx: Context, input: StoredInput): Promise<ImportFormat> {
  const head: Uint8Array[] = [];
  for await (const chunk of await readStart(ctx, input, RECOGNIZED_BYTES)) head.push(chunk);
  const format = await recognizeFormat(Buffer.concat(head));
  if (format) return format;
  throw invalidFields([{ field: 'body.format', message: 'The file has none of these formats', type: 'custom' }]);
}

class PreviewReader {
  readonly counts = new Map<string, number>();
  readonly samples: ImportPreview['samples'] = [];
  readonly errors = new Messages();
  readonly notes = new Messages();

  add({ line, records, notes, isHeader }: InputLine): void {
    if (records.length === 0 && !isHeader) return this.errors.add(line, null, notes[0] ?? 'The line holds no record');
    for (const note of notes) this.notes.add(line, null, note);
    for (const value of records) this.addRecord(line, value);
  }

  private addRecord(line: number, value: ImportRecord): void {
    const entity = typeof value?.entity === 'string' ? value.entity.slice(0, MAX_ENTITY) : '';
    const checked = checkRecord(value);
    if (typeof checked === 'string') return this.errors.add(line, entity || null, checked);
    this.counts.set(entity, (this.counts.get(entity) ?? 0) + 1);
    for (const { kind, record } of checked) if (kind === 'task' && this.samples.length < MAX_SAMPLES) this.addSample(record);
  }

  private addSample({ title, priority, due_date }: Record<string, unknown>): void {
    const words = formatPriority((priority ?? 'medium') as TaskPriority);
    this.samples.push({ title: String(title), priority: words, due_date: typeof due_date === 'string' ? due_date : null });
  }
}

/** Reads up to the limit of a preview. Returns whether that was the whole file. @throws InputError */
async function readLines(lines: AsyncIterable<InputLine[]>, reader: PreviewReader, isCut: boolean): Promise<boolean> {
  let count = 0;
  try {
    for await (const group of lines) {
      for (const line of group) reader.add(line);
      count += group.length;
      if (count >= MAX_LINES) return false;
      // A line may hold a long text: others have their turn before the next one.
      await setImmediate();
    }
    return !isCut;
  } catch (error) {
    // What was cut ends in the middle of a record.
    if (isCut && count > 0 && error instanceof InputError) return false;
    throw error;
  }
}

/**
 * Reads the beginning of a file as an import would, and writes nothing.
 * @throws RESOURCE_NOT_FOUND no such team or file | PERMISSION_DENIED below manager | VALIDATION_ERROR at `body.format`: the file has not this
 * format, or none that is known
 */
export async function previewImport(
  ctx: Context,
  { team_id, file_id, format: wanted, project_id }: PreviewImport,
): Promise<ImportPreview> {
  authorize('bulk.run', await seatInTeam(ctx, team_id));
  const input = await findInput(ctx, team_id, file_id);
  if (!input) throw notFound('File', { detail: 'Uploads are kept for 7 days.' });
  const format = wanted ?? (await recognize(ctx, input));
  const [getMemberName, find] = await Promise.all([findMembers(ctx, team_id), findPlacesByName(ctx, team_id)]);
  const states = new SeenStates(find);
  const strangers = new Strangers();
  const reader = new PreviewReader();
  const place: ImportPlace = {
    team_id,
    project_id,
    getMemberName,
    addStranger: strangers.add.bind(strangers),
    getState: states.get,
    addState: (name, choice) => states.add(name, { choice }),
  };
  const open = async function* () {
    yield* await readStart(ctx, input, MAX_BYTES);
  };
  try {
    const isCut = input.size > MAX_BYTES;
    const lines = readInput(format, open, place, { rows: MAX_LINES, isCut });
    const isWhole = await readLines(lines, reader, isCut);
    if (isForeign(format)) for (const { line, message } of strangers.notes()) reader.notes.add(line, 'task', message);
    const { counts, samples, errors, notes } = reader;
    return { format, isWhole, counts, states: states.list, samples, errors, notes };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw invalidFields([{ field: 'body.format', message: `Line ${error.line}: ${error.message}`, type: 'custom' }]);
  }
}
