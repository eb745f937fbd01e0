import { hashedPassword, PASSWORD } from '../../factories/accounts.js';
import { buildPerson, type Person } from '../../factories/people.js';
import type { TestApp } from '../../support/app.js';

/** Gives every account without a password that of these tests, and exempts all from emailed codes. */
export async function givePasswords(app: TestApp): Promise<void> {
  await app.services
    .db('users')
    .whereNull('password_hash')
    .update({ password_hash: await hashedPassword(), login_otp_exempt: true });
}

/** A user who can sign in to the web app. */
export async function buildVisitor(app: TestApp, options: Parameters<typeof buildPerson>[1] = {}): Promise<Person> {
  const person = await buildPerson(app, options);
  await givePasswords(app);
  return person;
}

interface Page {
  status: number;
  headers: Headers;
  html: string;
}

type Fields = Record<string, string | string[]>;

/** Simulates a browser without scripts: keeps cookies, does not follow redirects, sends forms with their CSRF token. */
export interface Browser {
  get: (path: string, headers?: Record<string, string>) => Promise<Page>;
  /** Sends a form; `csrf` is taken from the page at `from` unless given. */
  post: (
    path: string,
    fields?: Fields,
    options?: { from?: string; csrf?: string | null; headers?: Record<string, string> },
  ) => Promise<Page>;
  cookies: Map<string, string>;
  /** `Set-Cookie` lines of the last answer. */
  set: () => string[];
}

/** The token that a page's forms carry. */
export const readCsrf = (html: string): string | undefined => /name="_csrf" value="([^"]+)"/.exec(html)?.[1];

export function openBrowser(app: TestApp, cookies = new Map<string, string>()): Browser {
  let lines: string[] = [];
  async function send(path: string, init: RequestInit): Promise<Page> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(`${app.url}${path}`, {
      redirect: 'manual',
      ...init,
      headers: { ...(cookie ? { cookie } : {}), ...(init.headers as Record<string, string>) },
    });
    lines = response.headers.getSetCookie();
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, html: await response.text() };
  }
  const browser: Browser = {
    cookies,
    set: () => lines,
    get: (path, headers = {}) => send(path, { headers }),
    async post(path, fields = {}, { from = path, csrf, headers = {} } = {}) {
      const token = csrf === undefined ? readCsrf((await browser.get(from)).html) : csrf;
      const pairs = Object.entries(fields).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
      const body = new URLSearchParams([...pairs, ...(token ? [['_csrf', token]] : [])] as [string, string][]);
      return send(path, { method: 'POST', body, headers: { origin: app.url, ...headers } });
    },
  };
  return browser;
}

/** A browser in which the person is signed in. */
export async function signIn(app: TestApp, person: Pick<Person, 'email'>, browser: Browser = openBrowser(app)): Promise<Browser> {
  const answer = await browser.post('/app/sign-in', { email: person.email, password: PASSWORD });
  if (answer.status !== 303) throw new Error(`not signed in: ${answer.status}`);
  return browser;
}

/** Returns what the form of a gate on a page sends: which gate, and what its reader has seen. */
export function gateForm(html: string, runId: string): Record<string, string> {
  const form = html.split(`action="/app/runs/${runId}/approve"`)[1]?.split('</form>')[0] ?? '';
  const fields = [...form.matchAll(/name="(gate_index|staged_hash|seen_hash)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
}
