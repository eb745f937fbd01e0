import type { EnvPiece, StoredEnv } from '../../../../db/models/runner-job.js';
import type { Context } from '../../../platform/context.js';
import { recordUse } from '../../secrets/record-use.js';
import { findSecrets, openSecrets, type StoredSecret } from '../../secrets/vault.js';
import type { EndReason } from '../record/rules.js';

const isSecret = (piece: EnvPiece): piece is { secret: string } => typeof piece !== 'string';

const secretNames = (env: StoredEnv): string[] => [
  ...new Set(
    Object.values(env)
      .flat()
      .filter(isSecret)
      .map(({ secret }) => secret),
  ),
];

/** The job whose variables refer to secrets. */
interface JobWithEnv {
  job_id: string;
  team_id: string;
  env: StoredEnv;
  run_id: string | null;
}

/**
 * Reads the encrypted secrets of a job in the transaction that gives it to a runner, and records their use. Returns them, or why the job
 * may not have them: a command can send a value anywhere, so one with allowed hosts is never given.
 */
export async function readSecrets(
  ctx: Context,
  { job_id, team_id, env, run_id }: JobWithEnv,
): Promise<StoredSecret[] | EndReason> {
  const names = secretNames(env);
  const secrets = await findSecrets(ctx, team_id, names);
  if (secrets.length < names.length) return 'secret_missing';
  if (secrets.some(({ allowed_hosts }) => allowed_hosts.length > 0)) return 'secret_restricted';
  for (const { name } of secrets) await recordUse(ctx, team_id, name, 'read', { runner_job_id: job_id, run_id });
  return secrets;
}

/** The variables of a job with its secrets, the variables that hold one, and all values. */
export interface FilledEnv {
  env: Record<string, string>;
  masked: string[];
  values: string[];
}

/** Decrypts the secrets of a job and fills them in. @throws SecretUnreadable */
export function fillInSecrets(
  config: Context['config'],
  { team_id, env }: JobWithEnv,
  secrets: readonly StoredSecret[],
): FilledEnv {
  const values = openSecrets(config, team_id, secrets);
  const toText = (piece: EnvPiece): string => (isSecret(piece) ? (values.get(piece.secret) ?? '') : piece);
  return {
    env: Object.fromEntries(Object.entries(env).map(([name, pieces]) => [name, pieces.map(toText).join('')])),
    masked: Object.keys(env).filter((name) => env[name]?.some(isSecret)),
    values: [...new Set(values.values())],
  };
}
