import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { run, runAtOnce } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import type { OutboundPolicy } from '../../../platform/http-client/policy.js';
import { countWebhookAttempt, setInFlightRequests } from '../../../platform/telemetry/webhook-metrics.js';
import { webhookPolicy } from '../policy.js';
import { claimStatement, expireStatement, lockStatement, walkStatement } from './claim.sql.js';
import { clearQueue } from './clear-queue.sql.js';
import { EventBodies } from './event-bodies.js';
import { endDisabledStatement } from './finish.sql.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import type { Endpoint } from './outcomes.js';
import { type Leased, sendDelivery } from './send.js';
import { Slots } from './slots.js';
import { leaseSeconds, MAX_IN_FLIGHT, PROBE_AFTER } from './timetable.js';
import { type CausedEvent, DeliveryTraces } from './delivery-traces.js';

interface Candidate extends Endpoint {
  /** Deliveries to claim. */
  due: number;
}

const FIRST = '00000000-0000-0000-0000-000000000000';
/** Minimum interval of walks over all endpoints, ms. */
const WALK_MS = 100;
/** Interval of the care for leases of dead workers and for disabled endpoints, ms. */
const MAINTENANCE_INTERVAL_MS = 2_000;
/** Endpoints claimed in one statement. */
const ENDPOINTS_PER_CLAIM = 100;
/** Endpoints whose failures this process remembers. */
const MAX_REMEMBERED = 20_000;

/**
 * Sends due deliveries of outbound webhooks. Several workers share them without a leader: the database decides what each one may send
 * (claim.sql.ts), the slots of the process how much.
 */
export class WebhookDispatcher {
  private readonly slots = new Slots();
  private readonly bodies = new EventBodies();
  private readonly recorder: OutcomeRecorder;
  private readonly policy: OutboundPolicy;
  /** Endpoints to claim from without a walk. */
  private readonly wanted = new Map<string, Endpoint>();
  /** An endpoint got fewer slots than it asked for. */
  private isShort = false;
  /** Failures in a row, as far as this process knows; none for an endpoint that has never answered. */
  private readonly failures = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  private readonly sending = new Set<Promise<void>>();
  private readonly traces: DeliveryTraces | undefined;
  /** Deleted endpoints with the event id before which their queue is left. */
  private readonly gone = new Map<string, string>();
  private after = FIRST;
  private walkedAt = -Infinity;
  private caredAt = -Infinity;
  private mustWalk = true;

  /** `onWork`: another pass may find something. `policy` is that of the settings unless a test has its own. */
  constructor(
    private readonly services: Services,
    private readonly onWork: () => void,
    policy?: OutboundPolicy,
  ) {
    this.policy = policy ?? webhookPolicy(services.config);
    this.traces = services.tracer && new DeliveryTraces(services.tracer);
    this.recorder = new OutcomeRecorder(
      services,
      () => this.slots.inFlight,
      (endpoints) => this.recorded(endpoints),
    );
  }

  /** Notes endpoints to which this process has just added deliveries, and the texts that it has at hand. */
  add(endpoints: readonly Endpoint[], events: readonly CausedEvent[] = []): void {
    this.bodies.keep(events);
    this.traces?.keep(events);
    for (const endpoint of endpoints) {
      // A walk finds the time of the next probe.
      if ((this.failures.get(endpoint.webhook_id) ?? 0) < PROBE_AFTER) this.wanted.set(endpoint.webhook_id, endpoint);
    }
  }

  /** Notes that others may have added deliveries. */
  look(): void {
    this.mustWalk = true;
  }

  /** Claims and begins to send. Returns the number of deliveries claimed, or 1 to be called again at once. */
  async pass(): Promise<number> {
    if (performance.now() - this.caredAt > MAINTENANCE_INTERVAL_MS) await this.care();
    const candidates = this.takeWanted();
    const isTime = performance.now() - this.walkedAt > (this.mustWalk ? WALK_MS : WALK_MS * 9);
    if (isTime)
      candidates.push(
        ...(await this.walk()).filter(({ webhook_id }) => !candidates.some((each) => each.webhook_id === webhook_id)),
      );
    else if (this.mustWalk) setTimeout(this.onWork, WALK_MS).unref();
    let claimed = 0;
    for (let from = 0; from < candidates.length; from += ENDPOINTS_PER_CLAIM) {
      claimed += await this.claim(candidates.slice(from, from + ENDPOINTS_PER_CLAIM));
    }
    return claimed;
  }

  /** Waits for the requests in progress, at most `ms`; the rest is sent again by another worker when its lease ends. */
  async drain(ms: number): Promise<void> {
    const settled = (async () => {
      while (this.sending.size > 0) await Promise.all(this.sending);
      await this.recorder.settled();
    })();
    await Promise.race([settled, sleep(ms, undefined, { ref: false })]);
  }

  private takeWanted(): Candidate[] {
    const taken = [...this.wanted.values()].slice(0, ENDPOINTS_PER_CLAIM);
    for (const { webhook_id } of taken) this.wanted.delete(webhook_id);
    return taken.map((endpoint) => ({ ...endpoint, due: MAX_IN_FLIGHT }));
  }

