import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildTeam, buildToken, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { until } from '../support/worker.js';
import { Workplace } from './support.js';

// The other commands of `assent` as their own process against the running service.

let app: TestApp;
let team: TestTeam;
let place: Workplace;
let asking: string;
let deciding: string;

beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  asking = await buildToken(app, team.member, ['requests:create', 'requests:read'], { strict: true });
  deciding = await buildToken(app, team.manager, ['requests:read', 'approvals:decide'], { strict: true });
});
afterAll(() => app.close());
beforeEach(() => {
  place = new Workplace();
  place.env = { ASSENT_URL: app.url };
});
afterEach(() => place.remove());

const as = (token: string) => ({ env: { ASSENT_TOKEN: token } });
async function ask(fields: object = {}): Promise<{ request_id: string; request_hash: string; code: string; url: string }> {
  const operation = { system: 'payments', name: 'refund', target: 'order-7', arguments: { cents: 82_000, to: 'Ann \u202E' } };
  const answer = await app
    .as(asking)
    .post('/api/change-requests', { team_id: team.team_id, title: 'Refund', operation, ...fields });
  expect(answer.status).toBe(201);
  return answer.body as Awaited<ReturnType<typeof ask>>;
}
const get = async (id: string) => (await app.as(team.manager).get(`/api/change-requests/${id}`)).body as Record<string, unknown>;

it('asks for an operation of any system, each number as it is written', async () => {
  const args = ['ask', '--system', 'payments', '--name', 'refund', '--target', 'order-7', '--reason', 'late'];
  const call = await place.run([...args, '--arguments', '{"cents": 8.2e4, "to": "Ann"}', '--json'], as(asking));
  expect([call.code, JSON.parse(call.stdout)]).toEqual([
    0,
    expect.objectContaining({
      title: 'payments: refund order-7',
      reason: 'late',
      operations: [expect.objectContaining({ arguments: { cents: 82_000, to: 'Ann' } })],
    }),
  ]);
  const incomplete = await place.run(['ask', '--system', 'payments'], as(asking));
  expect([incomplete.code, incomplete.stderr]).toEqual([
    64,
    expect.stringMatching(/\n {2}usage: assent ask .+\n {9}assent ask .+\n$/),
  ]);
  const inexact = await place.run([...args, '--arguments', '-'], { ...as(asking), input: '{"cents": 9007199254740993}' });
  expect([inexact.code, inexact.stderr]).toEqual([64, expect.stringMatching(/^assent: .*9007199254740993|double|exact/i)]);
  writeFileSync(place.path('bad.json'), '{');
  for (const [value, words] of [
    ['{', /is no JSON/],
    ['[]', /is a JSON object/],
    ['@bad.json', /is no JSON/],
    ['@absent.json', /absent.json: there is no such file/],
  ] as const) {
    const refused = await place.run([...args, '--arguments', value], as(asking));
    expect([refused.code, refused.stderr]).toEqual([64, expect.stringMatching(words)]);
  }
  const invalid = await place.run([...args, '--title', 'x'.repeat(201)], as(asking));
  expect([invalid.code, invalid.stderr]).toEqual([64, expect.stringMatching(/\n {2}title: /)]);
});

