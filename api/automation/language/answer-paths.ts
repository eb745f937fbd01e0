import { parseCondition } from './condition.js';
import { listPaths } from './explain-condition.js';
import { findPaths } from './template.js';

/** The parts of an action that may read answers. */
interface ReadingAction {
  if?: string | undefined;
  params?: unknown;
}

/** A read of an answer: `path` is `steps.lookup.body.title`, `place` is the parameter or `if`. */
interface AnswerRead {
  place: string;
  path: string;
}

const isAnswer = ({ path }: AnswerRead): boolean => path === 'steps' || path.startsWith('steps.');

/** Returns each path by which an action reads the answer of an earlier step, in its templates and its condition. */
export function listAnswerReads({ if: source, params }: ReadingAction): AnswerRead[] {
  const inParams = findPaths(params).map(({ place, path }) => ({ place: `params.${place}`, path }));
  const ast = source?.includes('steps') ? parseCondition(source) : undefined;
  const inCondition = ast ? listPaths(ast).map((path) => ({ place: 'if', path })) : [];
  return [...inParams, ...inCondition].filter(isAnswer);
}

/** Returns the name of the step whose answer a path reads: `lookup` of `steps.lookup.status`. */
export const stepNameIn = (path: string): string => path.split('.')[1] ?? '';

/** Returns the part of a path behind the name of the step: `body.title` of `steps.lookup.body.title`. */
export const fieldIn = (path: string): string => path.split('.').slice(2).join('.');
