import { spawnSync } from 'node:child_process';
import { type AuditLog, openAuditLog, tamper, writeEntries } from './support.js';

let log: AuditLog;
beforeAll(async () => {
  log = await openAuditLog();
});
afterAll(() => log.close());

/** `npm run audit:verify` as the operator runs it. */
function verify(...args: string[]): { status: number | null; stdout: string } {
  const { DATABASE_URL, DATA_DIR } = log.config;
  const env = { ...process.env, NODE_ENV: 'test', LOG_LEVEL: 'silent', DATABASE_URL, DATA_DIR };
  return spawnSync(process.execPath, ['dist/scripts/audit-verify.js', ...args], { env, encoding: 'utf8' });
}

it('says what it checked, and names the break, which is itself an entry', async () => {
  await writeEntries(log.db, null, 3);
  expect(verify()).toMatchObject({ status: 0, stdout: expect.stringContaining('intact: 3 entries in 1 chain, 0 checkpoints') });
  expect(verify('--checkpoint')).toMatchObject({ status: 0, stdout: expect.stringContaining('1 checkpoint in ') });
  const [{ audit_id }] = await log.db('audit_seals').where({ sequence: 2 });
  await tamper(log.db, [`update audit_entries set details = '{}' where audit_id = ?`, audit_id]);
  const { status, stdout } = verify();
  expect(status).toBe(1);
  expect(stdout).toMatch(/BROKEN: 1 break; [^]*\nentry_changed: .*\n +chain +of the instance\n +sequence +2\n/);
  expect(stdout).toContain(audit_id);
  const [entry] = await log.db('audit_entries').where({ action: 'verify' });
  expect(entry).toMatchObject({
    feature: 'audit',
    severity: 'CRITICAL',
    outcome: 'failure',
    actor_type: 'system',
    team_id: null,
  });
  expect(JSON.parse(entry.details)).toMatchObject({ kind: 'entry_changed', sequence: 2, audit_id });
});
