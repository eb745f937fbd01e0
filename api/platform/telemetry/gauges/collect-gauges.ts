import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { openDatabase } from '../../../../db/connection.js';
import { run } from '../../../../db/statement.js';
import { DATABASE_GAUGES, type DatabaseGauge } from './database-gauges.js';

/** Minimum interval between two rounds, ms; further scrapes reuse the values. */
const FRESH_MS = 10_000;
/** Time limit of a round, ms; it keeps the gauges read so far. */
const ROUND_MS = 8_000;
/** Time limit of one gauge, ms. */
const STATEMENT_MS = 1_000;
/** Maximum wait of a scrape for a round, ms; it then returns the previous values. */
const ROUND_TIMEOUT_MS = 2_000;
/** Reports whether the last round read every gauge. */
const SUCCESS: DatabaseGauge = {
  name: 'assent_database_gauges_success',
  help: '1 when the last round read every gauge from the database',
  labels: [],
  sql: '',
};

type Row = Record<string, string | number> & { value: number };

export interface DatabaseGauges {
  /** Returns the gauges as Prometheus text; runs at most one round of statements in ten seconds. */
  collect: () => Promise<string>;
  close: () => Promise<void>;
}

const escaped = (text: string | number): string =>
  String(text).replace(/["\\\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));
const written = (value: number): string => (value === Infinity ? '+Inf' : String(value));

/** Formats one gauge for Prometheus. A gauge that failed has no value, because an old one would hide the failure. */
function text({ name, help, labels }: DatabaseGauge, rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const given = labels.map((label) => `${label}="${escaped(row[label] ?? '')}"`).join(',');
    return `${name}${given && `{${given}}`} ${written(row.value)}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`;
}

const read = (db: Knex, { name, sql }: DatabaseGauge): Promise<Row[]> => run<Row>(db, { name, text: sql }, []);

/** Reads the gauges one after the other on a separate connection, so neither a scrape nor a slow statement delays requests. */
export function createDatabaseGauges(url: string, gauges: readonly DatabaseGauge[] = DATABASE_GAUGES): DatabaseGauges {
  const limits = { statementTimeout: STATEMENT_MS, acquireTimeoutMs: STATEMENT_MS };
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
      if (round) await Promise.race([round, sleep(ROUND_TIMEOUT_MS, undefined, { ref: false })]);
      const success = gauges.every((gauge) => values.has(gauge)) ? 1 : 0;
      return [...gauges.map((gauge) => text(gauge, values.get(gauge) ?? [])), text(SUCCESS, [{ value: success }])].join('');
    },
    close: () => db.destroy(),
  };
}
