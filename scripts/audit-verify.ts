import { parseArgs } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import { INSTANCE_CHAIN } from '../api/audit/chain.js';
import { checkpointFile, writeCheckpoint } from '../api/audit/checkpoint.js';
import { type ChainReport, verifyChain } from '../api/audit/verify-chain.js';
import { loadConfig } from '../api/core/config.js';
import type { Services } from '../api/core/context.js';
import { createLogger } from '../api/core/log.js';
import { recordChange } from '../api/core/record-change.js';
import { openDatabase } from '../db/connection.js';

/** A mismatch is itself an entry of the log, CRITICAL (severity rule of the decisions, M). */
async function recordBreak(services: Services, { broken }: ChainReport): Promise<void> {
  const requestId = uuidv7();
  const actor = { type: 'system', name: 'audit:verify' } as const;
  const ctx = { ...services, actor, requestId, correlationId: requestId, ip: null, userAgent: null };
  await recordChange(ctx, {
    team_id: null,
    feature: 'audit',
    action: 'verify',
    severity: 'CRITICAL',
    outcome: 'failure',
    entity_type: 'audit_chain',
    entity_id: broken?.chain ?? null,
    details: { ...broken },
  });
}

function print({ chains, entries, checkpoints, broken }: ChainReport, file: string): void {
  const count = (n: number, what: string) => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;
  const checked = `${count(entries, 'entry').replace('entrys', 'entries')} in ${count(chains, 'chain')}`;
  if (!broken) {
    console.log(`audit chain intact: ${checked}, ${count(checkpoints, 'checkpoint')} in ${file}`);
    if (checkpoints === 0)
      console.log(
        '  Without a checkpoint a cut tail or a full rewrite cannot be seen; --checkpoint writes one (npm run audit:verify -- --checkpoint).',
      );
    return;
  }
  console.log(`AUDIT CHAIN BROKEN: ${broken.kind}`);
  if (broken.chain !== null)
    console.log(`  chain     ${broken.chain === INSTANCE_CHAIN ? 'of the instance' : `of team ${broken.chain}`}`);
  if (broken.sequence !== null) console.log(`  sequence  ${broken.sequence}`);
  if (broken.audit_id !== null) console.log(`  entry     ${broken.audit_id}`);
  if (broken.kind.startsWith('checkpoint')) console.log(`  file      ${file}`);
  console.log(`  ${broken.detail}`);
  console.log(`  sound before it: ${checked}`);
}

/** `npm run audit:verify`: exit 0 when every chain and checkpoint is intact, 1 when not. --checkpoint signs one first. */
const { values } = parseArgs({ options: { checkpoint: { type: 'boolean', default: false } } });
const config = loadConfig();
const db = openDatabase({ url: config.DATABASE_URL, poolSize: 2, name: 'assent-audit-verify', statementTimeout: 0 });
const services: Services = { db, config, log: createLogger(config, 'script'), ring: () => undefined };
try {
  if (values.checkpoint) await writeCheckpoint(services);
  const report = await verifyChain(services);
  print(report, checkpointFile(config));
  if (report.broken) {
    process.exitCode = 1;
    await recordBreak(services, report);
  }
} finally {
  await db.destroy();
}
