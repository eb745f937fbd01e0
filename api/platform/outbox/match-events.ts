import type { Knex } from 'knex';
import { run } from '../../../db/statement.js';
import type { Services } from '../context.js';
import { DefinitionCache, type Pair } from './definition-cache.js';
import { finishStatement, NO_OWNER, takeEventsStatement } from './match-events.sql.js';
import type { AnySubscriberKind, Enqueued, OutboxEvent, RunStart } from './subscriber.js';
import { nextTurn } from '../event-loop.js';

/** Evaluation budget per pass in ms, of one team and of all. */
const TEAM_BUDGET_MS = 50;
const PASS_BUDGET_MS = 200;
/** Budget in ms for the first pair of each team, so that a pass reaches all teams. */
const FIRST_PAIRS_BUDGET_MS = 1_000;
/** Bytes that a pass may write: for one team beside others, for a sole team, and in total. Others wait for its commit. */
const TEAM_BUDGET_BYTES = 256 * 1024;
const SOLE_TEAM_BUDGET_BYTES = 512 * 1024;
const PASS_BUDGET_BYTES = 4 * 1024 * 1024;
/** Evaluation time in ms before other work of this process runs. */
const YIELD_MS = 20;

/** A row of `take_events`. */
export interface ClaimedEvent extends OutboxEvent, Record<string, unknown> {
  owner_id: string;
  /** Run whose action caused the event. */
  caused_by_run: string | null;
  position: number;
  /** Maximum pairs of this event in the pass, and of all events. */
  share: number;
  pass_share: number;
  kinds: string[] | null;
  subscribers: string[] | null;
  versions: number[] | null;
}

export interface MatchResult {
  /** Events taken; 0 if there were none, or other workers have them. */
  taken: number;
  /** Whether events or pairs remain for the next pass. */
  left: boolean;
  starts: RunStart[];
  afterCommit: ((services: Services) => Promise<unknown>)[];
}

/** Decisions of one pass. */
interface PassResult {
  matches: Map<AnySubscriberKind, object[]>;
  done: number[];
  partly: { outbox_id: number; cursor: string }[];
  left: boolean;
}

const getCursorKey = ({ kind, subscriber_id }: Pair): string => `${kind}:${subscriber_id}`;

const listPairs = ({ kinds, subscribers, versions }: ClaimedEvent): Pair[] =>
  (kinds ?? []).map((kind, i) => ({ kind, subscriber_id: subscribers?.[i] as string, version: versions?.[i] as number }));

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** Remaining budget of a pass, per owner and in total. */
class Budget {
  private readonly owners = new Map<string, { ms: number; bytes: number }>();
  private readonly all = { ms: 0, bytes: 0 };
  private readonly teamBytes: number;

  constructor(owners: number) {
    this.teamBytes = owners === 1 ? SOLE_TEAM_BUDGET_BYTES : TEAM_BUDGET_BYTES;
  }

  isSpent(owner: string): boolean {
    const own = this.owners.get(owner);
    if (!own) return this.all.ms >= FIRST_PAIRS_BUDGET_MS || this.all.bytes >= PASS_BUDGET_BYTES;
    const isPassSpent = this.all.ms >= PASS_BUDGET_MS || this.all.bytes >= PASS_BUDGET_BYTES;
    return isPassSpent || own.ms >= TEAM_BUDGET_MS || own.bytes >= this.teamBytes;
  }

  spend(owner: string, ms: number, bytes: number): void {
    const own = this.owners.get(owner) ?? { ms: 0, bytes: 0 };
    for (const sum of [own, this.all]) {
      sum.ms += ms;
      sum.bytes += bytes;
    }
    this.owners.set(owner, own);
  }
}

/**
 * Waits for all promises.
 * @throws the first failure
 */
async function inOrder(all: readonly Promise<Enqueued>[]): Promise<Enqueued[]> {
  await Promise.allSettled(all);
  return Promise.all(all);
}

/** Matches due events with their subscribers in passes. Several workers may do so at once. */
export class EventMatcher {
  private readonly take: ReturnType<typeof takeEventsStatement>;
  private readonly byName: Map<string, AnySubscriberKind>;
  /** Owner served last: the next pass starts after it. */
  after = NO_OWNER;

  constructor(
    kinds: readonly AnySubscriberKind[],
    private readonly cache = new DefinitionCache(kinds),
  ) {
    this.take = takeEventsStatement(kinds);
    this.byName = new Map(kinds.map((kind) => [kind.name, kind]));
  }

