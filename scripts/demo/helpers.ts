import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../api/platform/config.js';

/** Helpers of the demo: the running service's address, calls to it, and a timeline line per step. */

export const config = loadConfig();
export const base = process.env['BASE_URL'] ?? `http://127.0.0.1:${config.PORT}`;
const began = performance.now();
const colour = process.stdout.isTTY && !process.env['NO_COLOR'];
export const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);

export function printStep(what: string, detail = ''): void {
  const at = `${((performance.now() - began) / 1000).toFixed(2)} s`.padStart(8);
  console.log(`${paint(2, at)}  ${paint(32, '●')} ${what}${detail ? `\n            ${paint(2, detail)}` : ''}`);
}

interface Answer {
  // biome-ignore lint: a script reads what the contract promises
  body: any; // oxlint-disable-line typescript/no-explicit-any
  status: number;
}

/** `refusal`: the expected error status. @throws Error for every other one from 400 on */
export async function call(
  method: string,
  path: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string>; refusal?: number } = {},
): Promise<Answer> {
  const { token, body, headers = {}, refusal } = options;
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const answer = { status: response.status, body: (await response.json()) as unknown };
  if (refusal === undefined ? response.status >= 400 : response.status !== refusal)
    throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer.body)}`);
  return answer as Answer;
}

export async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (let waited = 0; waited < 20_000; waited += 50) {
    const found = await look();
    if (found) return found;
    await sleep(50);
  }
  throw new Error(`${what}: it did not happen within 20 s (is the worker running? see .data/logs)`);
}

export const logIn = async (email: string): Promise<string> =>
  (await call('POST', '/api/auth/login', { body: { email, password: 'demo-password' } })).body.token as string;

/** Prints the Temporal UI's links to these workflows, if there is a UI. */
export function showWorkflows(workflows: Record<string, string>): void {
  const ui = config.TEMPORAL_UI_URL;
  if (!ui) return;
  console.log('\n          In the Temporal UI');
  for (const [what, id] of Object.entries(workflows)) {
    const link = `${ui}/namespaces/${config.TEMPORAL_NAMESPACE}/workflows/${encodeURIComponent(id)}`;
    console.log(`          ${what}\n          ${paint(36, link)}`);
  }
  console.log('');
}
