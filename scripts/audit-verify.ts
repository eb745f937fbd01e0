import { parseArgs } from 'node:util';
import { type Break, BREAK_KINDS } from '../api/audit/break.js';
import { INSTANCE_CHAIN } from '../api/audit/chain.js';
import { checkpointFile, writeCheckpoint } from '../api/audit/checkpoint.js';
import { trustedKeys } from '../api/audit/signing-keys.js';
import { type AuditReport, verifyChain } from '../api/audit/verify-chain.js';
import { loadConfig } from '../api/platform/config.js';
import { type Services, serviceContext } from '../api/platform/context.js';
import { createLogger } from '../api/platform/telemetry/log.js';
import { recordChange } from '../api/platform/changes/record-change.js';
import { openDatabase } from '../db/connection.js';
import { describeConnectionFailure } from './admin/explain-failures.js';
import { verifyExport } from './audit/verify-export.js';

const USAGE = `npm run audit:verify -- [--checkpoint] [--keys PATH] [--witness FILE] [--archive DIR] [--json]
npm run audit:verify -- --export FILE [--keys PATH] [--checkpoints FILE] [--json]

  --checkpoint        signs a checkpoint first
  --keys PATH         public keys (a PEM file, or a folder of .pem files) whose signatures count, instead of those of the settings
  --witness FILE      a copy of the checkpoints that was kept elsewhere
  --archive DIR       the files of archived months (audit:archive), whose entries are read too
  --export FILE       verifies an export of the audit log instead, without a database (docs/guide/audit.md)
  --checkpoints FILE  checkpoints that the export is compared with
  --json              prints the report as JSON

Exit status: 0 intact, 1 broken, 2 not verified`;

/** Records breaks as CRITICAL entries of the log itself. A failure to do so does not hide the report. */
async function recordBreaks(services: Services, { breaks }: AuditReport): Promise<void> {
  const first = breaks[0] as Break;
  try {
    await recordChange(serviceContext(services, 'audit:verify'), {
      team_id: null,
      feature: 'audit',
      action: 'verify',
      severity: 'CRITICAL',
      outcome: 'failure',
      entity_type: 'audit_chain',
      entity_id: first.chain,
      details: { ...first, breaks: breaks.length },
    });
  } catch (error) {
    console.error(`The break cannot be recorded in the log itself: ${(error as Error).message}`);
  }
}

const count = (n: number, one: string, many: string) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;

function printBreak({ kind, chain, sequence, audit_id, detail }: Break): void {
  console.log(`\n${kind}: ${BREAK_KINDS[kind]}`);
  if (chain !== null) console.log(`  chain     ${chain === INSTANCE_CHAIN ? 'of the instance' : `of team ${chain}`}`);
  if (sequence !== null) console.log(`  sequence  ${sequence}`);
  if (audit_id !== null) console.log(`  entry     ${audit_id}`);
  console.log(`  ${detail}`);
}

interface Sources {
  /** File of the checkpoints. */
  file: string;
  witness?: string | undefined;
  archive?: string | undefined;
}

function print(report: AuditReport, { file, witness, archive }: Sources): void {
  const { chains, entries, archived, months_archived, checkpoints, newest_checkpoint, breaks } = report;
  const checked = `${count(entries, 'entry', 'entries')} in ${count(chains, 'chain', 'chains')}`;
  const signed = `${count(checkpoints, 'checkpoint', 'checkpoints')} in ${file}${newest_checkpoint ? ` up to ${newest_checkpoint}` : ''}`;
  if (breaks.length > 0) {
    console.log(`AUDIT CHAIN BROKEN: ${count(breaks.length, 'break', 'breaks')}; what fits: ${checked}, ${signed}`);
    breaks.forEach(printBreak);
    console.log('\nKeep everything as it is and copy it first: docs/operate/audit.md.');
    return;
  }
  console.log(`audit chain intact: ${checked}, ${signed}${witness ? `, as the witness ${witness} kept it` : ''}`);
  if (checkpoints === 0)
    console.log('  Without a checkpoint a cut tail or a full rewrite cannot be seen; --checkpoint signs one.');
  else if (!witness) console.log('  Without --witness nobody else vouches for these checkpoints.');
  if (months_archived === 0) return;
  const moved = `${count(archived, 'entry is', 'entries are')} in ${count(months_archived, 'archived month', 'archived months')}`;
  console.log(archive === undefined ? `  ${moved}: seals only, --archive reads the files.` : `  ${moved}, read from ${archive}.`);
}

/**
 * `npm run audit:verify`.
 * @throws Error without usable settings, keys, witness file or database
 */
async function main(): Promise<void> {
  const string = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      checkpoint: flag,
      keys: string,
      witness: string,
      archive: string,
      export: string,
      checkpoints: string,
      json: flag,
      help: flag,
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  if (values.export !== undefined) {
    process.exitCode = verifyExport({ ...values, export: values.export });
    return;
  }
  const config = loadConfig();
  const keys = trustedKeys(config, values.keys);
  const db = openDatabase({ url: config.DATABASE_URL, poolSize: 2, name: 'assent-audit-verify', statementTimeout: 0 });
  const services: Services = { db, config, log: createLogger(config, 'script'), notifyRelay: () => undefined };
  try {
    if (values.checkpoint) await writeCheckpoint(services);
    const report = await verifyChain(services, {
      keys,
      ...(values.witness === undefined ? {} : { witness: values.witness }),
      ...(values.archive === undefined ? {} : { archive: values.archive }),
    });
    if (values.json) console.log(JSON.stringify(report, null, 2));
    else print(report, { file: checkpointFile(config), witness: values.witness, archive: values.archive });
    if (report.breaks.length === 0) return;
    process.exitCode = 1;
    await recordBreaks(services, report);
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