  /**
   * Takes due events fairly and matches them in one transaction. `only`: just these events, if due. `leaseSeconds`: lease for the
   * caller to dispatch the starts. Calls `onTaken` with the events before anything can fail because of one.
   * @throws the failure; nothing was written then
   */
  match(
    services: Services,
    leaseSeconds: number | null,
    only: readonly number[] | null,
    onTaken: (events: readonly ClaimedEvent[]) => void,
  ): Promise<MatchResult> {
    return services.db.transaction(async (db: Knex) => {
      const events = await run<ClaimedEvent>(db, this.take, [this.after, only]);
      onTaken(events);
      if (events.length === 0) return { taken: 0, left: false, starts: [], afterCommit: [] };
      const decided = await this.decide(db, events);
      const enqueued = [...decided.matches].map(([kind, matches]) => kind.enqueue({ ...services, db }, matches, leaseSeconds));
      const { done, partly } = decided;
      // Sent together with the rows above. Awaited in order, because a statement after a failure only reports the aborted
      // transaction.
      const finished = run(db, finishStatement, [done, partly.map((each) => each.outbox_id), partly.map((each) => each.cursor)]);
      const results = await inOrder([...enqueued, finished.then(() => ({}))]);
      return {
        taken: events.length,
        left: decided.left,
        starts: results.flatMap(({ starts = [] }) => starts),
        afterCommit: results.flatMap(({ afterCommit }) => afterCommit ?? []),
      };
    });
  }

  /** Decides pairs in order until an owner's budget is spent; the rest waits for the next pass. */
  private async decide(db: Knex, events: readonly ClaimedEvent[]): Promise<PassResult> {
    const pairs = new Map(events.map((event) => [event, listPairs(event)]));
    const all = [...pairs.values()].flat();
    // The limit may have cut the pairs of the last event that has any; those after it were not read.
    const isCut = all.length >= (events[0]?.pass_share ?? 0);
    const last = isCut ? events.findLast((event) => event.kinds !== null) : undefined;
    const getDefinition = await this.cache.load(db, all);
    const decided: PassResult = { matches: new Map(), done: [], partly: [], left: last !== undefined };
    const budget = new Budget(new Set(events.map(({ owner_id }) => owner_id)).size);
    const slot = { since: performance.now() };
    const served = new Set<string>();
    let skippedOwner = false;
    for (const event of events) {
      if (last && event.position > last.position) break;
      const own = pairs.get(event) as Pair[];
      const cursor = await this.decideEvent(event, own, getDefinition, budget, decided.matches, slot);
      const isWhole = cursor === own.length && own.length < event.share && event !== last;
      if (isWhole) decided.done.push(event.outbox_id);
      else decided.left = true;
      if (!isWhole && cursor > 0)
        decided.partly.push({ outbox_id: event.outbox_id, cursor: getCursorKey(own[cursor - 1] as Pair) });
      // The next pass starts with the first owner not served: an event without pairs is finished even if the budget is spent.
      if (cursor > 0 || isWhole) served.add(event.owner_id);
      skippedOwner ||= !served.has(event.owner_id);
      if (!skippedOwner) this.after = event.owner_id;
    }
    return decided;
  }

  /**
   * Returns the number of the event's pairs decided.
   * @throws Error a version that does not exist
   */
  private async decideEvent(
    event: ClaimedEvent,
    pairs: readonly Pair[],
    getDefinition: (pair: Pair) => object | undefined,
    budget: Budget,
    matches: Map<AnySubscriberKind, object[]>,
    slot: { since: number },
  ): Promise<number> {
    for (const [index, pair] of pairs.entries()) {
      if (budget.isSpent(event.owner_id)) return index;
      const kind = this.byName.get(pair.kind) as AnySubscriberKind;
      const started = performance.now();
      const definition = getDefinition(pair);
      if (!definition) throw new Error(`Version ${pair.version} of the ${pair.kind} ${pair.subscriber_id} does not exist`);
      const match = kind.decide(event, definition);
      if (match) append(matches, kind, match);
      const now = performance.now();
      budget.spend(event.owner_id, now - started, match ? kind.countBytes(match) : 0);
      if (now - slot.since < YIELD_MS) continue;
      await nextTurn();
      slot.since = performance.now();
    }
    return pairs.length;
  }
}
