import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Caller } from './caller.js';
import { CANARY } from './loads/request-load.js';
import type { Ledger } from './ledger.js';
import { seededRandom } from './random.js';
import type { World } from './world.js';

/** A receiver on this machine that is subscribed to the team's tasks and change requests. */
export interface Subscriber {
  received: Ledger['received'];
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
 * and what it handled without an answer.
 * @throws Error for any response but the expected success
 */
export async function startSubscriber(caller: Caller, { admin, teamId }: World, seed: number): Promise<Subscriber> {
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
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const body = {
    url,
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
