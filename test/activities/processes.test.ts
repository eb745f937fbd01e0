/** One more process is declared here, and found by the worker, the reconciler, the invariants and the operator's table. */
import { randomUUID } from 'node:crypto';
import { PROCESSES } from '../../activities/processes.js';
import { defineRowWorkflow } from '../../activities/row-workflow.js';
import { OutboxRelay } from '../../activities/worker/outbox-relay.js';
import { startTemporalConnection, type TemporalLink } from '../../activities/worker/temporal-connection.js';
import type { OutboxKind } from '../../api/platform/outbox/outbox.js';
import { checkInvariants } from '../../scripts/chaos/invariants.js';
import { renderProcesses } from '../../scripts/client/sections.js';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.js';
import { startApp, type TestApp } from '../support/app.js';
import { queuePrefix, quietRuntime, until } from '../support/worker.js';

const KIND = 'probe.start' as OutboxKind;
const buildWorkflowId = (id: string): string => `probe:${id}`;
const performed: string[] = [];
let release = (): void => undefined;
const released = new Promise<void>((resolve) => {
  release = resolve;
});

/** A workflow type of the product. Its activity replaces the product's, and waits until the test releases it. */
const probe = defineRowWorkflow<{ outbox_id: number; correlation_id: string; probe_id: string }, { probe_id: string }>({
  notes: [{ process: 'probe', workflowId: 'probe:<probe_id>', shows: 'Probes' }],
  invariants: [
    { name: 'probes_carried', words: 'Each probe', sql: 'select probe_id::text as violation from probes', buildWorkflowId },
  ],
  activities: {
    outbound: () => ({
      async revokeConnection(id: string) {
        performed.push(id);
        await released;
        return 'probed';
      },
    }),
  },
  plural: 'probes',
  kinds: [KIND],
  dispatches: {
    name: 'probe_dispatches',
    text: `select outbox_id, correlation_id, payload->>'probe_id' as probe_id from outbox where outbox_id = any($1::bigint[])`,
  },
  workflow: 'connectionRevocation',
  getId: ({ probe_id }) => buildWorkflowId(probe_id),
  input: ({ probe_id }) => probe_id,
  attributes: ({ probe_id }) => ({ EntityId: probe_id }),
  summary: () => 'Probe',
  details: ({ probe_id }) => [`Probe \`${probe_id}\``],
  table: { name: 'probes', rows: 'probes', key: 'probe_id', where: 'true', copies: [] },
});

let app: TestApp;
let link: TemporalLink;
let relay: OutboxRelay;
const probe_id = randomUUID();

beforeAll(async () => {
  quietRuntime();
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  await app.services.db.raw('create table probes (probe_id uuid primary key)');
  await new Promise<void>((resolve) => {
    link = startTemporalConnection(app.services, { onPolling: resolve, localActivitySlots: 4, processes: [...PROCESSES, probe] });
  });
  relay = new OutboxRelay(app.services, link.dispatchers);
});
afterAll(async () => {
  release();
  await link.stop();
  await app.close();
});

const handle = () => {
  const client = link.client();
  if (!client) throw new Error('not linked');
  return client.workflow.getHandle(buildWorkflowId(probe_id));
};
const broken = async (): Promise<string[]> => {
  const verdicts = await checkInvariants({ services: app.services, temporal: link.client(), processes: [probe] });
  return verdicts.flatMap(({ name, violations }) => (name === 'probes_carried' ? violations : []));
};

it('the worker starts a declared workflow from its outbox row and performs its activities', async () => {
  await app.services.db('probes').insert({ probe_id });
  const payload = { probe_id };
  await app.services.db('outbox').insert({ kind: KIND, subject: probe_id, payload, correlation_id: randomUUID() });
  await relay.dispatch();
  await until(async () => performed.includes(probe_id));
  const described = await handle().describe();
  expect(described.typedSearchAttributes.get(SEARCH_ATTRIBUTES.Process)).toBe('probe');
  expect(described.typedSearchAttributes.get(SEARCH_ATTRIBUTES.EntityId)).toBe(probe_id);
  expect([await described.staticSummary(), await described.staticDetails()]).toEqual([
    'Probe',
    expect.stringMatching(/^- Probe `.+`\n- Correlation id `.+`, as in the logs and the audit log$/),
  ]);
});

it('the invariants find a row whose workflow was lost, and the reconciler restarts it', async () => {
  expect(await link.reconcile(app.services, 'full')).toBe(0);
  expect(await broken()).toEqual([]);
  await handle().terminate('lost');
  expect(await broken()).toEqual([`probe:${probe_id} is no open workflow`]);
  expect(await link.reconcile(app.services, 'brief')).toBe(1);
  await relay.dispatch();
  await until(async () => (await handle().describe()).status.name === 'RUNNING');
  expect(await broken()).toEqual([]);
  release();
  expect(await handle().result()).toBe('probed');
});

it('the table of processes in docs/operate/runs.md has each of them', () => {
  const notes = [...PROCESSES, probe].flatMap((process) => process.notes);
  expect(renderProcesses(notes)).toContain('| `probe` | `probe:<probe_id>` | Probes |');
});

it('no two processes share a name, a kind of outbox row or an invariant', () => {
  const options = { taskQueuePrefix: '', searchable: true, eager: false, giveUpHours: 24 };
  const kinds = PROCESSES.flatMap((process) => process.connect({} as never, options).kinds);
  const names = PROCESSES.flatMap(({ notes }) => notes.map(({ process }) => process));
  const invariants = PROCESSES.flatMap((process) => process.invariants.map(({ name }) => name));
  for (const list of [kinds, names, invariants]) expect(list).toEqual([...new Set(list)]);
});
