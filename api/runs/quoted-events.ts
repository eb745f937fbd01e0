import { run } from '../../db/statement.js';
import type { Context } from '../core/context.js';
import { quotedStatement } from './planned-actions.sql.js';

type Json = Record<string, unknown>;

interface Quoting {
  run_id: string;
  /** Display fields of the event. */
  telling: Json;
  staged: readonly { params: Json }[];
}

/** Paths that the actions of one run may quote in a list. */
const MAX_PATHS = 20;
const PATHS = /\{\{\s*event\.([^{}]+?)\s*\}\}/g;

const pathsIn = ({ staged }: Quoting): string[] => {
  const texts = staged.flatMap(({ params }) => Object.values(params)).filter((value) => typeof value === 'string');
  const paths = texts.flatMap((text) => [...text.matchAll(PATHS)].map(([, path]) => path as string));
  return [...new Set(paths)].slice(0, MAX_PATHS);
};

/** Sets a value at a path, by own properties only. It leaves a value that is no object as it is. */
function put(target: Json, [step, ...rest]: string[], value: unknown): void {
  if (step === undefined) return;
  const own = Object.hasOwn(target, step) ? target[step] : undefined;
  if (own !== undefined && (rest.length === 0 || typeof own !== 'object' || own === null)) return;
  const next = rest.length === 0 ? value : (own ?? {});
  Object.defineProperty(target, step, { value: next, enumerable: true, configurable: true, writable: true });
  if (rest.length > 0) put(next as Json, rest, value);
}

/** Returns the events of runs by run id, as far as they are displayed or quoted by staged actions. */
export async function quotedEvents(ctx: Pick<Context, 'db'>, runs: readonly Quoting[]): Promise<Map<string, Json>> {
  const events = new Map(runs.map(({ run_id, telling }) => [run_id, structuredClone(telling)] as const));
  const wanted = runs.flatMap((one) => pathsIn(one).map((path) => [one.run_id, path] as const));
  if (wanted.length === 0) return events;
  const columns = [wanted.map(([id]) => id), wanted.map(([, path]) => path)];
  const rows = await run<{ run_id: string; path: string; value: string }>(ctx.db, quotedStatement, columns);
  // The shorter path first: what it holds is not overwritten by a part of it.
  const ordered = rows.toSorted((one, other) => one.path.length - other.path.length);
  for (const { run_id, path, value } of ordered) put(events.get(run_id) as Json, path.split('.'), value);
  return events;
}
