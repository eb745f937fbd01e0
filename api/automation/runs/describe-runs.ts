import { run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { aboutRunsStatement } from './describe-runs.sql.js';
import { type Facts, factsOfRuns, findSource } from './event-facts.js';
import { quotedEvents } from './quoted-events.js';

/** Distinguishes one run from another. */
interface AboutRun {
  facts: Facts;
  /** The facts in one line; null if there are none. */
  subject: string | null;
  /** Page on the code host that it is about. */
  source: string | null;
  /** User who started the run, or whose change caused it. */
  triggered_by: string | null;
  /** The automation acts in this user's name. */
  creator_id: string;
  /** Deadline of its gate; null unless it is paused. */
  gate_expires_at: string | null;
  /** Milliseconds from its start to its end or to now; null if it has not started. */
  duration_ms: number | null;
  is_finished: boolean;
}

interface Row extends Record<string, unknown> {
  run_id: string;
  team_id: string | null;
  creator_id: string;
  trigger_type: string;
  triggered_by: string | null;
  gate_expires_at: Date | null;
  duration_ms: number | null;
  is_finished: boolean;
}

/** Describes the runs of a list by id, for pages that show it. Omits runs that the caller may not read. */
export async function describeRuns(
  ctx: Context,
  things: readonly { run_id: string | null }[],
): Promise<Record<string, AboutRun>> {
  const wanted = [...new Set(things.map(({ run_id }) => run_id))].filter((id) => id !== null);
  if (wanted.length === 0) return {};
  const rows = await run<Row>(ctx.db, aboutRunsStatement, [requireUser(ctx), wanted]);
  const events = await quotedEvents(
    ctx,
    rows.map(({ run_id }) => run_id),
  );
  const recognized = await factsOfRuns(
    ctx,
    rows.map((row) => ({ ...row, event: events.get(row.run_id) ?? {} })),
  );
  return Object.fromEntries(
    rows.map(
      ({ run_id, creator_id, trigger_type, triggered_by, duration_ms, is_finished, gate_expires_at }, at): [string, AboutRun] => [
        run_id,
        {
          facts: recognized[at]?.facts ?? {},
          subject: recognized[at]?.subject ?? null,
          source: findSource({ trigger_type, event: events.get(run_id) ?? {} }),
          triggered_by,
          creator_id,
          gate_expires_at: gate_expires_at?.toISOString() ?? null,
          duration_ms,
          is_finished,
        },
      ],
    ),
  );
}
