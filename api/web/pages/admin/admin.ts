import { z } from 'zod';
import { Impersonate } from '../../../identity/admin/impersonation/schema.js';
import { startImpersonation } from '../../../identity/admin/impersonation/start-impersonation.js';
import { stopImpersonation } from '../../../identity/admin/impersonation/stop-impersonation.js';
import { countUsers, listUsers } from '../../../identity/admin/list-users.js';
import { reinstateUser } from '../../../identity/admin/reinstate-user.js';
import { Suspend, UserParams } from '../../../identity/admin/schema.js';
import { suspendUser } from '../../../identity/admin/suspend-user.js';
import { unlockUser } from '../../../identity/admin/unlock-user.js';
import { Text } from '../../../platform/fields.js';
import { page, type Page, type FormError, type Redirect } from '../../page.js';

const PATH = '/app/admin';
const PER_PAGE = 50;
const STATUSES = ['active', 'suspended', 'deprovisioned'] as const;

const Search = z.object({
  q: Text.trim().max(200).catch(''),
  status: z.enum(STATUSES).optional().catch(undefined),
  page: z.coerce.number().int().min(1).max(10_000).catch(1),
});

/** Redirects to the list and shows the first error there. */
const backToUsers = (_visit: unknown, { message, fields }: FormError): Promise<Redirect> => {
  const [first] = Object.entries(fields).map(([name, text]) => `${name}: ${text}`);
  return Promise.resolve({ to: PATH, notice: { kind: 'bad', text: first ?? message } });
};

const actForms: Page[] = [
  page({
    method: 'post',
    path: `${PATH}/users/:user_id/suspend`,
    access: 'instance.admin',
    params: UserParams,
    form: Suspend,
    async handle({ ctx, params, form }) {
      await suspendUser(ctx, params.user_id, form.reason);
      return { to: PATH, notice: { kind: 'good', text: 'Suspended. Sessions ended, tokens disabled.' } };
    },
    onError: backToUsers,
  }),
  page({
    method: 'post',
    path: `${PATH}/users/:user_id/reinstate`,
    access: 'instance.admin',
    params: UserParams,
    async handle({ ctx, params }) {
      await reinstateUser(ctx, params.user_id);
      return { to: PATH, notice: { kind: 'good', text: 'Reinstated.' } };
    },
    onError: backToUsers,
  }),
  page({
    method: 'post',
    path: `${PATH}/users/:user_id/unlock`,
    access: 'instance.admin',
    params: UserParams,
    async handle({ ctx, params }) {
      await unlockUser(ctx, params.user_id);
      return { to: PATH, notice: { kind: 'good', text: 'Unlocked.' } };
    },
    onError: backToUsers,
  }),
  page({
    method: 'post',
    path: `${PATH}/users/:user_id/impersonate`,
    access: 'instance.admin',
    params: UserParams,
    form: z.object({ reason: Impersonate.shape.reason }),
    async handle({ ctx, params, form }) {
      const { token } = await startImpersonation(ctx, { user_id: params.user_id, reason: form.reason });
      return { to: '/app', signIn: token, isImpersonation: true };
    },
    onError: backToUsers,
  }),
  page({
    method: 'post',
    path: '/app/stop-impersonating',
    access: 'impersonation.stop',
    async handle({ ctx }) {
      await stopImpersonation(ctx);
      return { to: PATH, signOut: true, notice: { kind: 'good', text: 'Impersonation ended.' } };
    },
  }),
];

export const adminPages: Page[] = [
  page({
    method: 'get',
    path: PATH,
    access: 'instance.admin',
    query: Search,
    async handle({ ctx, query: { q, status, page: number } }) {
      const wanted = { q: q || undefined, status };
      const [users, total] = await Promise.all([
        listUsers(ctx, { ...wanted, limit: PER_PAGE, offset: (number - 1) * PER_PAGE }),
        countUsers(ctx, wanted),
      ]);
      const pages = { number, last: Math.max(1, Math.ceil(total / PER_PAGE)) };
      return { view: 'admin/admin', title: 'Users', data: { users, total, q, status, statuses: STATUSES, pages } };
    },
  }),
  ...actForms,
];
