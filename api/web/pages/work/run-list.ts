import { z } from 'zod';
import { describeRuns } from '../../../runs/describe-runs.js';
import { listApprovals } from '../../../runs/approvals/list-approvals.js';
import { listDeadLetters } from '../../../runs/dead-letter/list-dead-letters.js';
import { listRecentRuns } from '../../../runs/list-recent-runs.js';
import type { RunStatus } from '../../../runs/rules.js';
import type { RunSummary } from '../../../automations/schema.js';
import type { Context } from '../../../core/context.js';
import { namesIn, teamNamesOf } from '../../wording/names.js';
import { page, type Page, requireUser } from '../../page.js';

/** Page sizes; older runs are in the API. */
const LIST_LIMITS = { newest: 50, waiting: 200, failed: 200 } as const;

/** A run as the list shows it, whatever its source. */
interface Line {
  run_id: string;
  automation_name: string;
  team_id: string | null;
  trigger_type: string;
  status: RunStatus;
  skip_reason: RunSummary['skip_reason'];
  is_test: boolean;
  /** Event that `at` belongs to. */
  when: 'started' | 'requested' | 'failed';
  at: string;
  error: { code: string; message: string } | null;
}

interface Lines {
  lines: Line[];
  /** Total, if it exceeds the rows shown; null where it is not counted. */
  total: number | null;
}

/** Returns the first failed action's error, which is more specific than the run's; null if the run did not fail. */
const whyOf = (actions: readonly { error: Line['error'] }[], error: Line['error']): Line['error'] =>
  error && (actions.find((action) => action.error)?.error ?? error);

/** Sources of the tabs: all runs, pending approvals, dead letter. */
const LISTS: Record<'all' | 'waiting' | 'failed', (ctx: Context) => Promise<Lines>> = {
  async all(ctx) {
    const runs = await listRecentRuns(ctx, LIST_LIMITS.newest);
    const began = (run: RunSummary) => ({
      ...run,
      when: 'started' as const,
      at: run.queued_at,
      error: whyOf(run.actions, run.error),
    });
    return { lines: runs.map(began), total: null };
  },
  async waiting(ctx) {
    const { approvals, total } = await listApprovals(ctx, LIST_LIMITS.waiting);
    const asked = { status: 'paused', skip_reason: null, when: 'requested', is_test: false, error: null } as const;
    return { lines: approvals.map((gate) => ({ ...gate, ...asked, at: gate.requested_at })), total };
  },
  async failed(ctx) {
    const { entries, total } = await listDeadLetters(ctx, { limit: LIST_LIMITS.failed });
    const failed = { status: 'failed', skip_reason: null, when: 'failed', is_test: false } as const;
    const lines = entries.map((entry) => ({
      ...entry,
      ...failed,
      at: entry.failed_at ?? '',
      error: whyOf(entry.failed_actions, entry.error),
    }));
    return { lines, total };
  },
};

const Show = z.object({ show: z.enum(['all', 'waiting', 'failed']).catch('all') });

export const runListPages: Page[] = [
  page({
    method: 'get',
    path: '/app/runs',
    access: 'automation.list',
    query: Show,
    async handle({ ctx, me, query: { show } }) {
      const { lines, total } = await LISTS[show](ctx);
      const person = requireUser({ me });
      const [names, about] = await Promise.all([namesIn(ctx, person, lines), describeRuns(ctx, lines)]);
      const teamNames = teamNamesOf(person);
      const isFull = total === null ? lines.length === LIST_LIMITS.newest : total > lines.length;
      return { view: 'work/runs', title: 'Runs', data: { show, lines, total, isFull, names, about, teamNames } };
    },
  }),
];
