import { z } from 'zod';
import { confirmPlan } from '../../../agent/plans/decisions/confirm-plan.js';
import { discardPlan } from '../../../agent/plans/decisions/discard-plan.js';
import { undoPlan } from '../../../agent/plans/decisions/undo-plan.js';
import { proposeAgain } from './propose-again.js';
import { deleteAgentSession, renameAgentSession } from '../../../agent/sessions/change-session.js';
import { linkItem, linkItems, unlinkItem } from '../../../agent/sessions/link-item.js';
import { LINK_TYPES, LinkItem, MAX_LINKS, SessionParams, UpdateSession } from '../../../agent/sessions/schema.js';
import { stopAgentSession } from '../../../agent/turns/chat.js';
import { sendMessage } from '../../../agent/turns/conversation.js';
import { Chat } from '../../../agent/turns/schema.js';
import { Id } from '../../../platform/fields.js';
import { type FormError, type Notice, page, type Page, type Redirect, requireUser } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { Hash, TickedIndexes } from './plan-lines.js';
import { buildAnchor, conversationView } from './conversation-view.js';

/** Time in ms that a form waits for the answer, so that most need no refresh. */
export const WAIT_MS = 2_500;

/** A query that the API would reject counts as empty. */
export const Query = z.object({
  q: z
    .string()
    .transform((text) => (text.includes('\0') || !text.isWellFormed() ? '' : text.trim().slice(0, 200)))
    .catch(''),
});

export const buildPath = (sessionId: string): string => `/app/agent/${sessionId}`;
type SessionVisit = { params: { session_id: string } };
const back = ({ params }: SessionVisit, { message }: FormError): Promise<Redirect> =>
  Promise.resolve({ to: buildPath(params.session_id), notice: { kind: 'bad', text: message } });

/** Redirects to a plan of the conversation, which shows the notice. */
function atPlan(sessionId: string, actionId: string, kind: Notice['kind'], text: string): Redirect {
  const at = buildAnchor(actionId);
  return { to: `${buildPath(sessionId)}#${at}`, notice: { kind, text, at } };
}

/** Browsers send every line break of a text as CRLF. */
const Typed = z.string().transform((text) => text.replaceAll('\r\n', '\n'));
const Named = z.object({ item_type: z.enum(LINK_TYPES), item_id: LinkItem.shape.item_id });

export const Message = z.object({
  message: Typed.pipe(Chat.shape.message),
  message_id: z.uuid().transform((id) => id.toLowerCase()),
});
const sessions: Page[] = [
  page({
    method: 'get',
    path: '/app/agent/:session_id',
    access: 'agent.session',
    params: SessionParams,
    query: Query,
    handle: ({ ctx, me, params, query }) => conversationView(ctx, requireUser({ me }), params.session_id, query.q),
  }),
  page({
    method: 'post',
    path: '/app/agent/:session_id/rename',
    access: 'agent.session',
    limit: 'ai_session_change',
    params: SessionParams,
    form: UpdateSession,
    async handle({ ctx, params, form }) {
      await renameAgentSession(ctx, params.session_id, form);
      return { to: buildPath(params.session_id) };
    },
    onError: back,
  }),
  page({
    method: 'post',
    path: '/app/agent/:session_id/delete',
    access: 'agent.session_delete',
    limit: 'ai_session_delete',
    params: SessionParams,
    async handle({ ctx, params }) {
      await deleteAgentSession(ctx, params.session_id);
      return { to: '/app/agent', notice: { kind: 'good', text: 'Session deleted' } };
    },
  }),
];

const messages: Page[] = [
  page({
    method: 'post',
    path: '/app/agent/:session_id/messages',
    access: 'agent.session',
    limit: 'ai_chat',
    params: SessionParams,
    form: Message,
    async handle({ ctx, params: { session_id }, form: { message, message_id } }) {
      await sendMessage(ctx, { session_id, message }, message_id, WAIT_MS);
      return { to: `${buildPath(session_id)}#last` };
    },
    /** Shows the page again with what was typed. */
    onError: (visit, problem) => {
      const typed = visit.form['message'];
      const message = typeof typed === 'string' ? typed : '';
      return conversationView(visit.ctx, requireUser(visit), visit.params.session_id, '', { problem, message });
    },
  }),
  page({
    method: 'post',
    path: '/app/agent/:session_id/stop',
    access: 'agent.session',
    limit: 'ai_stop',
    params: SessionParams,
    async handle({ ctx, params }) {
      await stopAgentSession(ctx, params.session_id);
      return { to: `${buildPath(params.session_id)}#last` };
    },
    onError: back,
  }),
];

