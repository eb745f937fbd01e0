import { z } from 'zod';
import { describeRuns } from '../../../automation/runs/describe-runs.js';
import { listApprovals } from '../../../automation/runs/approvals/list-approvals.js';
import { listDeadLetters } from '../../../automation/runs/dead-letter/list-dead-letters.js';
import { RUN_STATUSES, type RunStatus } from '../../../automation/runs/record/rules.js';
import { countNotKept, listAutomationNames, type RunState, searchRuns } from '../../../automation/runs/search-runs.js';
import type { RunSummary } from '../../../automation/runs/schema.js';
import type { Context } from '../../../platform/context.js';
import { zoneNamed } from '../../../platform/time-zones.js';
import { dayRange } from '../../wording/day-range.js';
import { createFormatter } from '../../wording/formatter.js';
import { namesIn, mapTeamNames } from '../../wording/names.js';
import { page, type Page, requireUser } from '../../page.js';
import { runStrip } from './run-strip.js';
import { workflowLists } from './temporal-lists.js';

/** Rows of a list. `all` continues on the next page; of the others, the approvals page and the API show more. */
const PAGE_SIZE = 50;

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
  hasMore: boolean;
}

/** Returns the first failed action's error, which is more specific than the run's; null if the run did not fail. */
const getReasonText = (actions: readonly { error: Line['error'] }[], error: Line['error']): Line['error'] =>
  error && (actions.find((action) => action.error)?.error ?? error);

/**
 * States to filter by. A run that someone rejected has the status `skipped`, so that filter shows rejected runs too. Without a filter those are left
 * out that their condition skipped, which would hide the others; `every` shows them too.
 */
const STATES = [...RUN_STATUSES.filter((status) => status !== 'skipped'), 'rejected', 'skipped', 'every'] as const satisfies (
  | RunState
  | 'every'
)[];

/** A filter that holds nonsense does not count. */
const Filter = z.object({
  show: z.enum(['all', 'waiting', 'failed']).catch('all'),
  automation: z.uuid().optional().catch(undefined),
  state: z.enum(STATES).optional().catch(undefined),
  from: z.iso.date().optional().catch(undefined),
  to: z.iso.date().optional().catch(undefined),
  before: z.uuid().optional().catch(undefined),
  live: z.unknown().optional(),
});
type Filter = z.output<typeof Filter>;

/** Automations to choose from. The one that is chosen already need not be among them: a run's page links to its own. */
const MAX_CHOICES = 200;

/** The lists of the API behind one look: all, what waits for a person, and the dead letter. */
const LISTS: Record<Filter['show'], (ctx: Context, filter: Filter, timeZone: string) => Promise<Lines>> = {
  async all(ctx, { automation, state, from, to, before }, timeZone) {
    const since = from && dayRange(from, timeZone).startsAt;
    const until = to && dayRange(to, timeZone).endsAt;
    const limit = PAGE_SIZE + 1;
    const wanted = state === 'every' ? undefined : (state ?? 'begun');
    const found = await searchRuns(ctx, { automationId: automation, state: wanted, since, until, before, limit });
    const runs = found.slice(0, PAGE_SIZE);
    const began = (run: RunSummary) => ({
      ...run,
      when: 'started' as const,
      at: run.queued_at,
      error: getReasonText(run.actions, run.error),
    });
    return { lines: runs.map(began), total: null, hasMore: found.length > runs.length };
  },
  async waiting(ctx) {
    const { approvals, total } = await listApprovals(ctx, PAGE_SIZE);
    const asked = { status: 'paused', skip_reason: null, when: 'requested', is_test: false, error: null } as const;
    const lines = approvals.map((gate) => ({ ...gate, ...asked, at: gate.requested_at }));
    return { lines, total, hasMore: total > lines.length };
  },
  async failed(ctx) {
    const { entries, total } = (await listDeadLetters(ctx, { limit: PAGE_SIZE })).body;
    const failed = { status: 'failed', skip_reason: null, when: 'failed', is_test: false } as const;
    const lines = entries.map((entry) => ({
      ...entry,
      ...failed,
      at: entry.failed_at ?? '',
      error: getReasonText(entry.failed_actions, entry.error),
    }));
    return { lines, total, hasMore: total > lines.length };
  },
};

/** The address of the list with this filter, for the form's own state and the next page. */
function buildAddress({ show, automation, state, from, to, before }: Filter): string {
  const given = Object.entries({ show: show === 'all' ? undefined : show, automation, state, from, to, before });
  const query = new URLSearchParams(given.filter((pair): pair is [string, string] => pair[1] !== undefined)).toString();
  return query === '' ? '/app/runs' : `/app/runs?${query}`;
}

export const runListPages: Page[] = [
  page({
    method: 'get',
    path: '/app/runs',
    access: 'automation.list',
    query: Filter,
    async handle({ ctx, me, query: filter }) {
      const person = requireUser({ me });
      const timeZone = zoneNamed(createFormatter(person).timeZone) ?? 'UTC';
      const { show } = filter;
      const isLive = filter.live !== undefined;
      const [list, strip, choices, notKept] = await Promise.all([
        LISTS[show](ctx, filter, timeZone),
        // A page that looks for news swaps in its list alone.
        show === 'all' && !isLive ? runStrip(ctx, filter.automation, timeZone) : null,
        show === 'all' && !isLive ? listAutomationNames(ctx, MAX_CHOICES) : [],
        show === 'all' ? countNotKept(ctx) : 0,
      ]);
      const { lines, hasMore } = list;
      const [names, about] = await Promise.all([namesIn(ctx, person, lines), describeRuns(ctx, lines)]);
      const last = lines.at(-1);
      const pages = {
        address: buildAddress(filter),
        first: filter.before && buildAddress({ ...filter, before: undefined }),
        next: show === 'all' && hasMore && last ? buildAddress({ ...filter, before: last.run_id }) : undefined,
      };
      const isFiltered = [filter.automation, filter.state, filter.from, filter.to].some((value) => value !== undefined);
      const shown = { ...list, names, about, teamNames: mapTeamNames(person) };
      return {
        view: 'work/runs',
        title: 'Runs',
        data: {
          ...shown,
          show,
          filter,
          isFiltered,
          states: STATES,
          choices,
          strip,
          pages,
          notKept,
          workflows: workflowLists(ctx.config, person, show),
        },
      };
    },
  }),
];
