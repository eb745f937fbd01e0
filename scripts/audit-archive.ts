import { parseArgs } from 'node:util';
import { archiveMonths } from '../api/audit/archive/archive-months.js';
import { trustedKeys } from '../api/audit/signing-keys.js';
import { loadConfig } from '../api/platform/config.js';
import { createLogger } from '../api/platform/telemetry/log.js';
import { openDatabase } from '../db/connection.js';
import { describeConnectionFailure } from './admin/explain-failures.js';

const USAGE = `npm run audit:archive -- --before YYYY-MM --to DIR [--drop] [--keys PATH]

Moves audit entries of whole months into files and out of the log. Their seals stay, so audit:verify still proves them.
DATABASE_URL must be that of the role that owns the tables.

  --before YYYY-MM  archives every month before this one
  --to DIR          folder of the files, audit-YYYY-MM.ndjson.gz
  --drop            also drops the tables of archived months whose files in DIR are intact; without it they stay, detached
  --keys PATH       public keys (a PEM file, or a folder of .pem files) whose checkpoints count, instead of those of the settings

It may be stopped at any time and run again. Exit status: 0 done, 2 not done, and why`;

/**
 * `npm run audit:archive`.
 * @throws Error without usable arguments, settings, keys or database, or if a condition of archiving does not hold
 */
async function main(): Promise<void> {
  const string = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ options: { before: string, to: string, drop: flag, keys: string, help: flag } });
  if (values.help || values.before === undefined || values.to === undefined) {
    console.log(USAGE);
    if (!values.help) process.exitCode = 2;
    return;
  }
  const config = loadConfig();
  const db = openDatabase({ url: config.DATABASE_URL, poolSize: 2, name: 'assent-audit-archive', statementTimeout: 0 });
  try {
    const { archived, dropped } = await archiveMonths(
      { db, config, log: createLogger(config, 'script'), notifyRelay: () => undefined },
      {
        before: values.before,
        dir: values.to,
        drop: values.drop,
        keys: trustedKeys(config, values.keys),
        onStep: (step, month, detail) => console.log(`${month ?? 'log'} ${step}: ${detail}`),
      },
    );
    console.log(`archived ${archived.length} months, dropped ${dropped.length} tables`);
    if (archived.length > dropped.length) console.log('Copy the files elsewhere, then run again with --drop.');
  } finally {
    await db.destroy();
  }
}

try {
  await main();
} catch (error) {
  console.error(describeConnectionFailure(error) ?? (error as Error).message);
  process.exitCode = 2;
}
