import type { Beyond } from './beyond.js';
import type { BareClause, Clause, Target } from './clauses.js';
import { FORMS } from './forms/task-forms.js';
import { Matcher, MAX_TOKENS } from './pattern.js';
import { withoutFilling } from './read-clause.js';
import type { Reading } from './reading.js';
import type { Token } from './tokens.js';

/** What a clause is about, in all of its fields. */
function targetsOf(clause: BareClause): Target[] {
  const { target, of, source, by, project } = clause as Partial<
    Record<'target' | 'of' | 'source' | 'by' | 'project', Target | null>
  >;
  const task = clause.does === 'create' ? [clause.task.project, clause.task.related] : [];
  const asked = clause.does === 'activity' ? [clause.asked.of] : clause.does === 'ask' ? [clause.question.of] : [];
  return [target, of, source, by, project, ...task, ...asked].flatMap((each) => each ?? []);
}

/** Notes the names of a target that are not known. Returns whether there were any. */
function want(beyond: Beyond, target: Target | undefined): boolean {
  switch (target?.kind) {
    case 'unknown':
      for (const words of target.names) beyond.want(words);
      return true;
    case 'list':
      return target.targets.map((each) => want(beyond, each)).includes(true);
    case 'all':
      return want(beyond, target.except);
    default:
      return false;
  }
}

const isSet = (target: Target): boolean => target.kind === 'all' || (target.kind === 'list' && target.targets.some(isSet));
/** Whether a clause is about all tasks of some facts. */
export const namesSet = (clause: Clause): boolean => targetsOf(clause).some(isSet);

/**
 * Notes what is to be looked up for a clause that names something unknown, or that no form fits: whatever words of it stand where a form has
 * a name. A clause that is known looks nothing up, so that no title that is not linked changes its meaning.
 */
export function wantUnknown(reading: Reading, clause: BareClause, tokens: readonly Token[]): void {
  const { beyond } = reading;
  if (!beyond) return;
  const isUnknown = targetsOf(clause)
    .map((target) => want(beyond, target))
    .includes(true);
  const rest = withoutFilling(tokens);
  if ((clause.does !== 'unclear' && !isUnknown) || rest.length > MAX_TOKENS) return;
  const matcher = new Matcher(reading, rest);
  for (const { pattern } of FORMS) {
    const slots = matcher.match(pattern, 'none');
    want(beyond, slots?.T);
    want(beyond, slots?.U);
  }
}
