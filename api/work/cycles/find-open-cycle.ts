import { defineStatement, run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { type FieldError, invalidFields } from '../../platform/errors.js';
import { isUuid } from '../../platform/ids.js';
import { foldName, quoteName } from '../../platform/validation/given-name.js';

interface OpenCycle extends Record<string, unknown> {
  cycle_id: string;
  name: string;
  status: 'active' | 'planned';
}

/** Open cycles that one look-up returns. */
const MOST = 200;

/** $1 = task id, $2 = user id, $3 = roles that may read cycles, $4 = row limit. Open cycles that may hold the task, the earliest first. */
const statement = defineStatement({
  name: 'open_cycles_of_task',
  text: /* sql */ `
    select c.cycle_id, c.name, c.status from tasks t
    join memberships m on m.team_id = t.team_id and m.user_id = $2 and m.role = any($3::text[])
    join cycles c on c.team_id = t.team_id and (c.project_id is null or c.project_id = t.project_id) and c.status <> 'completed'
    where t.task_id = $1 and t.deleted_at is null
    order by c.start_date nulls last, c.created_at, c.cycle_id limit $4`,
});

const NOUN = /^(?:the )?(?:cycle|sprint|iteration) | (?:cycle|sprint|iteration)$/g;
const wrong = (message: string): Error =>
  invalidFields([{ field: 'body.cycle_id', message, type: 'custom' } satisfies FieldError]);

/** The cycles that a name means: of exactly this name, else of the same one behind or before the word for it. */
function meant(cycles: readonly OpenCycle[], given: string): OpenCycle[] {
  const name = foldName(given);
  if (name === 'current') return cycles.filter(({ status }) => status === 'active');
  if (name === 'next') return cycles.filter(({ status }) => status === 'planned').slice(0, 1);
  const same = cycles.filter((cycle) => foldName(cycle.name) === name);
  const bare = name.replace(NOUN, '').trim();
  return same.length > 0 ? same : cycles.filter((cycle) => foldName(cycle.name).replace(NOUN, '').trim() === bare);
}

/**
 * Returns the id of the open cycle that a name means for a task: its own name, `current` or `next`; an id as it is, for the operation says what is wrong
 * with it.
 * @throws VALIDATION_ERROR none, or several; a caller who is not in the team learns no more
 */
export async function findOpenCycle(ctx: Context, taskId: string, given: string): Promise<string> {
  if (isUuid(given)) return given.toLowerCase();
  const cycles = await run<OpenCycle>(ctx.db, statement, [taskId, requireUser(ctx), rolesFor('cycle.read'), MOST]);
  const [found, ...others] = meant(cycles, given);
  if (found && others.length > 0)
    throw wrong(
      `Several open cycles are meant by ${quoteName(given)}: ${[found, ...others].map(({ name }) => quoteName(name)).join(', ')}`,
    );
  if (found) return found.cycle_id;
  const none: Readonly<Record<string, string>> = {
    current: 'No cycle runs now that may hold the task',
    next: 'No planned cycle may hold the task',
  };
  throw wrong(none[foldName(given)] ?? `No open cycle for the task is called ${quoteName(given)}`);
}
