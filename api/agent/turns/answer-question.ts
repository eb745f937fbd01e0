import type { Context } from '../../platform/context.js';
import { countTasksOfProjects } from '../../work/projects/count-tasks.js';
import type { Named } from '../grammar/asking/nearest.js';
import { STATUS_WORDS } from '../grammar/terms.js';
import { Question, onlyAssignees, quote } from '../grammar/subjects.js';
import type { Asked } from '../grammar/outcome.js';
import type { LinkedItem } from '../grammar/tokens.js';
import type { ReadableLink } from '../sessions/read-links.js';
import { answerActivity } from './answer-activity.js';
import {
  describe,
  helpWords,
  linkMentions,
  MAY_NOT_READ,
  mentionsOf,
  NOTHING_LINKED,
  plural,
  summaryWords,
} from './answer-words.js';
import type { ClaimedTurn } from './claim-turn.js';
import type { Answer, Mentioned } from './end-turn.js';
import { exceedsExamined, findBlocking, findTasks, type FoundTask, MAX_COUNTED, mayReadTasks } from './find-tasks.js';
import { MAX_EXAMINED } from './find-tasks.sql.js';
import { type ReadByRules, zoneOf } from './reading/read-world.js';

/** Tasks that an answer lists; the others are counted. */
const MAX_LISTED = 20;

const describeTask = ({ title, status, priority, due, assignee, is_blocked, project_title }: FoundTask): string => {
  const parts = [
    STATUS_WORDS[status] ?? status,
    `${priority} priority`,
    due === null ? null : `due ${due}`,
    assignee === null ? 'not assigned' : `assigned to ${assignee}`,
    is_blocked && status !== 'done' ? 'blocked' : null,
    `in ${quote(project_title)}`,
  ].filter((part) => part !== null);
  return `- ${quote(title)}: ${parts.join(', ')}`;
};

const countWords = (count: number): string =>
  count > MAX_COUNTED ? `More than ${MAX_COUNTED.toLocaleString('en')} tasks` : plural(count, 'task', 'tasks');

/** A count and the first tasks. */
function listWords(tasks: readonly FoundTask[], none: string): string {
  if (tasks.length === 0) return none;
  const more = tasks.length > MAX_LISTED ? [`- and ${countWords(tasks.length - MAX_LISTED).toLowerCase()} more`] : [];
  return [`${countWords(tasks.length)}:`, ...tasks.slice(0, MAX_LISTED).map(describeTask), ...more].join('\n');
}

/** How many open tasks each member has, most first. */
function loadWords(tasks: readonly FoundTask[]): string {
  const counts = new Map<string, number>();
  for (const { assignee } of tasks) counts.set(assignee ?? '', (counts.get(assignee ?? '') ?? 0) + 1);
  const rows = [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_LISTED);
  if (rows.length === 0) return 'No task is open.';
  return ['Open tasks:', ...rows.map(([name, count]) => `- ${name === '' ? 'not assigned' : name}: ${count}`)].join('\n');
}

/** Says that nothing was found, and what was looked for: a word that was not meant as a name shows. */
const noneWords = (words: readonly string[] = []): string =>
  words.length === 0
    ? 'No task of the team is like that.'
    : `No task of the team is like that. I looked for titles, tags and projects with words like ${words.map(quote).join(', ')}.`;

/** Says that an answer is about a part of the tasks. */
function partWords(teamIds: readonly string[] | null): string {
  const count = MAX_EXAMINED.toLocaleString('en');
  return teamIds?.length === 1
    ? `I looked only at the newest ${count} tasks of the team, which has more. The search and the saved views look at all.`
    : `I looked only at ${count} tasks of your teams, which have more. The search and the saved views look at all.`;
}

/** The tasks that a list names. */
const listMentions = (tasks: readonly FoundTask[]): Mentioned[] => mentionsOf(tasks.slice(0, MAX_LISTED));

/** Teams that a session is about; null for all of the user's. */
const teamsOf = (links: readonly ReadableLink[]): string[] | null =>
  links.length > 0 ? [...new Set(links.map(({ team_id }) => team_id))] : null;

