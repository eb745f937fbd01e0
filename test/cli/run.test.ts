import { appendFileSync, copyFileSync, readFileSync, renameSync, statSync, utimesSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildPerson, buildTeam, buildToken, type Person, type TestTeam } from '../factories/people.js';
import { type Line, NOTHING, openLine } from '../runners/support.js';
import { startApp, type TestApp } from '../support/app.js';
import { until } from '../support/worker.js';
import { type Call, Workplace } from './support.js';

// `assent run` as its own process, on pipes and on a terminal, against the running service over a line that can be cut.

let app: TestApp;
let team: TestTeam;
let second: Person;
let line: Line;
let place: Workplace;

interface Asked {
  request_id: string;
  request_hash: string;
  status: string;
  [member: string]: unknown;
}

beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  second = await buildPerson(app);
  await app.services.db('memberships').insert({ team_id: team.team_id, user_id: second.user_id, role: 'manager' });
  line = await openLine(app.url);
});
afterAll(async () => {
  line.close();
  await app.close();
});
beforeEach(async () => {
  line.cut = NOTHING;
  line.lose = { path: NOTHING, times: 0 };
  place = new Workplace();
  const token = await buildToken(app, team.member, ['requests:create', 'requests:read'], { strict: true });
  place.env = { ASSENT_URL: line.url, ASSENT_TOKEN: token };
  // It counts how often it ran, and shows what it was given.
  place.script('tool', 'echo ran >> ran; echo "out $*"; echo "err" >&2; exit "${CODE:-0}"');
  place.write('plan', 'plan one');
});
afterEach(() => place.remove());

const get = async (id: string): Promise<Asked> => (await app.as(team.manager).get(`/api/change-requests/${id}`)).body as Asked;
async function decide(
  id: string,
  by: Person = team.manager,
  what: 'approve' | 'reject' = 'approve',
  comment?: string,
): Promise<void> {
  const { request_hash } = await get(id);
  const answer = await app.as(by).post(`/api/change-requests/${id}/${what}`, { request_hash, ...(comment && { comment }) });
  expect([answer.status, answer.body.error_code]).toEqual([200, undefined]);
}
const untilStatus = (id: string, status: string): Promise<Asked> =>
  until(async () => {
    const request = await get(id);
    return request.status === status && request;
  });
const ranTimes = (): number => (place.exists('ran') ? place.read('ran').trim().split('\n').length : 0);
const run = (...args: string[]): Call => place.start(['run', ...args]);
/** Runs a command that is approved at once. */
async function approved(args: string[], options: Parameters<Workplace['start']>[1] = {}) {
  const call = place.start(['run', ...args], options);
  const id = await call.asked();
  await decide(id);
  return { id, call, ...(await call.ended) };
}
const report = (name = 'report'): Record<string, unknown> => JSON.parse(place.read(name)) as Record<string, unknown>;

