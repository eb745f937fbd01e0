import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sign } from '../../api/integrations/forge/deliveries/signature.js';
import { VERSION } from '../../db/schema/check-schema.js';
import { approveAll, createGated, haveActedOnce, openGates, signIn, type User } from './caller.js';
import type { Report } from './report.js';
import { shell } from './shell.js';
import type { Stack } from './stack.js';

let user: User | undefined;

/** Returns the user of this installation, who is created once. */
export async function getUser(stack: Stack): Promise<User> {
  if (!user) {
    user = await signIn(stack);
    await createGated(user);
  }
  return user;
}

/** Sends a signed delivery as the code host does. Returns the status. */
async function deliver(stack: Stack): Promise<number> {
  const secret = readFileSync(join(stack.dir, 'secrets', 'forge_webhook_secret'), 'utf8').trim();
  const body = JSON.stringify({ zen: 'Keep it logically awesome.', hook_id: 1 });
  const response = await fetch(`${stack.url}/api/forge/webhooks`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'ping',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': sign(Buffer.from(body), secret),
    },
  });
  return response.status;
}

/** Size of the image in MB, as the engine counts it. */
async function imageSize(stack: Stack): Promise<number> {
  const bytes = await shell([...stack.engine.docker, 'image', 'inspect', `assent:${VERSION}`, '--format', '{{.Size}}'], {
    env: stack.engine.env,
  });
  return Math.round(Number(bytes.trim()) / 1e6);
}

/** Signs in with an emailed code, sends a signed delivery, opens a gate, approves it, and measures the image. */
export async function checkSmoke(stack: Stack, report: Report): Promise<void> {
  const since = Date.now();
  const person = await getUser(stack);
  const status = await deliver(stack);
  const gates = await openGates(person, 1);
  const comments = await approveAll(person, gates, stack);
  const seconds = ((Date.now() - since) / 1_000).toFixed(1);
  report.add(
    'sign-in, signed delivery, gate, approval',
    `${seconds} s, ${comments.length} comment`,
    'acts once',
    status === 200 && haveActedOnce(comments, 1),
  );
  const size = await imageSize(stack);
  report.add('image', `${size} MB`, '300 MB', size <= 300);
}
