import { MAX_ACTIONS } from '../plans/schema.js';
import type { Tool } from '../../gate/work-actions/catalogue.js';
import type { ProposedAction } from '../plans/proposal.js';
import { type Absent, followAbsent } from './absence.js';
import { sayCannot } from './doubts/cannot.js';
import { askWhat } from './doubts/ask-what.js';
import type { Clause, Does, NewTask, Target } from './clauses.js';
import { changesNothing, GIVING, type Unresolved } from './forms/kinds.js';
import { KeptPriorities } from './doubts/kept-priorities.js';
import { resolveQuestion } from './asking/resolve-question.js';
import type { Asked, Outcome, TaskSet } from './outcome.js';
import { swapped } from './sets/swap.js';
import {
  checkDeletion,
  checkStage,
  dayOf,
  type Facts,
  fieldsOf,
  fieldsOfNew,
  joinedTo,
  leftCycle,
  nameOfCycle,
  placeOfNote,
  projectAmong,
  relating,
  renaming,
  requireLinked,
  requireTask,
  requireText,
  shifted,
  statusOf,
  withLacking,
} from './facts.js';
import type { Assignee } from './terms.js';
import type { LinkedItem } from './tokens.js';
import { capital, named, quote } from './doubts/naming.js';
import { assigneeOf, type Before, findAssignees, Question, type RuleWorld, type Subject, SubjectFinder } from './subjects.js';

type Params = ProposedAction['params'];

/** Turns clauses into actions, one after the other; `it` is what the clause before was about. */
export class Resolver {
  readonly actions: ProposedAction[] = [];
  private readonly finder: SubjectFinder;
  /** Facts of linked tasks as the actions before leave them. */
  private readonly changed = new Map<string, Facts>();
  private readonly kept = new KeptPriorities();
  private absent: Absent;
  private parent: Subject | null = null;

  constructor(
    private readonly world: RuleWorld,
    /** What the clause before was about. */
    private before: Before,
    /** Who is absent, as the message before says. */
    absent: readonly Assignee[] = [],
  ) {
    this.finder = new SubjectFinder(world);
    this.absent = { who: absent, isEarlier: true };
  }

  add(given: Clause): void {
    if (given.does === 'aside' && given.absent) this.absent = { who: given.absent, isEarlier: false };
    const { clause, note } = followAbsent(given, this.absent, this.world.people);
    if (note) this.finder.notes.add(note);
    this.finder.wantsDone = clause.does === 'status' && clause.status === 'todo';
    this.finder.leavesDone = GIVING.has(clause.does);
    if (!changesNothing(clause)) this.resolve('target' in clause && clause.target?.kind === 'all' ? withLacking(clause) : clause);
    if (this.actions.length > MAX_ACTIONS) throw new Question(`A plan holds at most ${MAX_ACTIONS} changes. Send fewer at once.`);
  }

  private resolve(clause: Exclude<Clause, { does: Unresolved }>): void {
    switch (clause.does) {
      case 'create':
        return this.create(clause.task, null);
      case 'subtasks':
        return this.subtasks(clause);
      case 'note':
        return this.note(clause.title, clause.text);
      case 'relate':
        return this.relate(clause);
      case 'rename':
        return this.rename(clause);
      case 'due':
      case 'shift':
        return this.date(clause);
      case 'status':
        return this.onTasks(clause.target, 'task.set_status', () => statusOf(clause));
      case 'assign':
        return this.onTasks(clause.target, 'task.assign', (subject) => ({ assigned_to: this.assignee(clause.to, subject) }));
      case 'enter_cycle':
        return this.onTasks(clause.target, 'task.set_cycle', () => ({ cycle_id: nameOfCycle(clause.cycle) }));
      case 'leave_cycle':
        return this.onTasks(clause.target, 'task.set_cycle', ({ item }) => leftCycle(item, clause.cycle));
      case 'unassign':
        return this.unassign(clause);
      case 'join':
        return this.onTasks(clause.target, 'task.assign', (subject) => ({
          assigned_to: joinedTo(clause.to, this.assignee(clause.to, subject), subject),
        }));
      case 'delete':
        return this.delete(clause.target);
      case 'comment':
        return this.onTasks(clause.target, 'task.comment', () => ({ content: requireText(clause.text) }));
      case 'swap':
        return this.swap(clause.target);
      case 'doubt':
        throw new Question(clause.text);
      case 'incomplete':
        throw askWhat(clause, this.finder.find(clause.target, this.before));
      case 'which_note':
      case 'cannot':
        throw sayCannot(clause, (target) => this.finder.find(target, this.before));
      case 'aside':
        if (clause.target) this.before = this.finder.find(clause.target, this.before);
        return undefined;
      default:
        if (clause.does === 'stage') checkStage(clause, this.world.items);
        return this.onTasks(clause.target, 'task.update', (subject) => {
          const facts = this.factsOf(subject);
          if (this.kept.keeps(clause, subject.item, facts)) return null;
          return fieldsOf(clause, facts, (project) => this.projectOf(project));
        });
    }
  }

