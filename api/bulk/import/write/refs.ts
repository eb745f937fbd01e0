import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { NewTaskId, Id, NO_ID } from '../../../platform/fields.js';
import { newId } from '../../../platform/ids.js';
import type { RecordKind } from '../records/schemas.js';

/** $1 = job id, $2 = kinds, $3 = ids in the file. Ids of records that could not keep theirs. */
const statement = defineStatement({
  name: 'ids_of_import',
  text: /* sql */ `
    select r.entity, r.ref, r.item_id from bulk_rows r
    where r.job_id = $1 and r.entity = any($2::text[]) and r.ref = any($3::text[])`,
});

/** Kinds of records that are items, so that a relation may name any of them. */
export const ITEM_KINDS = ['task', 'project', 'note', 'work_item'] as const;
type Kind = Exclude<RecordKind, 'cycle_state' | 'custom_field_archive' | 'custom_field_value'>;

const isUuid = (id: string): boolean => Id.parse(id) !== NO_ID;

/** Ids in the file, and the ids of the records for which they stand. */
export class Refs {
  private readonly known = new Map<string, string>();

  constructor(
    private readonly ctx: Context,
    private readonly jobId: string,
  ) {}

  /** Looks up ids that the rows of a chunk name, of any of these kinds. Call it before `getId`. */
  async load(kinds: readonly Kind[], refs: Iterable<string | null | undefined>): Promise<void> {
    const wanted = [...new Set([...refs].filter((ref) => ref != null))];
    if (wanted.length === 0) return;
    const rows = await run<{ entity: string; ref: string; item_id: string }>(this.ctx.db, statement, [this.jobId, kinds, wanted]);
    for (const { entity, ref, item_id } of rows) this.set(entity, ref, item_id);
  }

  /** Remembers an id within the chunk. */
  set(kind: string, ref: string | null | undefined, id: string): void {
    if (ref != null && ref !== id) this.known.set(`${kind} ${ref}`, id);
  }

  /** Returns the id that a record of the file has got; undefined if it kept its own, or there is none. */
  find(kind: Kind, ref: string | null | undefined): string | undefined {
    return ref == null ? undefined : this.known.get(`${kind} ${ref}`);
  }

  /** Returns the id of a record that a row names; as it is in the file if nothing else is known. */
  getId(kinds: readonly Kind[], ref: string): string {
    for (const kind of kinds) {
      const id = this.find(kind, ref);
      if (id !== undefined) return id;
    }
    return ref;
  }
}

/** Returns the id that a new record may keep; a new one if the file gives none, or none of the right form. */
export function keepableId(kind: 'task' | 'other', ref: string | null | undefined): string {
  const isKeepable = ref != null && (kind === 'task' ? NewTaskId.safeParse(ref).success : isUuid(ref));
  return isKeepable ? ref : newId();
}
