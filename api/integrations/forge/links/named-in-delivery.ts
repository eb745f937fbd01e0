import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { parseTaskName, type TaskName } from '../../../work/search/named-tasks.js';
import { at, text } from '../json-values.js';
import type { NormalisedEvent } from '../rules.js';
import type { LinkedTask } from './find-linked-tasks.js';

/** Names that one delivery may link, as many as issues. */
const MAX_NAMES = 100;

// No run in these patterns is unbounded: the texts are untrusted.
/** A name on its own, or as a part of a branch such as `ada/har-12-fix-the-crane`. */
const NAME = /(?<![\p{L}\p{N}_])[a-z][a-z0-9]{0,5}-[0-9]{1,10}(?![\p{L}\p{N}_])/giu;
/** A name after a keyword that closes: a text may mention other tasks. */
const CLOSED =
  /(?<![\p{L}\p{N}_])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)[^\S\r\n]{0,3}:?[^\S\r\n]{1,3}([a-z][a-z0-9]{0,5}-[0-9]{1,10})(?![\p{L}\p{N}_])/giu;

/** Returns the tasks that a pull request names: anywhere in its title and its branch, after a closing keyword in its text; each once, in this order. */
export function namesIn(title: string, branch: string, body: string): TaskName[] {
  const said = [
    ...[...title.matchAll(NAME), ...branch.matchAll(NAME)].map(([name]) => name),
    ...[...body.matchAll(CLOSED)].map(([, name]) => name as string),
  ];
  const names = new Map(said.flatMap((name) => parseTaskName(name) ?? []).map((name) => [`${name.key}-${name.number}`, name]));
  return [...names.values()].slice(0, MAX_NAMES);
}

/** Returns the tasks that a delivery names: those of a pull request, or of a branch that is pushed and was not deleted by that. */
function namesOf({ type, payload }: NormalisedEvent, body: unknown): TaskName[] {
  if ('closes_issues' in payload)
    return namesIn(payload.title ?? '', payload.head ?? '', text(at(body, 'pull_request', 'body')) ?? '');
  if (type !== 'forge.push' || at(body, 'deleted') === true) return [];
  const [, branch = ''] = /^refs\/heads\/(.*)$/.exec(payload.ref ?? '') ?? [];
  return namesIn('', branch, '');
}

/** $1 = keys, $2 = numbers, $3 = team ids. Live tasks of these teams by name, in the order of the names. */
const statement = defineStatement({
  name: 'forge_named_tasks',
  text: /* sql */ `
    select t.task_id, t.team_id, task_json(t) as task
    from unnest($1::text[], $2::int[]) with ordinality as n(key, number, place)
    join teams e on e.team_id = any($3::uuid[]) and e.key = n.key and e.deleted_at is null
    join tasks t on t.team_id = e.team_id and t.number = n.number and t.deleted_at is null
    order by n.place, t.task_id`,
});

/**
 * Returns the live tasks that a pull request or a branch names, of the teams that have bound its repository: elsewhere a stranger's text could name any
 * team's task. As with issues, all who may open a pull request there may name one.
 */
export async function findTasksNamedIn(
  ctx: Context,
  event: NormalisedEvent,
  body: unknown,
  teamIds: readonly string[],
): Promise<LinkedTask[]> {
  const names = teamIds.length === 0 ? [] : namesOf(event, body);
  if (names.length === 0) return [];
  const values = [names.map(({ key }) => key), names.map(({ number }) => number), teamIds];
  return run<LinkedTask & Record<string, unknown>>(ctx.db, statement, values);
}
