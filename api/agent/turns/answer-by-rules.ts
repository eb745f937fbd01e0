import type { TurnView } from '../../../workflows/contracts/turn-contract.js';
import { type Context, inTransaction, type Services, serviceContext } from '../../platform/context.js';
import { toDomainError } from '../../platform/database/database-errors.js';
import { DomainError, reasonOf } from '../../platform/errors.js';
import type { LinkedItem } from '../grammar/tokens.js';
import type { ProposedAction } from '../plans/proposal.js';
import { MAX_ACTIONS } from '../plans/schema.js';
import { stagePlan } from '../plans/stage-plan.js';
import { finishTurn } from '../providers/steps/finish-turn.js';
import { proposerContext } from '../providers/steps/read-turn.js';
import { type ReadableLink, readLinks } from '../sessions/read-links.js';
import { answerQuestion } from './answer-question.js';
import {
  linkMentions,
  lostWords,
  linkedWords,
  linkFirstWords,
  mentionsOf,
  MAY_NOT_READ,
  NOT_STAGED,
  nothingLinked,
  planWords,
  summaryWords,
  unclearWords,
} from './answer-words.js';
import { type ClaimedTurn, claimTurn, type TurnExecution } from './claim-turn.js';
import { announceTurn, type Answer, type EndedTurn, endTurn, type Mentioned } from './end-turn.js';
import { exampleNames, namesFor } from './example-names.js';
import { findBlocks, mayReadTasks } from './find-tasks.js';
import { findLeftOut } from './left-out.js';
import { undoLast } from './undo-last.js';
import { findNamedProject } from './reading/named-project.js';
import { findNumbered, isNumberedIn } from './reading/numbered-tasks.js';
import { type Earlier, readEarlier } from './reading/earlier.js';
import { type ReadByRules, readByRules } from './reading/read-world.js';
import { discardWaiting, replacePlan } from './replace-plan.js';

/** Hours until a plan of a conversation expires. */
const CHAT_PLAN_HOURS = 24;

/** Stages the actions, or says why they cannot be done. */
async function propose(
  ctx: Context,
  turn: ClaimedTurn,
  actions: readonly ProposedAction[],
  notes: readonly string[] = [],
): Promise<Answer> {
  const session = { session_id: turn.session_id, owner_id: turn.user_id, team_id: null };
  try {
    const fixed = { source: 'chat', lifeHours: CHAT_PLAN_HOURS, onRefusal: 'refuse', tokenId: turn.token_id } as const;
    const staged = await stagePlan(ctx, { session, actions, ...fixed, behind: turn.behind_user_ids });
    const plan = staged.plan && { action_id: staged.plan.action_id, changes: staged.plan.actions.length };
    return { content: [planWords(staged), ...notes].join('\n\n'), plan };
  } catch (error) {
    if (!(error instanceof DomainError) || error.status >= 500) throw error;
    return { content: `That cannot be done: ${reasonOf(error)}. ${NOT_STAGED}` };
  }
}

/** Stages the end of the relations by which open tasks block a task. */
async function unblock(ctx: Context, turn: ClaimedTurn, { id, by }: { id: string; by: string | null }): Promise<Answer> {
  if (!(await mayReadTasks(ctx, turn.token_id))) return { content: MAY_NOT_READ };
  const relations = await findBlocks(ctx, id, by, MAX_ACTIONS);
  if (relations.length === 0)
    return { content: `No open task ${by === null ? 'blocks it' : 'of that name blocks it'}, so there is nothing to change.` };
  return propose(
    ctx,
    turn,
    relations.map((entity_id) => ({ tool: 'relation.delete', entity_id, params: {} })),
  );
}

/** Ids that a change names: what it changes, and what its parameters say. */
const idsIn = ({ entity_id, params }: ProposedAction): unknown[] => [entity_id, ...Object.values(params)];

