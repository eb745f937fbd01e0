import { run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { addTo } from '../../platform/calendar-days.js';
import { type FilteredTask, isMeant, meansCompleted } from '../grammar/sets/is-meant.js';
import { isNone } from '../grammar/people.js';
import type { TaskFilter } from '../grammar/terms.js';
import {
  blockingTasksStatement,
  blocksStatement,
  exceedsStatement,
  findTasksStatement,
  nearTasksStatement,
  tokenReadsTasksStatement,
} from './find-tasks.sql.js';

/** Tasks that one question counts. */
export const MAX_COUNTED = 1_000;
/** Tasks with one of several words that are ranked. */
const MAX_NEAR = 200;

/** A task as an answer describes it. */
export interface FoundTask extends FilteredTask, Record<string, unknown> {
  /** What people call it: HAR-12. */
  key: string | null;
  priority: string;
  due: string | null;
  completed: string | null;
  resolution: string | null;
  assigned_to: string | null;
  assignee: string | null;
  project_title: string;
  tags: string[];
  is_blocked: boolean;
}

/** Where and when a question is asked. */
export interface Asking {
  /** Teams it is about; null for all of the user's. */
  teamIds: readonly string[] | null;
  /** IANA name. */
  timezone: string;
  /** YYYY-MM-DD in that zone. */
  today: string;
  /** Only tasks of this project, or of this cycle. */
  place?: { projectId?: string; cycleId?: string };
}

/** Escapes what a pattern of `like` reads as its own. */
const literally = (text: string): string => text.replace(/[\\%_]/g, (char) => `\\${char}`);

/** A pattern of the words of a stem: only one that ends with `y` may end otherwise there. */
const patternOf = (stem: string): string => `%${literally(stem.replace(/y$/, ''))}%`;

const earlier = (a: string | undefined, b: string): string => (a === undefined || b < a ? b : a);

/**
 * Finds tasks of the user's teams that a filter means, by due date, at most one more than `MAX_COUNTED`. It looks among the newest 20,000.
 * @param assignees ids that the filter's assignee may be; null is nobody
 */
export async function findTasks(
  ctx: Context,
  filter: TaskFilter,
  assignees: readonly (string | null)[],
  asking: Asking,
): Promise<FoundTask[]> {
  const { due, completed, isOverdue, words = [], project = [], assignee } = filter;
  const ids = assignees.filter((id) => id !== null);
  const values = [
    requireUser(ctx),
    rolesFor('task.list'),
    asking.teamIds,
    asking.timezone,
    filter.statuses ?? null,
    filter.priorities ?? null,
    due?.from ?? null,
    isOverdue ? earlier(due?.to, addTo(asking.today, { days: -1, months: 0 })) : (due?.to ?? null),
    filter.hasNoDueDate === true,
    assignee && !isNone(assignee) ? ids : null,
    isNone(assignee),
    [...words, ...project].map(patternOf),
    filter.isBlocked === true,
    completed?.from ?? null,
    completed?.to ?? null,
    filter.resolutions ?? (meansCompleted(filter) ? ['completed'] : null),
    asking.place?.projectId ?? null,
    asking.place?.cycleId ?? null,
    filter.stages ?? null,
    filter.fields ? JSON.stringify(filter.fields) : null,
    filter.hasNoCycle === true,
    MAX_COUNTED + 1,
  ];
  const found = await run<FoundTask>(ctx.db, findTasksStatement, values);
  // A pattern finds a word inside of others too; the filter decides.
  return found.filter((task) => isMeant(task, filter, assignees, asking.today));
}

/** Finds tasks of the user's teams whose titles have any of the stems, the newest ones. */
export function findWithAny(ctx: Context, stems: readonly string[], { teamIds, timezone }: Asking): Promise<FoundTask[]> {
  const values = [requireUser(ctx), rolesFor('task.list'), teamIds, timezone, stems.map(patternOf), MAX_NEAR];
  return run<FoundTask>(ctx.db, nearTasksStatement, values);
}

/** Finds what blocks tasks, or what they block, as far as the user may read it. */
export function findBlocking(
  ctx: Context,
  ids: readonly string[],
  end: 'before' | 'behind',
  timezone: string,
): Promise<(FoundTask & { of_id: string })[]> {
  const values = [requireUser(ctx), rolesFor('task.list'), timezone, ids, end === 'before', MAX_COUNTED];
  return run<FoundTask & { of_id: string }>(ctx.db, blockingTasksStatement, values);
}

/**
 * Finds the relations by which open tasks block a task, as far as the user may read these.
 * @param by only the relation with this item
 * @param limit most relations
 */
export async function findBlocks(ctx: Context, id: string, by: string | null, limit: number): Promise<string[]> {
  const values = [requireUser(ctx), rolesFor('task.list'), id, by, limit];
  const rows = await run<{ relation_id: string }>(ctx.db, blocksStatement, values);
  return rows.map(({ relation_id }) => relation_id);
}

/** Whether the teams have more tasks than a question looks at. `teamIds`: null for all of the user's. */
export async function exceedsExamined(ctx: Context, teamIds: readonly string[] | null): Promise<boolean> {
  const values = [requireUser(ctx), rolesFor('task.list'), teamIds];
  const [row] = await run<{ exceeds: boolean }>(ctx.db, exceedsStatement, values);
  return row?.exceeds === true;
}

/** Whether the token that wrote a message may read tasks that are not linked; a person may. */
export async function mayReadTasks({ db }: Pick<Context, 'db'>, tokenId: string | null): Promise<boolean> {
  if (tokenId === null) return true;
  const [token] = await run<{ allowed: boolean }>(db, tokenReadsTasksStatement, [tokenId]);
  return token?.allowed === true;
}
