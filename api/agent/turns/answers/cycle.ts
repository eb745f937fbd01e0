import type { Context } from '../../../platform/context.js';
import { type FoundCycle, findCycles } from '../../../work/cycles/find-cycles.js';
import type { CycleName } from '../../grammar/terms.js';
import { quote } from '../../grammar/doubts/naming.js';
import { mentionsOf, plural } from '../answer-words.js';
import type { Answer } from '../end-turn.js';
import { type Asking, findTasks, type FoundTask } from '../find-tasks.js';
import { countsLine } from './counts.js';
import { linesOf, MAX_LISTED } from './task-lines.js';

const DAY_MS = 86_400_000;
const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / DAY_MS;

/** When a cycle ends, seen from today: `ends 2026-12-01, in 3 days`. */
function endWords({ end_date, status }: FoundCycle, today: string): string {
  if (end_date === null) return 'no end date';
  const days = daysBetween(today, end_date);
  if (status === 'completed') return `ended ${end_date}`;
  if (days === 0) return 'ends today';
  if (days > 0) return `ends ${end_date}, ${plural(days, 'day', 'days')} left`;
  return `its end ${end_date} was ${plural(-days, 'day', 'days')} ago`;
}

/** What a cycle is like: its days, its counts, and its open tasks. */
function cycleWords(cycle: FoundCycle, tasks: readonly FoundTask[], today: string): string {
  const { name, project_name, team_name, status, start_date, goal } = cycle;
  const place = project_name === null ? team_name : quote(project_name);
  const start = start_date === null ? [] : [`${start_date > today ? 'starts' : 'began'} ${start_date}`];
  const head = `- cycle ${quote(name)} of ${place}: ${[status, ...start, endWords(cycle, today)].join(', ')}`;
  const open = tasks.filter((task) => task.status !== 'done');
  return [
    head,
    ...(goal === null ? [] : [`- goal: ${quote(goal)}`]),
    countsLine(tasks, today),
    ...(open.length > 0 ? ['', 'Open:', ...linesOf(open)] : []),
  ].join('\n');
}

const WHEN: Readonly<Record<CycleName['when'], string>> = {
  active: 'runs now',
  planned: 'is planned',
  completed: 'was completed',
};

/** The cycles that words name: one that was completed, or is planned, is the one that is nearest. */
export async function cyclesOf(
  ctx: Context,
  { when, names, isSure, written }: CycleName,
  { teamIds }: Pick<Asking, 'teamIds'>,
): Promise<FoundCycle[]> {
  const isNamed = names.length > 0;
  const called = isNamed ? names : isSure ? null : [written];
  const cycles = await findCycles(ctx, { teamIds, names: called, status: isNamed ? null : when });
  return isNamed || when === 'active' ? cycles : cycles.slice(0, 1);
}

/** Tells how far the cycles are that a question names; undefined if it names none. */
export async function describeCycles(ctx: Context, cycle: CycleName, asking: Asking): Promise<Answer | undefined> {
  const meant = await cyclesOf(ctx, cycle, asking);
  if (meant.length === 0) return undefined;
  const parts: string[] = [];
  const open: FoundTask[] = [];
  for (const cycle of meant) {
    const tasks = await findTasks(ctx, {}, [], { ...asking, place: { cycleId: cycle.cycle_id } });
    parts.push(cycleWords(cycle, tasks, asking.today));
    open.push(...tasks.filter((task) => task.status !== 'done').slice(0, MAX_LISTED));
  }
  return { content: parts.join('\n\n'), mentions: mentionsOf(open) };
}

/** Says that there is no such cycle. */
export const noCycleWords = ({ when, names, written }: CycleName): string =>
  names.length > 0 ? `I know no cycle called ${quote(written)}.` : `No cycle of your teams ${WHEN[when]}.`;
