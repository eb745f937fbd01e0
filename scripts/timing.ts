import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { parseArgs } from 'node:util';
import type { Knex } from 'knex';
import { explainArguments } from './admin/explain-failures.js';
import { computeHash, PAT_PREFIX } from '../api/identity/auth/authenticate.js';
import { hashPassword } from '../api/identity/auth/passwords.js';
import { Servers } from './bench/servers.js';
import { median } from './bench/statistics.js';

const USAGE = `Measures whether the time of an answer tells who has an account here: medians over many calls, one after the other and by turns,
against a copy of the product on servers of its own. Prints figures; judging them is the reader's.

  npm run timing
    --calls N   of each kind (500)`;

const PASSWORD = 'correct horse battery';
/** Limit of emailed codes per hour and address. */
const CODES_EACH = 10;
/** Limit of pending invitations per team. */
const INVITATIONS_EACH = 100;
/** Unmeasured calls of each kind before the first measured one. */
const WARM_UP = 20;

interface Kind {
  group: string;
  name: string;
  call: (i: number) => { path: string; body: object; token?: string };
}

const word = (): string => randomBytes(6).toString('hex');

/** Creates accounts with PASSWORD and the given fields. */
async function accounts(db: Knex, count: number, fields: object = {}): Promise<string[]> {
  const password_hash = await hashPassword(PASSWORD);
  const rows = Array.from({ length: count }, () => {
    const name = word();
    return { email: `${name}@timing.test`, name, username: name, display_name: name, avatar: 'https://x.test/a.png' };
  });
  await db('users').insert(rows.map((row) => ({ ...row, password_hash, ...fields })));
  return rows.map(({ email }) => email);
}

const strangers = (count: number): string[] => Array.from({ length: count }, () => `${word()}@timing.test`);

/** Creates a team; its admin owns the token. */
async function inviter(db: Knex): Promise<{ path: string; token: string }> {
  const [email] = await accounts(db, 1);
  const [{ user_id }] = await db('users').where({ email }).select('user_id');
  const [{ team_id }] = await db('teams').insert({ name: word(), plan: 'scale', created_by: user_id }).returning('team_id');
  await db('memberships').insert({ team_id, user_id, role: 'admin' });
  const token = `${PAT_PREFIX}${randomBytes(32).toString('base64url')}`;
  const row = { user_id, name: 'timing', scopes: ['admin:*'], token_hash: computeHash(token), prefix: PAT_PREFIX };
  await db('personal_access_tokens').insert(row);
  return { path: `/api/teams/${team_id}/members`, token };
}

/** Invites each address once. */
async function invitations(db: Knex, name: string, addresses: string[]): Promise<Kind> {
  const inviters = await Promise.all(Array.from({ length: Math.ceil(addresses.length / INVITATIONS_EACH) }, () => inviter(db)));
  return {
    group: 'invite by email',
    name,
    call: (i) => ({ ...(inviters[i % inviters.length] as (typeof inviters)[number]), body: { email: addresses[i] } }),
  };
}

async function kinds(db: Knex, calls: number): Promise<Kind[]> {
  const some = Math.ceil(calls / CODES_EACH);
  const [known, locked, suspended, unknown] = [
    await accounts(db, some),
    await accounts(db, some),
    await accounts(db, some, { status: 'suspended' }),
    strangers(some),
  ];
  const until = new Date(Date.now() + 3_600_000);
  await db('login_attempts').insert(locked.map((email) => ({ subject: `mail ${email}`, attempts: 20, locked_until: until })));
  const by = (group: string, name: string, path: string, who: string[], more: object): Kind => ({
    group,
    name,
    call: (i) => ({ path, body: { email: who[i % who.length], ...more } }),
  });
  const login = (name: string, who: string[], password: string) => by('login', name, '/api/auth/login', who, { password });
  return [
    login('known, wrong password', known, 'a wrong password'),
    login('unknown', unknown, PASSWORD),
    login('locked, right password', locked, PASSWORD),
    login('suspended, right password', suspended, PASSWORD),
    by('password/forgot', 'known', '/api/auth/password/forgot', known, {}),
    by('password/forgot', 'unknown', '/api/auth/password/forgot', unknown, {}),
    by('signup/start', 'known', '/app/signup/start', known, { name: 'Nia' }),
    by('signup/start', 'unknown', '/app/signup/start', unknown, { name: 'Nia' }),
    await invitations(db, 'known', await accounts(db, calls + WARM_UP)),
    await invitations(db, 'unknown', strangers(calls + WARM_UP)),
  ];
}

