import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyReceipt } from '../../clients/typescript/receipts.js';
import { requestWorkflowId } from '../../workflows/contracts/request-contract.js';
import { base, call, printStep, until } from './helpers.js';

const PROGRAM = join(import.meta.dirname, '..', '..', 'clients', 'typescript', 'cli', 'main.js');

interface Asked {
  request_id: string;
  request_hash: string;
  team_id: string;
  url: string;
  operations: { system: string; arguments: { argv?: string[] } }[];
}

/** What `assent run --receipt FILE` stores. */
interface StoredReceipt {
  receipt: string;
  operation_texts: string[];
}

/** Verifies the stored receipt as a service would that holds the credential. */
async function verify(file: string, { team_id, url, operations }: Asked): Promise<void> {
  const { receipt, operation_texts } = JSON.parse(readFileSync(file, 'utf8')) as StoredReceipt;
  const { body: jwks } = await call('GET', '/api/receipts/jwks');
  const used = new Set<string>();
  const firstUse = (key: string) => !used.has(key) && Boolean(used.add(key));
  const options = { jwks, issuer: new URL(url).origin, team: team_id, system: operations[0]?.system ?? '', firstUse };
  const { system, name } = await verifyReceipt(receipt, operation_texts[0] ?? '', options);
  const again = await verifyReceipt(receipt, operation_texts[0] ?? '', options).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
  printStep('Its receipt verifies with the public keys alone, once', `${system}: ${name}; a second time: ${again}`);
}

/** A deploy script of Uma's waits in a terminal until Max has said yes. Returns the request's workflow. */
export async function playCommand(uma: string, max: string): Promise<Record<string, string>> {
  const teams = (await call('GET', '/api/teams', { token: uma })).body as { team_id: string; name: string }[];
  const team = teams.find(({ name }) => name === 'Acme')?.team_id ?? '';
  const scopes = ['requests:read', 'requests:create'];
  const made = await call('POST', '/api/auth/tokens', { token: uma, body: { name: 'Demo deploy', scopes, strict: true } });
  const { token, token_id } = made.body as { token: string; token_id: string };
  const folder = mkdtempSync(join(tmpdir(), 'assent-demo-'));
  try {
    const receipt = join(folder, 'receipt.json');
    const args = ['run', '--team', team, '--reason', 'release 4.2', '--receipt', receipt, '--', 'echo', 'deployed 4.2'];
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, ASSENT_URL: base, ASSENT_TOKEN: token };
    const command = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    let printed = '';
    command.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()));
    command.stderr.on('data', (bytes: Buffer) => (printed += bytes.toString()));
    const ended = once(command, 'close') as Promise<[number | null]>;
    const asked = await until('the request', async () => {
      const { requests } = (await call('GET', `/api/change-requests?team_id=${team}&decidable=true`, { token: max })).body;
      return (requests as Asked[]).find(({ url }) => printed.includes(url));
    });
    printStep('Uma deploys with `assent run`, and the command waits', printed.trim().split('\n')[0]);
    const body = { request_hash: asked.request_hash, comment: 'Go, after the backup' };
    await call('POST', `/api/change-requests/${asked.request_id}/approve`, { token: max, body });
    const [code] = await ended;
    if (code !== 0) throw new Error(`the command ended with ${code}: ${printed}`);
    printStep('Max reads the arguments, the program’s hash and the folder, and says yes; then it runs', said.trim());
    await verify(receipt, asked);
    const { status, outcome } = (await call('GET', `/api/change-requests/${asked.request_id}`, { token: uma })).body;
    if (status !== 'redeemed' || outcome?.status !== 'succeeded') throw new Error(`the request is ${status}`);
    printStep('The log closes: asked, approved, used, succeeded', `exit code ${outcome.exit_code}; ${asked.url}`);
    return { 'the deployment’s request': requestWorkflowId(asked.request_id) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await call('DELETE', `/api/auth/tokens/${token_id}`, { token: uma });
  }
}
