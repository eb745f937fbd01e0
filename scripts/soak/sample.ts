import { readFamilyMemory } from '../bench/process-table.js';

/** Runs SQL; returns the rows. */
export type Query = (text: string) => Promise<Record<string, unknown>[]>;

interface PartMemory {
  pid: number;
  bytes: number;
}

interface TableSize {
  name: string;
  /** Table with TOAST, and all its indexes, of all its partitions. */
  bytes: number;
  indexBytes: number;
  /** Estimated by PostgreSQL. */
  rows: number;
}

interface QueueState {
  name: string;
  count: number;
  /** Seconds of the oldest row; null where rows have no time, or there is none. */
  age: number | null;
}

/** One look at everything, usually once a minute. */
export interface Sample {
  /** Minutes since the piece began. */
  minute: number;
  memory: Record<string, PartMemory>;
  /** Empty while PostgreSQL is down. */
  tables: TableSize[];
  queues: QueueState[];
}

const TABLES = /* sql */ `
  select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as name, sum(pg_total_relation_size(c.oid))::float8 as bytes,
    sum(pg_indexes_size(c.oid))::float8 as "indexBytes", coalesce(sum(s.n_live_tup), 0)::float8 as rows
  from pg_class c left join pg_stat_user_tables s on s.relid = c.oid
  where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by 1 order by 2 desc`;

/** Tables whose rows live for seconds; `since`: the column of their time, if they have one. A delivery waits for hours on purpose. */
export const QUEUES: Record<string, string | null> = {
  outbox: 'created_at',
  audit_pending: null,
  search_dirty: 'marked_at',
  webhook_queue: null,
};
const QUEUES_SQL = [
  ...Object.entries(QUEUES).map(([name, since]) => {
    const age = since === null ? 'null::float8' : `extract(epoch from now() - min(${since}))::float8`;
    return `select '${name}' as name, count(*)::float8 as count, ${age} as age from ${name}`;
  }),
  `select 'runs', count(*)::float8, extract(epoch from now() - min(queued_at))::float8 from automation_runs where status in ('queued', 'running')`,
].join(' union all ');

/** Takes a sample. `pids`: of the parts that run now. */
export async function takeSample(minute: number, pids: Record<string, number>, query: Query): Promise<Sample> {
  const memory = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, { pid, bytes: readFamilyMemory(pid) }]));
  const ask = (text: string) => query(text).catch(() => []);
  const [tables, queues] = [await ask(TABLES), await ask(QUEUES_SQL)];
  return { minute, memory, tables: tables as unknown as TableSize[], queues: queues as unknown as QueueState[] };
}
