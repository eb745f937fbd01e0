import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Knex } from 'knex';
import { v7 as uuidv7 } from 'uuid';
import { type Config, loadConfig } from '../api/platform/config.js';
import { sign } from '../api/integrations/forge/deliveries/signature.js';
import { openDatabase } from '../db/connection.js';
import { explainFailures } from './admin/explain-failures.js';

const USAGE = `Sends a delivery to the running service again, signed with its secret:

  npm run forge:replay -- <what> [options]

  <what> is one of
    the id of a delivery that the service has received (its payload is kept for 30 days)
    a file that holds a payload; name its event with --event
    the name of a real payload that comes with the sources, such as pull_request.merged

  --new-id           under a new delivery id, so that it is processed again; under its old one it is dropped as a duplicate
  --event NAME       event header: push, issues, pull_request, ...
  --repo OWNER/NAME  as if it came from this repository
  --url ADDRESS      of the service; this machine's, at PORT, unless given
  --list             names of the payloads that come with the sources`;

/** An invalid command line, with a message for the terminal. */
class Refusal extends Error {}

interface Delivery {
  event: string;
  body: unknown;
  /** Undefined for a payload that was never delivered under one. */
  id?: string;
}

/** The collection of real payloads is a development dependency. */
async function loadFixtures(): Promise<Record<string, Delivery>> {
  try {
    return (await import('./fixtures/forge-payloads.js')).deliveries;
  } catch {
    return {};
  }
}

function readPayload(path: string, event: string | undefined): Delivery {
  if (!event) throw new Refusal('Name the event of the file: --event pull_request');
  try {
    return { event, body: JSON.parse(readFileSync(path, 'utf8')) as unknown };
  } catch (error) {
    throw new Refusal(`${path} is not a JSON file: ${(error as Error).message}`);
  }
}

async function readStored(db: Knex, id: string): Promise<Delivery> {
  const receipt = await db('forge_deliveries')
    .where({ delivery_id: id })
    .whereRaw("outcome is distinct from 'duplicate'")
    .first<{ event: string | null; payload: unknown; reason: string | null } | undefined>('event', 'payload', 'reason');
  if (!receipt) throw new Refusal(`"${id}" is no delivery that was received, no file and no name of a payload (see --list)`);
  if (receipt.payload === null) {
    const why = receipt.reason ?? 'it is older than 30 days';
    throw new Refusal(`The payload of ${id} is not kept: ${why}. Redeliver it from the code host instead.`);
  }
  return { event: receipt.event ?? '', body: receipt.payload, id };
}

async function find(db: Knex, what: string, event: string | undefined): Promise<Delivery> {
  if (existsSync(what)) return readPayload(what, event);
  const fixture = (await loadFixtures())[what];
  const found = fixture ?? (await readStored(db, what));
  return event ? { ...found, event } : found;
}

/** The payload with another repository's name in it. */
function fromRepository(body: unknown, repo: string | undefined): unknown {
  if (!repo || typeof body !== 'object' || body === null) return body;
  const { repository } = body as { repository?: unknown };
  const before = typeof repository === 'object' ? repository : {};
  return { ...body, repository: { ...before, full_name: repo } };
}

/** Sends a delivery like a code host. Returns status and response. */
async function deliver(config: Config, url: string, { event, body, id }: Required<Delivery>) {
  if (!config.FORGE_WEBHOOK_SECRET) throw new Refusal('FORGE_WEBHOOK_SECRET is not set: the service refuses every delivery');
  const bytes = Buffer.from(JSON.stringify(body));
  const response = await fetch(new URL('/api/forge/webhooks', url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'assent-forge-replay',
      'x-forge-event': event,
      'x-forge-delivery': id,
      'x-hub-signature-256': sign(bytes, config.FORGE_WEBHOOK_SECRET),
    },
    body: bytes,
  }).catch(() => {
    throw new Refusal(`Nothing answers at ${url}. Start the service with npm start, or name its address with --url.`);
  });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}

/** Returns the outcome of a delivery after the worker has applied it; undefined after 5 s. */
async function toOutcome(db: Knex, id: string): Promise<string | undefined> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const receipt = await db('forge_deliveries')
      .where({ delivery_id: id })
      .whereNotNull('outcome')
      .whereNot({ outcome: 'duplicate' })
      .first<{ outcome: string; reason: string | null } | undefined>('outcome', 'reason');
    if (receipt) return receipt.reason ? `${receipt.outcome}: ${receipt.reason}` : receipt.outcome;
    await sleep(100);
  }
  return undefined;
}

interface Options {
  event?: string | undefined;
  repo?: string | undefined;
  url?: string | undefined;
  'new-id': boolean;
}

async function replay(config: Config, db: Knex, what: string, options: Options): Promise<boolean> {
  const found = await find(db, what, options.event);
  if (found.id && /^(content|hashed):/.test(found.id) && !options['new-id']) {
    throw new Refusal('This delivery came without an id that can be sent again: add --new-id to have it processed anew.');
  }
  const id = options['new-id'] || !found.id ? uuidv7() : found.id;
  const url = options.url ?? `http://127.0.0.1:${config.PORT}`;
  const { status, answer } = await deliver(config, url, { ...found, id, body: fromRepository(found.body, options.repo) });
  console.log(`${status} ${JSON.stringify(answer)}`);
  console.log(`delivery ${id} (${found.event})`);
  if (answer['duplicate'] === true) console.log('It was handled before and is dropped. Add --new-id to have it processed again.');
  else if (answer['event']) {
    const outcome = await toOutcome(db, id);
    console.log(outcome ?? 'not applied yet: is the worker running?');
  }
  return status === 200;
}

explainFailures(USAGE);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'new-id': { type: 'boolean', default: false },
    event: { type: 'string' },
    repo: { type: 'string' },
    url: { type: 'string' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [what] = positionals;
if (values.help) console.log(USAGE);
else if (values.list) console.log(Object.keys(await loadFixtures()).join('\n'));
else if (!what || positionals.length > 1) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  const config = loadConfig();
  const db = openDatabase({ url: config.DATABASE_URL, poolSize: 1, name: 'assent-forge-replay' });
  try {
    if (!(await replay(config, db, what, values))) process.exitCode = 1;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  } finally {
    await db.destroy();
  }
}
