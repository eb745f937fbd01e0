import type { Knex } from 'knex';
import { run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { allowsModelStatement } from './submit-message.sql.js';

/** Returns whether an admin of every team allows a model outside this installation. */
export async function isModelAllowed(db: Knex, teamIds: readonly string[]): Promise<boolean> {
  const [answer] = await run<{ allowed: boolean }>(db, allowsModelStatement, [[...new Set(teamIds)]]);
  return answer?.allowed === true;
}

/** Who answers: the rules, unless every team of a linked item allows a model. */
export async function chooseProvider(
  { db, config }: Pick<Context, 'db' | 'config'>,
  teamIds: readonly string[],
): Promise<{ provider: string; model: string | null }> {
  const { AI_PROVIDER: provider, AI_MODEL: model = null } = config;
  const isAsked = provider !== 'rules' && teamIds.length > 0 && (await isModelAllowed(db, teamIds));
  return isAsked ? { provider, model } : { provider: 'rules', model: null };
}
