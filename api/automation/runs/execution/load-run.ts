import type { Knex } from 'knex';
import { defineStatement, run } from '../../../../db/statement.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import { type Context, type Services, serviceContext } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import type { RunStatus } from '../record/rules.js';
import type { InstanceRole } from '../../../platform/access/actor.js';

export interface RunRow {
  run_id: string;
  /** Increases with each restart. */
  incarnation: number;
  automation_id: string;
  automation_version: number;
  automation_name: string;
  team_id: string | null;
  project_id: string | null;
  creator_id: string;
  /** User who started the run, or whose change caused it. */
  triggered_by: string | null;
  status: RunStatus;
  event: Record<string, unknown>;
  event_truncated: boolean;
  trigger_type: string;
  depth: number;
  /** A dry run: no effect may remain. */
  is_test: boolean;
  correlation_id: string;
  /** First run of the chain, for a replay. */
  first_run_id: string | null;
  queued_at: Date;
  finished_at: Date | null;
  /** Actions of the version that the run is pinned to. */
  actions: Record<string, unknown>[];
  /** Time zone of that version: words for days count from the day there. */
  schedule_timezone: string;
  /** What the last gate before the step released, with its hash; null before the first gate, and if an older version opened it. */
  staged?: string | null;
  staged_hash?: string | null;
}

/** A run with the answers that its steps have got, by name; they are absent where no action reads one, and before they are read. */
export interface Answered {
  answers?: Readonly<Record<string, unknown>>;
  /** Paths of what was too long to keep, such as `steps.lookup.body.title`. */
  leftOut?: readonly string[];
}

const SELECT_RUN = /* sql */ `
    select r.*, v.actions, v.schedule_timezone from automation_runs r
    join automation_versions v on v.automation_id = r.automation_id and v.version = r.automation_version
    where r.run_id = $1`;

/** $1 = run id. */
const lockStatement = defineStatement({ name: 'lock_run', text: `${SELECT_RUN} for update of r` });
const readStatement = defineStatement({ name: 'read_run', text: SELECT_RUN });

/** Locks the run's row and returns it with its version's actions; undefined if there is none. */
export async function lockRun(db: Knex, runId: string): Promise<RunRow | undefined> {
  const [row] = await run<RunRow & Record<string, unknown>>(db, lockStatement, [runId]);
  return row;
}

/** Returns the run's row with its version's actions, without a lock; undefined if there is none. */
export async function readRun(db: Knex, runId: string): Promise<RunRow | undefined> {
  const [row] = await run<RunRow & Record<string, unknown>>(db, readStatement, [runId]);
  return row;
}

/** Builds the system context for a run, for changes that no user made. */
export const systemContext = (services: Services, run: RunRow): Context => serviceContext(services, 'runs', run.correlation_id);

/** The automation's creator now: the account, and the role in the run's team; null for a non-member. */
export interface Creator {
  email: string;
  role: InstanceRole;
  is_active: boolean;
  seat: Seat | null;
}

/**
 * Returns why the creator may no longer act, or null. Applies to every action, even one that needs no further permission, such as
 * a request with the team's secrets.
 */
function creatorBlockReason({ team_id }: RunRow, { is_active, seat }: Creator): string | null {
  if (!is_active) return 'can no longer act: the account is not active';
  if (team_id === null || isAllowed('automation.write', seat)) return null;
  return seat === null ? 'is no longer a member of the team' : `is only a ${seat} of the team`;
}

/**
 * Builds the context of a run: it acts as the automation's creator, with the creator's current permissions
 * (docs/decisions/automation.md#acting-as-the-creator).
 * @throws RESOURCE_CONFLICT `creator_not_authorized`: the account is not active, or may not write in the run's team
 */
export function creatorContext(services: Services, run: RunRow, creator: Creator): Context {
  const reason = creatorBlockReason(run, creator);
  if (reason) throw conflict(`The automation’s creator ${reason}`, { extra: { reason: 'creator_not_authorized' } });
  const { automation_id: automationId, run_id: runId, creator_id: userId } = run;
  const { email, role } = creator;
  return {
    ...systemContext(services, run),
    // One deeper than the run's cause; loop detection reads it.
    actor: { type: 'automation', userId, email, role, automationId, runId, depth: run.depth + 1 },
  };
}
