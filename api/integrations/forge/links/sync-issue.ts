import { createHash } from 'node:crypto';
import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { DomainError, forbidden } from '../../../platform/errors.js';
import { Title } from '../../../platform/fields.js';
import { createTask } from '../../../work/tasks/write/create-task.js';
import type { TaskResolution } from '../../../work/tasks/rules.js';
import { CreateTask } from '../../../work/tasks/schema.js';
import { updateTask } from '../../../work/tasks/write/update-task.js';
import type { Binding } from '../deliveries/find-audience.js';
import { type LinkedTask, recordLink } from './record-link.js';
import { newestStatement } from './sync-issue.sql.js';
import type { NormalisedEvent } from '../rules.js';

type IssueEvent = Extract<NormalisedEvent, { type: `forge.issue_${string}` }>;

/** The issue of a delivery. */
interface Issue {
  event: IssueEvent;
  deliveryId: string;
  repo: string;
  number: number;
}

const isIssueEvent = (event: NormalisedEvent): event is IssueEvent => event.type.startsWith('forge.issue_');

/** Serializes deliveries of one issue: a close that overtakes its opening must not miss the task. */
const lockStatement = defineStatement({
  name: 'forge_lock_issue',
  text: 'select pg_advisory_xact_lock(hashtextextended($1, 7))',
});

interface NewestIssue extends Record<string, unknown> {
  receipt_id: string;
  normalized: IssueEvent['type'];
  /** Why it was closed, as the code host says; of another state, nothing that counts. */
  reason: string | null;
}

/** $1 = repository, $2 = issue number, $3 = team id. Returns the team's live tasks linked to the issue. */
const linkedStatement = defineStatement({
  name: 'forge_tasks_of_issue',
  text: /* sql */ `
    select t.task_id from forge_links l join tasks t using (task_id)
    where l.repo = $1 and l.kind = 'issue' and l.number = $2 and t.team_id = $3 and t.deleted_at is null order by t.task_id`,
});

const storedStatement = defineStatement({
  name: 'stored_task_of_issue',
  text: 'select deleted_at from tasks where task_id = $1',
});

const linkStatement = defineStatement({
  name: 'forge_link_issue',
  text: /* sql */ `
    insert into forge_links (task_id, repo, kind, number, url) values ($1, $2, 'issue', $3, $4)
    on conflict (repo, kind, number, task_id) do update set url = excluded.url where forge_links.url is distinct from excluded.url
    returning (select json_build_object('task_id', t.task_id, 'title', t.title, 'team_id', t.team_id, 'project_id', t.project_id)
      from tasks t where t.task_id = $1) as task`,
});

/** Derives the id of an issue's task from issue and project, so that an issue opened twice creates one task. */
const syncedTaskId = (repo: string, number: number, projectId: string): string =>
  `forge.${createHash('sha256').update(`${repo}#${number} ${projectId}`).digest('hex').slice(0, 32)}`;

const cut = (text: string, max: number): string => Array.from(text.trim()).slice(0, max).join('').trim();

/** What the newest delivery of an issue makes of its tasks. */
type State = { status: 'todo' } | { status: 'done'; resolution?: TaskResolution | null };

/** What the code host says of a closed issue: why nobody completed it, or that it was completed. Without a word a resolution stays. */
const RESOLUTIONS: Readonly<Record<string, TaskResolution | null>> = {
  completed: null,
  not_planned: 'canceled',
  duplicate: 'duplicate',
};

function stateOf(type: IssueEvent['type'], reason: string | null | undefined): State {
  if (type !== 'forge.issue_closed') return { status: 'todo' };
  const resolution = Object.hasOwn(RESOLUTIONS, reason ?? '') ? RESOLUTIONS[reason ?? ''] : undefined;
  return { status: 'done', ...(resolution !== undefined && { resolution }) };
}

/** Builds the task of an issue, truncated to the limits that apply to users too. */
function buildTask({ event, repo, number }: Issue, projectId: string, state: State): CreateTask {
  const { title, labels } = event.payload;
  const readable = Title(200).safeParse(cut(title ?? '', 200));
  const tags = [...new Set(labels.map((label) => cut(label, 50)))].filter((tag) => tag !== '').slice(0, 20);
  return CreateTask.parse({
    task_id: syncedTaskId(repo, number, projectId),
    project_id: projectId,
    title: readable.success ? readable.data : `Issue #${number}`,
    ...state,
    tags,
  });
}