/** Ids of the items that a message would change, or relate. */
function idsOf(outcome: ReadByRules['outcome']): Set<unknown> {
  if (outcome.kind === 'plan') return new Set(outcome.actions.flatMap(idsIn));
  return new Set(outcome.kind === 'unblock' ? [outcome.id, outcome.by] : []);
}

/**
 * What a message would change, or relate, of items that are neither linked nor tasks of a linked project, nor named by their number in the session: the
 * agent may find these, and proposes nothing about them.
 */
function unlinkedIn({ outcome, world: { beyond } }: ReadByRules, messages: readonly string[]): LinkedItem[] {
  return beyond?.among(idsOf(outcome)).filter((item) => !beyond.isCovered(item) && !isNumberedIn(messages, item)) ?? [];
}

/** Tasks that the page offers to link, before it sends the message again. */
const linkable = (tasks: readonly { id: string; title: string }[]): Mentioned[] =>
  mentionsOf(tasks).map((each) => ({ ...each, to_link: 'task' }));

/** Names what must be linked first; pages offer to link it and to send the message again. */
const offerLinks = (items: readonly LinkedItem[]): Answer => ({
  content: linkFirstWords(items),
  mentions: items.map(({ id: item_id, title, type }) => ({ item_id, title, to_link: type === 'project' ? type : 'task' })),
});

/** Whether a message may mean a project that is not linked: nothing linked fits, or the name of the project went into a title. */
function mayMean({ id, title }: LinkedItem, outcome: ReadByRules['outcome']): boolean {
  if (outcome.kind === 'question') return outcome.sets.length > 0 || outcome.items.some((each) => each.id === id);
  if (outcome.kind !== 'plan') return outcome.kind === 'answer';
  const titles = outcome.actions.flatMap(({ params }) =>
    typeof params['title'] === 'string' ? params['title'].toLowerCase() : [],
  );
  return titles.some((each) => each.endsWith(` ${title.toLowerCase()}`));
}

/** Names the project that a message names as a whole, if it is not linked and the message may mean it. */
async function offerProject(
  ctx: Context,
  turn: ClaimedTurn,
  links: readonly ReadableLink[],
  outcome: ReadByRules['outcome'],
): Promise<Answer | undefined> {
  if (!(await mayReadTasks(ctx, turn.token_id))) return undefined;
  const project = await findNamedProject(ctx, turn.user_id, turn.content);
  const isLinked = links.some(({ item_id }) => item_id === project?.id);
  return project && !isLinked && (links.length === 0 || mayMean(project, outcome)) ? offerLinks([project]) : undefined;
}

/** Without a link nothing is proposed: names the tasks that the message names by their numbers, or its project, or says what to do. */
async function offerNamed(ctx: Context, turn: ClaimedTurn, outcome: ReadByRules['outcome']): Promise<Answer> {
  const mayName = await mayReadTasks(ctx, turn.token_id);
  const numbered = mayName && outcome.kind !== 'answer' ? await findNumbered(ctx, turn.user_id, turn.content) : [];
  if (numbered.length > 0) return offerLinks(numbered);
  const project = await offerProject(ctx, turn, [], outcome);
  if (project) return project;
  const named = mayName ? await exampleNames(ctx, turn.user_id, null) : {};
  const none = nothingLinked(named);
  return { content: outcome.kind === 'answer' ? unclearWords(outcome.unclear ?? turn.content, named, none) : none };
}

