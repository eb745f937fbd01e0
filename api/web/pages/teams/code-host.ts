import { z } from 'zod';
import { getTeam } from '../../../identity/teams/get-team.js';
import { TeamParams } from '../../../identity/teams/schema.js';
import { connect } from '../../../integrations/connections/connect.js';
import { listIntegrations } from '../../../integrations/connections/list-integrations.js';
import { makeAddress } from '../../../integrations/forge/addresses/make-address.js';
import { listAddresses } from '../../../integrations/forge/addresses/read-address.js';
import type { ForgeAddressWithSecret } from '../../../integrations/forge/addresses/schema.js';
import { bindRepository } from '../../../integrations/forge/bindings/bind-repository.js';
import { listRepositories } from '../../../integrations/forge/bindings/list-repositories.js';
import { unbindRepository } from '../../../integrations/forge/bindings/unbind-repository.js';
import { lastDeliveries } from '../../../integrations/forge/deliveries/last-deliveries.js';
import { listDeliveries } from '../../../integrations/forge/deliveries/list-deliveries.js';
import { webhookStatus } from '../../../integrations/forge/deliveries/webhook-status.js';
import { isInstanceAdmin } from '../../../integrations/forge/policy.js';
import { BindingParams, BindRepository, ListRepositories, type RepositoryBinding } from '../../../integrations/forge/schema.js';
import { isAdmitted } from '../../../platform/access/access.js';
import { bindingProof, isDevelopment, webAddress } from '../../../platform/config.js';
import { notFound } from '../../../platform/errors.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import { type FormError, page, type Page, type PageRequest, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { TEMPLATES } from '../automations/templates.js';

export const codeHostPath = (teamId: string) => `/app/teams/${teamId}/code-host`;

/** Deliveries that the page shows. */
const MAX_DELIVERIES = 25;
/** Templates of automations that move a task by what happens to its code. */
const MOVES = new Set(['start-on-push', 'review-on-pull-request', 'close-on-merge']);
/** Projects to choose from. */
const MAX_PROJECTS = 500;

/** The fields of the API; an empty project is none. */
const BindForm = z
  .object({
    repo: BindRepository.shape.repo,
    project_id: z.preprocess((value) => value || undefined, BindRepository.shape.project_id),
    sync_issues: z.literal('yes').optional(),
  })
  .transform(({ sync_issues, ...form }) => ({ ...form, sync_issues: sync_issues === 'yes' }))
  .refine(({ sync_issues, project_id }) => !sync_issues || project_id != null, {
    path: ['project_id'],
    message: 'choose the project whose tasks the issues become',
  });

interface Extra {
  problem?: FormError;
  given?: Fields;
  /** Address at the code host where the user grants access. */
  grantAt?: string;
}

async function showCodeHost({ ctx }: Pick<PageRequest, 'ctx'>, teamId: string, extra: Extra = {}): Promise<View> {
  const byTeam = { team_id: teamId };
  const [team, bindings, addresses, last, deliveries, status, projects, integrations] = await Promise.all([
    getTeam(ctx, teamId),
    listRepositories(ctx, ListRepositories.parse(byTeam)),
    listAddresses(ctx, teamId),
    lastDeliveries(ctx, teamId),
    listDeliveries(ctx, { ...byTeam, limit: MAX_DELIVERIES, offset: 0 }),
    webhookStatus(ctx),
    listProjects(ctx, { ...byTeam, limit: MAX_PROJECTS, offset: 0 }),
    listIntegrations(ctx),
  ]);
  const data = {
    team,
    bindings,
    addresses,
    last,
    deliveries,
    status,
    projects: projects.map((text) => JSON.parse(text) as { project_id: string; name: string }),
    templates: TEMPLATES.filter(({ key }) => MOVES.has(key)),
    account: integrations.find(({ key }) => key === 'forge'),
    host: new URL(ctx.config.FORGE_URL).host,
    payloadUrl: webAddress(ctx.config, '/api/forge/webhooks'),
    isDevelopment: isDevelopment(ctx.config),
    needsProof: bindingProof(ctx.config) === 'verified' && !isInstanceAdmin(ctx.actor),
    binds: isAdmitted('forge.bind', ctx.actor),
    given: {},
    ...extra,
  };
  return { view: 'teams/code-host', title: 'Code host', data };
}

/** The secret is shown once, in this response: a redirect would have to store it. */
export function showSecret(
  { config }: Pick<PageRequest['ctx'], 'config'>,
  binding: Pick<RepositoryBinding, 'repo' | 'team_id'>,
  address: ForgeAddressWithSecret,
  isNew: boolean,
): View {
  // Only of GitHub the address of the page is known.
  const isGitHub = new URL(config.FORGE_URL).host === 'github.com';
  const settings = isGitHub ? `${config.FORGE_URL}/${binding.repo}/settings/hooks` : null;
  const data = { binding, made: address, isNew, settings, back: codeHostPath(binding.team_id) };
  return { view: 'teams/code-host-address', title: 'Connect a repository', data };
}

export const codeHostPages: Page[] = [
  page({
    method: 'get',
    path: '/app/teams/:team_id/code-host',
    access: 'forge.read',
    params: TeamParams,
    query: z.object({ live: z.unknown().optional() }),
    handle: (visit) => showCodeHost(visit, visit.params.team_id),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/code-host',
    access: 'forge.bind',
    params: TeamParams,
    form: BindForm,
    async handle({ ctx, params: { team_id }, form }) {
      const binding = await bindRepository(ctx, { team_id, ...form });
      const [bindings, addresses] = await Promise.all([
        listRepositories(ctx, ListRepositories.parse({ team_id })),
        listAddresses(ctx, team_id),
      ]);
      const isShared = bindings.some((one) => one.repo === binding.repo && addresses[one.binding_id]);
      if (!isShared) return showSecret(ctx, binding, await makeAddress(ctx, binding.binding_id), true);
      const text = `${binding.repo} is bound. What comes to its address reaches this binding too.`;
      return { to: codeHostPath(team_id), notice: { kind: 'good', text } };
    },
    onError: (visit, problem) => showCodeHost(visit, visit.params.team_id, { problem, given: visit.form }),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/code-host/connect',
    access: 'integration.connect',
    params: TeamParams,
    /** The page shows a link: a form may not lead to another site. */
    async handle(visit) {
      return showCodeHost(visit, visit.params.team_id, { grantAt: await connect(visit.ctx, 'forge', {}) });
    },
    onError: (visit, problem) => showCodeHost(visit, visit.params.team_id, { problem }),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/code-host/:binding_id/unbind',
    access: 'forge.bind',
    params: TeamParams.extend(BindingParams.shape),
    async handle({ ctx, params: { team_id, binding_id } }) {
      const bindings = await listRepositories(ctx, ListRepositories.parse({ team_id }));
      const binding = bindings.find((one) => one.binding_id === binding_id);
      if (!binding) throw notFound('Binding');
      await unbindRepository(ctx, binding_id);
      return { to: codeHostPath(team_id), notice: { kind: 'good', text: `${binding.repo} was unbound.` } };
    },
    onError: ({ params }, { message }) =>
      Promise.resolve({ to: codeHostPath(params.team_id), notice: { kind: 'bad', text: message } }),
  }),
];
