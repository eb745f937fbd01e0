import { listWaitingAbout } from '../../../approvals/list-waiting-about.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { readSurroundings, type Surroundings } from '../../../work/tasks/read/read-surroundings.js';
import { MAX_COUNTED } from '../../../work/tasks/read/read-surroundings.sql.js';
import { createFormatter } from '../../wording/formatter.js';

/** What a row or a card says of what is around its task. */
interface Around {
  /** "part of HAR-3", "2 of 5 subtasks", "3 comments". */
  facts: string[];
  /** The open task that blocks it: its name, and the title that goes with it. */
  blocker: { name: string; title: string } | undefined;
  /** Something waits for a yes about it. */
  waits: boolean;
}

const counted = (count: number, one: string, many: string): string[] =>
  count === 0 ? [] : [count < MAX_COUNTED ? `${count} ${count === 1 ? one : many}` : `${MAX_COUNTED} or more ${many}`];

/** Approvals that a page of rows looks at. */
const MAX_WAITING = 500;

/** Says what is around tasks and for which of them something waits, by their ids, from two queries. */
export async function loadAround(ctx: Context, me: User | null, taskIds: readonly string[]): Promise<Record<string, Around>> {
  const { taskName } = createFormatter(me);
  const [found, approvals] = await Promise.all([readSurroundings(ctx, taskIds), listWaitingAbout(ctx, taskIds, MAX_WAITING)]);
  const waiting = new Set(approvals.map(({ task_id }) => task_id));
  const nameOf = (task: NonNullable<Surroundings['parent']>): string => taskName(task) || `“${task.title}”`;
  const say = ({ task_id, total, done, comments, parent, blocker }: Surroundings): Around => ({
    facts: [
      ...(parent ? [`part of ${nameOf(parent)}`] : []),
      ...(total > 0 && total < MAX_COUNTED ? [`${done} of ${total} subtasks`] : counted(total, 'subtask', 'subtasks')),
      ...counted(comments, 'comment', 'comments'),
    ],
    blocker: blocker ? { name: nameOf(blocker), title: blocker.title } : undefined,
    waits: waiting.has(task_id),
  });
  return Object.fromEntries([...found].map(([taskId, around]) => [taskId, say(around)]));
}
