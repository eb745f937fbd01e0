import { z } from 'zod';
import { getJob } from '../../../admin/deprovisioning/get-job.js';
import { requestDeprovision } from '../../../admin/deprovisioning/request-deprovision.js';
import { Deprovision, JobParams } from '../../../admin/deprovisioning/schema.js';
import { listUsers } from '../../../admin/list-users.js';
import { UserParams } from '../../../admin/schema.js';
import type { Context } from '../../../core/context.js';
import { invalid } from '../../../core/errors.js';
import { page, type Page, type FormError, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';

/** @throws INVALID_REQUEST unknown address */
async function successorOf(ctx: Context, email: string): Promise<string | null> {
  if (email === '') return null;
  const found = await listUsers(ctx, { q: email, limit: 500, offset: 0 });
  const successor = found.find((user) => user.email === email.toLowerCase());
  if (!successor) throw invalid(`No user with email ${email}`);
  return successor.user_id;
}

const show = (userId: string, problem?: FormError, given: Fields = {}): Promise<View> =>
  Promise.resolve({ view: 'admin/deprovision', title: 'Deprovision', data: { userId, problem, given } });

/** Deprovisions a user: requested here, done step by step by a workflow, shown on a separate page. */
export const deprovisionPages: Page[] = [
  page({
    method: 'get',
    path: '/app/admin/users/:user_id/deprovision',
    access: 'instance.admin',
    params: UserParams,
    handle: ({ params }) => show(params.user_id),
  }),
  page({
    method: 'post',
    path: '/app/admin/users/:user_id/deprovision',
    access: 'instance.admin',
    params: UserParams,
    form: z.object({ reason: Deprovision.shape.reason, successor: z.string().trim().max(320).default('') }),
    async handle({ ctx, params, form: { reason, successor } }) {
      const reassign_to = await successorOf(ctx, successor);
      const { job_id } = await requestDeprovision(ctx, params.user_id, { reason, reassign_to });
      return { to: `/app/admin/deprovisions/${job_id}` };
    },
    onError: ({ params, form }, problem) => show(params.user_id, problem, form),
  }),
  page({
    method: 'get',
    path: '/app/admin/deprovisions/:job_id',
    access: 'instance.admin',
    params: JobParams,
    handle: async ({ ctx, params }) => ({
      view: 'admin/deprovision-job',
      title: 'Deprovisioning',
      data: { job: await getJob(ctx, params.job_id) },
    }),
  }),
];
