import { defineStatement, run } from '../../../db/statement.js';
import { callerJson, type Context } from '../context.js';

/** $1 = caller (jsonb). */
const statement = defineStatement({
  name: 'people_of_caller',
  text: 'select people_of_caller($1::jsonb) as people',
});

/** Returns the caller and the users behind them: who may later not approve alone what this call makes possible. */
export async function peopleOfCaller(ctx: Context): Promise<string[]> {
  const [row] = await run<{ people: string[] }>(ctx.db, statement, [JSON.stringify(callerJson(ctx))]);
  return row?.people ?? [];
}