it('names teams, and lists them where that is not clear', async () => {
  const other = await buildTeam(app);
  await app.services.db('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
  try {
    const args = ['ask', '--system', 's', '--name', 'n', '--output', 'json'];
    const unclear = await place.run(args, as(asking));
    expect([unclear.code, unclear.stderr]).toEqual([
      64,
      expect.stringMatching(new RegExp(`--team is required[^]*${other.team_id}`)),
    ]);
    const named = await place.run([...args, '--team', `Team ${other.team_id}`], as(asking));
    expect(JSON.parse(named.stdout)).toMatchObject({ team_id: other.team_id });
    const unknown = await place.run([...args, '--team', 'Nowhere'], as(asking));
    expect([unknown.code, unknown.stderr]).toEqual([64, expect.stringMatching(/no team called Nowhere/)]);
  } finally {
    await app.services.db('memberships').where({ team_id: other.team_id, user_id: team.member.user_id }).delete();
  }
});

it('lists and shows what waits, without characters that hide', async () => {
  const { request_id, request_hash, url } = await ask({ reason: 'late' });
  const list = await place.run(['approvals'], as(deciding));
  expect([list.code, list.stdout]).toEqual([
    0,
    expect.stringMatching(new RegExp(`^${request_id} {2}payments {2}Refund +asked .+ ago +(?:23 h|1 d) left$`, 'm')),
  ]);
  expect(JSON.parse((await place.run(['approvals', '--mine', '--json'], as(asking))).stdout)).toEqual(
    expect.arrayContaining([expect.objectContaining({ request_id })]),
  );
  const shown = await place.run(['show', request_id], as(deciding));
  expect(shown.stdout).toContain('"to": "Ann U+202E"');
  for (const each of [request_hash, url, 'payments · refund · order-7', 'waits for a manager'])
    expect(shown.stdout).toContain(each);
  const unknown = await place.run(['show', '0197a000-0000-7000-8000-000000000000'], as(deciding));
  expect([unknown.code, unknown.stderr]).toEqual([64, expect.stringMatching(/^assent: Change request not found/)]);
  expect(await place.run(['show', 'nonsense'], as(deciding))).toMatchObject({ code: 64 });
});

it('approves exactly what was shown', async () => {
  const { request_id, request_hash } = await ask();
  const blind = await place.run(['approve', request_id], as(deciding));
  expect([blind.code, blind.stderr]).toEqual([64, expect.stringMatching(/--hash HASH/)]);
  const other = await place.run(['approve', request_id, '--hash', `sha256:${'0'.repeat(64)}`], as(deciding));
  expect([other.code, other.stderr]).toEqual([65, expect.stringMatching(/not what the hash says/)]);
  expect(await get(request_id)).toMatchObject({ status: 'pending' });
  const call = await place.run(['approve', request_id, '--hash', request_hash, '-m', 'go'], as(deciding));
  expect([call.code, call.stdout]).toEqual([0, 'approved\n']);
  expect(await get(request_id)).toMatchObject({
    status: 'approved',
    decisions: [{ comment: 'go', user_id: team.manager.user_id }],
  });
});

it('asks on a terminal, and takes nothing but yes', async () => {
  const { request_id } = await ask();
  place.env['ASSENT_TOKEN'] = deciding;
  for (const [typed, code, status] of [
    ['\n', 75, 'pending'],
    ['n\n', 75, 'pending'],
    ['y\n', 0, 'approved'],
  ] as const) {
    const call = place.startOnTerminal(['approve', request_id]);
    await call.printed(/Approve exactly this\? \[y\/N\]/);
    expect(call.stdout).toContain('"cents": 82000');
    call.child.stdin?.write(typed);
    expect((await call.ended).code).toBe(code);
    expect(await get(request_id)).toMatchObject({ status });
  }
});

it('rejects, withdraws and waits', async () => {
  const [one, two] = [
    await ask(),
    await ask({ title: 'Another', operation: { system: 'a', name: 'b', target: null, arguments: {} } }),
  ];
  const waiting = [one, two].map(({ request_id }) => place.start(['wait', request_id], as(asking)));
  const brief = await place.run(['wait', one.request_id, '--timeout', '1s'], as(asking));
  expect([brief.code, brief.stderr]).toEqual([75, expect.stringMatching(/no decision in time/)]);
  const rejected = await place.run(['reject', one.request_id, '-m', 'no'], as(deciding));
  expect([rejected.code, rejected.stdout]).toEqual([0, 'rejected\n']);
  const cancelled = await place.run(['cancel', two.request_id, '-m', 'not needed'], as(asking));
  expect([cancelled.code, cancelled.stdout]).toEqual([0, 'cancelled\n']);
  expect(await Promise.all(waiting.map(async ({ ended }) => (await ended).code))).toEqual([77, 77]);
  expect(waiting[0]?.stderr).toMatch(/rejected by .*: "no"/);
  expect(waiting[1]?.stderr).toMatch(/cancelled by its requester/);
  const again = await place.run(['reject', one.request_id], as(deciding));
  expect([again.code, again.stderr]).toEqual([64, expect.stringMatching(/^assent: The request is rejected\n/)]);
});

it('does not wait for what is decided', async () => {
  const { request_id, request_hash } = await ask();
  await place.run(['approve', request_id, '--hash', request_hash], as(deciding));
  const call = await place.run(['wait', request_id], as(asking));
  expect([call.code, call.stderr]).toEqual([
    0,
    expect.stringMatching(/^assent: approved by [^\n]+\nassent: the request is approved\n$/),
  ]);
});

it('decides nothing with a token that may not, and says where people do', async () => {
  const { request_id, request_hash, url } = await ask();
  for (const args of [
    ['approve', request_id, '--hash', request_hash],
    ['reject', request_id],
  ]) {
    const call = await place.run(args, as(asking));
    expect([call.code, call.stderr]).toEqual([78, expect.stringContaining(url)]);
  }
  expect(await get(request_id)).toMatchObject({ status: 'pending' });
});

describe('login', () => {
  const file = () => join(place.config, 'login.json');
  const stored = () => JSON.parse(readFileSync(file(), 'utf8')) as { token: string; decide?: { token: string; until: number } };

  it('stores a token that only the user can read, and forgets it', async () => {
    const refused = await place.run(['approvals']);
    expect([refused.code, refused.stderr]).toEqual([
      78,
      expect.stringMatching(/not logged in to http[^]*'assent login --url http/),
    ]);
    const call = await place.run(['login'], { input: `${asking}\n` });
    expect([call.code, call.stdout]).toEqual([0, expect.stringMatching(/^logged in to http/)]);
    expect([statSync(file()).mode & 0o777, statSync(place.config).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(call.stdout + call.stderr).not.toContain(asking);
    expect(await place.run(['approvals', '--mine'])).toMatchObject({ code: 0 });
    // The token goes to its own service only.
    expect(await place.run(['approvals', '--url', 'http://127.0.0.1:1'])).toMatchObject({ code: 78 });
    expect(await place.run(['approvals', '--url', 'http://assent.example'])).toMatchObject({ code: 64 });
    expect(await place.run(['logout'])).toMatchObject({ code: 0 });
    expect(await place.run(['approvals'])).toMatchObject({ code: 78 });
  });

  it('refuses a wrong address, and a token that may do too little or too much', async () => {
    const elsewhere = await place.run(['login', '--url', `${app.url}/api`], { input: `${asking}\n` });
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      64,
      expect.stringMatching(/not at this address\n {2}Write it without \/api/),
    ]);
    const reading = await buildToken(app, team.member, ['requests:read'], { strict: true });
    const other = await buildToken(app, team.member, ['tasks:read'], { strict: true });
    for (const [token, words] of [
      ['svc_pat_unknown', /unknown, expired or revoked/],
      [reading, /lacks the scope requests:create/],
      [other, /lacks the scope requests:read/],
      [deciding, /may decide/],
      ['two words', /no token/],
    ] as const) {
      const call = await place.run(['login'], { input: token });
      expect([call.code === 0, call.stderr]).toEqual([false, expect.stringMatching(words)]);
    }
    expect(await place.run(['approvals'])).toMatchObject({ code: 78 });
  });

  it('keeps a token that may decide apart, for twelve hours', async () => {
    const own = await buildToken(app, team.manager, ['requests:create', 'requests:read'], { strict: true });
    expect(await place.run(['login', '--decide'], { input: deciding })).toMatchObject({ code: 64 });
    expect(await place.run(['login'], { input: own })).toMatchObject({ code: 0 });
    const call = await place.run(['login', '--decide'], { input: deciding });
    expect([call.code, call.stderr]).toEqual([0, expect.stringMatching(/for 12 hours/)]);
    const { request_id, request_hash } = await ask({ operation: { system: 'x', name: 'y', target: null, arguments: {} } });
    expect(await place.run(['approve', request_id, '--hash', request_hash])).toMatchObject({ code: 0 });
    const login = stored();
    expect([login.token, login.decide?.token]).toEqual([own, deciding]);
    writeFileSync(file(), JSON.stringify({ ...login, decide: { ...login.decide, until: Date.now() - 1 } }));
    expect(await place.run(['reject', request_id])).toMatchObject({ code: 78 });
    expect(stored()).toEqual({ ...login, decide: undefined });
  });

  it('reads the token on a terminal without showing it', async () => {
    const call = place.startOnTerminal(['login']);
    await call.printed(/Token: /);
    call.child.stdin?.write(`${asking}\n`);
    expect((await call.ended).code).toBe(0);
    expect(call.stdout).not.toContain(asking.slice(0, 20));
    await until(async () => stored().token === asking);
  });
});

it('verifies a stored receipt with its operation', async () => {
  place.script('tool', 'echo ran');
  const call = place.start(['run', '--receipt', 'receipt.json', '--', './tool'], as(asking));
  const id = await call.asked();
  const { request_hash } = (await get(id)) as { request_hash: string };
  await app.as(team.manager).post(`/api/change-requests/${id}/approve`, { request_hash });
  expect((await call.ended).code).toBe(0);
  expect(statSync(place.path('receipt.json')).mode & 0o777).toBe(0o600);

  const issuer = [
    '--issuer',
    (JSON.parse(Buffer.from(place.read('receipt.json').split('.')[1] as string, 'base64url').toString()) as { iss: string }).iss,
  ];
  const verified = await place.run(['verify', 'receipt.json', ...issuer]);
  expect([verified.code, verified.stdout]).toEqual([
    0,
    expect.stringMatching(
      new RegExp(`verified: shell · exec · .*\nteam ${team.team_id}, approved as manager by ${team.manager.user_id}\n`),
    ),
  ]);
  for (const [more, words] of [
    [['--team', '0197a000-0000-7000-8000-000000000000'], /for another team or system/],
    [['--system', 'payments'], /for another team or system/],
    [['--approvals', '2'], /1 people approved, and 2 must/],
    [['--at', '2031-01-01T00:00:00Z'], /has expired\n.*--at issue/],
  ] as const) {
    const refused = await place.run(['verify', 'receipt.json', ...issuer, ...more]);
    expect([refused.code, refused.stderr]).toEqual([65, expect.stringMatching(words)]);
  }
  const stored = JSON.parse(place.read('receipt.json')) as { operation_texts: string[] };
  const [text = ''] = stored.operation_texts;
  place.write('forged.json', JSON.stringify({ ...stored, operation_texts: [text.replace('./tool', './evil')] }));
  const forged = await place.run(['verify', 'forged.json', ...issuer]);
  expect([forged.code, forged.stderr]).toEqual([65, expect.stringMatching(/people approved another operation/)]);
  // Without the service, by keys that were stored.
  place.write('keys.json', JSON.stringify((await app.as(asking).get('/api/receipts/jwks')).body));
  const offline = await place.run(['verify', 'receipt.json', ...issuer, '--keys', 'keys.json'], { env: { ASSENT_URL: '' } });
  expect([offline.code, offline.stderr]).toEqual([0, '']);
  const stranger = await place.run(['verify', 'receipt.json', '--keys', 'receipt.json', ...issuer]);
  expect([stranger.code, stranger.stderr]).toEqual([64, expect.stringMatching(/not a set of public keys/)]);
  place.write('none.json', '{}');
  expect(await place.run(['verify', 'none.json', ...issuer])).toMatchObject({ code: 64 });
});