/** Returns the milliseconds until the response is complete. */
function time(port: number, agent: Agent, { path, body, token }: ReturnType<Kind['call']>): Promise<number> {
  const bytes = Buffer.from(JSON.stringify(body));
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { 'content-type': 'application/json', 'content-length': bytes.length, ...authorization };
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (answer) => {
      // Calls with a token are expected to succeed; an error response would measure something else.
      if (token !== undefined && answer.statusCode !== 201) reject(new Error(`${path} answered ${answer.statusCode}`));
      answer.resume().on('end', () => resolve(performance.now() - started));
    });
    sent.on('error', reject).end(bytes);
  });
}

/** Returns the difference of the medians of two halves of one kind; a smaller difference between two kinds is meaningless. */
const computeNoise = (times: number[]): number =>
  Math.abs(median(times.filter((_, i) => i % 2 === 0)) - median(times.filter((_, i) => i % 2 === 1)));

function print(all: { kind: Kind; times: number[] }[]): void {
  for (const group of new Set(all.map(({ kind }) => kind.group))) {
    const members = all.filter(({ kind }) => kind.group === group);
    const [first] = members;
    console.log(`\n  ${group}`);
    for (const { kind, times } of members) {
      const middle = median(times);
      const apart = middle - median(first?.times ?? []);
      const difference = kind === first?.kind ? '' : `  ${apart >= 0 ? '+' : ''}${apart.toFixed(2)} ms`;
      console.log(
        `    ${kind.name.padEnd(26)} median ${middle.toFixed(2)} ms  noise ${computeNoise(times).toFixed(2)} ms${difference}`,
      );
    }
  }
  console.log(`\n  medians of ${all[0]?.times.length ?? 0} calls each, by turns; "noise" is between two halves of the same kind`);
}

/** Calls each kind `calls` times. Each round starts with another kind, so that no kind always follows the same one. */
async function measureByTurns(
  members: readonly { kind: Kind; times: number[] }[],
  calls: number,
  measure: (call: ReturnType<Kind['call']>) => Promise<number>,
): Promise<void> {
  for (let i = -WARM_UP; i < calls; i += 1) {
    const turn = ((i % members.length) + members.length) % members.length;
    for (const { kind, times } of [...members.slice(turn), ...members.slice(0, turn)]) {
      const took = await measure(kind.call(i + WARM_UP));
      if (i >= 0) times.push(took);
    }
  }
}

explainArguments(USAGE);
const { values } = parseArgs({
  options: { calls: { type: 'string', default: '500' }, help: { type: 'boolean', default: false } },
});
if (values.help) console.log(USAGE);
else {
  const servers = new Servers();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => void servers.stop().then(() => process.exit(130)));
  try {
    await servers.start();
    const measured = (await kinds(servers.db, Number(values.calls))).map((kind) => ({ kind, times: [] as number[] }));
    const api = await servers.startApi();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    // One group after the other: what follows a sign-in, which is slow, would be slower.
    for (const group of new Set(measured.map(({ kind }) => kind.group)))
      await measureByTurns(
        measured.filter(({ kind }) => kind.group === group),
        Number(values.calls),
        (call) => time(api.port, agent, call),
      );
    agent.destroy();
    print(measured);
  } finally {
    await servers.stop();
  }
}
