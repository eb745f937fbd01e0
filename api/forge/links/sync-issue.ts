import { createHash } from 'node:crypto';
import { run, type Statement } from '../../../db/statement.js';
import type { Context } from '../../core/context.js';
import { DomainError, forbidden } from '../../core/errors.js';
import { Title } from '../../core/fields.js';
import { createTask } from '../../tasks/write/create-task.js';
import { CreateTask } from '../../tasks/schema.js';
import { updateTask } from '../../tasks/write/update-task.js';
import type { Binding } from '../deliveries/find-audience.js';
import { type LinkedTask, recordLink } from './record-link.js';
import type { NormalisedEvent } from '../rules.js';

type IssueEvent = Extract<NormalisedEvent, { type: `forge.issue_${string}` }>;

/** What a delivery tells of an issue. */
interface Issue {
  event: IssueEvent;
  deliveryId: string;
  repo: string;
  number: number;
}

const isIssueEvent = (event: NormalisedEvent): event is IssueEvent => event.type.startsWith('forge.issue_');

/** One issue is worked on by one transaction at a time: a close that overtakes its opening must not miss the task. */
const lockStatement: Statement = { name: 'forge_lock_issue', text: 'select pg_advisory_xact_lock(hashtextextended($1, 7))' };

/**
 * $1 repository, $2 issue number, $3 this receipt. The newest word on the issue by the forge's own clock among what came in three
 * days, applied or not: a forge redelivers that long, and keeps no order.
 */
const newestStatement: Statement = {
  name: 'forge_newest_of_issue',
  text: /* sql */ `
    select receipt_id, normalized from forge_deliveries
    where repo = $1 and receipt_id >= (select least(uuidv7(interval '-3 days'), $3::uuid)) and outcome is distinct from 'duplicate'
      and normalized in ('forge.issue_opened', 'forge.issue_closed', 'forge.issue_reopened')
      and payload->'issue'->>'number' = $2::int::text
    order by payload->'issue'->>'updated_at' desc nulls last, receipt_id desc limit 1`,
};

/** $1 repository, $2 number, $3 team: the team's live tasks that are linked to the issue. */
const linkedStatement: Statement = {
  name: 'forge_tasks_of_issue',
  text: /* sql */ `
    select t.task_id from forge_links l join tasks t using (task_id)
    where l.repo = $1 and l.kind = 'issue' and l.number = $2 and t.team_id = $3 and t.deleted_at is null order by t.task_id`,
};

const linkStatement: Statement = {
  name: 'forge_link_issue',
  text: /* sql */ `
    insert into forge_links (task_id, repo, kind, number, url) values ($1, $2, 'issue', $3, $4)
    on conflict (repo, kind, number, task_id) do update set url = excluded.url where forge_links.url is distinct from excluded.url
    returning (select json_build_object('task_id', t.task_id, 'title', t.title, 'team_id', t.team_id, 'project_id', t.project_id)
      from tasks t where t.task_id = $1) as task`,
};

/** The id of the task that an issue becomes in a project: made of both, so that an issue opened twice is one task. */
const syncedTaskId = (repo: string, number: number, projectId: string): string =>
  `forge.${createHash('sha256').update(`${repo}#${number} ${projectId}`).digest('hex').slice(0, 32)}`;

const cut = (text: string, max: number): string => Array.from(text.trim()).slice(0, max).join('').trim();

/** The task of an issue, within the limits that hold for people too (contract, section 8). */
function taskOf({ event, repo, number }: Issue, projectId: string, status: 'todo' | 'done'): CreateTask {
  const { title, labels } = event.payload;
  const readable = Title(200).safeParse(cut(title ?? '', 200));
  const tags = [...new Set(labels.map((label) => cut(label, 50)))].filter((tag) => tag !== '').slice(0, 20);
  return CreateTask.parse({
    task_id: syncedTaskId(repo, number, projectId),
    project_id: projectId,
    title: readable.success ? readable.data : `Issue #${number}`,
    status,
    tags,
  });
}

