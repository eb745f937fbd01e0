import type { Knex } from 'knex';
import type { Actor } from './access/actor.js';
import type { Config } from './config.js';
import { isOutdatedPlan } from '../../db/statement.js';
import { isTransient } from './database/database-errors.js';
import { unavailable } from './errors.js';
import { newId } from './ids.js';
import { type Logger, scopeCorrelation } from './telemetry/log.js';
import type { Tracer } from './telemetry/tracing/tracer.js';

/** Process-wide services that every operation may use. */
export interface Services {
  db: Knex;
  config: Config;
  log: Logger;
  /** Only if traces are on. */
  tracer?: Tracer | undefined;
  /**
   * Wakes the relay after rows were added to the outbox; never blocks (api/platform/outbox/relay-notifier.ts). `dispatch`: some of them are for Temporal, and
   * need not wait until the relay has looked for events.
   */
  notifyRelay: (what?: 'dispatch') => void;
  /** Wakes the dispatcher of this process for these endpoints, after a commit, with what is sent; only in the worker. */
  wakeWebhooks?: (
    endpoints: readonly { webhook_id: string; team_id: string }[],
    events: readonly { event_id: string; body: string; correlation_id: string }[],
  ) => void;
}

/** One call of one operation: caller, connection and ids. `db` is a transaction inside `inTransaction`. */
export interface Context extends Services {
  actor: Actor;
  /** UUIDv7 of this request; its first audit entry uses it as `audit_id`. */
  requestId: string;
  /** Shared by everything with the same cause; differs from `requestId` only in what an automation does. */
  correlationId: string;
  ip: string | null;
  userAgent: string | null;
}

/** Returns the caller as `record_change` and the hot statements take it. */
export function callerJson({ actor, requestId, correlationId, ip, userAgent }: Context): Record<string, unknown> {
  const base = { request_id: requestId, correlation_id: correlationId, ip, user_agent: userAgent, actor_type: actor.type };
  if (actor.type === 'system') return { ...base, email: null, user_id: null, cause_user_ids: actor.causeUserIds };
  const person = { ...base, user_id: actor.userId, email: actor.email };
  switch (actor.type) {
    case 'user':
      return { ...person, impersonator_id: actor.impersonatorId };
    case 'pat':
      return { ...person, token_id: actor.tokenId };
    case 'automation':
      return {
        ...person,
        run_id: actor.runId,
        depth: actor.depth,
        caused_by: { automation_id: actor.automationId, run_id: actor.runId },
      };
    case 'sync':
      return { ...person, actor_type: 'system', cause_user_ids: actor.causeUserIds };
    case 'job':
      return { ...person, actor_type: 'system' };
    case 'series':
      return { ...person, actor_type: 'system', depth: actor.depth, cause_user_ids: actor.causeUserIds };
    case 'proposer':
      return { ...person, actor_type: 'agent' };
    case 'agent':
      return {
        ...person,
        depth: actor.depth,
        cause_user_ids: actor.causeUserIds,
        caused_by: { action_id: actor.actionId, plan_hash: actor.planHash, index: actor.index },
      };
  }
}

/** Returns a context of the service itself. `cause`: id of the causing request, if any; else that of the activity that works. */
export function serviceContext(services: Services, name: string, cause?: string): Context {
  const requestId = newId();
  const actor: Actor = { type: 'system', name };
  return { ...services, actor, requestId, correlationId: cause ?? scopeCorrelation() ?? requestId, ip: null, userAgent: null };
}

/**
 * Returns the caller's user id.
 * @throws Error for the service itself, which is a programming error
 */
export function requireUser(ctx: Pick<Context, 'actor'>): string {
  if (ctx.actor.type === 'system') throw new Error(`${ctx.actor.name} stands for no person`);
  return ctx.actor.userId;
}

const ATTEMPTS = 3;

/**
 * Retries serialization failures and deadlocks, three attempts in all; an outdated plan as often as a connection has one. Inside an open transaction nothing can be repeated, so the
 * error propagates to the code that opened it.
 * @throws what `work` throws; INTERNAL_ERROR 503 after the last attempt
 */
export async function withRetries<T>(ctx: Pick<Context, 'db'>, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!ctx.db.isTransaction && isOutdatedPlan(error)) {
        attempt -= 1;
        continue;
      }
      if (ctx.db.isTransaction || !isTransient(error)) throw error;
      if (attempt === ATTEMPTS) throw unavailable(error);
    }
  }
}

/** What follows the commit of each transaction that is open. */
const following = new WeakMap<Context['db'], (() => void)[]>();

/**
 * Runs `work` once after the commit of the open transaction, and never if it is rolled back; at once outside of `inTransaction`. For what cannot be rolled
 * back, such as counts. It must not throw.
 */
export function afterCommit({ db }: Pick<Context, 'db'>, work: () => void): void {
  const others = following.get(db);
  if (others) others.push(work);
  else work();
}

/**
 * Runs `work` in one transaction, or joins the open one. Notifies the relay after the commit.
 * @throws what `work` throws; INTERNAL_ERROR 503 after the last attempt
 */
export async function inTransaction<T>(ctx: Context, work: (ctx: Context) => Promise<T>): Promise<T> {
  if (ctx.db.isTransaction) return work(ctx);
  const [result, follow] = await withRetries(ctx, () =>
    ctx.db.transaction(async (db): Promise<[T, (() => void)[]]> => {
      const next: (() => void)[] = [];
      following.set(db, next);
      return [await work({ ...ctx, db }), next];
    }),
  );
  for (const next of follow) next();
  ctx.notifyRelay();
  return result;
}
