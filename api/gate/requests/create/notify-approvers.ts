import type { Context } from '../../../platform/context.js';
import { findRecipients } from '../../../work/notifications/find-recipients.js';
import { type Channel, notifyInApp, notifyUsers } from '../../../work/notifications/notify-users.js';
import type { ChangeRequest } from '../schema.js';

/** A request that waits for people. */
interface WaitingRequest {
  request_id: string;
  team_id: string;
  title: string;
  operations: readonly Pick<ChangeRequest['operations'][number], 'system' | 'name' | 'target'>[];
  requirement: Pick<ChangeRequest['requirement'], 'role' | 'allow_self'>;
  self_ids: readonly string[];
  expires_at: string;
}

const UTC = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'medium', timeStyle: 'short' });

/** Operations that an email names. */
const MAX_NAMED = 5;

/** Says what a request would call, without arguments: "aws · rotate_key on prod". */
const nameOperation = ({ system, name, target }: WaitingRequest['operations'][number]): string =>
  `${system} · ${name}${target ? ` on ${target}` : ''}`;

/** Notifies those who may approve a request. The mail leads to the page of the decision and never decides. It holds no arguments. */
export async function notifyApprovers(
  ctx: Context,
  request: WaitingRequest,
  channels: readonly Channel[],
  kind: 'change_requested' | 'change_reminder' = 'change_requested',
): Promise<void> {
  const { request_id, team_id, title, operations, requirement, self_ids, expires_at } = request;
  const except = requirement.allow_self ? [] : self_ids;
  const approvers = { teamId: team_id, role: requirement.role, except };
  const waiting = kind === 'change_reminder' ? 'Still waiting for your yes' : 'Waiting for your yes';
  const [first] = operations;
  const more = operations.length > 1 ? ` and ${operations.length - 1} more` : '';
  const message = `${waiting}: ${title}`;
  if (!channels.includes('email')) return notifyInApp(ctx, approvers, { kind, message, request_id });
  return notifyUsers(
    ctx,
    await findRecipients(ctx, approvers),
    {
      kind,
      title: `${waiting}: ${title.replaceAll(/\s+/gu, ' ')}`,
      message,
      mailMessage: `${waiting}: a program asks to act on ${first?.system ?? ''}${more}.`,
      details: [title, ...operations.slice(0, MAX_NAMED).map(nameOperation), `Expires ${UTC.format(new Date(expires_at))} UTC.`],
      team_id,
      run_id: null,
      request_id,
      path: `/app/approvals/request/${request_id}`,
    },
    channels,
  );
}

/** What became of a request, for the person who made it. */
const ENDS = {
  approved: 'was approved',
  rejected: 'was rejected',
  expired: 'has expired',
  cancelled: 'was cancelled',
  stale: 'is stale: what it would call has changed',
} as const;
export type NotifiedEnd = keyof typeof ENDS;

/** Notifies the requester in the app. `by`: the person who decided, who needs no notice of it; `reason`: their words. */
export const notifyRequester = (
  ctx: Context,
  { request_id, team_id, title, requested_by }: { request_id: string; team_id: string; title: string; requested_by: string },
  end: NotifiedEnd,
  by: string | null = null,
  reason: string | null = null,
): Promise<void> => {
  const requester = { teamId: team_id, userIds: [requested_by], except: [by] };
  const message = `Your request “${title}” ${ENDS[end]}${reason ? `: ${reason.replaceAll(/\s+/gu, ' ')}` : ''}`;
  return notifyInApp(ctx, requester, { kind: 'change_ended', message, request_id });
};

/** Notifies those who approved a request that it is stale and that nothing was called, in the app. */
export const notifyStale = (
  ctx: Context,
  { request_id, team_id, title }: { request_id: string; team_id: string; title: string },
  approvers: readonly string[],
): Promise<void> => {
  const message = `“${title}”, which you approved, ${ENDS.stale}. Nothing was called`;
  return notifyInApp(ctx, { teamId: team_id, userIds: approvers }, { kind: 'change_ended', message, request_id });
};
