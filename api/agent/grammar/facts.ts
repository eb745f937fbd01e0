import { addTo } from '../../platform/calendar-days.js';
import type { Duration, WrittenDate } from '../../platform/written-days.js';
import type { ProposedAction } from '../plans/proposal.js';
import type { Clause, Does, FieldClause, NewTask, Target } from './clauses.js';
import { capital, named, quote } from './doubts/naming.js';
import { Question, type Subject } from './subjects.js';
import { isInCycle } from './sets/is-meant.js';
import { type Assignee, type CycleName, type Priority, PRIORITIES } from './terms.js';
import type { LinkedItem } from './tokens.js';
import { findPriority, PLURALS } from './words.js';

/** Facts of a task that a clause may build on. */
export type Facts = Pick<LinkedItem, 'priority' | 'due' | 'tags'>;

/** Returns the fields of one task that a clause changes. `projectOf`: the id of the project that a target means. */
export function fieldsOf(
  clause: FieldClause,
  facts: Facts,
  projectOf: (target: Target) => string,
): Readonly<Record<string, unknown>> {
  switch (clause.does) {
    case 'priority':
      return { priority: clause.priority };
    case 'unprioritize':
      return { priority: withoutPriority(facts.priority, clause.priority) };
    case 'step':
      return { priority: stepped(facts.priority, clause.by) };
    case 'describe':
      return { description: clause.text };
    case 'estimate':
      return clause.size;
    case 'archive':
      return { is_archived: clause.archived };
    case 'tag':
      return { tags: [...new Set([...(facts.tags ?? []), clause.tag])] };
    case 'untag':
      return { tags: (facts.tags ?? []).filter((tag) => tag.toLowerCase() !== clause.tag.toLowerCase()) };
    case 'stage':
      return { stage_id: onlyName('stage', clause.stages) };
    case 'field':
      return { custom_fields: { [onlyName('field', clause.fields)]: clause.value?.trim() ?? null } };
    case 'place':
      return { project_id: projectOf(clause.project) };
  }
}

/** @throws Question what is called as a stage is a priority too, or a linked project */
export function checkStage({ stages }: Does<'stage'>, items: readonly LinkedItem[]): void {
  const [name = ''] = stages;
  const isProject = items.some(({ type, title }) => type === 'project' && title.toLowerCase() === name.toLowerCase());
  const other = isProject ? 'a project' : findPriority(name.toLowerCase().split(' ')) && 'a priority';
  if (other)
    throw new Question(
      `${capital(quote(name))} is a stage and ${other}. Write “change the stage to ${name}”, or name the other one.`,
    );
}

/** @throws Question several have the name */
function onlyName(what: string, names: readonly string[]): string {
  const [name = '', ...others] = names;
  if (others.length > 0) throw new Question(`Which ${what} do you mean: ${names.map(quote).join(' or ')}?`);
  return name;
}

/** The fields of a new task beside its title, its project and its assignee. */
export const fieldsOfNew = ({ priority, due }: NewTask, parent: Subject | null) => ({
  ...(parent && { parent_task_id: parent.id }),
  ...(priority && { priority }),
  ...(due && { due_date: dayOf(due) }),
});

/** @throws Question for another item than a task */
export function requireTask({ item }: Subject): void {
  if (item && item.type !== 'task') throw new Question(`${capital(named(item))} is not a task, and this works on tasks only.`);
}

/** @throws Question for a comment without a text */
export function requireText(text: string): string {
  if (text === '') throw new Question('What shall the comment say? Write it after the colon.');
  return text;
}

/** The only linked project, else the only project of the linked tasks; null if there is none. @throws Question several */
export function projectAmong(items: readonly LinkedItem[]): string | null {
  const of = (type: 'project' | 'task') => [
    ...new Set(items.flatMap((item) => (item.type === type && item.project_id !== null ? [item.project_id] : []))),
  ];
  const linked = of('project');
  const candidates = linked.length > 0 ? linked : of('task');
  if (candidates.length > 1) throw new Question('Several projects are linked. In which one? Name it: “… in the project X”.');
  return candidates[0] ?? null;
}

/** Returns the action that renames an item. @throws Question it is neither a task nor a project, or a project that is not linked */
export function renaming({ id, item }: Subject, title: string): ProposedAction {
  const type = item?.type ?? 'task';
  if (item && type === 'project') requireLinked(item);
  if (type === 'project') return { tool: 'project.update', entity_id: id, params: { name: title } };
  if (type !== 'task') throw new Question('I can rename tasks and projects only.');
  return { tool: 'task.update', entity_id: id, params: { title } };
}

/** Where a note is created. @throws Question several places are linked */
export function placeOfNote(items: readonly LinkedItem[]): { project_id: string } | { team_id: string | undefined } {
  const project = projectAmong(items);
  if (project) return { project_id: project };
  if (new Set(items.map(({ team_id }) => team_id)).size > 1)
    throw new Question('In which project? The linked items belong to several teams.');
  return { team_id: items[0]?.team_id };
}

/** @throws Question for a project that is not linked: it is found, but not changed */
export function requireLinked(item: LinkedItem): void {
  if (item.isLinked === false) throw new Question(`${capital(named(item))} is not linked. Link it to change it.`, [item]);
}

/** @throws Question a date that no calendar has, or that can be read in two ways */
export function dayOf(date: WrittenDate): string | null {
  if (date === 'impossible') throw new Question('No calendar has that date. Which one do you mean?');
  if (date === 'unclear') throw new Question('Is the day or the month first? Write the date as 2026-12-31 or as 31 December.');
  return date.date;
}