async function answerTasks(
  ctx: Context,
  turn: ClaimedTurn,
  links: readonly ReadableLink[],
  { world }: ReadByRules,
  { question, without }: Extract<Asked, { does: 'tasks' }>,
): Promise<Answer> {
  const { filter, show } = question;
  const assignees = onlyAssignees(world, filter.assignee);
  const teamIds = teamsOf(links);
  const open = show === 'load' ? { ...filter, statuses: ['todo', 'in_progress', 'in_review'] as const } : filter;
  const found = await findTasks(ctx, open, assignees, { teamIds, timezone: zoneOf(turn), today: world.today });
  const tasks = found.filter(({ id }) => !without.includes(id));
  const words =
    show === 'load'
      ? loadWords(tasks)
      : listWords(
          tasks,
          noneWords([...(filter.words ?? []), ...(filter.project ?? []), ...(filter.tag === undefined ? [] : [filter.tag])]),
        );
  const content = (await exceedsExamined(ctx, teamIds)) ? `${words}\n\n${partWords(teamIds)}` : words;
  return { content, mentions: show === 'load' ? [] : listMentions(tasks) };
}

/** Describes the items that a question is about. */
function describeItems({ facts }: ReadByRules, items: readonly LinkedItem[]): Answer {
  const lines = items.map((item) => describe({ ...item, item_type: item.type }, facts.get(item.id) ?? item));
  return { content: lines.join('\n'), mentions: mentionsOf(items) };
}

/** How far a project is, and what happened in it in the last days. */
async function describeProject(ctx: Context, turn: ClaimedTurn, read: ReadByRules, project: LinkedItem): Promise<Answer> {
  const counts = await countTasksOfProjects(ctx, [project.id], read.world.today);
  const { open = 0, done = 0, overdue = 0, isCut = false } = counts.get(project.id) ?? {};
  const parts = [plural(open, 'open task', 'open tasks'), `${overdue} of them overdue`, `${done} done`];
  const [head] = describe({ ...project, item_type: project.type }, { due: read.facts.get(project.id)?.due ?? null }).split('\n');
  const count = isCut ? `more than ${(open + done - 1).toLocaleString('en')} tasks` : parts.join(', ');
  const activity = await answerActivity(ctx, { does: 'activity', asked: {}, of: project }, read.world, {
    teamIds: null,
    zone: zoneOf(turn),
  });
  return { content: `${head}\n- ${count}\n\n${activity.content}`, mentions: activity.mentions };
}

/** Answers what needs tasks that are not linked. @throws Question a name that means none, or several */
async function answerBeyond(
  ctx: Context,
  turn: ClaimedTurn,
  links: readonly ReadableLink[],
  read: ReadByRules,
  asked: Extract<Asked, { does: 'blocking' | 'activity' | 'tasks' }>,
): Promise<Answer> {
  if (!(await mayReadTasks(ctx, turn.token_id))) return { content: MAY_NOT_READ };
  switch (asked.does) {
    case 'blocking': {
      const tasks = await findBlocking(ctx, asked.ids, asked.end, zoneOf(turn));
      const none = asked.end === 'before' ? 'No task blocks it.' : 'It blocks no task.';
      return { content: listWords(tasks, none), mentions: listMentions(tasks) };
    }
    case 'activity':
      return answerActivity(ctx, asked, read.world, { teamIds: teamsOf(links), zone: zoneOf(turn) });
    case 'tasks':
      return answerTasks(ctx, turn, links, read, asked);
  }
}

/** What the examples of an answer name: the first linked task and project. */
function namedIn(links: readonly ReadableLink[]): Named {
  const first = (type: string) => links.find(({ item_type }) => item_type === type)?.title;
  const [task, project] = [first('task'), first('project')];
  return { ...(task !== undefined && { T: quote(task) }), ...(project !== undefined && { J: quote(project) }) };
}

/** Answers a question about linked items and about tasks of their teams; without a link, of all teams of the user. It reads only what the user may read. */
export async function answerQuestion(
  ctx: Context,
  turn: ClaimedTurn,
  links: readonly ReadableLink[],
  read: ReadByRules,
  asked: Asked,
): Promise<Answer> {
  switch (asked.does) {
    case 'help':
      return { content: helpWords(namedIn(links)) };
    case 'summary':
      return links.length === 0
        ? { content: NOTHING_LINKED }
        : { content: summaryWords(links, read.facts), mentions: linkMentions(links) };
    case 'about': {
      const [first] = asked.items;
      const isProject = first?.type === 'project' && (await mayReadTasks(ctx, turn.token_id));
      return isProject ? describeProject(ctx, turn, read, first) : describeItems(read, asked.items);
    }
    default:
      try {
        return await answerBeyond(ctx, turn, links, read, asked);
      } catch (error) {
        if (error instanceof Question) return { content: error.message };
        throw error;
      }
  }
}
