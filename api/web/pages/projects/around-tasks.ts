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
}

const counted = (count: number, one: string, many: string): string[] =>
  count === 0 ? [] : [count < MAX_COUNTED ? `${count} ${count === 1 ? one : many}` : `${MAX_COUNTED} or more ${many}`];

/** Says what is around tasks, by their ids, from one query. */
export async function loadAround(ctx: Context, me: User | null, taskIds: readonly string[]): Promise<Record<string, Around>> {
  const { taskName } = createFormatter(me);
  const nameOf = (task: NonNullable<Surroundings['parent']>): string => taskName(task) || `“${task.title}”`;
  const say = ({ total, done, comments, parent, blocker }: Surroundings): Around => ({
    facts: [
      ...(parent ? [`part of ${nameOf(parent)}`] : []),
      ...(total > 0 && total < MAX_COUNTED ? [`${done} of ${total} subtasks`] : counted(total, 'subtask', 'subtasks')),
      ...counted(comments, 'comment', 'comments'),
    ],
    blocker: blocker ? { name: nameOf(blocker), title: blocker.title } : undefined,
  });
  const found = await readSurroundings(ctx, taskIds);
  return Object.fromEntries([...found].map(([taskId, around]) => [taskId, say(around)]));
}
