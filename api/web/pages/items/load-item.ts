import type { z } from 'zod';
import { listActivity } from '../../../work/activity-feed/list-activity.js';
import type { ActivityEntry } from '../../../work/activity-feed/schema.js';
import type { User } from '../../../identity/auth/schema.js';
import { getFollowers } from '../../../work/tasks/followers/get-followers.js';
import { listMembers } from '../../../identity/teams/list-members.js';
import { listComments } from '../../../work/comments/list-comments.js';
import { findCommentCauses } from '../../../work/activity-feed/comment-causes.js';
import { withReplies } from '../../../work/comments/read-replies.js';
import type { CommentRecord } from '../../../work/comments/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { DomainError } from '../../../platform/errors.js';
import { findCycleNames } from '../../../work/cycles/find-cycle-names.js';
import { findFile } from '../../../work/items/files/get-file.js';
import { findPictures } from '../../../work/items/files/find-pictures.js';
import { isPicture } from '../../../work/items/files/rules.js';
import { getWorkItem } from '../../../work/items/get-work-item.js';
import { listWorkItems } from '../../../work/items/list-work-items.js';
import type { WholeWorkItem, WorkItem } from '../../../work/items/schema.js';
import { findPlaces } from '../../../work/graph/item-place.js';
import { findTaskNumbers } from '../../../work/tasks/read/find-task-numbers.js';
import { findOriginals } from '../../../work/relations/find-originals.js';
import { listRelations } from '../../../work/relations/list-relations.js';
import type { RelationType } from '../../../work/relations/rules.js';
import type { ItemRelation } from '../../../work/relations/schema.js';
import { listRunsOfItem } from '../../../automation/runs/list-runs-of-item.js';
import { getTask } from '../../../work/tasks/read/get-task.js';
import type { Task } from '../../../work/tasks/schema.js';
import { renderTexts } from '../../wording/markdown.js';
import { loadFields } from './field-form.js';
import { loadCodeHost } from './code-host.js';
import { loadWaiting } from './waiting.js';
import { namesIn, mapTeamNames } from '../../wording/names.js';

/** Entries of each list of the page; the API has the others. */
const COMMENTS = 100;
const ACTIVITY = 15;
const RUNS = 8;
const CONTENTS = 50;

/** Headings of the relations by effective type, in the order of the page. Where the type reads the same from both ends, by direction. */
const RELATION_HEADINGS: Readonly<Record<RelationType, string | Record<ItemRelation['direction'], string>>> = {
  belongs_to: 'Part of',
  parent_child: 'Contains',
  blocks: 'Blocks',
  blocking: 'Blocks',
  blocked_by: 'Blocked by',
  related_to: 'Related to',
  attached_to: { out: 'Attached to', in: 'Attachments' },
  caused_by: { out: 'Caused by', in: 'Cause of' },
  recurrence_of: { out: 'Recurrence of', in: 'Recurrences' },
};

interface RelationGroup {
  heading: string;
  relations: ItemRelation[];
}

/** Headings of relations by which a duplicate names its original. */
const OF_DUPLICATES: Record<ItemRelation['direction'], string> = { out: 'Duplicate of', in: 'Duplicated by' };

function getHeading({ effective_type, direction }: ItemRelation, isNaming: boolean): string {
  const heading = isNaming ? OF_DUPLICATES : RELATION_HEADINGS[effective_type];
  return typeof heading === 'string' ? heading : heading[direction];
}

/** Groups relations by what they mean for this item. `naming`: ids of those by which a duplicate names its original. */
function buildGroups(relations: ItemRelation[], naming: ReadonlySet<string>): RelationGroup[] {
  const headings = [
    ...new Set(
      [OF_DUPLICATES, ...Object.values(RELATION_HEADINGS)].flatMap((one) => (typeof one === 'string' ? one : [one.out, one.in])),
    ),
  ];
  const of = (heading: string) => relations.filter((one) => getHeading(one, naming.has(one.relation_id)) === heading);
  return headings.map((heading) => ({ heading, relations: of(heading) })).filter((group) => group.relations.length > 0);
}

/** Relations of an item with those that name an original: of this task, or of tasks that repeat it. */
async function loadRelations(ctx: Context, itemId: string) {
  const { relations } = await listRelations(ctx, itemId);
  const stating = relations.flatMap(({ effective_type, source_id }) => (effective_type === 'related_to' ? [source_id] : []));
  const pictures = await findPictures(
    ctx,
    relations.flatMap(({ item }) => (item.item_type === 'file' ? [item.item_id] : [])),
  );
  const naming = new Set([...(await findOriginals(ctx, [...new Set(stating)])).values()].map(({ relation_id }) => relation_id));
  return {
    relations,
    groups: buildGroups(relations, naming).map(({ heading, relations }) => ({
      heading,
      relations: relations.map((one) => ({ ...one, isPicture: pictures.has(one.item.item_id) })),
    })),
    original: relations.find(({ relation_id, direction }) => direction === 'out' && naming.has(relation_id))?.item,
  };
}

async function loadComments(ctx: Context, taskId: string): Promise<CommentRecord[]> {
  const rows = await listComments(ctx, taskId, { limit: COMMENTS, offset: 0 });
  return (await withReplies(ctx, taskId, rows)).rows as CommentRecord[];
}

const causesOf = async (ctx: Context, comments: readonly CommentRecord[]) =>
  Object.fromEntries(
    await findCommentCauses(
      ctx,
      comments.map(({ comment_id }) => comment_id),
    ),
  );

