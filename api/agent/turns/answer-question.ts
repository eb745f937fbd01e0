import type { Context } from '../../platform/context.js';
import { quote } from '../grammar/doubts/naming.js';
import { Question } from '../grammar/subjects.js';
import { meansCompleted } from '../grammar/sets/is-meant.js';
import type { Asked } from '../grammar/outcome.js';
import { droppedWords } from '../grammar/sets/dropped.js';
import { RESOLUTIONS } from '../grammar/terms.js';
import type { LinkedItem } from '../grammar/tokens.js';
import type { ReadableLink } from '../sessions/read-links.js';
import { answerActivity } from './answer-activity.js';
import { aheadWords, chooseAhead, isAhead } from './answers/ahead.js';
import { attentionTasks, attentionWords, blockedWords } from './answers/attention.js';
import { describeCycles, noCycleWords } from './answers/cycle.js';
import { answerForecast } from './answers/forecast.js';
import { answerNone } from './answers/none.js';
import { describeProject } from './answers/project.js';
import { blockingWords, listWords, loadWords, MAX_LISTED } from './answers/task-lines.js';
import { describe, helpWords, linkMentions, MAY_NOT_READ, mentionsOf, nothingLinked, summaryWords } from './answer-words.js';
import type { ClaimedTurn } from './claim-turn.js';
import type { Answer, Mentioned } from './end-turn.js';
import { exceedsExamined, type Asking, findBlocking, type FoundTask, mayReadTasks } from './find-tasks.js';
import { MAX_EXAMINED } from './find-tasks.sql.js';
import { exampleNames, namesFor } from './example-names.js';
import { findSet } from './answers/find-set.js';
import { type ReadByRules, zoneOf } from './reading/read-world.js';

/** Says that an answer is about a part of the tasks. */
function partWords(teamIds: readonly string[] | null): string {
  const count = MAX_EXAMINED.toLocaleString('en');
  return teamIds?.length === 1
    ? `I looked only at the newest ${count} tasks of the team, which has more. The search and the saved views look at all.`
    : `I looked only at ${count} tasks of your teams, which have more. The search and the saved views look at all.`;
}

const PEOPLE_CHOOSE = 'I do not choose people. This is how much each of them has:';

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
  { question, without, of }: Extract<Asked, { does: 'tasks' }>,
): Promise<Answer> {
  const { filter, show } = question;
  const teamIds = teamsOf(links);
  const asking = { teamIds, timezone: zoneOf(turn), today: world.today };
  const found = await findSet(ctx, world, filter, asking);
  if (!found) return { content: filter.cycle ? noCycleWords(filter.cycle) : '' };
  const isDropping = meansCompleted(filter);
  const dropped = isDropping ? ((await findSet(ctx, world, { ...filter, resolutions: RESOLUTIONS }, asking)) ?? []) : [];
  const tasks = found.filter(({ id }) => !without.includes(id));
  if (show === 'attention')
    return { content: attentionWords(tasks, world.today), mentions: mentionsOf(attentionTasks(tasks, world.today)) };
  if (show === 'blockers' && tasks.length > 0) {
    const ids = tasks.slice(0, MAX_LISTED).map(({ id }) => id);
    const blockers = await findBlocking(ctx, ids, 'before', zoneOf(turn));
    return { content: blockedWords(tasks, blockers), mentions: mentionsOf([...tasks.slice(0, MAX_LISTED), ...blockers]) };
  }
  const ahead = isAhead(show) ? chooseAhead(tasks, show, world.today) : tasks;
  const none = show === 'list' && tasks.length === 0 ? await answerNone(ctx, filter, asking) : undefined;
  const words = isAhead(show)
    ? aheadWords(ahead, tasks.length, show, filter.assignee?.kind === 'name' ? world.people.shown(filter.assignee.name) : null)
    : show === 'load'
      ? loadWords(tasks, filter, world.today)
      : (none?.content ?? listWords(tasks));
  const part = (await exceedsExamined(ctx, teamIds)) ? partWords(teamIds) : '';
  const head = of ? `${describe({ ...of, item_type: of.type }, of)}\n\n${PEOPLE_CHOOSE}` : '';
  const content = [head, words, droppedWords(dropped), part].filter((text) => text !== '').join('\n\n');
  return { content, mentions: none?.mentions ?? (of ? mentionsOf([of]) : show === 'load' ? [] : listMentions(ahead)) };
}

