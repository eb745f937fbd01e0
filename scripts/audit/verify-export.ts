import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { trustedKeys } from '../../api/audit/signing-keys.js';
import { loadConfig } from '../../api/platform/config.js';

interface ExportOptions {
  /** The file with the export. */
  export: string;
  /** Public keys; those of the settings if absent. */
  keys?: string | undefined;
  checkpoints?: string | undefined;
  json: boolean;
}

/** The program that an auditor runs, so that operators see the same result. */
const PROGRAM = resolve(import.meta.dirname, '..', '..', '..', 'clients', 'verify-export.mjs');

/** Writes the public keys of the settings into a new folder and returns it. */
function keysOfSettings(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assent-keys-'));
  for (const [id, key] of trustedKeys(loadConfig())) {
    writeFileSync(join(folder, `${id}.pem`), key.export({ type: 'spki', format: 'pem' }));
  }
  return folder;
}

/**
 * Verifies an export of the audit log without the database, and prints the report. Returns the exit status: 0 intact, 1 broken, 2 not verified.
 * @throws Error without `keys` and without usable settings
 */
export function verifyExport({ export: file, keys, checkpoints, json }: ExportOptions): number {
  const own = keys === undefined ? keysOfSettings() : undefined;
  try {
    const options = [...(checkpoints === undefined ? [] : ['--checkpoints', checkpoints]), ...(json ? ['--json'] : [])];
    const args = [PROGRAM, ...options, '--keys', keys ?? (own as string), '--', file];
    return spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 2;
  } finally {
    if (own !== undefined) rmSync(own, { recursive: true, force: true });
  }
}
