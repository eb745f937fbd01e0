import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { call, config, printStep, until } from './helpers.js';

/** A request that reached the demo's receiver. */
interface PageInput {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Starts a local HTTP server with one path, on the first free port allowed for automations. */
async function startReceiver(arrivals: PageInput[]): Promise<{ url: string; close: () => void }> {
  for (const port of config.OUTBOUND_PORTS.filter((each) => each > 1023)) {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        arrivals.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() });
        response.statusCode = request.url === '/releases' ? 201 : 404;
        response.end('noted');
      });
    });
    server.listen(port, '127.0.0.1');
    const free = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (free) return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
  }
  throw new Error(`None of the ports that automations may send to is free: ${config.OUTBOUND_PORTS.join(', ')}`);
}

interface Team {
  team_id: string;
  ada: string;
  max: string;
}

const gate = (name: string, params: object) => ({ type: 'require_approval', name, params: { role: 'manager', ...params } });
const announce = (url: string, secret: string) => ({
  type: 'http_request',
  name: 'Announce it',
  params: { method: 'POST', url, headers: { authorization: `Bearer {{secret:${secret}}}` }, body: { tag: '{{event.tag}}' } },
});

/** Creates an automation with two gates around a request to a wrong address. */
async function createAutomation({ team_id, ada }: Team, url: string, secret: string): Promise<string> {
  const made = await call('POST', '/api/automations', {
    token: ada,
    body: {
      name: `Release train ${new Date().toISOString().slice(11, 19)}`,
      team_id,
      trigger_type: 'manual',
      condition: 'event.tag.startsWith("v")',
      actions: [
        gate('Release manager', { message: 'Announce {{event.tag}}?' }),
        announce(`${url}/realeses`, secret),
        gate('Second look', { message: 'Tell the world?', expires_in_seconds: 2 }),
      ],
    },
  });
  printStep('Ada saved a secret for one host and made an automation: a condition, two gates, a request that carries the secret');
  return made.body.automation_id as string;
}

const execute = async ({ ada }: Team, automationId: string, tag: string) =>
  (await call('POST', `/api/automations/${automationId}/execute`, { token: ada, body: { event: { tag } } })).body as {
    run_id: string;
    status: string;
  };

/** Waits until a run has this status, at this gate if given. */
const runIs = ({ max }: Team, runId: string, status: string, gateIndex?: number) =>
  until(`the run to be ${status}`, async () => {
    const run = (await call('GET', `/api/automations/runs/${runId}`, { token: max })).body;
    const there = run.status === status && (gateIndex === undefined || run.approval?.gate_index === gateIndex);
    if (!there && run.finished_at && run.status !== status)
      throw new Error(`the run ended ${run.status}: ${JSON.stringify(run.error)}`);
    return there && run;
  });

const decide = ({ max }: Team, runId: string, gate_index: number, verb: 'approve' | 'reject', refusal?: number) =>
  call('POST', `/api/automations/runs/${runId}/${verb}`, {
    token: max,
    body: { gate_index },
    ...(refusal === undefined ? {} : { refusal }),
  });

/** First run: one gate is approved, the request fails, the other gate expires and is rejected. */
async function firstRun(team: Team, automationId: string): Promise<string> {
  const draft = await execute(team, automationId, 'draft');
  printStep(`Started manually with the tag “draft”: the condition leaves it out`, `the run is ${draft.status}`);
  const { run_id } = await execute(team, automationId, 'v1.4.0');
  await runIs(team, run_id, 'paused', 0);
  await decide(team, run_id, 0, 'approve');
  printStep('Started with “v1.4.0”: Max approves the first gate');
  const paused = await runIs(team, run_id, 'paused', 2);
  const { error } = paused.actions[1];
  printStep(
    'The request goes to a wrong address and fails; the second gate opens for two seconds',
    `${error.code}: ${error.message}`,
  );
  await until('the gate to expire', async () => (await runIs(team, run_id, 'paused')).approval.expired as boolean);
  const late = (await decide(team, run_id, 2, 'approve', 410)).body;
  printStep('The gate expired: an approval is rejected now', `410 ${late.error_code}: ${late.message}`);
  const rejected = (await decide(team, run_id, 2, 'reject')).body;
  printStep('Max rejects it. What failed before the gate is not hidden', `the run is ${rejected.status}`);
  return run_id;
}

/** Fixes the definition and replays the failed run on the same event. */
async function replay(team: Team, automationId: string, failed: string, actions: object[], arrivals: PageInput[], value: string) {
  const { ada } = team;
  const listed = async () =>
    ((await call('GET', '/api/automations/dead-letter?limit=200', { token: ada })).body.entries as { run_id: string }[]).some(
      (entry) => entry.run_id === failed,
    );
  if (!(await listed())) throw new Error('the failed run is not in the dead letter');
  const { version } = (await call('PATCH', `/api/automations/${automationId}`, { token: ada, body: { actions } })).body;
  printStep(`The run is in the dead letter. Ada mends the address: version ${version}`);
  const retried = (await call('POST', `/api/automations/dead-letter/${failed}/retry`, { token: ada })).body;
  await runIs(team, retried.run_id, 'paused', 0);
  await decide(team, retried.run_id, 0, 'approve');
  const done = await runIs(team, retried.run_id, 'succeeded');
  const arrival = arrivals.find(({ path }) => path === '/releases');
  if (arrival?.headers.authorization !== `Bearer ${value}`) throw new Error('the receiver did not get the secret');
  printStep('Replayed and approved: the receiver got the request once, with the secret', `${arrival.path} ${arrival.body}`);
  if (JSON.stringify(done).includes(value)) throw new Error('the run shows the secret');
  if (await until('the list', async () => !(await listed())))
    printStep('The dead letter is empty of it again; no record shows the secret');
  return retried.run_id as string;
}

/** Plays an automation from its creation to its replay; returns its runs. */
export async function playReleaseTrain(ada: string, max: string): Promise<Record<string, string>> {
  const teams = (await call('GET', '/api/teams', { token: ada })).body as { team_id: string; name: string }[];
  const team: Team = { team_id: teams.find(({ name }) => name === 'Acme')?.team_id ?? '', ada, max };
  const arrivals: PageInput[] = [];
  const receiver = await startReceiver(arrivals);
  try {
    const secret = 'DEMO_CHANNEL';
    const value = randomBytes(24).toString('base64url');
    const stored = { team_id: team.team_id, name: secret, value, allowed_hosts: [new URL(receiver.url).host] };
    await call('POST', '/api/automations/secrets', { token: ada, body: stored });
    const automationId = await createAutomation(team, receiver.url, secret);
    const failed = await firstRun(team, automationId);
    const mended = [
      gate('Release manager', { message: 'Announce {{event.tag}}?' }),
      announce(`${receiver.url}/releases`, secret),
    ];
    const replayed = await replay(team, automationId, failed, mended, arrivals, value);
    return { 'one gate approved, one expired and rejected': failed, 'its replay with version 2': replayed };
  } finally {
    receiver.close();
  }
}
