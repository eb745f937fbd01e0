import { run } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import { type Definition, type PlannedAction, planRuns } from './planned-actions.js';
import { aboutRunsStatement } from './describe-runs.sql.js';
import { quotedEvents } from './quoted-events.js';
import { type Facts, FACT_FIELDS } from './event-facts.js';

/** Distinguishes one run from another. */
export interface AboutRun {
  facts: Facts;
  /** The facts in one line; null if there are none. */
  subject: string | null;
  /** User who started the run, or whose change caused it. */
  triggered_by: string | null;
  /** The automation acts in this user's name. */
  creator_id: string;
  /** The actions staged behind its gate. */
  staged: PlannedAction[];
  /** Whether everything that they would do is shown; if not, only the page of the run offers the decision. */
  is_whole: boolean;
  /** Deadline of its gate; null unless it is paused. */
  gate_expires_at: string | null;
  /** Milliseconds from its start to its end or to now; null if it has not started. */
  duration_ms: number | null;
  is_finished: boolean;
}

interface Row extends Record<string, unknown> {
  run_id: string;
  team_id: string | null;
  project_id: string | null;
  creator_id: string;
  trigger_type: string;
  triggered_by: string | null;
  /** Their parameters are null if they are too large for a list. */
  actions: (Definition & { params: Record<string, unknown> | null })[];
  gate_expires_at: Date | null;
  duration_ms: number | null;
  is_finished: boolean;
}

/** Longest value in a list of runs, in code points; the run's page shows all of it. */
const MAX_VALUE_LENGTH = 300;

/** Describes the runs of a list by id, for pages that show it. Omits runs that the caller may not read. */
export async function describeRuns(
  ctx: Context,
  things: readonly { run_id: string | null }[],
): Promise<Record<string, AboutRun>> {
  const wanted = [...new Set(things.map(({ run_id }) => run_id))].filter((id) => id !== null);
  if (wanted.length === 0) return {};
  const rows = await run<Row>(ctx.db, aboutRunsStatement, [userOf(ctx), wanted]);
  const runs = rows.map((row) => ({
    ...row,
    actions: row.actions.map((action) => ({ ...action, params: action.params ?? {} })),
  }));
  const events = await quotedEvents(ctx, runs, FACT_FIELDS);
  const plans = await planRuns(
    ctx,
    runs.map((one) => ({ ...one, event: events.get(one.run_id)?.event ?? {} })),
    MAX_VALUE_LENGTH,
  );
  return Object.fromEntries(
    rows.map(({ run_id, creator_id, triggered_by, duration_ms, is_finished, gate_expires_at, actions }, at) => {
      const { facts = {}, subject = null, actions: staged = [] } = plans[at] ?? {};
      const isWhole = events.get(run_id)?.isWhole === true && actions.every(({ params }) => params !== null);
      const about: AboutRun = {
        facts,
        subject,
        triggered_by,
        creator_id,
        staged,
        is_whole: isWhole && staged.every((action) => action.isWhole),
        gate_expires_at: gate_expires_at?.toISOString() ?? null,
        duration_ms,
        is_finished,
      };
      return [run_id, about];
    }),
  );
}
