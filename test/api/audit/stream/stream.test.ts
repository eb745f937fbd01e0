import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AuditStream } from '../../../../api/audit/stream/stream-entries.js';
import { sealEntries } from '../../../../api/audit/seal-entries.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';
import { queuePrefix, until } from '../../../support/worker.js';
import { startWorkerProcess } from '../../../support/worker-process.js';

let app: TestApp;
let sink: Receiver;
let team: TestTeam;
let other: TestTeam;

beforeEach(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  sink = await startReceiver();
  sink.answer((_request, response) => response.end('{}'));
  team = await buildTeam(app);
  other = await buildTeam(app);
  for (const one of [team, other]) {
    const project = await buildProject(app, one);
    for (let n = 0; n < 3; n += 1) await buildTask(app, one, project);
  }
  await sealEntries(app.services.db);
});
afterEach(async () => {
  await Promise.all(streams.splice(0).map((stream) => stream.close()));
  sink.close();
  await app.close();
});

interface Body {
  chain: string;
  sequence: number;
  head_sequence: number;
  audit_id: string;
}
interface Sent {
  resourceLogs: {
    scopeLogs: { logRecords: { body: { stringValue: string }; severityText: string; traceId: string; timeUnixNano: string }[] }[];
  }[];
}

const streams: AuditStream[] = [];
const open = (headers?: string): AuditStream => {
  const settings = { AUDIT_OTLP_ENDPOINT: sink.url, AUDIT_OTLP_HEADERS: headers };
  const stream = new AuditStream(app.services.db, app.services.log, settings);
  streams.push(stream);
  return stream;
};
const records = () =>
  sink.received.flatMap(({ body }) =>
    (JSON.parse(body) as Sent).resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap((one) => one.logRecords)),
  );
const bodies = (): Body[] => records().map(({ body }) => JSON.parse(body.stringValue) as Body);
const heads = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await app.services.db('audit_heads').select('chain', 'sequence')).map(({ chain, sequence }) => [chain, sequence]),
  ) as Record<string, number>;
const positions = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await app.services.db('audit_stream').select('chain', 'sequence')).map(({ chain, sequence }) => [chain, sequence]),
  ) as Record<string, number>;

async function sendAll(stream: AuditStream): Promise<void> {
  // The first pass only learns of the chains.
  await stream.pass();
  while ((await stream.pass()) > 0);
}

/** What the verifier of the receiver says about these lines. */
function verify(lines: readonly string[]): { status: number; printed: string } {
  const file = join(app.services.config.DATA_DIR, 'received.ndjson');
  writeFileSync(file, lines.join('\n'));
  try {
    return { status: 0, printed: execFileSync(process.execPath, ['clients/verify-stream.mjs', file]).toString() };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: Buffer };
    return { status, printed: stdout.toString() };
  }
}
const lines = (): string[] => records().map(({ body }) => body.stringValue);

