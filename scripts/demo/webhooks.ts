import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { call, printStep, until } from './helpers.js';

interface Received {
  id: string;
  type: string;
  /** What the receiver answered. */
  status: number;
  text: string;
}

/** What the receiver answers, in turn: it stumbles once, and says later that it is gone. */
const ANSWERS = [500, 200, 410];

/** A receiver as anybody would write it: it verifies with the public library. */
async function startReceiver() {
  const received: Received[] = [];
  const receiver = { secret: '', received, url: '', close: () => {} };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      const body = Buffer.concat(chunks).toString();
      const { type, data } = new Webhook(receiver.secret).verify(body, headers) as {
        type: string;
        data: { object: { title: string } };
      };
      const status = ANSWERS[received.length] ?? 200;
      received.push({ id: headers['webhook-id'] ?? '', type, status, text: data.object.title });
      response.writeHead(status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  receiver.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return receiver;
}

/** The receiver answers 410 to a change; Ada enables the endpoint again and replays what it missed. */
async function replayMissed(
  token: string,
  { webhook_id, from }: { webhook_id: string; from: string },
  received: readonly Received[],
  change: () => Promise<unknown>,
): Promise<void> {
  const path = `/api/webhooks/${webhook_id}`;
  await change();
  const missed = await until('the next delivery', async () => received[2]);
  const { disabled_reason } = await until('the end of the endpoint', async () => {
    const { body } = await call('GET', path, { token });
    return body.is_active === false && body;
  });
  printStep(
    `The receiver answers ${missed.status}: the delivery fails, the endpoint is disabled`,
    `disabled_reason: ${disabled_reason}`,
  );
  await call('PATCH', path, { token, body: { is_active: true } });
  const to = new Date(Date.now() + 1_000).toISOString();
  const { queued } = (await call('POST', `${path}/replay`, { token, body: { from, to } })).body;
  const again = await until('the replay', async () => received[3]);
  if (again.id !== missed.id) throw new Error(`the replay changed the id: ${missed.id}, ${again.id}`);
  printStep(`Ada enables it again and replays what failed: ${queued} delivery, under the same id`, `webhook-id ${again.id}`);
}

/** Ada subscribes a receiver on this machine. The retry of a failed delivery, and a replay, arrive under the same id. */
export async function playWebhooks(ada: string, task: { task_id: string; title: string }): Promise<void> {
  const receiver = await startReceiver();
  const { received } = receiver;
  const from = new Date().toISOString();
  const path = `/api/tasks/${encodeURIComponent(task.task_id)}`;
  const { team_id } = (await call('GET', path, { token: ada })).body;
  const body = { url: receiver.url, team_id, events: ['task.updated'], description: 'Receiver of the demo' };
  const { webhook_id, secret, secret_prefix } = (await call('POST', '/api/webhooks', { token: ada, body })).body;
  receiver.secret = secret;
  printStep('Ada subscribes a receiver to task.updated', `${receiver.url}; the secret is shown once, then only ${secret_prefix}`);
  try {
    await call('PATCH', path, { token: ada, body: { title: `${task.title} (released)` } });
    const first = await until('the first delivery', async () => received[0]);
    printStep(
      'A change arrives, signed; the receiver’s own library verifies it',
      `${first.type} “${first.text}”, webhook-id ${first.id}`,
    );
    const second = await until('the retry', async () => received[1]);
    if (first.id !== second.id) throw new Error(`the retry changed the id: ${first.id}, ${second.id}`);
    printStep(
      'The receiver answered 500, so it comes again after five seconds',
      `webhook-id ${second.id}, answered ${second.status}`,
    );
    const deliveries = `/api/webhooks/${webhook_id}/deliveries`;
    const done = await until('the record', async () => {
      const { body: list } = await call('GET', `${deliveries}?status=succeeded`, { token: ada });
      return (list as { event_id: string; attempts: { status_code: number }[] }[])[0];
    });
    printStep('Its record has both attempts', done.attempts.map(({ status_code }) => status_code).join(', then '));
    await replayMissed(ada, { webhook_id, from }, received, () =>
      call('PATCH', path, { token: ada, body: { title: task.title } }),
    );
  } finally {
    await call('DELETE', `/api/webhooks/${webhook_id}`, { token: ada });
    receiver.close();
  }
}
