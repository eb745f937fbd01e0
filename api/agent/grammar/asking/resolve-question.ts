import type { Clause, Does } from '../clauses.js';
import { openOnly } from '../filter.js';
import { requireTask } from '../facts.js';
import type { Asked } from '../outcome.js';
import { type Before, Question, type SubjectFinder } from '../subjects.js';

/** What a question is about, and what “it” means after it. */
export interface Resolved {
  asked: Asked;
  before: Before;
}

function resolveTasks({ question }: Does<'ask'>, finder: SubjectFinder, before: Before): Resolved {
  if (!question.of) {
    const without = question.isElse ? (before ?? []).map(({ id }) => id) : [];
    return { asked: { does: 'tasks', question, without }, before: finder.matchingWords(question.filter) };
  }
  const subject = finder.single(question.of, before);
  requireTask(subject);
  return { asked: { does: 'tasks', question, without: [], ...(subject.item && { of: subject.item }) }, before: [subject] };
}

function resolveActivity({ of, ...asked }: Does<'activity'>['asked'], finder: SubjectFinder, before: Before): Resolved {
  const subjects = of ? finder.find(of, before) : [];
  if (subjects.length > 1) throw new Question('I tell what happened to one task or project at a time. Name it.');
  return { asked: { does: 'activity', asked, of: subjects[0]?.item ?? null }, before: subjects };
}

/** What a question means, if that is certain. */
function resolveIfCertain(clause: Clause, finder: SubjectFinder, before: Before): Asked | undefined {
  try {
    return resolveQuestion(clause, finder, before).asked;
  } catch (error) {
    if (error instanceof Question) return undefined;
    throw error;
  }
}

/** Returns what a question is about. @throws Question if it is not certain */
export function resolveQuestion(clause: Clause, finder: SubjectFinder, before: Before): Resolved {
  if (clause.does === 'ask') return resolveTasks(clause, finder, before);
  if (clause.does === 'activity') return resolveActivity(clause.asked, finder, before);
  if (clause.does === 'cycle') {
    const { cycle, otherwise, written } = clause;
    const other = otherwise && resolveIfCertain({ ...otherwise, written }, finder, before);
    return { asked: { does: 'cycle', cycle, ...(other && { otherwise: other }) }, before: null };
  }
  if (clause.does === 'forecast') {
    const project = clause.target ? finder.single(clause.target, before).item : finder.onlyProject();
    if (!project && clause.isOfAll)
      return { asked: { does: 'tasks', question: { show: 'attention', filter: openOnly({}) }, without: [] }, before: null };
    if (!project) throw new Question('With which project? Write its name.');
    return { asked: { does: 'forecast', project }, before: [{ id: project.id, item: project }] };
  }
  if (clause.does !== 'about' && clause.does !== 'blocking')
    return { asked: { does: clause.does === 'help' ? 'help' : 'summary' }, before };
  const subjects = finder.find(clause.target, before);
  const ids = subjects.map(({ id }) => id);
  const isProject = clause.does === 'about' && subjects.length === 1 && subjects[0]?.item?.type === 'project';
  if (!isProject) for (const subject of subjects) requireTask(subject);
  if (clause.does === 'blocking') return { asked: { does: 'blocking', ids, end: clause.end }, before: subjects };
  return { asked: { does: 'about', ids, items: subjects.flatMap(({ item }) => item ?? []) }, before: subjects };
}