it('sends each entry of each chain once and in its order, with its head, and the receiver proves that nothing is missing', async () => {
  await sendAll(open('authorization=Bearer%20a'));
  const sent = new Map<string, number[]>();
  for (const { chain, sequence } of bodies()) sent.set(chain, [...(sent.get(chain) ?? []), sequence]);
  const wanted = await heads();
  expect(Object.keys(wanted)).toEqual(expect.arrayContaining([team.team_id, other.team_id]));
  for (const [chain, head] of Object.entries(wanted))
    expect(sent.get(chain)).toEqual(Array.from({ length: head }, (_, n) => n + 1));
  expect(await positions()).toEqual(wanted);
  expect(sink.received[0]).toMatchObject({ url: '/v1/logs', headers: { authorization: 'Bearer a' } });
  const [record] = records();
  expect(record).toMatchObject({
    severityText: expect.stringMatching(/^(LOW|MEDIUM|HIGH|CRITICAL)$/),
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  expect(verify(lines())).toEqual({
    status: 0,
    printed: expect.stringMatching(/^complete: \d+ entries of \d+ chains, 0 repeats/),
  });
  // As the file exporter of a collector writes them, twice, in another order.
  const requests = sink.received.map(({ body }) => body);
  expect(verify([...requests, ...requests].toReversed()).status).toBe(0);
});

it('the receiver sees an entry that is missing, changed, cut off, or sent as another', async () => {
  await sendAll(open());
  const all = lines();
  const at = all.findIndex(
    (line) => (JSON.parse(line) as Body).chain === team.team_id && (JSON.parse(line) as Body).sequence === 2,
  );
  const changed = (change: object) =>
    all.map((line, n) => (n === at ? JSON.stringify({ ...(JSON.parse(line) as object), ...change }) : line));
  expect(verify(all.toSpliced(at, 1))).toEqual({
    status: 1,
    printed: expect.stringContaining(`Entry 2 of chain ${team.team_id} is missing`),
  });
  expect(verify(changed({ action: 'nothing' }))).toEqual({
    status: 1,
    printed: expect.stringContaining('does not have its hash'),
  });
  expect(verify(changed({ prev_hash: 'a'.repeat(64) })).status).toBe(1);
  const last = Math.max(...bodies().flatMap(({ chain, sequence }) => (chain === team.team_id ? sequence : [])));
  const cut = all.filter(
    (line) => (JSON.parse(line) as Body).chain !== team.team_id || (JSON.parse(line) as Body).sequence < last,
  );
  expect(verify(cut)).toEqual({
    status: 1,
    printed: expect.stringContaining(`Entry ${last} of chain ${team.team_id} is missing`),
  });
  const fork = JSON.stringify({ ...(JSON.parse(all[at] as string) as object), entry_hash: 'b'.repeat(64) });
  expect(verify([...all, fork])).toEqual({ status: 1, printed: expect.stringContaining('differs from another one') });
  // A record may name any head: the verifier goes by what came.
  expect(verify(changed({ head_sequence: Number.MAX_SAFE_INTEGER - 1 })).printed).toMatch(/and the \d+ after it are missing/);
  const second = all.filter((line) => (JSON.parse(line) as Body).sequence > 1);
  expect(verify(second)).toEqual({ status: 1, printed: expect.stringContaining('Entry 1 of chain') });
  expect(verify(['{"a":1'])).toEqual({ status: 2, printed: expect.stringContaining('NOT VERIFIED') });
  expect(verify([])).toEqual({ status: 2, printed: expect.stringContaining('no audit entry') });
});

it.each([
  ['an error', (response: { writeHead: (status: number) => { end: () => void } }) => response.writeHead(503).end()],
  [
    'records that it rejects',
    (response: { end: (body: string) => void }) => response.end('{"partialSuccess":{"rejectedLogRecords":"1"}}'),
  ],
  [
    'records that it rejects, in the other spelling,',
    (response: { end: (body: string) => void }) => response.end('{"partial_success":{"rejected_log_records":1}}'),
  ],
  ['a page', (response: { end: (body: string) => void }) => response.end('<html>')],
  [
    'a redirection',
    (response: { writeHead: (status: number, headers: object) => { end: () => void } }) =>
      response.writeHead(307, { location: '/elsewhere' }).end(),
  ],
  ['a closed connection', (response: { destroy: () => void }) => response.destroy()],
])('%s moves no position: the same entries come again', async (_what, refuse) => {
  const stream = open();
  await stream.pass();
  sink.answer((_request, response) => refuse(response as never));
  expect(await stream.pass()).toBe(0);
  expect(Object.values(await positions()).every((sequence) => Number(sequence) === 0)).toBe(true);
  sink.answer((_request, response) => response.end());
  // A new one: the first waits before it asks again.
  await sendAll(open());
  expect(await positions()).toEqual(await heads());
  expect(verify(lines()).status).toBe(0);
});

it('two senders at once send nothing out of order and skip nothing; what one was sending when it died comes again', async () => {
  const [one, two] = [open(), open()];
  await one.pass();
  await Promise.all([sendAll(one), sendAll(two)]);
  expect(await positions()).toEqual(await heads());
  expect(verify(lines()).status).toBe(0);
  expect(lines()).toHaveLength(new Set(lines()).size);
  // Died after the sink had accepted and before the position moved: its claim ends after a time.
  await buildTask(app, team, await buildProject(app, team));
  await sealEntries(app.services.db);
  await app.services.db('audit_stream').update({ claimed_until: app.services.db.raw("now() + interval '30 seconds'") });
  expect(await two.pass()).toBe(0);
  await app.services.db('audit_stream').update({ claimed_until: app.services.db.raw("now() - interval '1 second'") });
  await sendAll(two);
  expect(await positions()).toEqual(await heads());
  expect(verify(lines()).status).toBe(0);
});

it('a chain with a large backlog does not delay another', async () => {
  const project = await buildProject(app, team);
  for (let n = 0; n < 260; n += 1) await buildTask(app, team, project);
  await sealEntries(app.services.db);
  const stream = open();
  await stream.pass();
  await stream.pass();
  const first = (JSON.parse((sink.received[0] as { body: string }).body) as Sent).resourceLogs[0]?.scopeLogs[0]?.logRecords ?? [];
  const chains = first.map(({ body }) => (JSON.parse(body.stringValue) as Body).chain);
  expect(chains.filter((chain) => chain === team.team_id)).toHaveLength(250);
  expect(chains).toContain(other.team_id);
});

it('what the sink refuses of one team does not hold up another, however often it is refused', async () => {
  sink.answer(({ body }, response) => response.writeHead(body.includes(team.team_id) ? 413 : 200).end());
  const stream = open();
  await until(async () => {
    await stream.pass();
    const [sent, wanted] = await Promise.all([positions(), heads()]);
    return Object.entries(wanted).every(([chain, sequence]) => chain === team.team_id || sent[chain] === sequence);
  });
  expect((await positions())[team.team_id]).toBe(0);
  sink.answer((_request, response) => response.end());
  await sendAll(open());
  expect(await positions()).toEqual(await heads());
});

it('a worker sends what happens, and kill -9 while the sink hangs loses nothing', async () => {
  const settings = { AUDIT_OTLP_ENDPOINT: sink.url };
  sink.answer(() => undefined);
  const first = await startWorkerProcess(app, settings);
  await until(async () => sink.received.length > 0);
  const died = once(first, 'exit');
  first.kill('SIGKILL');
  await died;
  sink.answer((_request, response) => response.end());
  await app.services.db('audit_stream').update({ claimed_until: '-infinity' });
  const second = await startWorkerProcess(app, settings);
  await buildTask(app, team, await buildProject(app, team));
  await until(async () => {
    const [sent, wanted] = await Promise.all([positions(), heads()]);
    return Object.entries(wanted).every(([chain, sequence]) => sent[chain] === sequence);
  });
  const ended = once(second, 'exit');
  second.kill('SIGTERM');
  await ended;
  expect(verify(lines()).status).toBe(0);
});
