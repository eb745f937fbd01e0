import type { Context } from '../../../platform/context.js';
import { newId } from '../../../platform/ids.js';
import type { PreparedRow } from '../prepare/sorted-rows.js';
import type { RecordKind } from '../records/schemas.js';
import type { Batch, Row } from './batch.js';
import type { Identity } from './chunk-result.js';
import type { KnownRecord } from './known-ids.js';
import { keepableId } from './refs.js';
import { restoreUndone } from './restore-undone.js';
import { Refusal, withSavepoint } from './savepoint.js';

/** Kinds whose records have an id in the file. */
export type IdKind = Exclude<RecordKind, 'cycle_state' | 'custom_field_archive' | 'custom_field_value'>;

/** How the records of a kind are written by the operations of its routes. */
export interface Writer<K extends IdKind> {
  kind: K;
  /** Name at the start of a sentence. */
  name: string;
  /** Id of the record in the file. */
  getRef: (record: Row<K>['record']) => string | null | undefined;
  /** Finds records with these ids. */
  find: (ids: string[]) => Promise<Map<string, KnownRecord>>;
  /** Type that an existing record must have to count as the same. */
  getType: (record: Row<K>['record']) => string;
  /** Returns the id of the new record; another one than given if an equal record existed. @throws DomainError */
  create: (ctx: Context, row: Row<K>, id: string) => Promise<{ id: string; isNew: boolean }>;
  /** Returns whether it changed something. @throws DomainError */
  update: (ctx: Context, row: Row<K>, id: string) => Promise<boolean>;
}

export const existsMessage = (name: string): string => `${name} with this id exists already`;
const trashedMessage = (name: string): string => `The ${name} is in the trash; restore it first`;

/** Skips a record that the team has. One that nobody sees would look like a loss, so it is noted. */
function skipKnown(
  { result }: Pick<Batch, 'result'>,
  name: string,
  row: PreparedRow,
  { is_live }: KnownRecord,
  identity: Identity,
): void {
  result.skipped(row, identity);
  if (is_live === false) result.noted(row, trashedMessage(name));
}

/** Restores a record that an undo moved to the trash, with the values of the file. It counts as created: the undo of this import takes it back. */
async function createAgain<K extends IdKind>(
  batch: Batch,
  { update }: Pick<Writer<K>, 'update'>,
  row: Row<K>,
  found: KnownRecord,
  identity: Identity,
): Promise<void> {
  const { ctx, result } = batch;
  const done = await withSavepoint(ctx, async (ctx) => {
    await restoreUndone(ctx, batch, found);
    await update({ ...ctx, requestId: newId() }, row, found.id);
  });
  if (done instanceof Refusal) return result.failed(row, done.message);
  // A later line with this id finds it live.
  Object.assign(found, { is_live: true, undo_id: null });
  result.created(row, identity);
}

/** Applies `on_conflict` to a record that the team has. One that an undo moved to the trash is none. */
export async function settleConflict<K extends IdKind>(
  batch: Batch,
  { name, update }: Pick<Writer<K>, 'name' | 'update'>,
  row: Row<K>,
  found: KnownRecord,
  ref: string | null | undefined,
): Promise<void> {
  const { ctx, result, on_conflict } = batch;
  const { id, is_live } = found;
  const identity = { ref, id };
  if (found.undo_id != null) return createAgain(batch, { update }, row, found, identity);
  if (row.shared || on_conflict === 'skip') return skipKnown({ result }, name, row, found, identity);
  if (on_conflict === 'error') return result.failed(row, existsMessage(`The ${name}`));
  if (is_live === false) return result.failed(row, trashedMessage(name));
  const changed = await withSavepoint(ctx, (ctx) => update(ctx, row, id));
  if (changed instanceof Refusal) result.failed(row, changed.message);
  else if (changed) result.updated(row, identity);
  else result.skipped(row, identity);
}

/** Returns the record that the team has under the id of a row; `id` is the one that a new record gets. */
function identify<K extends IdKind>(
  { refs }: Batch,
  { kind, getType: typeOf }: Writer<K>,
  { record }: Row<K>,
  { ref, wanted, known }: { ref: string | null | undefined; wanted: string; known: ReadonlyMap<string, KnownRecord> },
): { found: KnownRecord | undefined; id: string } {
  const mapped = refs.find(kind, ref);
  if (mapped !== undefined)
    return { found: known.get(mapped) ?? { id: mapped, type: typeOf(record), is_live: true }, id: mapped };
  const found = known.get(wanted);
  // An id of another team: the record gets a new one, and nothing is said about it.
  return found && found.type === null ? { found: undefined, id: newId() } : { found, id: wanted };
}

/** Writes rows one after the other, each in a savepoint: a record that is refused leaves the others. */
export async function writeOneByOne<K extends IdKind>(batch: Batch, rows: PreparedRow[], writer: Writer<K>): Promise<void> {
  const { ctx, result, refs } = batch;
  const { kind } = writer;
  const typed = (rows as unknown as Row<K>[]).map((row) => ({ row, ref: writer.getRef(row.record) }));
  const all = typed.map(({ row, ref }) => ({ row, ref, wanted: keepableId('other', ref) }));
  await refs.load(
    [kind],
    all.map(({ ref }) => ref),
  );
  const known = await writer.find(all.map(({ wanted }) => wanted));
  for (const { row, ref, wanted } of all) {
    const { found, id } = identify(batch, writer, row, { ref, wanted, known });
    const type = writer.getType(row.record);
    if (found && found.type !== type) result.failed(row, 'The id belongs to a record of another kind');
    else if (found) await settleConflict(batch, writer, row, found, ref);
    else {
      const made = await withSavepoint(ctx, (ctx) => writer.create(ctx, row, id));
      if (made instanceof Refusal) result.failed(row, made.message);
      else {
        known.set(made.id, { id: made.id, type, is_live: true });
        refs.set(kind, ref, made.id);
        if (made.isNew) result.created(row, { ref, id: made.id });
        else result.skipped(row, { ref, id: made.id });
      }
    }
  }
}
