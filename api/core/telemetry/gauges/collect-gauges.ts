import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { openDatabase } from '../../../../db/connection.js';
import { DATABASE_GAUGES, type DatabaseGauge } from './database-gauges.js';

/** Between two rounds, ms: more scrapes than this cost nothing. */
const FRESH_MS = 10_000;
/** A round ends after so long, ms, with the gauges that it has read. */
const ROUND_MS = 8_000;
/** Longest that one gauge may take, ms. */
const STATEMENT_MS = 1_000;
/** Longest that a scrape waits for a round, ms; then it has the values of the round before. */
const PATIENCE_MS = 2_000;
/** Says whether the last round read every gauge. */
const SUCCESS: DatabaseGauge = {
  name: 'assent_database_gauges_success',
  help: '1 when the last round read every gauge from the database',
  labels: [],
  sql: '',
};

type Row = Record<string, string | number> & { value: number };

export interface DatabaseGauges {
  /** Prometheus text of the gauges; at most one round of statements in ten seconds, however often it is asked for. */
  collect: () => Promise<string>;
  close: () => Promise<void>;
}

const escaped = (text: string | number): string =>
  String(text).replace(/["\\\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));
const written = (value: number): string => (value === Infinity ? '+Inf' : String(value));

/** One gauge in the format of Prometheus; one that could not be read has no value, since an old one would hide that. */
function text({ name, help, labels }: DatabaseGauge, rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const given = labels.map((label) => `${label}="${escaped(row[label] ?? '')}"`).join(',');
    return `${name}${given && `{${given}}`} ${written(row.value)}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`;
}

const read = async (db: Knex, { sql }: DatabaseGauge): Promise<Row[]> => (await db.raw<{ rows: Row[] }>(sql)).rows;

/**
 * Reads the gauges of the database over a connection of its own, one after the other, so that neither a scrape nor a slow statement
 * takes anything from the requests.
 */
export function createDatabaseGauges(url: string, gauges: readonly DatabaseGauge[] = DATABASE_GAUGES): DatabaseGauges {
  const limits = { statementTimeout: STATEMENT_MS, patience: STATEMENT_MS };
  const db = openDatabase({ url, poolSize: 1, name: 'assent-metrics', ...limits });
  const values = new Map<DatabaseGauge, Row[]>();
  let round: Promise<void> | undefined;
  let startedAt = -Infinity;

  const readAll = async (): Promise<void> => {
    for (const gauge of gauges) {
      const inTime = performance.now() - startedAt < ROUND_MS;
      const rows = inTime ? await read(db, gauge).catch(() => undefined) : undefined;
      if (rows) values.set(gauge, rows);
      else values.delete(gauge);
    }
  };
  return {
    async collect() {
      if (!round && performance.now() - startedAt > FRESH_MS) {
        startedAt = performance.now();
        round = readAll().finally(() => (round = undefined));
      }
      if (round) await Promise.race([round, sleep(PATIENCE_MS, undefined, { ref: false })]);
      const success = gauges.every((gauge) => values.has(gauge)) ? 1 : 0;
      return [...gauges.map((gauge) => text(gauge, values.get(gauge) ?? [])), text(SUCCESS, [{ value: success }])].join('');
    },
    close: () => db.destroy(),
  };
}
