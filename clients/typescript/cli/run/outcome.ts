import { readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { AssentError } from '../../errors.js';
import { replacePrivate } from '../../node/private-file.js';
import { isRunning, ownProcess, type ProcessId } from '../../runner/processes.js';
import { configFolder, createPrivateFolder } from '../account.js';
import { type Api, type Outcome, persist } from '../api.js';
import { isAway } from '../exit.js';

/** A request whose command did not run. */
export interface Unused {
  request_id: string;
  outcome: Outcome;
  /** How this process tried to use the approval, without an answer. Another process may have used it. */
  redemption?: Parameters<Api['redeem']>[1];
}

/** What is on disk from just before a command starts until the service has its outcome. */
interface Kept extends Partial<Omit<Unused, 'request_id'>> {
  url: string;
  request_id: string;
  /** Who waits for the end of the command, and where. There is no outcome while it runs. */
  process: ProcessId;
  place: string;
}

const SEND_MS = 10_000;
/** The service takes no outcome later. */
const KEEP_MS = 7 * 86_400_000;
const folder = (): string => join(configFolder(), 'outcomes');
const fileOf = (requestId: string): string => join(folder(), `${requestId.replace(/[^0-9a-zA-Z-]/g, '_')}.json`);

const drop = (requestId: string): void => rmSync(fileOf(requestId), { force: true });

/** Where a number of a process means something: processes elsewhere may share this folder. */
function ownPlace(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

function tryKeep({ url }: Api, kept: Omit<Kept, 'url' | 'process' | 'place'>): boolean {
  try {
    createPrivateFolder(folder());
    replacePrivate(fileOf(kept.request_id), { url, process: ownProcess(), place: ownPlace(), ...kept });
    return true;
  } catch {
    return false;
  }
}

/** Stores that a command is about to run: if this process is killed, the next call reports it. Returns whether it could be stored. */
export const keepStart = (api: Api, requestId: string): boolean => tryKeep(api, { request_id: requestId });

/** Stores that a request is to be closed, for the next call. */
export const keepUnused = (api: Api, unused: Unused): void => void tryKeep(api, unused);

const isRedeemed = (error: unknown): boolean =>
  error instanceof AssentError && (error.body as { request_status?: string } | undefined)?.request_status === 'redeemed';

/**
 * Cancels a request, or reports that nothing ran if this process has used its approval.
 * @returns false if it ended otherwise, such as by another process that used it
 * @throws the error of an outage
 */
export async function closeUnused(api: Api, { request_id, outcome, redemption }: Unused): Promise<boolean> {
  try {
    const reason = outcome.details?.['reason'];
    await api.cancel(request_id, typeof reason === 'string' ? reason : '');
    return true;
  } catch (error) {
    if (isAway(error)) throw error;
    if (!isRedeemed(error) || redemption === undefined) return false;
  }
  try {
    // Answered only if it was this process, whose id it is.
    await api.redeem(request_id, redemption);
    await api.report(request_id, outcome);
    return true;
  } catch (error) {
    if (isAway(error)) throw error;
    return false;
  }
}

/** How an outcome ended up: `lost` if the service refused it, or it was away and nothing could be stored here. */
type Delivery = { end: 'sent' } | { end: 'kept' | 'lost'; why: unknown };

/** Sends an outcome, for up to ten seconds. It is on disk meanwhile, and stays there for the next call if it cannot be sent. */
export async function sendOutcome(api: Api, requestId: string, outcome: Outcome): Promise<Delivery> {
  const isKept = tryKeep(api, { request_id: requestId, outcome });
  try {
    await persist(() => api.report(requestId, outcome), { until: Date.now() + SEND_MS });
    drop(requestId);
    return { end: 'sent' };
  } catch (why) {
    if (!isAway(why)) drop(requestId);
    return { end: isAway(why) && isKept ? 'kept' : 'lost', why };
  }
}

const ABANDONED: Outcome = { status: 'unknown', details: { ran: true, reason: 'assent ended before the command did' } };

function readKept(): Kept[] {
  let names: string[];
  try {
    names = readdirSync(folder()).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const path = join(folder(), name);
    try {
      if (Date.now() - statSync(path).mtimeMs > KEEP_MS) rmSync(path);
      else return [JSON.parse(readFileSync(path, 'utf8')) as Kept];
    } catch {
      // Another call has just sent it.
    }
    return [];
  });
}

/** Whether the process that waited for this command is gone; false where that cannot be told. */
const isAbandoned = ({ outcome, process, place }: Kept): boolean =>
  outcome === undefined && place === ownPlace() && !isRunning(process);

async function sendOne(api: Api, kept: Kept): Promise<void> {
  const { request_id, redemption, outcome = ABANDONED } = kept;
  if (redemption === undefined) await api.report(request_id, outcome);
  else await closeUnused(api, { request_id, redemption, outcome });
}

/**
 * Sends what earlier calls could not, and reports commands whose `assent` was killed. The service keeps the first report, so two calls that do
 * this at once do no harm.
 * @returns ids of the requests whose outcome is on record now
 */
export async function sendKept(api: Api): Promise<string[]> {
  const sent: string[] = [];
  for (const kept of readKept()) {
    if (kept.url !== api.url || (kept.outcome === undefined && !isAbandoned(kept))) continue;
    try {
      await sendOne(api, kept);
      sent.push(kept.request_id);
      drop(kept.request_id);
    } catch (error) {
      // It is away, or this is another login: a later call may succeed. What the service refuses for good is not sent again.
      if (isAway(error)) return sent;
      if (error instanceof AssentError && [404, 409, 410, 422].includes(error.status)) drop(kept.request_id);
    }
  }
  return sent;
}
