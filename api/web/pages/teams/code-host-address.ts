import { z } from 'zod';
import { TeamParams } from '../../../identity/teams/schema.js';
import { makeAddress } from '../../../integrations/forge/addresses/make-address.js';
import { removeAddress } from '../../../integrations/forge/addresses/remove-address.js';
import { rotateSecret } from '../../../integrations/forge/addresses/rotate-secret.js';
import { RotateSecret } from '../../../integrations/forge/addresses/schema.js';
import { listRepositories } from '../../../integrations/forge/bindings/list-repositories.js';
import { BindingParams, ListRepositories, type RepositoryBinding } from '../../../integrations/forge/schema.js';
import { notFound } from '../../../platform/errors.js';
import { page, type Page, type PageRequest, type PageResult } from '../../page.js';
import { codeHostPath, showSecret } from './code-host.js';

const Params = TeamParams.extend(BindingParams.shape);
type Visit<Form> = PageRequest<z.output<typeof Params>, unknown, Form>;

/** A button of a binding, of the team that the page's address names. */
function button<Form extends z.ZodType>(
  name: string,
  form: Form,
  act: (visit: Visit<z.output<Form>>, binding: RepositoryBinding) => Promise<PageResult>,
): Page {
  return page({
    method: 'post',
    path: `/app/teams/:team_id/code-host/:binding_id/address${name}`,
    access: 'forge.bind',
    params: Params,
    form,
    async handle(visit) {
      const { team_id, binding_id } = visit.params;
      const bindings = await listRepositories(visit.ctx, ListRepositories.parse({ team_id }));
      const binding = bindings.find((one) => one.binding_id === binding_id);
      if (!binding) throw notFound('Binding');
      return act(visit, binding);
    },
    onError: ({ params }, { message }) =>
      Promise.resolve({ to: codeHostPath(params.team_id), notice: { kind: 'bad', text: message } }),
  });
}

export const codeHostAddressPages: Page[] = [
  button('', z.object({}), async ({ ctx }, binding) =>
    showSecret(ctx, binding, await makeAddress(ctx, binding.binding_id), true),
  ),
  button('/rotate', z.object({ replaces: RotateSecret.shape.replaces }), async ({ ctx, form }, binding) =>
    showSecret(ctx, binding, await rotateSecret(ctx, binding.binding_id, form), false),
  ),
  button('/remove', z.object({}), async ({ ctx, params }, binding) => {
    await removeAddress(ctx, binding.binding_id);
    const text = `The address of ${binding.repo} was removed. Deliveries there are refused.`;
    return { to: codeHostPath(params.team_id), notice: { kind: 'good', text } };
  }),
];
