import type { User } from './caller.js';
import type { Stack } from './stack.js';

/** Something that fails, and the alert meant for it. */
export interface Outage {
  /** Completes "after …". */
  what: string;
  alert: string;
  /** Time within which the alert fires, s (docs/operate/alerts). */
  seconds: number;
  begin: (stack: Stack) => Promise<unknown>;
  end: (stack: Stack) => Promise<unknown>;
  /** What happens again and again until the alert fires, about once a second. May fail. */
  meanwhile?: (user: User) => Promise<unknown>;
}

/** A service that stops. */
const stopped = (service: string, alert: string, seconds: number): Outage => ({
  what: `${service} stopped`,
  alert,
  seconds,
  begin: ({ compose }) => compose(['stop', '--timeout', '5', service]),
  end: ({ compose }) => compose(['up', '--detach', '--wait', '--no-recreate', service]),
});

/** A right that the service's role loses: statements fail and nothing else changes. */
const refused = (right: string, table: string, alert: string, seconds: number): Outage => ({
  what: `PostgreSQL refused ${right} on ${table}`,
  alert,
  seconds,
  begin: ({ sql }) => sql(`revoke ${right} on ${table} from assent_app`),
  end: ({ sql }) => sql(`grant ${right} on ${table} to assent_app`),
});

/** Each alone; the next begins when no critical alert fires any more. What takes longest to resolve is last. */
export const OUTAGES: readonly Outage[] = [
  stopped('temporal', 'AssentTemporalUnreachable', 60),
  stopped('worker', 'AssentWorkerDown', 120),
  stopped('api', 'AssentProcessDown', 150),
  stopped('postgres', 'AssentGaugesMissing', 180),
  stopped('mailpit', 'AssentMailsWaiting', 390),
  refused('update, delete', 'outbox', 'AssentOutboxStuck', 180),
  refused('insert', 'audit_seals', 'AssentSealingLate', 180),
  {
    what: 'another program wrote to audit_pending',
    alert: 'AssentAuditTampered',
    seconds: 60,
    begin: ({ sql }) => sql('insert into audit_pending (chain, audit_id) select chain, uuidv7() from audit_heads limit 1'),
    end: ({ sql }) => sql('delete from audit_rejected'),
  },
  refused('update', 'automation_runs', 'AssentRunsNotStarting', 390),
  {
    ...refused('select', 'saved_views', 'AssentServerErrors', 420),
    meanwhile: ({ call, teamId }) => call('GET', `/api/saved-views?team_id=${teamId}`),
  },
];

/** Critical alerts that this check does not provoke, and why. */
export const NOT_PROVOKED: Readonly<Record<string, string>> = {
  AssentPartitionsMissing: 'it waits for three hours, and the hourly job adds what is missing before',
};