/**
 * The binding's creator at work: their rights at this moment decide (R6). The entries name the person, as their standing order
 * is carried out, and say in `user_agent` that it was the sync, and for which delivery.
 * @throws PERMISSION_DENIED when the creator's account is closed
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

async function open(ctx: Context, projectId: string, issue: Issue, status: 'todo' | 'done'): Promise<void> {
  const task = taskOf(issue, projectId, status);
  const [stored] = await ctx.db('tasks').where({ task_id: task.task_id }).select('deleted_at');
  // Whoever put the task into the trash meant it; the issue does not bring it back.
  if (stored?.deleted_at) return;
  if (!stored) await createTask(ctx, task);
  const { repo, number } = issue;
  const [linked] = await run<{ task: LinkedTask }>(ctx.db, linkStatement, [task.task_id, repo, number, issue.event.payload.url]);
  // The link of a task made just now belongs to its creation.
  if (linked && stored) await recordLink(ctx, linked.task, { change: 'linked', repo, number, kind: 'issue' });
}

async function follow(ctx: Context, teamId: string, { repo, number }: Issue, status: 'todo' | 'done'): Promise<void> {
  const tasks = await run<{ task_id: string }>(ctx.db, linkedStatement, [repo, number, teamId]);
  for (const { task_id } of tasks) await updateTask(ctx, task_id, { status });
}

/** Carries the issue's state into one binding. @throws what the task verbs refuse with */
async function syncBinding(ctx: Context, binding: Binding, issue: Issue, newest: IssueEvent['type']): Promise<void> {
  const acting = actAsCreator(ctx, binding, issue);
  const status = newest === 'forge.issue_closed' ? 'done' : 'todo';
  if (issue.event.type === 'forge.issue_opened') {
    if (binding.project_id) await open(acting, binding.project_id, issue, status);
  } else await follow(acting, binding.team_id, issue, status);
}

/** A refusal in the words of an operator, who is not the one that was refused. @throws the error itself when it is no refusal */
function refusalOf(error: unknown): string {
  if (!(error instanceof DomainError) || error.status >= 500) throw error;
  return error.code === 'PERMISSION_DENIED' ? 'the creator of the binding may no longer write there' : error.message;
}

/**
 * Issue sync: opened makes a task, closed and reopened move every linked task of the team; other events change nothing. Each
 * binding is on its own: what one of them is refused does not touch the others. A delivery that arrives after a newer one about
 * the same issue changes nothing that the newer one decided.
 * @returns why bindings were refused; empty when all is well
 * @throws what is no refusal (the database away, a deadlock): the relay tries the whole delivery again
 * Source: contract, section 6; decision F2.
 */
export async function syncIssue(
  ctx: Context,
  bindings: Binding[],
  receipt: { receipt_id: string; delivery_id: string },
  event: NormalisedEvent,
): Promise<string[]> {
  const syncing = bindings.filter((binding) => binding.sync_issues);
  if (syncing.length === 0 || !isIssueEvent(event)) return [];
  const { repo: fullName, issue_number: number } = event.payload;
  if (fullName === null || number === null) return ['the delivery names no issue'];
  const issue = { event, deliveryId: receipt.delivery_id, repo: fullName.toLowerCase(), number };

  await run(ctx.db, lockStatement, [`${issue.repo}#${number}`]);
  const newestValues = [issue.repo, number, receipt.receipt_id];
  const [newest] = await run<{ receipt_id: string; normalized: IssueEvent['type'] }>(ctx.db, newestStatement, newestValues);
  const overtaken = newest !== undefined && newest.receipt_id !== receipt.receipt_id;
  if (overtaken && event.type !== 'forge.issue_opened') return [];
  const refusals = new Set<string>();
  for (const binding of syncing) {
    await ctx.db
      .transaction((db) => syncBinding({ ...ctx, db }, binding, issue, newest?.normalized ?? event.type))
      .catch((error: unknown) => refusals.add(refusalOf(error)));
  }
  return [...refusals];
}
