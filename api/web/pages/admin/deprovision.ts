import { z } from 'zod';
import { getDeprovisionJob } from '../../../identity/admin/deprovisioning/get-job.js';
import { previewDeprovision } from '../../../identity/admin/deprovisioning/preview-deprovision.js';
import { requestDeprovision } from '../../../identity/admin/deprovisioning/request-deprovision.js';
import { Deprovision, JobParams } from '../../../identity/admin/deprovisioning/schema.js';
import { listUsers } from '../../../identity/admin/list-users.js';
import { UserParams } from '../../../identity/admin/schema.js';
import type { Context } from '../../../platform/context.js';
import { invalid, invalidFields } from '../../../platform/errors.js';
import { page, type Page, type FormError, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';

/** @throws INVALID_REQUEST unknown address */
async function findSuccessor(ctx: Context, email: string): Promise<string | null> {
  if (email === '') return null;
  const found = await listUsers(ctx, { q: email, limit: 500, offset: 0 });
  const successor = found.find((user) => user.email === email.toLowerCase());
  if (!successor) throw invalid(`No user with email ${email}`);
  return successor.user_id;
}

async function show(ctx: Context, userId: string, problem?: FormError, given: Fields = {}): Promise<View> {
  const user = await previewDeprovision(ctx, userId);
  return { view: 'admin/deprovision', title: 'Deprovision', data: { user, problem, given } };
}

/** Refuses a form whose typed address is not the user's: the wrong person was opened. @throws VALIDATION_ERROR */
async function checkConfirmation(ctx: Context, userId: string, typed: string): Promise<void> {
  const { email } = await previewDeprovision(ctx, userId);
  if (typed.toLowerCase() === email.toLowerCase()) return;
  throw invalidFields([{ field: 'confirm', message: `Enter ${email} to confirm`, type: 'confirmation' }]);
}

/** Deprovisions a user: requested here, done step by step by a workflow, shown on a separate page. */
export const deprovisionPages: Page[] = [
  page({
    method: 'get',
    path: '/app/admin/users/:user_id/deprovision',
    access: 'instance.admin',
    params: UserParams,
    handle: ({ ctx, params }) => show(ctx, params.user_id),
  }),
  page({
    method: 'post',
    path: '/app/admin/users/:user_id/deprovision',
    access: 'instance.admin',
    params: UserParams,
    form: z.object({
      reason: Deprovision.shape.reason,
      successor: z.string().trim().max(320).default(''),
      confirm: z.string().trim().max(320).default(''),
    }),
    async handle({ ctx, params, form: { reason, successor, confirm } }) {
      await checkConfirmation(ctx, params.user_id, confirm);
      const reassign_to = await findSuccessor(ctx, successor);
      const { job_id } = await requestDeprovision(ctx, params.user_id, { reason, reassign_to });
      return { to: `/app/admin/deprovisions/${job_id}` };
    },
    onError: ({ ctx, params, form }, problem) => show(ctx, params.user_id, problem, form),
  }),
  page({
    method: 'get',
    path: '/app/admin/deprovisions/:job_id',
    access: 'instance.admin',
    params: JobParams,
    async handle({ ctx, params }) {
      const job = await getDeprovisionJob(ctx, params.job_id);
      const user = await previewDeprovision(ctx, job.user_id);
      return { view: 'admin/deprovision-job', title: 'Deprovisioning', data: { job, user } };
    },
  }),
];
