import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { type Desk, surprise } from '../desk.js';
import { SECRET_NAME } from '../world.js';
import { ask, awaitDecision, CANARY } from './request-load.js';

/** Path of the receiver for requests that Assent sends itself. */
export const ACT_PATH = '/act';

/** A program asks Assent to send a request with a secret; people decide at once, and nobody redeems: the workflow sends it. */
export async function workOnPerformed(desk: Desk): Promise<void> {
  const { caller, world, random } = desk;
  const http = {
    method: 'POST',
    url: `${world.receiver}${ACT_PATH}`,
    headers: { 'x-key': `{{secret:${SECRET_NAME}}}` },
    body: { [CANARY]: uuidv7() },
    summary: CANARY,
  };
  const shown = await ask(desk, { http, requirement: { role: 'manager', approvals: 1 } });
  if (!shown || random.chance(0.1)) return;
  const { request_id, request_hash } = shown;
  const managers = random.chance(0.3) ? [world.manager, world.admin] : [world.manager];
  await Promise.all(
    managers.map(async (token) => {
      const path = `/api/change-requests/${request_id}/approve`;
      const answer = await caller.untilKnown({ method: 'POST', path, token, body: { request_hash } });
      if (answer && ![200, 409, 410].includes(answer.status)) surprise(desk, 'approve a request that Assent sends', answer);
    }),
  );
  await awaitDecision(desk, shown);
  await sleep(random.between(0, 1_000));
}