  private async care(): Promise<void> {
    this.caredAt = performance.now();
    const found = [
      ...(await run(this.services.db, expireStatement, [])),
      ...(await run(this.services.db, endDisabledStatement, [])),
    ];
    if (found.length > 0) this.mustWalk = true;
  }

  /** Finds endpoints that may receive requests, all in turn. */
  private async walk(): Promise<Candidate[]> {
    this.walkedAt = performance.now();
    this.mustWalk = false;
    type Walk = { endpoints: (Candidate & { failures: number | null })[]; gone: string[]; last: string | null };
    const [walk] = await run<Walk>(this.services.db, walkStatement, [this.after, this.probeSeconds]);
    const { endpoints = [], gone: [gone] = [], last = null } = walk ?? {};
    if (gone !== undefined) await this.clear(gone);
    this.after = last ?? FIRST;
    if (last !== null) this.look();
    for (const { webhook_id, failures } of endpoints) if (failures !== null) this.failures.set(webhook_id, failures);
    return endpoints;
  }

  /** Deletes a part of what a deleted endpoint has left. Rows that another worker holds are found by a later walk. */
  private async clear(webhookId: string): Promise<void> {
    const before = await clearQueue(this.services, webhookId, this.gone.get(webhookId));
    this.gone.clear();
    if (before === null) return;
    this.gone.set(webhookId, before);
    this.look();
    this.onWork();
  }

  private get probeSeconds(): number {
    return this.services.config.WEBHOOK_RETRY_SECONDS[1] ?? 1;
  }

  private async claim(candidates: readonly Candidate[]): Promise<number> {
    const granted = candidates.map((each) => ({ ...each, isProven: this.failures.get(each.webhook_id) === 0, left: 0 }));
    for (const each of granted) {
      each.left = this.slots.take(each.team_id, each.due, each.isProven);
      if (each.left < each.due) this.isShort = true;
    }
    const asked = granted.filter(({ left }) => left > 0);
    if (asked.length === 0) return 0;
    const counts = new Map(asked.map((each) => [each.webhook_id, each]));
    const leased: Leased[] = [];
    try {
      for (const row of await this.lease(
        asked.map(({ webhook_id }) => webhook_id),
        asked.map(({ left }) => left),
      )) {
        if (row.event_id !== null) leased.push(row);
        else this.skipped(counts.get(row.webhook_id));
      }
    } finally {
      for (const { webhook_id } of leased) (counts.get(webhook_id) as { left: number }).left -= 1;
      for (const { team_id, isProven, left } of asked) if (left > 0) this.slots.release(team_id, isProven, left);
    }
    for (const delivery of leased) this.start(delivery, counts.get(delivery.webhook_id)?.isProven ?? false);
    return leased.length;
  }

  private async lease(ids: readonly string[], most: readonly number[]): Promise<Leased[]> {
    const seconds = leaseSeconds(this.services.config.WEBHOOK_TIMEOUT_SECONDS);
    const [, rows] = await runAtOnce(this.services.db, [
      { statement: lockStatement, values: [ids] },
      { statement: claimStatement, values: [ids, most, seconds, this.probeSeconds] },
    ]);
    const leased = (rows ?? []) as Leased[];
    const bodies = await this.bodies.read(
      this.services.db,
      leased.flatMap(({ event_id }) => event_id ?? []),
    );
    return leased.map((delivery) => ({ ...delivery, body: bodies.get(delivery.event_id) ?? null }));
  }

  /** Another worker is claiming from the endpoint in this moment. */
  private skipped(endpoint: Endpoint | undefined): void {
    if (endpoint) this.wanted.set(endpoint.webhook_id, { webhook_id: endpoint.webhook_id, team_id: endpoint.team_id });
    setTimeout(this.onWork, WALK_MS).unref();
  }

  private start(delivery: Leased, isProven: boolean): void {
    const { config, log } = this.services;
    const unreadable = (error: unknown) =>
      log.error({ err: error, webhook_id: delivery.webhook_id }, 'the secret of a webhook cannot be opened');
    const send = () => sendDelivery(config, this.policy, delivery, unreadable);
    const sent = (this.traces ? this.traces.during(delivery, send) : send())
      .then((outcome) => {
        if (outcome.attempt) {
          countWebhookAttempt(outcome.status);
          this.failures.set(
            delivery.webhook_id,
            outcome.status === 'succeeded' ? 0 : (this.failures.get(delivery.webhook_id) ?? delivery.failure_count) + 1,
          );
        }
        this.recorder.add({ delivery, sent: outcome });
      })
      .finally(() => {
        this.sending.delete(sent);
        this.slots.release(delivery.team_id, isProven);
        setInFlightRequests(this.slots.inFlight);
      });
    this.sending.add(sent);
    setInFlightRequests(this.slots.inFlight);
  }

  /** Continues with endpoints that have more due, and with those that lacked a slot. */
  private recorded(endpoints: readonly Endpoint[]): void {
    this.add(endpoints);
    if (this.isShort) this.look();
    if (this.isShort || endpoints.length > 0) this.onWork();
    this.isShort = false;
  }
}
