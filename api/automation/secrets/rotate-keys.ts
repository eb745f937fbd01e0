import { run } from '../../../db/statement.js';
import type { Services } from '../../platform/context.js';
import { masterKeyIds, encryptField, decryptField } from '../../platform/crypto/encryption.js';
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.js';

const BATCH = 200;

type Row = Record<string, unknown> & { sealed: Buffer };
type Vault = Pick<Services, 'db' | 'config'>;

/** Number of a column's values per key; `unnamed`: encrypted before keys had names. */
interface KeyUsage {
  table: string;
  key_id: string;
  count: number;
}

/** SQL for the id of a value's key (`api/platform/crypto/encryption.ts`). */
const KEY_ID = (column: string) =>
  `case get_byte(${column}, 0) when 2 then encode(substring(${column} from 2 for 4), 'hex') else 'unnamed' end`;

/** Lists the master keys in use: an old key may be removed once nothing uses it. */
export async function listKeyUse({ db }: Pick<Services, 'db'>): Promise<KeyUsage[]> {
  const each = SEALED_COLUMNS.map(async ({ table, column }) => {
    const text = `select ${KEY_ID(column)} as key_id, count(*)::int as count from ${table} where ${column} is not null group by 1 order by 1`;
    const rows = await run<Omit<KeyUsage, 'table'>>(db, { name: '', text }, []);
    return rows.map((row) => ({ table, ...row }));
  });
  return (await Promise.all(each)).flat();
}

/** Returns rows not encrypted with the newest key, in primary key order. */
async function nextRows({ db, config }: Vault, { table, column, key }: SealedColumn, after: Row | undefined): Promise<Row[]> {
  const [newest = ''] = masterKeyIds(config);
  const from = after ? `and (${key.join(', ')}) > (${key.map((_, at) => `$${at + 2}`).join(', ')})` : '';
  const text = `select *, ${column} as sealed from ${table} where ${column} is not null and ${KEY_ID(column)} <> $1 ${from}
    order by ${key.join(', ')} limit ${BATCH}`;
  return run<Row>(db, { name: '', text }, [newest, ...(after ? key.map((name) => after[name]) : [])]);
}

/** Encrypts one value again with the newest key. Returns false if its key is unavailable. A concurrent change wins. */
async function reencrypt(
  { db, config }: Vault,
  { table, column, purpose, key, owner }: SealedColumn,
  row: Row,
): Promise<boolean> {
  let text: string;
  try {
    text = decryptField(config, purpose, owner(row), row.sealed);
  } catch {
    return false;
  }
  const same = key.map((name, at) => `and ${name} = $${at + 3}`).join(' ');
  const update = { name: '', text: `update ${table} set ${column} = $1 where ${column} = $2 ${same}` };
  await run(db, update, [encryptField(config, purpose, owner(row), text), row.sealed, ...key.map((name) => row[name])]);
  return true;
}

interface Rotation {
  resealed: number;
  /** Values whose key is unavailable; they stay unchanged. */
  unopened: { table: string; count: number }[];
}

/**
 * Encrypts everything with the newest master key. Each batch is a commit, and the rows themselves show the progress: an
 * interrupted rotation continues with the next call, and several may run at once. `onBatch` receives the number done so far.
 */
export async function rotateKeys(vault: Vault, onBatch: (resealed: number) => void = () => undefined): Promise<Rotation> {
  const rotation: Rotation = { resealed: 0, unopened: [] };
  for (const sealed of SEALED_COLUMNS) {
    let unopened = 0;
    for (let rows = await nextRows(vault, sealed, undefined); rows.length > 0; ) {
      await vault.db.transaction(async (db) => {
        for (const row of rows) {
          if (await reencrypt({ ...vault, db }, sealed, row)) rotation.resealed += 1;
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