describe('a decision', () => {
  it('runs what was approved: its output, its exit status, and the outcome on record', async () => {
    const call = run('--reason', 'release 4.2', '--report', 'report', '--', './tool', 'apply', 'plan');
    const id = await call.asked();
    expect(call.stderr).toMatch(/assent: asked \S+\/app\/\S+ {2}code \w{3}-\w{3} {2}bound: tool, plan \(8 B\)\n/);
    await call.printed(/waiting for a manager · 0:0\d · \d+:\d\d:\d\d left · Ctrl-C withdraws/);
    expect(await get(id)).toMatchObject({
      title: './tool apply plan',
      reason: 'release 4.2',
      source: 'cli',
      operations: [
        { system: 'shell', name: 'exec', arguments: { argv: ['./tool', 'apply', 'plan'], cwd: place.dir, stdin: 'none' } },
      ],
    });
    await decide(id, team.manager, 'approve', 'go, after the \u001b[31mbackup');
    expect(await call.ended).toEqual({ code: 0, signal: null });
    expect(call.stdout).toBe('out apply plan\n');
    expect(call.stderr).toMatch(/approved by .+ \(1 of 1\): "go, after the U\+001B\[31mbackup"\n/);
    expect(call.stderr).toMatch(/err\nassent: succeeded, exit 0, 0:0\d; on record\n$/);
    expect(await get(id)).toMatchObject({
      status: 'redeemed',
      outcome: { status: 'succeeded', exit_code: 0, details: { ran: true } },
    });
    expect(report()).toEqual({
      ran: true,
      reason: 'done',
      request_id: id,
      exit_code: 0,
      signal: null,
      duration_ms: expect.any(Number),
    });
    expect(place.outcomes).toEqual([]);
  });

  it('passes on the exit status of the command, also one that is ours', async () => {
    const { id, code } = await approved(['--report', 'report', '--', './tool'], { env: { CODE: '77' } });
    expect([code, report()]).toEqual([77, expect.objectContaining({ ran: true, exit_code: 77 })]);
    expect(await get(id)).toMatchObject({ outcome: { status: 'failed', exit_code: 77 } });
  });

  it('runs nothing if it is rejected, cancelled or expired', async () => {
    const ends: [string, (id: string) => Promise<unknown>, number, RegExp][] = [
      [
        'rejected',
        (id) => decide(id, team.manager, 'reject', 'not today'),
        77,
        /rejected by .*: "not today"\nassent: the request was rejected\n/,
      ],
      ['rejected', (id) => app.as(team.manager).post(`/api/change-requests/${id}/cancel`, {}), 77, /cancelled by a manager\n/],
      [
        'undecided',
        async (id) => {
          await app.services
            .db('change_requests')
            .where({ request_id: id })
            .update({ expires_at: app.services.db.raw("now() - interval '1 s'") });
          await app.services.db.raw("select pg_notify('assent_requests', ?)", [id]);
        },
        75,
        /expired without a decision\n {2}--expires gives more time/,
      ],
    ];
    for (const [reason, act, status, words] of ends) {
      const call = run('--report', 'report', '--', './tool', reason, String(status), words.source);
      await act(await call.asked());
      expect(await call.ended).toEqual({ code: status, signal: null });
      expect(call.stderr).toMatch(words);
      expect(report()).toMatchObject({ ran: false, reason, exit_code: status });
    }
    expect(ranTimes()).toBe(0);
  });

  it('waits for all approvals that are required', async () => {
    const call = run('--approvals', '2', '--', './tool');
    const id = await call.asked();
    await call.printed(/waiting for 2 managers/);
    await decide(id);
    await call.printed(/approved by .* \(1 of 2\)/);
    expect(ranTimes()).toBe(0);
    await decide(id, second);
    expect(await call.ended).toEqual({ code: 0, signal: null });
    expect(call.stderr).toMatch(/\(2 of 2\)/);
  });

  it('is a line of JSON for programs', async () => {
    const call = run('--json', '--', './tool');
    const [, id = ''] = await call.printed(/"event":"asked","request_id":"([^"]+)"/);
    await decide(id);
    await call.ended;
    const events = call.stderr
      .split('\n')
      .filter((each) => each.startsWith('{'))
      .map((each) => JSON.parse(each) as { event: string });
    expect(events.map(({ event }) => event)).toEqual(['asked', 'waiting', 'approved', 'started', 'ended']);
    expect(events.at(-1)).toMatchObject({ request_id: id, status: 'succeeded', exit_code: 0, record: 'sent' });
  });
});

it('tells GitHub Actions where people decide, and people where it runs', async () => {
  const claims = {
    GITHUB_REPOSITORY: 'acme/rocket',
    GITHUB_REF_NAME: 'v4.2',
    GITHUB_RUN_ID: '7',
    GITHUB_SERVER_URL: 'https://github.example',
  };
  const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: place.path('summary'), ...claims };
  const { id, call, code } = await approved(['--title', 'Release 100% [now]', '--context', 'ticket=T-1', '--', './tool'], {
    env,
  });
  expect(code).toBe(0);
  const { url } = (await get(id)) as unknown as { url: string };
  expect(call.stderr).toContain(`\n::notice title=Waiting for approval::Release 100%25 [now]: ${url} (code `);
  expect(place.read('summary')).toContain(String.raw`[Release 100% \[now\]](${url})`);
  const run = 'https://github.example/acme/rocket/actions/runs/7';
  expect(await get(id)).toMatchObject({ context: { repository: 'acme/rocket', ref: 'v4.2', run, ticket: 'T-1' } });
});

