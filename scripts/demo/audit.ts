import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { signingKey } from '../../api/audit/signing-keys.js';
import { call, config, printStep } from './helpers.js';

/** What an auditor has: this program, a public key, and the file. */
const PROGRAM = resolve('clients', 'verify-export.mjs');

interface Exported {
  record_count: number;
  data: { details_text: string; action: string; entity_type: string }[];
}

/** Verifies an export as an auditor does, and returns the first line of the report. */
function verify(folder: string, given: Exported): { status: number | null; line: string } {
  const file = join(folder, 'export.json');
  writeFileSync(file, JSON.stringify(given));
  const { status, stdout } = spawnSync(process.execPath, [PROGRAM, file, '--keys', folder], { encoding: 'utf8' });
  return { status, line: stdout.split('\n', 1)[0] ?? '' };
}

/** Ada exports the audit of this run; it verifies without the service, and a forged copy does not. */
export async function playAudit(ada: string, since: Date): Promise<void> {
  const body = { format: 'json', from_time: since.toISOString().slice(0, -1) };
  const exported = (await call('POST', '/api/audit/export', { token: ada, body })).body as Exported;
  const folder = mkdtempSync(join(tmpdir(), 'assent-demo-'));
  try {
    writeFileSync(join(folder, 'key.pem'), createPublicKey(signingKey(config)).export({ type: 'spki', format: 'pem' }));
    const intact = verify(folder, exported);
    if (intact.status !== 0) throw new Error(`the export does not verify: ${intact.line}`);
    printStep('Ada exports the audit of this run; it verifies offline, with a public key alone', intact.line);
    const [entry] = exported.data.slice(-1);
    if (entry) entry.action = 'forged';
    const forged = verify(folder, exported);
    if (forged.status !== 1) throw new Error(`a forged export verifies: ${forged.line}`);
    printStep('With one word changed it does not', forged.line);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