/** What is known of a file's bytes; undefined for an item that was created without an upload. */
async function findStoredFile(ctx: Context, fileId: string) {
  try {
    const { size, content_type, sha256, sniffed_type } = (await findFile(ctx, fileId)).stored;
    return { size: Number(size), content_type, sha256, isPicture: isPicture(sniffed_type) };
  } catch (error) {
    if (error instanceof DomainError && error.status === 404) return undefined;
    throw error;
  }
}

/** Returns the names of the cycle of a task and of those that its activity tells of; a deleted one has none. */
function loadCycleNames(ctx: Context, current: string | null | undefined, lines: readonly Pick<ActivityEntry, 'changes'>[]) {
  const changed = lines.flatMap(({ changes }) => [changes?.['cycle_id']?.from, changes?.['cycle_id']?.to]);
  return findCycleNames(
    ctx,
    [...new Set([current, ...changed])].filter((id): id is string => typeof id === 'string'),
  );
}

type ListedItem = z.output<typeof WorkItem>;

/** The first items of a project, oldest first. */
async function loadContents(ctx: Context, projectId: string): Promise<{ contents: ListedItem[]; hasMore: boolean }> {
  const { body, more } = await listWorkItems(ctx, { project_id: projectId, limit: CONTENTS, offset: 0 });
  if (typeof body !== 'string') throw new Error('A short list of work items came in chunks');
  const items = JSON.parse(body) as ListedItem[];
  return { contents: items.filter(({ type }) => type !== 'project'), hasMore: more };
}

/** The members of the team of a task or a project, and those who hear of the task. */
async function loadPeople(ctx: Context, { type, item_id, team_id }: z.output<typeof WholeWorkItem>) {
  if (type === 'project') return { members: await listMembers(ctx, team_id) };
  if (type !== 'task') return { members: [] };
  const [members, followers] = await Promise.all([listMembers(ctx, team_id), getFollowers(ctx, item_id)]);
  return { members, followers };
}

/** Renders the text of an item and its comments; the caller may tick the boxes of the task and of their own comments. */
async function renderItem(
  me: User,
  seat: Seat | null,
  members: readonly { username: string }[],
  { isTask, text }: { isTask: boolean; text: string },
  written: readonly CommentRecord[],
) {
  const tickForm = isTask && isAllowed('task.write', seat) ? 'form-tick' : undefined;
  const mayTick = ({ author_id, deleted }: CommentRecord) =>
    !deleted && author_id === me.user_id && isAllowed('comment.write', seat);
  const comment = (one: CommentRecord) => ({ text: one.content, ...(mayTick(one) && { tickForm: `tick-${one.comment_id}` }) });
  const [html, ...rendered] = await renderTexts([{ text, tickForm }, ...written.map(comment)], {
    names: new Set(members.map(({ username }) => username.toLowerCase())),
    teamKeys: new Set(me.teams.map(({ key }) => key)),
  });
  return { html, htmlById: Object.fromEntries(written.map(({ comment_id }, at) => [comment_id, rendered[at]])) };
}

/**
 * Loads everything that the page of an item shows, through the operations of the API, as the user.
 * @throws RESOURCE_NOT_FOUND unknown or in the trash | PERMISSION_DENIED not a member
 */
export async function loadItem(ctx: Context, me: User, itemId: string) {
  const { json, version } = await getWorkItem(ctx, itemId);
  const item = JSON.parse(json) as z.output<typeof WholeWorkItem>;
  const seat = (me.teams.find(({ team_id }) => team_id === item.team_id)?.role ?? null) as Seat | null;
  const projectId = item.type === 'project' ? null : item.project_id;
  const [{ relations, groups, original }, activity, runs, task, comments, inside, file, names, places, fields, people, waiting] =
    await Promise.all([
      loadRelations(ctx, itemId),
      listActivity(ctx, { entity_id: itemId, limit: ACTIVITY }),
      listRunsOfItem(ctx, itemId, RUNS),
      item.type === 'task'
        ? getTask(ctx, itemId).then((answer) => JSON.parse(answer.json) as Task & { subtasks: Task[] })
        : undefined,
      item.type === 'task' ? loadComments(ctx, itemId) : [],
      item.type === 'project' ? loadContents(ctx, itemId) : undefined,
      item.type === 'file' ? findStoredFile(ctx, itemId) : undefined,
      namesIn(ctx, me, [item]),
      // A live item’s project belongs to its team, so who may read the item may read the project.
      projectId === null ? undefined : findPlaces(ctx, [projectId]),
      loadFields(ctx, item),
      loadPeople(ctx, item),
      item.type === 'task' ? loadWaiting(ctx, me, itemId) : undefined,
    ]);
  const text = item.content ?? item.description ?? '';
  const written = comments.flatMap((comment) => [comment, ...(comment.replies as CommentRecord[])]);
  const isTask = item.type === 'task';
  const { html, htmlById } = await renderItem(me, seat, isTask ? people.members : [], { isTask, text }, written);
  return {
    item,
    version,
    cycleNames: await loadCycleNames(ctx, task?.cycle_id, activity),
    projectName: projectId === null ? undefined : places?.get(projectId)?.title,
    task,
    codeHost: task && (await loadCodeHost(ctx, task)),
    comments,
    causeById: await causesOf(ctx, written),
    htmlById,
    text,
    html,
    groups,
    original,
    numbers: await findTaskNumbers(
      ctx,
      relations.flatMap(({ item: far }) => (far.item_type === 'task' ? [far.item_id] : [])),
    ),
    fields,
    activity,
    runs,
    approvals: waiting,
    inside,
    file,
    names,
    ...people,
    teamNames: mapTeamNames(me),
    canWrite: isAllowed('item.write', seat),
  };
}
