import type { Services } from '../core/context.js';
import { masterKeyIds, encryptField, decryptField } from '../core/crypto/encryption.js';
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.js';

const BATCH = 200;

type Row = Record<string, unknown> & { sealed: Buffer };
type Vault = Pick<Services, 'db' | 'config'>;

/** How many values of a column stand under which key; `unnamed`: sealed before keys had names. */
interface KeyUsage {
  table: string;
  key_id: string;
  count: number;
}

/** Name of the key that sealed a value (core/crypto/encryption.ts), as SQL. */
const KEY_ID = (column: string) =>
  `case get_byte(${column}, 0) when 2 then encode(substring(${column} from 2 for 4), 'hex') else 'unnamed' end`;

/** Under which master keys what is stored stands: an old key may go once nothing names it. */
export async function listKeyUse({ db }: Pick<Services, 'db'>): Promise<KeyUsage[]> {
  const each = SEALED_COLUMNS.map(async ({ table, column }) => {
    const { rows } = await db.raw<{ rows: Omit<KeyUsage, 'table'>[] }>(
      `select ${KEY_ID(column)} as key_id, count(*)::int as count from ${table} where ${column} is not null group by 1 order by 1`,
    );
    return rows.map((row) => ({ table, ...row }));
  });
  return (await Promise.all(each)).flat();
}

/** Rows that do not stand under the newest key, in the order of their primary key. */
async function nextRows({ db, config }: Vault, { table, column, key }: SealedColumn, after: Row | undefined): Promise<Row[]> {
  const [newest = ''] = masterKeyIds(config);
  const from = after ? `and (${key.join(', ')}) > (${key.map(() => '?').join(', ')})` : '';
  const { rows } = await db.raw<{ rows: Row[] }>(
    `select *, ${column} as sealed from ${table} where ${column} is not null and ${KEY_ID(column)} <> ? ${from}
     order by ${key.join(', ')} limit ${BATCH}`,
    [newest, ...(after ? key.map((name) => after[name]) : [])] as never,
  );
  return rows;
}

/** One value under the newest key. False when its key is not at hand, or it was changed; somebody who saved it meanwhile wins. */
async function reseal({ db, config }: Vault, { table, column, purpose, key, owner }: SealedColumn, row: Row): Promise<boolean> {
  let text: string;
  try {
    text = decryptField(config, purpose, owner(row), row.sealed);
  } catch {
    return false;
  }
  const same = Object.fromEntries([...key.map((name) => [name, row[name]]), [column, row.sealed]]) as Record<string, never>;
  await db(table)
    .where(same)
    .update({ [column]: encryptField(config, purpose, owner(row), text) });
  return true;
}

interface Rotation {
  resealed: number;
  /** Values whose key is not at hand. They are left as they are. */
  unopened: { table: string; count: number }[];
}

/**
 * Seals everything under the newest master key that stands under an older one. Each batch is a commit of its own, and what is done
 * is seen in the rows themselves: after a kill the next call goes on with the rest, and any number may run at once. `onBatch` is
 * told how many are done so far.
 */
export async function rotateKeys(vault: Vault, onBatch: (resealed: number) => void = () => undefined): Promise<Rotation> {
  const rotation: Rotation = { resealed: 0, unopened: [] };
  for (const sealed of SEALED_COLUMNS) {
    let unopened = 0;
    for (let rows = await nextRows(vault, sealed, undefined); rows.length > 0; ) {
      await vault.db.transaction(async (db) => {
        for (const row of rows) {
          if (await reseal({ ...vault, db }, sealed, row)) rotation.resealed += 1;
          else unopened += 1;
        }
      });
      onBatch(rotation.resealed);
      rows = await nextRows(vault, sealed, rows.at(-1));
    }
    if (unopened > 0) rotation.unopened.push({ table: sealed.table, count: unopened });
  }
  return rotation;
}