  private factsOf({ id, item }: Subject): Facts {
    return { ...item, ...this.changed.get(id) };
  }

  private onTasks(target: Target, tool: Tool, buildParams: (subject: Subject) => Params | null): void {
    const [subjects, kept] = [this.finder.find(target, this.before), this.kept.count];
    // Of two states of one task the last one holds: `it is ready, send it to review`, `close it, we do not need it`.
    if (tool === 'task.set_status' && subjects.length === 1)
      for (let at = this.actions.length - 1; at >= 0; at -= 1)
        if (this.actions[at]?.tool === tool && this.actions[at]?.entity_id === subjects[0]?.id) this.actions.splice(at, 1);
    for (const subject of subjects) {
      requireTask(subject);
      const params = buildParams(subject);
      if (!params) continue;
      this.propose({ tool, entity_id: subject.id, params });
      this.changed.set(subject.id, { ...this.changed.get(subject.id), ...(params as Facts) });
    }
    this.kept.refuseAll(subjects.length, kept);
    this.before = subjects;
  }

  /** Adds an action; the same one again is the same change, and “we do not need it” says why a task is closed. */
  private propose(action: ProposedAction): void {
    const isSame = (each: ProposedAction): boolean => JSON.stringify(each) === JSON.stringify(action);
    if (!this.actions.some(isSame)) this.actions.push(action);
  }

  /** @throws Question “everything” */
  private delete(target: Target): void {
    checkDeletion(target, this.finder.find(target, this.before).length);
    this.onTasks(target, 'task.delete', () => ({}));
  }

  private date(clause: Does<'due' | 'shift'>): void {
    const to = clause.does === 'due' ? clause.to : undefined;
    if (to) this.onTasks(clause.target, 'task.assign', (subject) => ({ assigned_to: this.assignee(to, subject) }));
    const subjects = this.finder.find(clause.target, this.before);
    for (const { id, item } of subjects) {
      const isProject = item?.type === 'project';
      if (isProject) requireLinked(item);
      else requireTask({ id, item });
      const date = clause.does === 'due' ? dayOf(clause.date) : shifted(item, this.factsOf({ id, item }).due, clause.by);
      if (isProject) this.propose({ tool: 'project.update', entity_id: id, params: { end_date: date } });
      else this.propose({ tool: 'task.update', entity_id: id, params: { due_date: date } });
      this.changed.set(id, { ...this.changed.get(id), due: date });
    }
    this.before = subjects;
  }

  private create(task: NewTask, parent: Subject | null): void {
    if (task.title === '') throw new Question('What is the title of the new task?');
    const project = parent?.item?.project_id ?? (task.project ? this.projectOf(task.project) : projectAmong(this.world.items));
    if (!project) throw new Question('In which project? Link the project, or one of its tasks.');
    const teamId = parent?.item?.team_id ?? this.world.items.find(({ project_id }) => project_id === project)?.team_id;
    const to = task.to && { assigned_to: this.assigneeIn(task.to, teamId) };
    const params = { title: task.title, project_id: project, ...fieldsOfNew(task, parent), ...to };
    const id = `$${this.actions.length}`;
    this.actions.push({ tool: 'task.create', params });
    if (task.related) {
      const target_id = this.single(task.related).id;
      this.actions.push({ tool: 'relation.create', params: { source_id: id, target_id, relation_type: 'related_to' } });
    }
    this.before = [{ id, item: null }];
  }

