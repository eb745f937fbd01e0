import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { type Desk, surprise } from '../desk.js';
import type { AckedRequest } from '../ledger.js';

/** In the arguments, claims and reports of every request; where it may not be, an invariant looks for it. */
export const CANARY = 'canary-of-requests-7c41';

const PATH = '/api/change-requests';
/** Shortest times that a request may have: some are never decided, and some approvals never used. */
const TIMES = { expires_in_seconds: 60, use_within_seconds: 30 };

interface Shown {
  request_id: string;
  request_hash: string;
  status: string;
  seq: number;
}

/** Asks for a change, given by its own fields of the body; undefined if nobody knows the id. */
export async function ask(desk: Desk, fields: object): Promise<Shown | undefined> {
  const { caller, world } = desk;
  const body = { team_id: world.teamId, title: 'Chaos', context: { claim: CANARY }, ...TIMES, ...fields };
  const headers = { 'idempotency-key': uuidv7() };
  const made = await caller.untilKnown({ method: 'POST', path: PATH, token: world.member, headers, body });
  if (!made) return undefined;
  if (made.status === 201) return made.body as Shown;
  // Too many wait while nothing decides them.
  if ((made.body as { reason?: string }).reason !== 'too_many_open') surprise(desk, 'ask for a change', made);
  return undefined;
}

/** A decision of a manager, by itself or in a batch; it may have come too late, or be the same person's second. */
export async function decide(
  desk: Desk,
  token: string,
  { request_id, request_hash }: Pick<Shown, 'request_id' | 'request_hash'>,
): Promise<void> {
  const { caller, ledger, random } = desk;
  const decision = random.chance(0.9) ? 'approve' : 'reject';
  if (random.chance(0.3)) {
    const items = [{ kind: 'request', id: request_id, staged_hash: request_hash }];
    const many = await caller.untilKnown({ method: 'POST', path: '/api/approvals/decide', token, body: { decision, items } });
    if (many && many.status !== 200) surprise(desk, 'decide many', many);
    return;
  }
  const answer = await caller.untilKnown({
    method: 'POST',
    path: `${PATH}/${request_id}/${decision}`,
    token,
    body: { request_hash },
  });
  if (!answer) return;
  if (answer.status === 200) ledger[decision === 'approve' ? 'approvals' : 'rejections'].push({ request_id });
  else if (![200, 409, 410].includes(answer.status)) surprise(desk, decision, answer);
}

/** Uses an approval under one id until the outcome is known, as a program whose answer was lost does. Returns the receipt. */
async function use(desk: Desk, { request_id, request_hash }: Shown, redemption_id: string): Promise<string | undefined> {
  const { caller, world } = desk;
  const request = {
    method: 'POST',
    path: `${PATH}/${request_id}/redeem`,
    token: world.member,
    body: { request_hash, redemption_id },
  };
  const answer = await caller.untilKnown(request);
  if (answer?.status === 200) return (answer.body as { receipt: string }).receipt;
  if (answer && answer.status !== 409 && answer.status !== 410) surprise(desk, 'redeem', answer);
  return undefined;
}

/** Reads until the request no more waits for people, mostly by a long poll. */
export async function awaitDecision(desk: Desk, { request_id, seq }: Shown): Promise<Shown | undefined> {
  const { caller, world, random, goesOn } = desk;
  for (let seen = seq; goesOn(); ) {
    const query = random.chance(0.7) ? `?wait=3&seen=${seen}` : '';
    const read = await caller.untilKnown({ method: 'GET', path: `${PATH}/${request_id}${query}`, token: world.member });
    if (read?.status !== 200) {
      if (read) surprise(desk, 'wait for a decision', read);
      return undefined;
    }
    const shown = read.body as Shown;
    if (shown.status !== 'pending') return shown;
    seen = shown.seq;
    if (query === '') await sleep(500);
  }
  return undefined;
}

/** Uses an approval, sometimes under two ids at once, and reports what became of it, sometimes not. */
async function useAndReport(desk: Desk, shown: Shown): Promise<void> {
  const { caller, world, ledger, random } = desk;
  const { request_id } = shown;
  const ids = random.chance(0.3) ? [uuidv7(), uuidv7()] : [uuidv7()];
  const uses = await Promise.all(
    ids.flatMap((id) => Array.from({ length: random.between(1, 2) }, async () => ({ id, receipt: await use(desk, shown, id) }))),
  );
  const used = uses.filter(({ receipt }) => receipt !== undefined);
  if (new Set(used.map(({ receipt }) => receipt)).size > 1)
    desk.surprises.push(`${request_id} was used twice: ${used.map(({ id }) => id).join(', ')}`);
  const [first] = used;
  if (!first) return;
  const acked: AckedRequest = { request_id, redemption_id: first.id, outcome: null };
  ledger.requests.push(acked);
  if (random.chance(0.2)) return;
  const outcome = random.pick(['succeeded', 'failed']);
  const body = { status: outcome, output: CANARY, details: { [CANARY]: CANARY } };
  const answer = await caller.untilKnown({ method: 'POST', path: `${PATH}/${request_id}/outcome`, token: world.member, body });
  if (answer?.status === 200) acked.outcome = outcome;
  else if (answer) surprise(desk, 'report an outcome', answer);
}

/** A program asks, people decide at once, and it uses what they approved; now and then nobody decides, or it withdraws. */
export async function workOnRequests(desk: Desk): Promise<void> {
  const { caller, world, random } = desk;
  const operation = { system: 'chaos', name: 'act', target: uuidv7(), arguments: { [CANARY]: CANARY }, summary: CANARY };
  const shown = await ask(desk, { operation, requirement: { role: 'manager', approvals: random.between(1, 2) } });
  if (!shown || random.chance(0.1)) return;
  const withdraws = random.chance(0.15);
  const decisions = [world.manager, world.admin].map(async (token) => {
    await sleep(random.between(0, 300));
    await decide(desk, token, shown);
  });
  if (withdraws) {
    await sleep(random.between(0, 300));
    const path = `${PATH}/${shown.request_id}/cancel`;
    const answer = await caller.untilKnown({ method: 'POST', path, token: world.member, body: { reason: 'no more needed' } });
    if (answer && ![200, 409, 410].includes(answer.status)) surprise(desk, 'cancel a request', answer);
  }
  await Promise.all(decisions);
  const decided = await awaitDecision(desk, shown);
  // A hash of the first text: nobody edits here.
  if (decided?.status === 'approved' && random.chance(0.9)) await useAndReport(desk, decided);
}
