import { hashPassword } from '../../../api/identity/auth/passwords.js';
import { drive, type Load, requestBytes, type Source } from '../load.js';
import { taskSources } from '../requests.js';
import type { Goal, Result, Section } from '../report.js';
import type { Servers } from '../servers.js';
import { quantile } from '../statistics.js';

/** Number of reading clients, and of clients that sign in continuously. */
const READERS = 4;
const STORMERS = 32;
const PASSWORD = 'correct horse battery';
const ACCOUNTS = 50;
/** Hashing leaves one core free, so readers should be barely affected. */
const GOAL_MS = 50;

const mail = (i: number): string => `storm${i}@bench.test`;

/** Creates accounts with a password; may be repeated. */
export async function createAccounts({ db }: Servers): Promise<void> {
  const password_hash = await hashPassword(PASSWORD);
  const row = (i: number) => ({
    email: mail(i),
    name: 'Storm',
    username: `storm${i}`,
    display_name: 'Storm',
    avatar: 'https://bench.test/a.png',
    login_otp_exempt: true,
    password_hash,
  });
  await db('users')
    .insert(Array.from({ length: ACCOUNTS }, (_, i) => row(i)))
    .onConflict('email')
    .ignore();
}

/** Sign-ins, two thirds with the right password; counts their results. */
export function stormSource(): Source & { refused: () => number } {
  let sent = 0;
  let refused = 0;
  return {
    expect: 200,
    next() {
      sent += 1;
      const login = { email: mail(sent % ACCOUNTS), password: sent % 3 === 0 ? 'a wrong password' : PASSWORD };
      const headers = { 'Content-Type': 'application/json', 'User-Agent': 'bench' };
      return requestBytes('POST', '/api/auth/login', headers, Buffer.from(JSON.stringify(login)));
    },
    answered: (_connection, ok) => {
      if (!ok) refused += 1;
    },
    refused: () => refused,
  };
}

const line = (what: string, { count, seconds, latencies }: Load): string =>
  `${what.padEnd(22)}${(count / seconds).toFixed(0).padStart(6)}/s  p50 ${quantile(latencies, 0.5).toFixed(1)} ms  p99 ${quantile(latencies, 0.99).toFixed(1)} ms`;

/** Effect of many concurrent sign-ins on readers: hashing has a limited number of threads. */
export const loginStormSection: Section = async (servers, world, load) => {
  await createAccounts(servers);
  const api = await servers.startApi();
  const reads = taskSources(world).get;
  const seconds = load.seconds * load.rounds;
  await drive(api.port, READERS, 1, reads);
  const quiet = await drive(api.port, READERS, seconds, reads);
  const storm = stormSource();
  const [stormy, logins] = await Promise.all([
    drive(api.port, READERS, seconds, reads),
    drive(api.port, STORMERS, seconds, storm),
  ]);
  await api.stop();
  const goal: Goal = {
    what: 'p99 of GET /api/tasks/:id meanwhile',
    value: quantile(stormy.latencies, 0.99),
    goal: GOAL_MS,
    better: 'less',
    unit: ' ms',
  };
  const notes = [
    line('reads, quiet', quiet),
    line('reads, in the storm', stormy),
    `${line('logins', logins)}, ${storm.refused()} of ${logins.count} refused (a third is wrong)`,
  ];
  if (stormy.errors > 0) notes.push(`${stormy.errors} reads failed`);
  const result: Result = { name: `a storm of logins, ${STORMERS} clients, beside ${READERS} readers`, goals: [goal], notes };
  return [result];
};
