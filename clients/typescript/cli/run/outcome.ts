import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AssentError } from '../../errors.js';
import { replacePrivate } from '../../node/private-file.js';
import { isRunning, ownProcess, type ProcessId } from '../../runner/processes.js';
import { configFolder, createPrivateFolder } from '../account.js';
import { type Api, type Outcome, persist } from '../api.js';
import { isAway } from '../exit.js';

/** What is on disk from just before a command starts until the service has its outcome. */
interface Kept {
  url: string;
  request_id: string;
  /** Who waits for the end of the command. */
  process: ProcessId;
  /** Undefined while the command runs. */
  outcome?: Outcome;
}

const SEND_MS = 10_000;
/** The service takes no outcome later. */
const KEEP_MS = 7 * 86_400_000;
const folder = (): string => join(configFolder(), 'outcomes');
const fileOf = (requestId: string): string => join(folder(), `${requestId.replace(/[^0-9a-zA-Z-]/g, '_')}.json`);

const drop = (requestId: string): void => rmSync(fileOf(requestId), { force: true });

function tryKeep(kept: Kept): boolean {
  try {
    createPrivateFolder(folder());
    replacePrivate(fileOf(kept.request_id), kept);
    return true;
  } catch {
    return false;
  }
}

/** Stores that a command is about to run: if this process is killed, the next call reports it. Returns whether it could be stored. */
export const keepStart = ({ url }: Api, requestId: string): boolean =>
  tryKeep({ url, request_id: requestId, process: ownProcess() });

/** How an outcome ended up: `lost` if the service refused it, or it was away and nothing could be stored here. */
type Delivery = { end: 'sent' } | { end: 'kept' | 'lost'; why: unknown };

/** Sends an outcome, for up to ten seconds. It is on disk meanwhile, and stays there for the next call if it cannot be sent. */
export async function sendOutcome(api: Api, requestId: string, outcome: Outcome): Promise<Delivery> {
  const isKept = tryKeep({ url: api.url, request_id: requestId, process: ownProcess(), outcome });
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

/**
 * Sends what earlier calls could not, and reports commands whose `assent` was killed. The service keeps the first report, so two calls that do
 * this at once do no harm.
 * @returns ids of the requests whose outcome is on record now
 */
export async function sendKept(api: Api): Promise<string[]> {
  const sent: string[] = [];
  for (const { url, request_id, process, outcome } of readKept()) {
    if (url !== api.url || (outcome === undefined && isRunning(process))) continue;
    try {
      await api.report(request_id, outcome ?? ABANDONED);
      sent.push(request_id);
      drop(request_id);
    } catch (error) {
      // It is away, or this is another login: a later call may succeed. What the service refuses for good is not sent again.
      if (isAway(error)) return sent;
      if (error instanceof AssentError && [404, 409, 410, 422].includes(error.status)) drop(request_id);
    }
  }
  return sent;
}