describe('what changes while people decide', () => {
  const changes: [string, string[], () => void, RegExp][] = [
    ['a file', [], () => place.write('plan', 'plan two'), /changed: \S+\/plan\n/],
    [
      'a file, and neither its size nor its times',
      [],
      () => {
        const { atime, mtime } = statSync(place.path('plan'));
        place.write('plan', 'PLAN ONE');
        utimesSync(place.path('plan'), atime, mtime);
      },
      /changed: \S+\/plan\n/,
    ],
    [
      'the program',
      [],
      () => (place.script('new', 'touch evil'), renameSync(place.path('new'), place.path('tool'))),
      /changed: \S+\/tool\n/,
    ],
    ['the program, which is gone', [], () => renameSync(place.path('tool'), place.path('gone')), /tool: command not found/],
    [
      'a bound file that no argument names',
      ['--bind', 'hidden'],
      () => appendFileSync(place.path('hidden'), 'x'),
      /changed: \S+\/hidden\n/,
    ],
  ];
  it.each(changes)('withdraws the approval if it is %s', async (_, options, act, words) => {
    place.write('hidden', 'x');
    const call = run('--report', 'report', ...options, '--', './tool', 'plan');
    const id = await call.asked();
    act();
    await decide(id);
    expect(await call.ended).toEqual({ code: 65, signal: null });
    expect(call.stderr).toMatch(words);
    expect([ranTimes(), place.exists('evil')]).toEqual([0, false]);
    expect(await get(id)).toMatchObject({ status: 'cancelled' });
    expect(report()).toMatchObject({ ran: false, reason: 'changed' });
  });

  it('starts nothing that was touched between the last look and the start, and that is on record', async () => {
    const call = run('--report', 'report', '--', './tool', 'plan');
    const id = await call.asked();
    line.cut = /redeem$/;
    await decide(id);
    await call.printed(/trying to use the approval/);
    place.write('plan', 'plan two');
    line.cut = NOTHING;
    expect(await call.ended).toEqual({ code: 65, signal: null });
    expect([ranTimes(), report()['ran']]).toEqual([0, false]);
    const details = { ran: false, reason: expect.stringMatching(/has changed/), changed: [place.path('plan')] };
    expect(await get(id)).toMatchObject({ status: 'redeemed', outcome: { status: 'failed', details } });
  });

  it('starts a binary from the file that was hashed, under the name that was typed', async () => {
    copyFileSync('/bin/sh', place.path('shell'));
    const { call } = await approved(['--', './shell', '-c', 'readlink /proc/$$/fd/3; echo $0']);
    // Only Linux has such paths; elsewhere it starts by its name.
    expect(call.stdout).toBe(`${process.platform === 'linux' ? place.path('shell') : ''}\n./shell\n`);
  });

  it('reports what changed while the command ran', async () => {
    const { id, call, code } = await approved(['--', '/bin/sh', '-c', 'echo changed >> plan', 'plan', 'plan']);
    expect([code, call.stderr]).toEqual([0, expect.stringMatching(/changed while it ran: \S+\/plan\n$/)]);
    expect(await get(id)).toMatchObject({ outcome: { details: { changed_meanwhile: [place.path('plan')] } } });
  });
});

