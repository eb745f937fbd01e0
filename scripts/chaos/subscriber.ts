import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Caller } from './caller.js';
import { ACT_PATH } from './loads/performed-load.js';
import { CANARY } from './loads/request-load.js';
import type { Ledger } from './ledger.js';
import { seededRandom } from './random.js';
import { SECRET, type World } from './world.js';

/** A receiver on this machine that is subscribed to the team's tasks and change requests, and to which Assent sends approved ones. */
export interface Subscriber {
  received: Ledger['received'];
  performed: Ledger['performed'];
  /** Requests that no honest sender sends. */
  surprises: string[];
  /** Ends the subscription, so that nothing is sent to a receiver that is gone. */
  unsubscribe: () => Promise<void>;
  close: () => void;
}

interface Body {
  type: string;
  data: { entity_id: string; object?: { version?: number } };
}

/** Parts of the requests that are answered 500, and that are cut off after their work was done. */
const REFUSED = 0.1;
const CUT_OFF = 0.05;

/**
 * Subscribes a receiver before the load. It verifies each signature with the public library and remembers what it answered with 2xx,
 * and what it handled without an answer. `performed`: is continued. The world learns where it listens.
 * @throws Error for any response but the expected success
 */
export async function startSubscriber(
  caller: Caller,
  world: World,
  seed: number,
  performed: Ledger['performed'] = [],
): Promise<Subscriber> {
  const { admin, teamId } = world;
  const received: Subscriber['received'] = [];
  const surprises: string[] = [];
  const bodies = new Map<string, string>();
  const random = seededRandom(seed);
  let verify: (body: string, headers: Record<string, string>) => Body = () => {
    throw new Error('a request before the subscription');
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const headers = request.headers as Record<string, string>;
      if (request.url === ACT_PATH) {
        performed.push({ request_id: headers['idempotency-key'] ?? '' });
        if (headers['x-key'] !== SECRET || !headers['assent-receipt'])
          surprises.push('a request came without its secret or receipt');
        if (random.chance(CUT_OFF)) return void request.socket.destroy();
        // It says the secret in its answer, as careless receivers do.
        return void response.writeHead(random.chance(REFUSED) ? 500 : 200).end(`key ${SECRET}`);
      }
      const event_id = headers['webhook-id'] ?? '';
      try {
        const { type, data } = verify(body, headers);
        if (bodies.has(event_id) && bodies.get(event_id) !== body) surprises.push(`${event_id} arrived with two bodies`);
        bodies.set(event_id, body);
        if (body.includes(CANARY)) surprises.push(`${event_id} holds words of a request: ${body.slice(0, 500)}`);
        if (random.chance(REFUSED)) return void response.writeHead(500).end();
        received.push({ event_id, type, entity_id: data.entity_id, version: data.object?.version ?? null });
      } catch (error) {
        surprises.push(`a webhook was wrong: ${String(error)}`);
      }
      if (random.chance(CUT_OFF)) request.socket.destroy();
      else response.end();
    });
  });
  server.unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  world.receiver = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const body = {
    url: `${world.receiver}/`,
    team_id: teamId,
    events: ['task.created', 'task.updated', 'request.created', 'request.approved', 'request.redeemed', 'request.finished'],
  };
  const answer = await caller.untilKnown({ method: 'POST', path: '/api/webhooks', token: admin, body });
  if (answer?.status !== 201) throw new Error(`POST /api/webhooks answered ${answer?.status}: ${JSON.stringify(answer?.body)}`);
  const { secret, webhook_id } = answer.body as { secret: string; webhook_id: string };
  const library = new Webhook(secret);
  verify = (text, headers) => library.verify(text, headers) as Body;
  return {
    received,
    performed,
    surprises,
    async unsubscribe() {
      await caller.untilKnown({ method: 'DELETE', path: `/api/webhooks/${webhook_id}`, token: admin });
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