/**
 * Builds the context of the binding's creator, with the creator's current permissions. Audit entries name the user; `user_agent`
 * names the sync and the delivery.
 * @throws PERMISSION_DENIED if the creator's account is not active
 */
function actAsCreator(ctx: Context, { creator }: Binding, { deliveryId }: Issue): Context {
  if (!creator.active) throw forbidden('No longer active');
  const { userId, email, role } = creator;
  return {
    ...ctx,
    actor: { type: 'sync', userId, email, role, causeUserIds: (ctx.actor.type === 'system' && ctx.actor.causeUserIds) || [] },
    ip: null,
    userAgent: `forge issue sync, delivery ${deliveryId}`,
  };
}

async function open(ctx: Context, projectId: string, issue: Issue, state: State): Promise<void> {
  const task = buildTask(issue, projectId, state);
  const [stored] = await run<{ deleted_at: Date | null }>(ctx.db, storedStatement, [task.task_id]);
  // A task in the trash stays there: a user's deletion outranks the issue.
  if (stored?.deleted_at) return;
  if (!stored) await createTask(ctx, task);
  const { repo, number } = issue;
  const [linked] = await run<{ task: LinkedTask }>(ctx.db, linkStatement, [task.task_id, repo, number, issue.event.payload.url]);
  // Creating a task already records its link.
  if (linked && stored) await recordLink(ctx, linked.task, { change: 'linked', repo, number, kind: 'issue' });
}

async function follow(ctx: Context, teamId: string, { repo, number }: Issue, state: State): Promise<void> {
  const tasks = await run<{ task_id: string }>(ctx.db, linkedStatement, [repo, number, teamId]);
  for (const { task_id } of tasks) await updateTask(ctx, task_id, state);
}

/**
 * Applies the issue's state to one binding.
 * @throws the errors of the task operations
 */
async function syncBinding(ctx: Context, binding: Binding, issue: Issue, state: State): Promise<void> {
  const acting = actAsCreator(ctx, binding, issue);
  if (issue.event.type === 'forge.issue_opened') {
    if (binding.project_id) await open(acting, binding.project_id, issue, state);
  } else await follow(acting, binding.team_id, issue, state);
}

/**
 * Returns the message of a rejection for operators, who are not the rejected user.
 * @throws the error itself if it is not a rejection
 */
function toRefusal(error: unknown): string {
  if (!(error instanceof DomainError) || error.status >= 500) throw error;
  return error.code === 'PERMISSION_DENIED' ? 'the creator of the binding may no longer write there' : error.message;
}

/**
 * Synchronizes tasks with issues: an opened issue creates a task; closed and reopened update every linked task of the team;
 * ignores other events. Bindings are independent: a rejection for one does not affect the others. A late delivery never overrides
 * a newer one about the same issue.
 * @returns why bindings were rejected; empty on success
 * @throws retryable errors (database unavailable, a deadlock): the relay retries the whole delivery
 */
export async function syncIssue(
  ctx: Context,
  bindings: Binding[],
  receipt: { receipt_id: string; delivery_id: string; team_id: string | null },
  event: NormalisedEvent,
): Promise<string[]> {
  const syncing = bindings.filter((binding) => binding.sync_issues);
  if (syncing.length === 0 || !isIssueEvent(event)) return [];
  const { repo: fullName, issue_number: number } = event.payload;
  if (fullName === null || number === null) return ['the delivery names no issue'];
  const issue = { event, deliveryId: receipt.delivery_id, repo: fullName.toLowerCase(), number };

  await run(ctx.db, lockStatement, [`${issue.repo}#${number}`]);
  const newestValues = [issue.repo, number, receipt.receipt_id, receipt.team_id];
  const [newest] = await run<NewestIssue>(ctx.db, newestStatement, newestValues);
  const overtaken = newest !== undefined && newest.receipt_id !== receipt.receipt_id;
  if (overtaken && event.type !== 'forge.issue_opened') return [];
  const state = stateOf(newest?.normalized ?? event.type, newest?.reason);
  const refusals = new Set<string>();
  for (const binding of syncing) {
    await ctx.db
      .transaction((db) => syncBinding({ ...ctx, db }, binding, issue, state))
      .catch((error: unknown) => refusals.add(toRefusal(error)));
  }
  return [...refusals];
}
