import { kindsOfSentences, type Named } from '../../../agent/grammar/asking/nearest.js';
import { quote } from '../../../agent/grammar/doubts/naming.js';
import type { User } from '../../../identity/auth/schema.js';
import { listMembers } from '../../../identity/teams/list-members.js';
import type { Context } from '../../../platform/context.js';
import type { ProjectRecord } from '../../../work/projects/schema.js';
import type { NextTask } from '../../../work/tasks/read/list-next-tasks.js';
import { listTasks } from '../../../work/tasks/read/list-tasks.js';
import { createFormatter } from '../../wording/formatter.js';

/** Next tasks of the person among which examples look. */
export const FEW = 10;
/** A name that reads as one in a sentence. */
const PLAIN = /^\p{L}[\p{L}\p{N}]*(?: [\p{L}\p{N}]+){0,3}$/u;

type Numbered = Pick<NextTask, 'team_id' | 'number'>;

/** Two tasks of a project by what people call them: the person's next ones, else the newest ones. */
async function taskNames(
  ctx: Context,
  me: User,
  { project_id, name }: ProjectRecord,
  next: readonly NextTask[],
): Promise<string[]> {
  const mine: Numbered[] = next.filter(({ project_name }) => project_name === name);
  const { body } =
    mine.length > 1 ? { body: '[]' } : await listTasks(ctx, { project_id: [project_id], status: ['todo'], limit: 2 });
  const others = typeof body === 'string' ? (JSON.parse(body) as Numbered[]) : [];
  const { taskName } = createFormatter(me);
  return [...new Set([...mine, ...others].map(taskName))].filter((each) => each !== '');
}

/** Sentences that the rules know, about a project, its tasks and another member of its team. */
export async function exampleSentences(ctx: Context, me: User, project: ProjectRecord | undefined, next: readonly NextTask[]) {
  if (!project) return kindsOfSentences({}, 'given');
  const [[T, U], members] = await Promise.all([taskNames(ctx, me, project, next), listMembers(ctx, project.team_id)]);
  const other = members.find(({ user_id }) => user_id !== me.user_id);
  const P = other && (PLAIN.test(other.display_name) ? other.display_name : `@${other.username}`);
  const J = PLAIN.test(project.name) ? project.name : quote(project.name);
  const named = Object.entries({ T, U, P, J }).filter(([, name]) => name !== undefined);
  return kindsOfSentences(Object.fromEntries(named) as Named, 'given');
}