/** What the rules say to a message that they have read. */
async function respond(
  ctx: Context,
  turn: ClaimedTurn,
  links: readonly ReadableLink[],
  read: ReadByRules,
  { waiting, messages }: Earlier,
): Promise<Answer> {
  const { outcome } = read;
  if (outcome.kind === 'ask') return answerQuestion(ctx, turn, links, read, outcome.asked);
  if (outcome.kind === 'undo') return undoLast(ctx, turn);
  if (outcome.kind === 'discard') return discardWaiting(ctx, turn, waiting);
  if (links.length === 0) return offerNamed(ctx, turn, outcome);
  const unlinked = unlinkedIn(read, [...messages, turn.content]);
  if (unlinked.length > 0) return offerLinks(unlinked);
  const project = await offerProject(ctx, turn, links, outcome);
  if (project) return project;
  if (outcome.kind === 'plan') {
    const left = await findLeftOut(ctx, turn, links, read, outcome.sets);
    const stage = () => propose(ctx, turn, outcome.actions, [...outcome.notes, ...(left ? [left.text] : [])]);
    const answer = await (outcome.replaces && waiting !== null ? replacePlan(ctx, turn, waiting, stage) : stage());
    return { ...answer, mentions: mentionsOf([...outcome.items, ...(left?.tasks ?? [])]) };
  }
  if (outcome.kind === 'unblock') return unblock(ctx, turn, outcome);
  if (outcome.kind === 'question') {
    const left = await findLeftOut(ctx, turn, links, read, outcome.sets);
    const content = [`${outcome.text} ${NOT_STAGED}`, ...(left ? [left.text] : [])].join('\n\n');
    return {
      content,
      mentions: [...mentionsOf(outcome.items), ...(left?.isAll ? linkable(left.tasks) : mentionsOf(left?.tasks ?? []))],
    };
  }
  const named = (await mayReadTasks(ctx, turn.token_id)) ? await namesFor(ctx, turn.user_id, links, read.facts) : {};
  const content = unclearWords(outcome.unclear ?? turn.content, named, summaryWords(links, read.facts));
  return { content, mentions: linkMentions(links) };
}

/** Reads the message by the grammar and answers it: with a plan, a question, an answer, or the nearest sentence that it would understand. */
async function answer(ctx: Context, turn: ClaimedTurn): Promise<Answer> {
  if (!turn.is_active) return { content: 'The account is not active.', code: 'cancelled' };
  const { readable, lost } = await readLinks(ctx, turn.session_id, turn.user_id);
  const earlier = await readEarlier(ctx, turn.session_id, turn.position);
  const reader = { userId: turn.user_id, timezone: turn.timezone };
  const reach = (await mayReadTasks(ctx, turn.token_id)) ? 'teams' : 'linked';
  const read = await readByRules(ctx, readable, reader, turn.content, { earlier, reach });
  const { mentions = [], ...answered } = await respond(ctx, turn, readable, read, earlier);
  const first = read.world.items.filter(({ id }) => id === turn.linked_item_id);
  const content = [...first.map(linkedWords), answered.content, lostWords(lost.length)]
    .filter((text) => text !== '')
    .join('\n\n');
  return { ...answered, content, mentions: [...mentionsOf(first), ...mentions] };
}

/**
 * Answers a message without a model: reading, staging and the answer in one transaction, so that a worker that dies leaves nothing behind.
 * @throws INTERNAL_ERROR 503 the database is not available; nothing was written
 */
export async function answerByRules(services: Services, owner: TurnExecution): Promise<TurnView> {
  const ctx = serviceContext(services, 'agent');
  let done: { turn: ClaimedTurn; ended?: EndedTurn } | undefined;
  try {
    done = await inTransaction(ctx, async (ctx) => {
      const turn = await claimTurn(ctx.db, owner);
      if (turn?.state !== 'running') return turn && { turn };
      return { turn, ended: await endTurn(ctx.db, turn, owner, await answer(proposerContext(services, ctx.db, turn), turn)) };
    });
  } catch (error) {
    if (toDomainError(error).status === 503) throw error;
    // The error's words may hold what was asked or read.
    services.log.error({ kind: error instanceof Error ? error.name : 'unknown', message_id: owner.messageId }, 'turn failed');
    return finishTurn(services, owner, 'internal');
  }
  if (!done) return { state: 'superseded' };
  return done.ended ? announceTurn(services, done.turn, done.ended) : { state: 'waiting' };
}
