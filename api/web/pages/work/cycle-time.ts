import { z } from 'zod';
import { readCycleTimes } from '../../../integrations/forge/cycle-time/read-cycle-times.js';
import { readCycleTrend } from '../../../integrations/forge/cycle-time/read-cycle-trend.js';
import { isAdmitted, isAllowed, type Seat } from '../../../platform/access/access.js';
import { page, type Page, requireUser } from '../../page.js';
import { cycleChart } from './cycle-chart.js';

const WINDOWS = [30, 90, 180, 365] as const;

/** A filter that holds nonsense does not count. */
const Filter = z.object({
  team: z.uuid().optional().catch(undefined),
  days: z.coerce
    .number()
    .pipe(z.union(WINDOWS.map((days) => z.literal(days))))
    .catch(90),
});

export const cycleTimePages: Page[] = [
  page({
    method: 'get',
    path: '/app/cycle-time',
    access: 'cycle_time.read',
    query: Filter,
    async handle({ ctx, me, query: { team, days } }) {
      const { teams } = requireUser({ me });
      const chosen = teams.some(({ team_id }) => team_id === team) ? team : undefined;
      const [times, { weeks, slowest }] = await Promise.all([
        readCycleTimes(ctx, { team_id: chosen, days }),
        readCycleTrend(ctx, chosen, days),
      ]);
      const binding = teams.filter(
        ({ team_id, role }) =>
          (!chosen || team_id === chosen) && isAllowed('forge.read', role as Seat) && isAdmitted('forge.read', ctx.actor),
      );
      const data = {
        times,
        weeks,
        slowest,
        chart: cycleChart(weeks),
        filter: { team: chosen, days },
        windows: WINDOWS,
        teams,
        bindsFor: binding[0],
      };
      return { view: 'work/cycle-time', title: 'Cycle time', data };
    },
  }),
];