  private subtasks({ of, tasks }: Does<'subtasks'>): void {
    const parent = of.kind === 'list' && of.targets.length === 0 ? null : this.single(of);
    if (parent) requireTask(parent);
    this.parent = parent;
    const first = this.actions.length;
    for (const task of tasks) this.create(task, parent);
    this.before = this.actions.slice(first).map((_action, at) => ({ id: `$${first + at}`, item: null }));
  }

  private note(title: string, text: string): void {
    if (title === '') throw new Question('What is the title of the note?');
    this.actions.push({ tool: 'note.create', params: { title, content: text, ...placeOfNote(this.world.items) } });
    this.before = [];
  }

  private rename({ target, title }: Does<'rename'>): void {
    if (title === '') throw new Question('What is the new title?');
    const subject = this.single(target);
    this.actions.push(renaming(subject, title));
    this.before = [subject];
  }

  private relate(clause: Does<'relate'>): void {
    const sources = clause.isDuplicate ? this.finder.find(clause.source, this.before) : [this.single(clause.source)];
    const target = this.single(clause.target);
    for (const source of sources) for (const action of relating(clause, source, target)) this.propose(action);
    this.before = [];
  }

  private swap(target: Target): void {
    const [one, other] = swapped(this.finder.find(target, this.before));
    for (const [{ id }, of] of [
      [one, other],
      [other, one],
    ] as const)
      this.propose({ tool: 'task.assign', entity_id: id, params: { assigned_to: of.item?.assigned_to ?? null } });
    this.before = [one, other];
  }

  private unassign({ target, from }: Does<'unassign'>): void {
    const people = from ? findAssignees(this.world, from) : null;
    this.onTasks(target, 'task.assign', ({ item }) => {
      if (people && item && !people.includes(item.assigned_to ?? null))
        throw new Question(`${capital(named(item))} is not assigned to ${from?.kind === 'name' ? quote(from.name) : 'you'}.`);
      return { assigned_to: null };
    });
  }

  private projectOf(target: Target): string {
    const { item } = this.single(
      target.kind === 'named' ? { ...target, items: target.items.filter(({ type }) => type === 'project') } : target,
    );
    if (item?.type !== 'project') throw new Question('To which project? Link it, and write its title.');
    return item.id;
  }

  private single = (target: Target): Subject => this.finder.single(target, this.before);

  private assignee = (to: Assignee, { item }: Subject): string | null => this.assigneeIn(to, item?.team_id);

  private assigneeIn(to: Assignee, teamId = this.world.items[0]?.team_id ?? ''): string | null {
    return assigneeOf(this.world, to, teamId);
  }

  /** Whose blocks shall end. @throws Question */
  unblock({ target, by }: Does<'unblock'>): Outcome {
    const subject = this.single(target);
    requireTask(subject);
    this.before = [subject];
    return { kind: 'unblock', id: subject.id, by: by && this.single(by).id };
  }

  /** What a question is about. */
  ask(clause: Clause): Asked {
    const { asked, before } = resolveQuestion(clause, this.finder, this.before);
    this.before = before;
    return asked;
  }

  /** The sets of tasks that the clauses named by what they have in common. */
  get sets(): readonly TaskSet[] {
    return this.finder.sets;
  }

  /** What to say of the tasks that were found, and those that it names. */
  get notes(): { notes: string[]; items: LinkedItem[] } {
    return { notes: [...this.finder.notes, ...this.kept.notes], items: [...this.finder.noted, ...this.kept.items] };
  }

  /** A clause was not understood, so that “they” may be anything. */
  lose(): void {
    this.before = null;
  }

  /** What the last clause was about, as a later message knows it: instead of new tasks, the one that they are part of. */
  get subjects(): Before {
    const known = this.before?.filter(({ item }) => item !== null) ?? null;
    return known?.length === 0 && this.before?.length !== 0 && this.parent ? [this.parent] : known;
  }
}
