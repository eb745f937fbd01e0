import type { Knex } from 'knex';
import { run, type Statement } from '../../../db/statement.js';
import { hasRoleAtLeast, type Seat } from '../../core/access.js';
import { type Context, type Services, serviceContext } from '../../core/context.js';
import { conflict } from '../../core/errors.js';
import type { RunStatus } from '../rules.js';

export interface RunRow {
  run_id: string;
  /** Raised whenever the run is restarted. */
  incarnation: number;
  automation_id: string;
  automation_version: number;
  automation_name: string;
  team_id: string | null;
  project_id: string | null;
  creator_id: string;
  /** The person who set it off. */
  triggered_by: string | null;
  status: RunStatus;
  event: Record<string, unknown>;
  event_truncated: boolean;
  trigger_type: string;
  depth: number;
  /** Nothing that it does may remain (F8). */
  is_test: boolean;
  correlation_id: string;
  /** Of a replay: the failed run that it goes back to. */
  first_run_id: string | null;
  finished_at: Date | null;
  /** The actions of the version that the run is pinned to. */
  actions: Record<string, unknown>[];
}

/** $1 run. */
const lockStatement: Statement = {
  name: 'lock_run',
  text: /* sql */ `
    select r.*, v.actions from automation_runs r
    join automation_versions v on v.automation_id = r.automation_id and v.version = r.automation_version
    where r.run_id = $1 for update of r`,
};

/** The run's row, held until the commit, with its version's actions; undefined when there is none. */
export async function lockRun(db: Knex, runId: string): Promise<RunRow | undefined> {
  const [row] = await run<RunRow & Record<string, unknown>>(db, lockStatement, [runId]);
  return row;
}

/** The service's own hand on a run: for what no person did. */
export const systemContext = (services: Services, run: RunRow): Context => serviceContext(services, 'runs', run.correlation_id);

/** The automation's creator at this moment: the account, and the seat in the run's team; null for a stranger there. */
export interface Creator {
  email: string;
  role: 'user' | 'admin';
  is_active: boolean;
  seat: Seat | null;
}

/**
 * Why nothing happens in the creator's name any more; null where it may. Whoever may not write in the team has it done by nobody else
 * either: not even what needs no further right, such as a request that carries the team's secrets.
 */
function creatorBlockReason({ team_id }: RunRow, { is_active, seat }: Creator): string | null {
  if (!is_active) return 'may no longer act: the account is not active';
  if (team_id === null || hasRoleAtLeast(seat, 'member')) return null;
  return seat === null ? 'is no longer a member of the team' : 'is only a guest of the team';
}

/**
 * The run acting as its automation's creator, with the creator's rights at this moment (F7, R6).
 * @throws RESOURCE_CONFLICT `creator_not_authorized`: the account is not active, or may not write in the run's team
 * Source: durability notes, 3.2.
 */
export function creatorContext(services: Services, run: RunRow, creator: Creator): Context {
  const hindrance = creatorBlockReason(run, creator);
  if (hindrance) throw conflict(`Who made the automation ${hindrance}`, { extra: { reason: 'creator_not_authorized' } });
  const { automation_id: automationId, run_id: runId, creator_id: userId } = run;
  const { email, role } = creator;
  return {
    ...systemContext(services, run),
    // What an automation does is one deeper than what set it off; the guard against loops reads this (F11).
    actor: { type: 'automation', userId, email, role, automationId, runId, depth: run.depth + 1 },
  };
}