describe('standard input and variables', () => {
  it('is nothing unless it is bound', async () => {
    place.script('reader', 'if read -r line; then echo "got $line"; else echo nothing; fi');
    const unbound = await approved(['--', './reader'], { input: 'y\n'.repeat(100) });
    expect(unbound.call.stdout).toBe('nothing\n');
    const bound = await approved(['--bind', '-', '--', './reader'], { input: 'yes\nmore\n' });
    expect(bound.call.stdout).toBe('got yes\n');
    expect(await get(bound.id)).toMatchObject({ operations: [{ arguments: { stdin: { size: 9 } } }] });
  });

  it('never hands over our token, and with --clean-env nothing that is not named', async () => {
    const env = { REGION: 'eu', OTHER: 'x', SECRET_KEY: 'hunter2' };
    const all = await approved(['--', '/usr/bin/env'], { env });
    expect(all.call.stdout).toContain('OTHER=x');
    expect(all.call.stdout).not.toContain('ASSENT_TOKEN');
    const clean = await approved(['--clean-env', '--show-env', 'REGION', '--env', 'SECRET_KEY', '--', '/usr/bin/env'], { env });
    expect(clean.call.stdout).toMatch(/REGION=eu/);
    expect(clean.call.stdout).toMatch(/SECRET_KEY=hunter2/);
    expect(clean.call.stdout).not.toContain('OTHER');
    expect(JSON.stringify(await get(clean.id))).not.toContain('hunter2');
  });
});

describe('signals', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('withdraws the request at %s while people decide', async (signal) => {
    const call = run('--report', 'report', '--', './tool');
    const id = await call.asked();
    await call.printed(/waiting for/);
    call.child.kill(signal);
    expect(await call.ended).toEqual({ code: null, signal });
    expect(await get(id)).toMatchObject({ status: 'cancelled', closed_reason: 'requester' });
    expect(report()).toMatchObject({ ran: false, reason: signal, signal });
    expect(ranTimes()).toBe(0);
  });

  it('ends at a signal even if the service is away', async () => {
    const call = run('--', './tool');
    await call.asked();
    line.cut = /./;
    call.child.kill('SIGINT');
    expect(await call.ended).toEqual({ code: null, signal: 'SIGINT' });
  });

  it('passes on TERM while the command runs, and is ended by what ended the command', async () => {
    place.script('long', 'trap "echo term >> got; exit 9" TERM; echo started; while :; do sleep 0.05; done');
    const call = run('--', './long');
    await decide(await call.asked());
    await call.printed(/started\n[^]*started/);
    call.child.kill('SIGTERM');
    expect(await call.ended).toEqual({ code: 9, signal: null });
    expect(place.read('got')).toBe('term\n');

    place.script('killed', 'kill -TERM $$');
    const killed = await approved(['--report', 'report', '--', './killed']);
    expect(killed).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(report()).toMatchObject({ ran: true, exit_code: 143, signal: 'SIGTERM' });
    expect(await get(killed.id)).toMatchObject({ outcome: { status: 'failed', exit_code: 143, details: { signal: 'SIGTERM' } } });
    place.script('killed', 'kill -KILL $$');
    expect(await approved(['--', './killed'])).toMatchObject({ code: 137, signal: null });
  });

  it('reports an unknown outcome once assent itself was killed', async () => {
    place.script('long', 'echo $$ > pid; while test ! -e stop; do sleep 0.05; done');
    const call = run('--report', 'report', '--', './long');
    const id = await call.asked();
    await decide(id);
    await until(async () => place.exists('pid') && place.read('pid') !== '');
    call.child.kill('SIGKILL');
    place.write('stop', '');
    await call.ended;
    expect(report()).toMatchObject({ ran: true, reason: 'unfinished' });
    expect(await get(id)).toMatchObject({ status: 'redeemed', outcome: null });
    expect(place.outcomes.map((file) => statSync(file).mode & 0o777)).toEqual([0o600]);
    const next = await place.run(['approvals']);
    expect(next.code).toBe(0);
    expect(await get(id)).toMatchObject({ outcome: { status: 'unknown', details: { ran: true } } });
    expect(place.outcomes).toEqual([]);
  });
});