/** @throws Question there is no date to move */
export function shifted(item: Subject['item'], due: string | null | undefined, by: Duration): string {
  if (!due) throw new Question(`${item ? capital(named(item)) : 'The task'} has no due date to start from. Write the new date.`);
  return addTo(due, by);
}

/** Returns the priority that is nearest to one that does not hold any more; the same if it does not hold anyway. @throws Question */
function withoutPriority(priority: string | null | undefined, ended: Priority): string {
  if (priority === 'none' || ended === 'none') return priority ?? 'medium';
  const now = PRIORITIES.findIndex((each) => each === (priority ?? 'medium'));
  const at = PRIORITIES.indexOf(ended);
  if (now < at || (now > at && at < 2)) return PRIORITIES[now] as string;
  if (ended === 'medium') throw new Question('Which priority shall it have instead: low, high or urgent?');
  return PRIORITIES[at === 0 ? 1 : at - 1] as string;
}

/** Returns the priority one step above or below; the last one stays. Above none is medium. */
function stepped(priority: string | null | undefined, by: 1 | -1): string {
  if (priority === 'none') return by === 1 ? 'medium' : 'none';
  const at = PRIORITIES.findIndex((each) => each === (priority ?? 'medium'));
  return PRIORITIES[Math.max(0, Math.min(PRIORITIES.length - 1, at + by))] as string;
}

const OPEN = ['todo', 'in_progress', 'in_review'] as const;

const withAny = (target: Extract<Target, { kind: 'all' }>) =>
  Object.keys(target.filter).length === 0 ? { ...target, isAny: true as const } : target;

/** What “without one” lacks: what the clause gives. Of many tasks, only those that are open are canceled: the others were completed. */
export function withLacking<C extends Clause>(clause: C): C {
  if (clause.does === 'status' && clause.resolution && clause.target.kind === 'all')
    return { ...clause, target: { ...withAny(clause.target), filter: { statuses: OPEN, ...clause.target.filter } } };
  if (!('target' in clause) || clause.target?.kind !== 'all' || !clause.target.filter.lacksIt) return clause;
  const { lacksIt: _it, ...filter } = clause.target.filter;
  const isDate = clause.does === 'due';
  if (!isDate && clause.does !== 'assign') return clause;
  const lacking = isDate ? ({ hasNoDueDate: true } as const) : ({ assignee: { kind: 'nobody' } } as const);
  return { ...clause, target: { ...clause.target, filter: { ...filter, ...lacking, statuses: OPEN } } };
}

/** @throws Question “everything” or “any”, without a word of what it is, is too much to delete */
export function checkDeletion(target: Target, count: number): void {
  if (target.kind === 'list') return target.targets.forEach((each) => checkDeletion(each, count));
  if (count < 2 || target.kind !== 'all' || target.except || Object.keys(target.filter).length > 0) return;
  if (target.written.split(/\s+/).some((word) => PLURALS.has(word.toLowerCase()))) return;
  throw new Question(
    `Shall I delete all ${count} linked tasks? Write “delete all tasks”, or name those that you want to delete.`,
  );
}

/**
 * Returns the assignee of a task to which a member is added.
 * @throws Question another member has the task
 */
export function joinedTo(to: Assignee, id: string | null, { item }: Subject): string | null {
  const has = item?.assigned_to ?? null;
  if (has === null || has === id) return id;
  const name = to.kind === 'name' ? to.name : 'me';
  throw new Question(
    `${item ? capital(named(item)) : 'The task'} has another assignee, and a task has only one. Write “reassign it to ${name}” to change that.`,
  );
}

/** What relates two items; a task that repeats another is closed first. @throws Question an item with itself, or a duplicate that is no task */
export function relating({ type, isDuplicate }: Does<'relate'>, source: Subject, target: Subject): ProposedAction[] {
  if (source.id === target.id) throw new Question('An item cannot have a relation to itself.');
  const params = { source_id: source.id, target_id: target.id, relation_type: type };
  const relation = { tool: 'relation.create' as const, params };
  if (!isDuplicate) return [relation];
  for (const one of [source, target]) requireTask(one);
  return [{ tool: 'task.set_status', entity_id: source.id, params: { status: 'done', resolution: 'duplicate' } }, relation];
}

/** The parameters of a new status. */
export const statusOf = ({ status, resolution }: Does<'status'>) => ({ status, ...(resolution && { resolution }) });

/** Returns how an action names an open cycle. @throws Question one that was completed holds no more tasks */
export function nameOfCycle({ when, names, written }: CycleName): string {
  const [name] = names;
  if (name !== undefined) return name;
  if (when === 'completed')
    throw new Question(`${capital(quote(written))} is completed, so its tasks stay as they are. Name an open cycle.`);
  return when === 'planned' ? 'next' : 'current';
}

/** Returns the parameters of a task that leaves a cycle. @throws Question it is not in that one */
export function leftCycle(item: LinkedItem | null, cycle: CycleName): { cycle_id: null } {
  const isAny = cycle.names.length === 0 && cycle.when === 'active' && !/current|active|running|this/.test(cycle.written);
  if (item && item.cycle !== undefined && !(isAny ? item.cycle : isInCycle(item.cycle, cycle)))
    throw new Question(`${capital(named(item))} is not in ${isAny ? 'a cycle' : quote(cycle.written)}.`, [item]);
  return { cycle_id: null };
}
