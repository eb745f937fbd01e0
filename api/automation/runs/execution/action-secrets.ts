import { randomUUID } from 'node:crypto';
import type { Context, Services } from '../../../platform/context.js';
import { isHostAllowed } from '../../../platform/http-client/host-patterns.js';
import { recordUse } from '../../secrets/record-use.js';
import { findSecrets, openSecrets, type StoredSecret } from '../../secrets/vault.js';
import { ActionRefused } from '../../../gate/contract/action-refused.js';
import type { OutboundAction } from '../../../gate/contract/action-type.js';
import { hasTemplatedOrigin } from '../../actions/literal-origin.js';
import { secretHandles } from '../../actions/secret-handles.js';
import type { RunRow } from './load-run.js';
import { readParams, storedParams } from './read-params.js';
import { checkSecretAuthors, readAuthors } from './version-author.js';

/** @throws ActionRefused `secret_host_refused` */
function refuseHost(name: string, why: string): never {
  throw new ActionRefused({ code: 'secret_host_refused', message: `The secret ${name} was not sent: ${why}` });
}

/**
 * Returns the secrets that an action needs or refers to, if this version may use them.
 * @throws ActionRefused
 */
async function usableSecrets(
  services: Pick<Services, 'db'>,
  type: OutboundAction,
  run: RunRow,
  index: number,
): Promise<StoredSecret[]> {
  const params = storedParams(run, index);
  const secrets = await findSecrets(services, run.team_id, secretHandles([{ type: type.type, params }]));
  const lacking = type.needs?.find((needed) => !secrets.some(({ name }) => name === needed));
  if (lacking) throw new ActionRefused({ code: 'secret_missing', message: `Secret ${lacking} does not exist` });
  const [first] = secrets;
  if (first && hasTemplatedOrigin(type, params)) refuseHost(first.name, 'a template stands in the scheme or host of the address');
  const unrestricted = secrets.find(({ allowed_hosts }) => allowed_hosts.length === 0);
  if (unrestricted) checkSecretAuthors(await readAuthors(services.db, run), unrestricted.name);
  return secrets;
}

/** An action's parameters as sent, and the secret values in them. */
interface FilledParams {
  params: unknown;
  secrets: ReadonlyMap<string, string>;
  /** Users who allowed them by saving the actions of this version. */
  author_ids: string[];
}

/**
 * Fills in the secrets of an outbound action and checks the host of the finished request. A test run decrypts nothing: references
 * stay in place, so neither its output nor its success depends on a value (docs/decisions/automation.md#secrets-in-actions).
 * @throws ActionRefused `secret_missing`, `secret_not_authorized`, `secret_host_refused`, or a template | INVALID_REQUEST a
 * parameter | SecretUnreadable
 */
export async function fillInSecrets(ctx: Context, type: OutboundAction, run: RunRow, index: number): Promise<FilledParams> {
  if (!type.secrets) return { params: readParams(type, run, index), secrets: new Map(), author_ids: [] };
  const usable = await usableSecrets(ctx, type, run, index);
  if (type.secrets === 'later') return markSecrets(ctx, type, run, index, usable);
  const secrets = run.is_test
    ? new Map(usable.map(({ name }) => [name, `{{secret:${name}}}`]))
    : openSecrets(ctx.config, run.team_id ?? '', usable);
  const params = readParams(type, run, index, secrets);
  const url = new URL((params as { url: string }).url);
  for (const { name, allowed_hosts } of usable) {
    if (allowed_hosts.length > 0 && !isHostAllowed(allowed_hosts, url)) refuseHost(name, `${url.host} is not an allowed host`);
    if (!run.is_test) await recordRead(ctx, run, index, name, url.host);
  }
  return { params, secrets, author_ids: [] };
}

/**
 * Puts a random mark in the place of each secret: the code that fills in the values later finds the marks, and no text of an event can be taken
 * for one. The command of a job can send a value anywhere, so one with allowed hosts is refused. Decrypts nothing.
 * @throws ActionRefused `secret_host_refused`
 */
async function markSecrets(
  ctx: Context,
  type: OutboundAction,
  run: RunRow,
  index: number,
  usable: readonly StoredSecret[],
): Promise<FilledParams> {
  const restricted = usable.find(({ allowed_hosts }) => allowed_hosts.length > 0);
  if (restricted) refuseHost(restricted.name, 'it has allowed hosts, which a command could pass by');
  const buildMark = (name: string): string => (run.is_test ? `{{secret:${name}}}` : `secret-${randomUUID()}`);
  const secrets = new Map(usable.map(({ name }) => [name, buildMark(name)]));
  const authors = usable.length > 0 ? await readAuthors(ctx.db, run) : [];
  return { params: readParams(type, run, index, secrets), secrets, author_ids: authors.map(({ user_id }) => user_id) };
}

const recordRead = (ctx: Context, run: RunRow, index: number, name: string, host: string): Promise<string> =>
  recordUse(ctx, run.team_id as string, name, 'read', {
    run_id: run.run_id,
    action_index: index,
    host,
  });