describe('outages', () => {
  it('runs nothing if it cannot ask', async () => {
    line.cut = /change-requests/;
    const call = await place.run(['run', '--report', 'report', '--', './tool']);
    expect([call.code, call.stderr]).toEqual([69, expect.stringMatching(/^assent: the service cannot be reached: /)]);
    expect([ranTimes(), report()]).toEqual([0, expect.objectContaining({ ran: false, reason: 'away' })]);
  });

  it('asks once, though the answer was lost', async () => {
    line.lose = { path: /change-requests$/, times: 2 };
    const { id, code } = await approved(['--title', 'Only once', '--', './tool']);
    expect(code).toBe(0);
    const all = (await app.as(team.manager).get(`/api/change-requests?team_id=${team.team_id}&limit=100`)).body
      .requests as Asked[];
    expect(all.filter(({ title }) => title === 'Only once').map(({ request_id }) => request_id)).toEqual([id]);
  });

  it('waits through an outage', async () => {
    const call = run('--', './tool');
    const id = await call.asked();
    line.cut = /change-requests/;
    await decide(id);
    await call.printed(/the service is away \(\w+\), still waiting/);
    line.cut = NOTHING;
    expect(await call.ended).toEqual({ code: 0, signal: null });
    expect(call.stderr).toContain('the service is back');
  });

  it('waits no longer than the request, and runs nothing', async () => {
    const asked = await place.run(['ask', '--', './tool']);
    const id = asked.stdout.trim();
    await app.services
      .db('change_requests')
      .where({ request_id: id })
      .update({ expires_at: app.services.db.raw("now() + interval '1 s'") });
    line.cut = /wait=/;
    const call = await place.run(['run', '--request', id, '--report', 'report', '--', './tool']);
    expect([call.code, call.stderr]).toEqual([69, expect.stringMatching(/was away until the end of the wait: \w+\n$/)]);
    expect([ranTimes(), report()['ran']]).toEqual([0, false]);
  });

  it('takes no page of another service for an answer', async () => {
    const portal = createServer((_, answer) => answer.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>'));
    portal.listen(0, '127.0.0.1');
    await once(portal, 'listening');
    const env = { ASSENT_URL: `http://127.0.0.1:${(portal.address() as AddressInfo).port}` };
    const calls = [['run', '--team', team.team_id, '--', './tool'], ['show', 'x'], ['approvals'], ['wait', 'x']];
    const ends = await Promise.all(calls.map((args) => place.run(args, { env })));
    portal.closeAllConnections();
    portal.close();
    const away = 'assent: the service cannot be reached: the response is not from Assent\n';
    expect(ends.map(({ code, stderr }) => [code, stderr])).toEqual(calls.map(() => [69, away]));
    expect(ranTimes()).toBe(0);
  });

  it('uses the approval once, though two answers were lost, and runs once', async () => {
    line.lose = { path: /redeem$/, times: 2 };
    const { id, code, call } = await approved(['--', './tool']);
    expect([code, ranTimes(), line.lose.times]).toEqual([0, 1, 0]);
    expect(call.stderr).toMatch(/trying to use the approval/);
    expect(await get(id)).toMatchObject({ outcome: { status: 'succeeded' } });
  });

  it('reports that nothing ran if it is ended while the answer about the use is lost', async () => {
    line.lose = { path: /redeem$/, times: 1_000 };
    const call = run('--', './tool');
    const id = await call.asked();
    await decide(id);
    await call.printed(/trying to use the approval/);
    await untilStatus(id, 'redeemed');
    call.child.kill('SIGTERM');
    expect(await call.ended).toEqual({ code: null, signal: 'SIGTERM' });
    expect([await get(id), place.outcomes]).toEqual([expect.objectContaining({ outcome: null }), [expect.any(String)]]);
    line.lose = { path: NOTHING, times: 0 };
    expect(await place.run(['approvals'])).toMatchObject({ code: 0 });
    const details = { ran: false, reason: 'withdrawn by SIGTERM' };
    expect(await get(id)).toMatchObject({ outcome: { status: 'failed', details } });
    expect([ranTimes(), place.outcomes]).toEqual([0, []]);
  });

  it('does not run if the approval ends before it can be used', async () => {
    const call = run('--use-within', '30s', '--report', 'report', '--', './tool');
    const id = await call.asked();
    line.cut = /redeem$/;
    await decide(id);
    await call.printed(/trying to use the approval/);
    await app.services
      .db('change_requests')
      .where({ request_id: id })
      .update({ use_until: app.services.db.raw("now() - interval '1 s'") });
    line.cut = NOTHING;
    expect(await call.ended).toEqual({ code: 75, signal: null });
    expect(call.stderr).toMatch(/the approval was not used in time/);
    expect([ranTimes(), report()['ran']]).toEqual([0, false]);
  });

  it('keeps an outcome that it cannot send, for the next call', async () => {
    line.cut = /outcome$/;
    const { id, code, call } = await approved(['--', './tool'], { env: { CODE: '3' } });
    expect([code, ranTimes()]).toEqual([3, 1]);
    expect(call.stderr).toMatch(/failed, exit 3, 0:0\d; the service is away \(\w+\); the next call of assent reports it\n$/);
    expect(place.outcomes.map((file) => statSync(file).mode & 0o777)).toEqual([0o600]);
    expect(readFileSync(place.outcomes[0] as string, 'utf8')).not.toContain(place.env['ASSENT_TOKEN']);
    line.cut = NOTHING;
    const next = await approved(['--', './tool']);
    expect(next.call.stderr).toMatch(new RegExp(`reported the outcome of ${id}`));
    expect(await get(id)).toMatchObject({ outcome: { status: 'failed', exit_code: 3 } });
    expect(place.outcomes).toEqual([]);
  });

  it('waits again if the approval no longer counts', async () => {
    const call = run('--', './tool');
    const id = await call.asked();
    line.cut = /redeem$/;
    await decide(id, second);
    await call.printed(/trying to use the approval/);
    const seat = { team_id: team.team_id, user_id: second.user_id };
    const lost = await app.as(team.admin).patch(`/api/teams/${seat.team_id}/members/${seat.user_id}`, { role: 'member' });
    expect(lost.status).toBe(200);
    line.cut = NOTHING;
    await untilStatus(id, 'pending');
    await call.printed(/waiting for[^]*waiting for/);
    await decide(id);
    expect(await call.ended).toEqual({ code: 0, signal: null });
    await app.services.db('memberships').where(seat).update({ role: 'manager' });
    expect(ranTimes()).toBe(1);
  });
});

describe('a request of an earlier call', () => {
  const ask = async (...args: string[]): Promise<string> => {
    const call = await place.run(['ask', '--output', 'id', ...args]);
    expect([call.code, call.stdout]).toEqual([0, expect.stringMatching(/^[0-9a-f-]{36}\n$/)]);
    return call.stdout.trim();
  };

  it('is run if all that is bound agrees, and once', async () => {
    const id = await ask('--target', 'production', '--', './tool', 'plan');
    await decide(id);
    const same = ['run', '--request', id, '--target', 'production', '--', './tool', 'plan'];
    const call = await place.run(same);
    expect([call.code, ranTimes(), call.stderr]).toEqual([0, 1, expect.not.stringMatching(/asked/)]);
    const again = await place.run(same);
    expect([again.code, again.stderr, ranTimes()]).toEqual([75, 'assent: the request was used before\n', 1]);
  });

  it('stays as it is if something differs', async () => {
    const id = await ask('--target', 'production', '--', './tool', 'plan');
    await decide(id);
    place.write('plan', 'plan two');
    const file = await place.run(['run', '--request', id, '--target', 'production', '--', './tool', 'plan']);
    expect([file.code, file.stderr]).toEqual([
      65,
      expect.stringMatching(/not what the request is about\n {2}changed: \S+\/plan\n/),
    ]);
    place.write('plan', 'plan one');
    const target = await place.run(['run', '--request', id, '--', './tool', 'plan']);
    expect([target.code, target.stderr]).toEqual([65, expect.stringMatching(/and was production \(--target\)/)]);
    const argument = await place.run(['run', '--request', id, '--target', 'production', '--', './tool', 'plan', '-x']);
    expect([argument.code, argument.stderr]).toEqual([65, expect.stringMatching(/changed: arguments/)]);
    expect([ranTimes(), await get(id)]).toEqual([0, expect.objectContaining({ status: 'approved' })]);
  });

  it('is not asked for again', async () => {
    const call = await place.run(['run', '--request', '0197a000-0000-7000-8000-000000000000', '--title', 'x', '--', './tool']);
    expect([call.code, call.stderr]).toEqual([64, expect.stringMatching(/--title says how to ask/)]);
  });

  it('that two processes try to run is run once, and the other one reports nothing', async () => {
    place.script('slow', 'echo ran >> ran; while test ! -e stop; do sleep 0.05; done');
    const own = run('--', './slow');
    const id = await own.asked();
    const other = place.start(['run', '--request', id, '--', './slow'], { env: { ASSENT_URL: app.url } });
    await other.printed(/waiting for/);
    // Ours sees the approval and cannot use it; meanwhile the other one runs.
    line.cut = /redeem$/;
    await decide(id);
    await own.printed(/trying to use the approval/);
    await until(async () => ranTimes() === 1);
    line.cut = NOTHING;
    own.child.kill('SIGTERM');
    await own.ended;
    expect(await get(id)).toMatchObject({ status: 'redeemed', outcome: null });
    place.write('stop', '');
    expect(await other.ended).toEqual({ code: 0, signal: null });
    expect(await get(id)).toMatchObject({ outcome: { status: 'succeeded' } });
    expect(ranTimes()).toBe(1);
  });

  it('cannot bind what only one process can compare', async () => {
    const call = await place.run(['ask', '--env', 'HOME', '--', './tool']);
    expect([call.code, call.stderr]).toEqual([64, expect.stringMatching(/--env is compared within one process only/)]);
  });
});

describe('on a terminal', () => {
  it('shows a spinner, and Ctrl-C withdraws', async () => {
    const call = place.startOnTerminal(['run', '--', './tool']);
    const id = await call.asked();
    await call.printed(/[⠋⠙⠹] waiting for a manager · 0:0\d · \S+ left · Ctrl-C withdraws/);
    call.child.stdin?.write('\x03');
    expect((await call.ended).code).toBe(130);
    expect(await get(id)).toMatchObject({ status: 'cancelled' });
  });

  it('gives the terminal to the command, and Ctrl-C too', async () => {
    place.script(
      'talk',
      'trap "echo int >> got" INT; tty > /dev/null && echo "is a terminal"; read -r a; echo "first $a"; read -r b; exit 4',
    );
    const call = place.startOnTerminal(['run', '--', './talk']);
    await decide(await call.asked());
    await call.printed(/is a terminal/);
    call.child.stdin?.write('one\n');
    // A terminal drops what was typed before a Ctrl-C and not read yet.
    await call.printed(/first one/);
    call.child.stdin?.write('\x03');
    await until(async () => place.exists('got'));
    call.child.stdin?.write('two\n');
    expect((await call.ended).code).toBe(4);
    expect([place.read('got'), call.stdout]).toEqual(['int\n', expect.stringMatching(/failed, exit 4/)]);
  });
});

it('does not ask for what could not run', async () => {
  for (const [command, status] of [
    ['./absent', 127],
    ['./plan', 126],
  ] as const) {
    const call = await place.run(['run', '--report', 'report', '--', command]);
    expect([call.code, call.stderr]).toEqual([status, expect.stringMatching(/^assent: \S+: /)]);
    expect(report()).toMatchObject({ ran: false, exit_code: status });
  }
  const stranger = await place.run(['run', '--', './tool'], { env: { ASSENT_TOKEN: 'svc_pat_unknown' } });
  expect([stranger.code, stranger.stderr]).toEqual([78, expect.stringMatching(/'assent login' stores another one/)]);
  const empty = await place.run(['run', '--', './tool'], { env: { ASSENT_TOKEN: '' } });
  expect([empty.code, empty.stderr]).toEqual([78, expect.stringMatching(/ASSENT_TOKEN is empty/)]);
  expect(ranTimes()).toBe(0);
});
