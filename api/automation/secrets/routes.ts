import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { deleteSecret } from './delete-secret.js';
import { listSecrets } from './list-secrets.js';
import { saveSecret } from './save-secret.js';
import { DeletedSecret, DeleteSecret, ListSecrets, SavedSecret, SaveSecret, SecretList, SecretParams } from './schema.js';

const tag = 'Secrets';
const write = { tag, ability: 'secret.write', scope: 'automations:write', scopeEnforced: true } as const;

/** Fixed paths: they precede `/api/automations/:automation_id`, which would match them. */
export const secretRoutes: Endpoint[] = [
  endpoint({
    id: 'listSecrets',
    method: 'get',
    path: '/api/automations/secrets',
    tag,
    summary: 'List secrets',
    ability: 'secret.list',
    scope: 'automations:read',
    query: ListSecrets,
    response: SecretList,
    errors: [404],
    handle: ({ ctx, query }) => listSecrets(ctx, query.team_id),
  }),
  endpoint({
    ...write,
    id: 'saveSecret',
    method: 'post',
    path: '/api/automations/secrets',
    summary: 'Create or update a secret',
    description:
      'The value is encrypted and never returned. Actions that send `{{secret:NAME}}` use the newest value, and only for a host of ' +
      '`allowed_hosts`; otherwise the action fails with `secret_host_refused`. A secret without hosts works only in a version saved by a team ' +
      'admin (else `secret_not_authorized`); only admins save, start, replay or take over such a definition.',
    body: SaveSecret,
    response: SavedSecret,
    errors: [404],
    // A repetition changes nothing, and the body must not be stored.
    storable: false,
    example: {
      team_id: '019a9f00-0000-7000-8000-000000000003',
      name: 'DEPLOY_TOKEN',
      value: 'kept-to-yourself',
      allowed_hosts: ['api.example.com'],
    },
    async handle({ ctx, body }) {
      return { saved: true, name: await saveSecret(ctx, body) };
    },
  }),
  endpoint({
    ...write,
    id: 'deleteSecret',
    method: 'delete',
    path: '/api/automations/secrets/:name',
    summary: 'Delete a secret',
    description: '409 with the names in `automations` while automations or active runs refer to it.',
    params: SecretParams,
    query: DeleteSecret,
    response: DeletedSecret,
    errors: [404, 409],
    async handle({ ctx, params, query }) {
      await deleteSecret(ctx, query.team_id, params.name, query.force);
      return { deleted: true, name: params.name };
    },
  }),
];