/** `task <id>`, once or often. */
const Offered = z
  .union([z.string(), z.array(z.string()).max(MAX_LINKS)])
  .transform((sent) => [sent].flat().map((text) => ({ item_type: text.split(' ')[0], item_id: text.split(' ')[1] })))
  .pipe(z.array(z.object({ item_type: z.enum(['task', 'project']), item_id: LinkItem.shape.item_id })));

const links: Page[] = [
  page({
    method: 'post',
    path: '/app/agent/:session_id/link-and-send',
    access: 'agent.link',
    limit: 'ai_chat',
    params: SessionParams,
    form: Message.extend({ item: Offered }),
    async handle({ ctx, params: { session_id }, form: { message, message_id, item } }) {
      await linkItems(ctx, session_id, item);
      await sendMessage(ctx, { session_id, message }, message_id, WAIT_MS);
      return { to: `${buildPath(session_id)}#last` };
    },
    onError: back,
  }),
  page({
    method: 'post',
    path: '/app/agent/:session_id/link',
    access: 'agent.link',
    limit: 'ai_link',
    params: SessionParams,
    form: Named,
    async handle({ ctx, params, form }) {
      await linkItem(ctx, params.session_id, form);
      return { to: buildPath(params.session_id) };
    },
    onError: back,
  }),
  page({
    method: 'post',
    path: '/app/agent/:session_id/unlink',
    access: 'agent.session',
    limit: 'ai_unlink',
    params: SessionParams,
    form: Named,
    async handle({ ctx, params, form }) {
      await unlinkItem(ctx, { ...params, ...form });
      return { to: buildPath(params.session_id) };
    },
    onError: back,
  }),
];

/** Shows the error at the plan. */
const refused = ({ params, form }: SessionVisit & { form: Fields }, { message }: FormError): Promise<Redirect> => {
  const actionId = Id.safeParse(form['action_id']);
  const to = buildPath(params.session_id);
  return Promise.resolve(
    actionId.success ? atPlan(params.session_id, actionId.data, 'bad', message) : { to, notice: { kind: 'bad', text: message } },
  );
};

const Decided = z.object({ action_id: Id, plan_hash: Hash, seen_hash: Hash.optional(), index: TickedIndexes.optional() });

const plans: Page[] = [
  page({
    method: 'post',
    path: '/app/agent/:session_id/confirm',
    access: 'plan.decide',
    limit: 'ai_confirm',
    params: SessionParams,
    form: Decided,
    async handle({ ctx, params: { session_id }, form: { index, ...plan } }) {
      const { action_id } = plan;
      if (!index?.length) return atPlan(session_id, action_id, 'bad', 'Tick at least one change.');
      const { message } = await confirmPlan(ctx, { ...plan, session_id, confirmed: true, action_indexes: index });
      return atPlan(session_id, action_id, 'good', message);
    },
    onError: refused,
  }),
  page({
    method: 'post',
    path: '/app/agent/:session_id/discard',
    access: 'plan.decide',
    limit: 'ai_confirm',
    params: SessionParams,
    form: z.object({ action_id: Id }),
    async handle({ ctx, params: { session_id }, form: { action_id } }) {
      const { message } = await discardPlan(ctx, { session_id, action_id });
      return atPlan(session_id, action_id, 'good', message);
    },
    onError: refused,
  }),
  page({
    method: 'post',
    path: '/app/agent/:session_id/propose-again',
    access: 'plan.edit',
    limit: 'ai_edit',
    params: SessionParams,
    form: Decided,
    async handle({ ctx, params: { session_id }, form }) {
      const { action_id, text } = await proposeAgain(ctx, form);
      return atPlan(session_id, action_id, 'good', text);
    },
    onError: refused,
  }),
  page({
    method: 'post',
    path: '/app/agent/:session_id/undo',
    access: 'plan.decide',
    limit: 'ai_undo',
    params: SessionParams,
    form: z.object({ action_id: Id }),
    async handle({ ctx, params: { session_id }, form: { action_id } }) {
      const { action_id: undo } = await undoPlan(ctx, action_id);
      return atPlan(session_id, undo, 'good', 'A plan that takes the changes back waits for your confirmation.');
    },
    onError: refused,
  }),
];

/** The conversation with the agent: its session, talk, links and plans. */
export const conversationPages: Page[] = [...sessions, ...messages, ...links, ...plans];
