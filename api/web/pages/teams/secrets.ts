import { z } from 'zod';
import { deleteSecret } from '../../../automation/secrets/delete-secret.js';
import { listSecrets } from '../../../automation/secrets/list-secrets.js';
import { saveSecret } from '../../../automation/secrets/save-secret.js';
import { SaveSecret, SecretParams } from '../../../automation/secrets/schema.js';
import { getTeam } from '../../../identity/teams/get-team.js';
import { TeamParams } from '../../../identity/teams/schema.js';
import { type FormError, page, type Page, type PageRequest, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';

const buildPath = (teamId: string) => `/app/teams/${teamId}/secrets`;

const splitHosts = (text: string): string[] => text.split(',').flatMap((host) => host.trim() || []);
const Hosts = SaveSecret.shape.allowed_hosts.unwrap().unwrap();

/** The fields of the API, with the hosts in one line; an empty line keeps the stored hosts. */
const SecretForm = z.object({
  name: SaveSecret.shape.name,
  value: SaveSecret.shape.value,
  allowed_hosts: z
    .string()
    .default('')
    .transform(splitHosts)
    .refine(
      (hosts) => Hosts.safeParse(hosts).success,
      'must be at most 20 hosts such as api.example.com, *.example.org or host:8443, separated by commas',
    )
    .transform((hosts) => (hosts.length > 0 ? hosts : undefined)),
});

async function showSecrets(
  { ctx }: Pick<PageRequest, 'ctx'>,
  teamId: string,
  refused: { problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const [team, { details }] = await Promise.all([getTeam(ctx, teamId), listSecrets(ctx, teamId)]);
  const given = { ...refused.given };
  delete given['value'];
  return { view: 'teams/secrets', title: 'Secrets', data: { team, secrets: details, problem: refused.problem, given } };
}

export const secretPages: Page[] = [
  page({
    method: 'get',
    path: '/app/teams/:team_id/secrets',
    access: 'secret.list',
    params: TeamParams,
    handle: (visit) => showSecrets(visit, visit.params.team_id),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/secrets',
    access: 'secret.write',
    params: TeamParams,
    form: SecretForm,
    async handle({ ctx, params: { team_id }, form }) {
      const name = await saveSecret(ctx, { team_id, ...form });
      return { to: buildPath(team_id), notice: { kind: 'good', text: `${name} is stored.` } };
    },
    onError: (visit, problem) => showSecrets(visit, visit.params.team_id, { problem, given: visit.form }),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/secrets/delete',
    access: 'secret.write',
    params: TeamParams,
    form: SecretParams,
    async handle({ ctx, params: { team_id }, form: { name } }) {
      await deleteSecret(ctx, team_id, name, false);
      return { to: buildPath(team_id), notice: { kind: 'good', text: `${name} was deleted.` } };
    },
    onError: ({ params }, { message }) =>
      Promise.resolve({ to: buildPath(params.team_id), notice: { kind: 'bad', text: message } }),
  }),
];
