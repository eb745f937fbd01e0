import { hashPassword } from '../../../api/identity/auth/passwords.js';
import type { Goal, Section } from '../report.js';
import type { World } from '../seed.js';
import type { Servers, Service } from '../servers.js';
import { quantile } from '../statistics.js';
import { addPending, dropPending } from '../pending.js';
import { withSides } from './requests-section.js';
import { gated, LOCAL } from './staging.js';

/** Gates that wait: as many as one page shows, of ten automations. */
const AUTOMATIONS = 10;
const GATES_EACH = 5;
const READS = 200;
const QUEUE = '/app/approvals';
const PERSON = { email: 'approver@bench.test', password: 'correct horse battery' };

/** A browser without scripts: it keeps cookies and sends forms. */
class Browser {
  private readonly cookies = new Map<string, string>();

  constructor(private readonly base: string) {}

  private async send(path: string, form?: Record<string, string>): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, ...(form && { origin: this.base }) };
    const body = form && { method: 'POST', body: new URLSearchParams(form) };
    const response = await fetch(this.base + path, { redirect: 'manual', headers, ...body });
    for (const set of response.headers.getSetCookie()) {
      const [pair = ''] = set.split(';');
      this.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    return response;
  }

  async read(path: string): Promise<string> {
    const response = await this.send(path);
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
    return response.text();
  }

  async post(path: string, form: Record<string, string>): Promise<void> {
    const response = await this.send(path, form);
    await response.arrayBuffer();
    if (response.status !== 303) throw new Error(`${path} answered ${response.status}`);
  }
}

const getValue = (html: string, name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';

/** Signs a manager of the team in. */
async function signIn({ db }: Servers, { teamId }: World, { port }: Service): Promise<Browser> {
  const password_hash = await hashPassword(PERSON.password);
  const name = { name: 'Approver', username: 'approver', display_name: 'Approver', avatar: 'https://bench.test/a.png' };
  await db('users')
    .insert({ email: PERSON.email, ...name, login_otp_exempt: true, password_hash })
    .onConflict('email')
    .ignore();
  const { user_id } = await db('users').where({ email: PERSON.email }).first();
  await db('memberships').insert({ team_id: teamId, user_id, role: 'manager' }).onConflict().ignore();
  const browser = new Browser(`http://127.0.0.1:${port}`);
  const page = await browser.read('/app/sign-in');
  await browser.post('/app/sign-in', { _csrf: getValue(page, '_csrf'), ...PERSON, next: '/app' });
  return browser;
}

/** Runs `work` this many times, one after the other, and returns the milliseconds of each. */
async function timed(count: number, work: (nth: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const began = performance.now();
    await work(nth);
    times.push(performance.now() - began);
  }
  return times;
}

/** Reads the page until each gate has its text, as a person does who opens it after an upgrade. */
async function readStaged(browser: Browser): Promise<string> {
  for (;;) {
    const html = await browser.read(QUEUE);
    if (html.split('name="staged_hash"').length > AUTOMATIONS * GATES_EACH) return html;
  }
}

/** Approves each gate of a page by its form. */
function decideAll(browser: Browser, html: string): Promise<number[]> {
  const cards = html.split('<article class="gate"').slice(1);
  const _csrf = getValue(html, '_csrf');
  return timed(cards.length, (nth) => {
    const card = cards[nth] as string;
    const fields = ['gate_index', 'staged_hash', 'seen_hash'].map((name) => [name, getValue(card, name)] as const);
    const path = /action="(\/app\/runs\/[^"]+\/approve)"/.exec(card)?.[1] ?? '';
    return browser.post(path, { _csrf, back: QUEUE, ...Object.fromEntries(fields) });
  });
}

/** The page of approvals with fifty waiting gates of five actions each, and a decision from it, without a worker. */
export const queuePageSection: Section = (servers, world) =>
  withSides(servers, async ({ product }) => {
    const browser = await signIn(servers, world, product);
    const automations: string[] = [];
    for (let nth = 0; nth < AUTOMATIONS; nth += 1) {
      const automation = await gated(servers, world, LOCAL);
      automations.push(automation);
      const runs = await addPending(servers, { ...world, tasks: world.tasks.slice(nth) }, automation, GATES_EACH);
      await servers.db('gates').whereIn('run_id', runs).update({ staged: null, staged_hash: null, staged_tried: false });
    }
    const html = await readStaged(browser);
    const reads = await timed(READS, () => browser.read(QUEUE));
    const decisions = await decideAll(browser, html);
    for (const automation of automations) await dropPending(servers, automation);
    const kilobytes = Buffer.byteLength(html) / 1_000;
    const goal = (what: string, value: number, most: number, unit: string): Goal => ({
      what,
      value,
      goal: most,
      better: 'less',
      unit,
    });
    return [
      {
        name: `${QUEUE} with ${AUTOMATIONS * GATES_EACH} waiting gates of five actions`,
        goals: [
          goal('p50', quantile(reads, 0.5), 60, ' ms'),
          goal('size', kilobytes, 300, ' kB'),
          goal('a decision from it, p50', quantile(decisions, 0.5), 100, ' ms'),
        ],
        notes: [
          `p95 ${quantile(reads, 0.95).toFixed(1)} ms  decisions ${decisions.length}, p95 ${quantile(decisions, 0.95).toFixed(1)} ms`,
        ],
      },
    ];
  });
