import { run } from '../../db/statement.js';
import type { Context } from '../core/context.js';
import type { Definition } from './planned-actions.js';
import { quotedStatement } from './planned-actions.sql.js';

type Json = Record<string, unknown>;

interface Quoting {
  run_id: string;
  actions: readonly Definition[];
}

/** What a list knows of a run's event. */
interface Quoted {
  event: Json;
  /** False if a quoted value is too large for a list, or there are too many. */
  isWhole: boolean;
}

/** Paths that the actions of one run may quote in a list. */
const MAX_PATHS = 20;
const PATHS = /\{\{\s*event\.([^{}]+?)\s*\}\}/g;
/** What defaults of parameters are taken from, and by what people recognize the run. */
const ALWAYS = ['project_id', 'task.task_id', 'project.project_id'];

/** Every path that a text in the parameters quotes, however deep. */
const pathsIn = ({ actions }: Quoting): string[] => [
  ...new Set([...JSON.stringify(actions.map(({ params }) => params)).matchAll(PATHS)].map(([, path]) => path as string)),
];

/** Sets a value at a path, by own properties only. It leaves a value that is no object as it is. */
function put(target: Json, [step, ...rest]: string[], value: unknown): void {
  if (step === undefined) return;
  const own = Object.hasOwn(target, step) ? target[step] : undefined;
  if (own !== undefined && (rest.length === 0 || typeof own !== 'object' || own === null)) return;
  const next = rest.length === 0 ? value : (own ?? {});
  Object.defineProperty(target, step, { value: next, enumerable: true, configurable: true, writable: true });
  if (rest.length > 0) put(next as Json, rest, value);
}

/** Returns the events of runs by run id, as far as `shown` or the staged actions name their fields. */
export async function quotedEvents(
  ctx: Pick<Context, 'db'>,
  runs: readonly Quoting[],
  shown: readonly string[],
): Promise<Map<string, Quoted>> {
  const paths = new Map(runs.map((one) => [one.run_id, pathsIn(one)] as const));
  const events = new Map(
    [...paths].map(([id, named]): [string, Quoted] => [id, { event: {}, isWhole: named.length <= MAX_PATHS }]),
  );
  const wanted = [...paths.values()].map((named) => [...new Set([...named.slice(0, MAX_PATHS), ...ALWAYS, ...shown])]);
  const columns = [[...paths.keys()], wanted.map((all) => JSON.stringify(all))];
  const rows = await run<{ run_id: string; path: string; value: unknown; is_whole: boolean }>(ctx.db, quotedStatement, columns);
  // The shorter path first: what it holds is not overwritten by a part of it.
  for (const { run_id, path, value, is_whole } of rows.toSorted((one, other) => one.path.length - other.path.length)) {
    const quoted = events.get(run_id) as Quoted;
    put(quoted.event, path.split('.'), value);
    if (!is_whole && paths.get(run_id)?.includes(path)) quoted.isWhole = false;
  }
  return events;
}
