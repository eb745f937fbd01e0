import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { checkChains } from '../../../audit/log/check-chains.js';
import { coveredTeams } from '../../../audit/log/covered-teams.js';
import { exportEntries, exportTable } from '../../../audit/log/export-entries.js';
import { listEntriesOfTeams } from '../../../audit/log/list-entries.js';
import { nameSubjects, type Subject } from '../../../audit/log/name-subjects.js';
import { readHeads } from '../../../audit/log/read-heads.js';
import { countByDay } from '../../../audit/log/read-stats.js';
import { ListEntries } from '../../../audit/log/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import { FEATURES, SEVERITIES } from '../../../platform/changes/change-kinds.js';
import { findPagePath } from '../../../platform/changes/entity-pages.js';
import { zoneNamed } from '../../../platform/time-zones.js';
import { dayRange } from '../../wording/day-range.js';
import { createFormatter } from '../../wording/formatter.js';
import { namesIn } from '../../wording/names.js';
import { page, type Page, type PageRequest, requireUser } from '../../page.js';
import { auditChart } from './audit-chart.js';

const PATH = '/app/audit';
const PAGE_SIZE = 50;
const CHART_DAYS = 30;
/** The API lists no more either. */
const LAST_PAGE = 200;

const { feature, severity, entity_id } = ListEntries.shape;

/** A filter that holds nonsense does not count. */
const filter = {
  team: z.uuid().optional().catch(undefined),
  person: z.uuid().optional().catch(undefined),
  request: z.uuid().optional().catch(undefined),
  feature: feature.catch(undefined),
  severity: severity.catch(undefined),
  // An empty field of the form is no filter.
  entity: entity_id.transform((text) => text?.trim() || undefined).catch(undefined),
  from: z.iso.date().optional().catch(undefined),
  to: z.iso.date().optional().catch(undefined),
};
const Filter = z.object(filter);
type Filter = z.output<typeof Filter>;
const Query = Filter.extend({
  page: z.coerce.number().int().min(1).max(LAST_PAGE).catch(1),
  check: z.unknown().optional(),
});
const ExportForm = Filter.extend({ format: z.enum(['json', 'csv']) });

/** Returns a moment as entries store it. */
const naive = (moment: string, minusMs = 0): string =>
  Temporal.Instant.from(moment).subtract({ milliseconds: minusMs }).toString({ smallestUnit: 'microsecond' }).slice(0, -1);

/** Returns the filter in the words of the API. Dates are days in the user's time zone. */
function collectWanted(given: Filter, timeZone: string) {
  const { team, person, request, from, to, entity } = given;
  const wanted = {
    team_id: team,
    user_id: person,
    correlation_id: request,
    feature: given.feature,
    severity: given.severity,
    entity_id: entity,
    from_time: from && naive(dayRange(from, timeZone).startsAt),
    to_time: to && naive(dayRange(to, timeZone).endsAt, 1),
  };
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined)) as typeof wanted;
}

/** The address of the page with this filter. */
function buildAddress(given: Record<string, string | number | undefined>): string {
  const pairs = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const query = new URLSearchParams(pairs).toString();
  return query === '' ? PATH : `${PATH}?${query}`;
}

interface Entry {
  audit_id: string;
  user_id: string | null;
  team_id: string;
  entity_type: string;
  entity_id: string | null;
  details: unknown;
}
interface EntryPage {
  entries: Entry[];
  total: number;
  total_capped?: true;
  has_more: boolean;
}

/** Returns what an entry calls its entity, or else the name that it has now, and the page of it. */
function getSubject({ details, entity_type }: Entry, found: Subject | undefined) {
  const { title, name } = (details ?? {}) as Record<string, unknown>;
  const subject = [title, name, found?.name].find((text) => typeof text === 'string');
  const href = found?.is_open ? `${findPagePath(entity_type) ?? '/app/items/'}${encodeURIComponent(found.page_id)}` : undefined;
  return { subject, href };
}

async function showLog({ ctx, me, query: { page: number, check, ...given } }: PageRequest<unknown, z.output<typeof Query>>) {
  const person = requireUser({ me });
  const teams = person.teams.filter(({ role }) => isAllowed('audit.read', role as Seat));
  const known = teams.some(({ team_id }) => team_id === given.team) ? given : { ...given, team: undefined };
  const timeZone = zoneNamed(createFormatter(person).timeZone) ?? 'UTC';
  const window = { limit: PAGE_SIZE, offset: (number - 1) * PAGE_SIZE };
  const covered = await coveredTeams(ctx, known.team);
  const listed = await listEntriesOfTeams(ctx, covered, { ...collectWanted(known, timeZone), ...window });
  const { entries, total, total_capped, has_more } = JSON.parse(listed.body as string) as EntryPage;
  const days = await countByDay(ctx, covered, CHART_DAYS);
  const chains = await readHeads(ctx.db, covered);
  const checked = check === undefined ? [] : await checkChains(ctx, chains);
  const names = await namesIn(ctx, person, [...entries, ...teams]);
  const subjects = await nameSubjects(ctx, entries);
  const isLast = number === LAST_PAGE;
  return {
    view: 'teams/audit',
    title: 'Audit log',
    data: {
      entries: entries.map((entry) => ({
        ...entry,
        ...getSubject(entry, subjects.get(entry.entity_id ?? '')),
        details: JSON.stringify(entry.details, null, 2),
      })),
      total: `${total.toLocaleString('en')}${total_capped ? '+' : ''}`,
      isEmpty: total === 0,
      chart: auditChart(days),
      days,
      chains: chains.map((chain) => ({ ...chain, ...checked.find(({ team_id }) => team_id === chain.team_id) })),
      isCut: check !== undefined && checked.length < chains.length,
      teams,
      names,
      filter: known,
      isFiltered: Object.values(known).some((value) => value !== undefined),
      features: FEATURES,
      severities: SEVERITIES,
      buildAddress: (changes: Record<string, string | number | undefined>) => buildAddress({ ...known, ...changes }),
      pages: {
        newer: number > 1 ? buildAddress({ ...known, page: number === 2 ? undefined : number - 1 }) : undefined,
        older: has_more && !isLast ? buildAddress({ ...known, page: number + 1 }) : undefined,
      },
    },
  };
}

export const auditPages: Page[] = [
  page({ method: 'get', path: PATH, access: 'audit.read', query: Query, handle: showLog }),
  page({
    method: 'post',
    path: `${PATH}/export`,
    access: 'audit.read',
    form: ExportForm,
    async handle({ ctx, me, form: { format, ...given } }) {
      const timeZone = zoneNamed(createFormatter(requireUser({ me })).timeZone) ?? 'UTC';
      const wanted = collectWanted(given, timeZone);
      const { body, options } =
        format === 'csv' ? await exportTable(ctx, wanted) : await exportEntries(ctx, { ...wanted, format });
      const name = `audit-${new Date().toISOString().slice(0, 10)}.${format}`;
      return {
        bytes: body,
        headers: { ...options.headers, 'Content-Disposition': `attachment; filename="${name}"`, 'Cache-Control': 'no-store' },
      };
    },
  }),
];
