import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { loadConfig } from '../../api/core/config.js';
import { openDatabase } from '../../db/connection.js';
import { checkInvariants, type Verdict } from './invariants.js';
import type { Ledger } from './ledger.js';

const CONNECT_MS = 3_000;

/** A client of the Temporal server, undefined when nobody answers: what only it knows counts as broken then. */
async function connectTemporal(address: string): Promise<Connection | undefined> {
  return Promise.race([Connection.connect({ address }).catch(() => undefined), sleep(CONNECT_MS, undefined, { ref: false })]);
}

/** Judges the installation that the environment names. `ledgerFile` is what an earlier run with --keep has left. */
export async function checkInstallation(env: NodeJS.ProcessEnv, ledgerFile?: string): Promise<Verdict[]> {
  const config = loadConfig(env);
  const ledger = ledgerFile === undefined ? undefined : (JSON.parse(readFileSync(ledgerFile, 'utf8')) as Ledger);
  // Reads whole tables: no limit for a statement.
  const db = openDatabase({ url: config.DATABASE_URL, poolSize: 2, name: 'assent-check', statementTimeout: 0 });
  const connection = await connectTemporal(config.TEMPORAL_ADDRESS);
  const temporal = connection && new Client({ connection, namespace: config.TEMPORAL_NAMESPACE });
  try {
    const verdicts = await checkInvariants({ services: { db, config }, ledger, temporal });
    // Only after a success: after a failure calls may still be retried, and a retry throws at a closed channel.
    await connection?.close();
    return verdicts;
  } finally {
    await db.destroy();
  }
}
