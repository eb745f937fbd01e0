import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { loadConfig } from '../../api/platform/config.js';
import { openDatabase } from '../../db/connection.js';
import { checkInvariants, type Verdict } from './invariants.js';
import type { Ledger } from './ledger.js';

const CONNECT_MS = 3_000;

/** Returns a Temporal client, or undefined if the server is down; checks that need it then fail. */
async function connectTemporal(address: string): Promise<Connection | undefined> {
  return Promise.race([Connection.connect({ address }).catch(() => undefined), sleep(CONNECT_MS, undefined, { ref: false })]);
}

/** Checks the installation of the environment. `ledgerFile` was left by an earlier run with --keep. */
export async function checkInstallation(env: NodeJS.ProcessEnv, ledgerFile?: string): Promise<Verdict[]> {
  const config = loadConfig(env);
  const ledger = ledgerFile === undefined ? undefined : (JSON.parse(readFileSync(ledgerFile, 'utf8')) as Ledger);
  // Scans whole tables, so there is no statement timeout.
  const db = openDatabase({ url: config.DATABASE_URL, poolSize: 2, name: 'assent-check', statementTimeout: 0 });
  const connection = await connectTemporal(config.TEMPORAL_ADDRESS);
  const temporal = connection && new Client({ connection, namespace: config.TEMPORAL_NAMESPACE });
  try {
    const verdicts = await checkInvariants({ services: { db, config }, ledger, temporal });
    // Only after a success: after a failure calls may still be retried, and a retry on a closed channel throws.
    await connection?.close();
    return verdicts;
  } finally {
    await db.destroy();
  }
}