/** Describes the items that a question is about. */
function describeItems({ facts }: ReadByRules, items: readonly LinkedItem[]): Answer {
  const lines = items.map((item) => describe({ ...item, item_type: item.type }, facts.get(item.id) ?? item));
  return { content: lines.join('\n'), mentions: mentionsOf(items) };
}

/** Answers what needs tasks that are not linked. @throws Question a name that means none, or several */
async function answerBeyond(
  ctx: Context,
  turn: ClaimedTurn,
  links: readonly ReadableLink[],
  read: ReadByRules,
  asked: Extract<Asked, { does: 'blocking' | 'activity' | 'tasks' | 'cycle' | 'forecast' }>,
): Promise<Answer> {
  if (!(await mayReadTasks(ctx, turn.token_id))) return { content: MAY_NOT_READ };
  const asking = { teamIds: teamsOf(links), timezone: zoneOf(turn), today: read.world.today };
  switch (asked.does) {
    case 'cycle': {
      const found = await describeCycles(ctx, asked.cycle, asking);
      if (found) return found;
      const none = noCycleWords(asked.cycle);
      const other = asked.otherwise && (await answerQuestion(ctx, turn, links, read, asked.otherwise));
      if (!asked.cycle.isSure && !other?.mentions?.length) return answerUnknownCycle(ctx, read, asked.cycle.written, asking);
      if (!other || (asked.cycle.isSure && !other.mentions?.length)) return { content: none };
      return asked.cycle.isSure ? { ...other, content: `${none}\n\n${other.content}` } : other;
    }
    case 'forecast':
      return answerForecast(ctx, asked.project, asking);
    case 'blocking': {
      const tasks = await findBlocking(ctx, asked.ids, asked.end, zoneOf(turn));
      return { content: blockingWords(tasks, asked.end), mentions: listMentions(tasks) };
    }
    case 'activity': {
      const { of } = asked;
      const isRecap = of?.type === 'project' && !asked.asked.who && !asked.asked.what;
      if (isRecap) return describeProject(ctx, turn, read, of, asked.asked.days);
      return answerActivity(ctx, asked, read.world, { teamIds: teamsOf(links), zone: zoneOf(turn) });
    }
    case 'tasks':
      return answerTasks(ctx, turn, links, read, asked);
  }
}

/** Of a release that is no cycle, nor in a title: what is open of the only linked project. */
async function answerUnknownCycle(ctx: Context, { world }: ReadByRules, written: string, asking: Asking): Promise<Answer> {
  const none = `I know no cycle, and no task, called ${quote(written)}.`;
  const [project, ...others] = world.items.filter(({ type }) => type === 'project');
  if (!project || others.length > 0) return { content: `${none} Name the project or the cycle that you mean.` };
  const { content, ...answer } = await answerForecast(ctx, project, asking);
  return { ...answer, content: `${none} This is the linked project.\n\n${content}` };
}

/** Answers a question about linked items and about tasks of their teams; without a link, of all teams of the user. It reads only what the user may read. */
export async function answerQuestion(
  ctx: Context,
  turn: ClaimedTurn,
  links: readonly ReadableLink[],
  read: ReadByRules,
  asked: Asked,
): Promise<Answer> {
  const mayRead = asked.does === 'help' || asked.does === 'summary' ? await mayReadTasks(ctx, turn.token_id) : false;
  switch (asked.does) {
    case 'help':
      return { content: helpWords(mayRead ? await namesFor(ctx, turn.user_id, links, read.facts) : {}) };
    case 'summary':
      return links.length === 0
        ? { content: nothingLinked(mayRead ? await exampleNames(ctx, turn.user_id, null) : {}) }
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
