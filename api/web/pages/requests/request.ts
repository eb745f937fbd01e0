import { z } from 'zod';
import { approveRequest } from '../../../gate/requests/decide/approve-request.js';
import { cancelRequest } from '../../../gate/requests/decide/cancel-request.js';
import { rejectRequest } from '../../../gate/requests/decide/reject-request.js';
import { readRequest } from '../../../gate/requests/read/read-request.js';
import { RequestPath } from '../../../gate/requests/schema.js';
import { Id, NO_ID, Text } from '../../../platform/fields.js';
import { markNotifications } from '../../../work/notifications/mark-notifications.js';
import { type FormError, page, type Page, type Redirect, requireUser } from '../../page.js';
import { safePath } from '../../server/safe-path.js';
import { mapTeamNames, namesIn } from '../../wording/names.js';
import { Hash } from '../agent/plan-lines.js';
import { buildRequestCards } from './request-card.js';

const PATH = '/app/approvals/request/:request_id';

/** The text that the user saw, their words, and the page to return to. */
const decision = {
  request_hash: Hash,
  comment: Text.trim().max(2000).optional(),
  back: z
    .unknown()
    .optional()
    .transform((value) => (value === undefined ? '/app/approvals' : safePath(value))),
};
const wordsOf = ({ request_hash, comment }: { request_hash: string; comment?: string | undefined }) => ({
  request_hash,
  comment: comment || null,
});

/** Shows the error on the page of the request, which may differ from the one that the user saw. */
const refused = ({ params }: { params: unknown }, { message }: FormError): Promise<Redirect> => {
  const { request_id } = z.object({ request_id: Id.catch(NO_ID) }).parse(params);
  return Promise.resolve({ to: `/app/approvals/request/${request_id}`, notice: { kind: 'bad', text: message } });
};

export const requestPages: Page[] = [
  page({
    method: 'get',
    path: PATH,
    access: 'request.read',
    params: RequestPath,
    async handle({ ctx, me, params }) {
      const person = requireUser({ me });
      const request = await readRequest(ctx, params.request_id);
      await markNotifications(ctx, { request_id: request.request_id });
      const [card] = buildRequestCards(person.user_id, [request]);
      const data = { card, names: await namesIn(ctx, person, [request]), teamNames: mapTeamNames(person) };
      return { view: 'requests/request', title: request.title, data };
    },
  }),
  page({
    method: 'post',
    path: `${PATH}/approve`,
    access: 'request.decide',
    limit: 'request_approve',
    params: RequestPath,
    form: z.object({ ...decision, code: Text.trim().max(20).optional() }),
    async handle({ ctx, params, form }) {
      const { approvals_needed } = await approveRequest(ctx, params.request_id, { ...wordsOf(form), code: form.code || null });
      const text = approvals_needed === 0 ? 'Approved. The program may act now.' : `Approved. Still needed: ${approvals_needed}.`;
      return { to: form.back, notice: { kind: 'good', text } };
    },
    onError: refused,
  }),
  page({
    method: 'post',
    path: `${PATH}/reject`,
    access: 'request.decide',
    limit: 'request_reject',
    params: RequestPath,
    form: z.object({ ...decision, reason: decision.comment }),
    async handle({ ctx, params, form: { reason, ...form } }) {
      await rejectRequest(ctx, params.request_id, wordsOf({ ...form, comment: reason || form.comment }));
      return { to: form.back, notice: { kind: 'good', text: 'Rejected. The program may not act.' } };
    },
    onError: refused,
  }),
  page({
    method: 'post',
    path: `${PATH}/cancel`,
    access: 'request.cancel',
    params: RequestPath,
    form: z.object({}),
    async handle({ ctx, params }) {
      await cancelRequest(ctx, params.request_id, null);
      return { to: `/app/approvals/request/${params.request_id}`, notice: { kind: 'good', text: 'Cancelled.' } };
    },
    onError: refused,
  }),
];
