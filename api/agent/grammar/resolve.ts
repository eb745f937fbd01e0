import { MAX_ACTIONS } from '../plans/schema.js';
import type { Tool } from '../../gate/work-actions/catalogue.js';
import type { ProposedAction } from '../plans/proposal.js';
import type { Assignee, Clause, Target } from './clauses.js';
import type { LinkedItem } from './tokens.js';

/** What the clauses of a message refer to. */
export interface RuleWorld {
  /** Readable linked items, in the order of linking. */
  items: readonly LinkedItem[];
  /** The person who asks. */
  userId: string;
  /** Ids of the members of a team that a folded name may mean. */
  membersNamed: (teamId: string, name: string) => readonly string[];
}

/** What a message comes to. `answer`: no clause, or one that the grammar does not know. */
export type Outcome =
  | { kind: 'plan'; actions: ProposedAction[] }
  | { kind: 'question'; text: string }
  | { kind: 'answer'; unclear: string | null };

/** A task that a clause is about: a linked one, or the one that an earlier action creates. */
type Subject = { id: string; item: LinkedItem | null };

class Question extends Error {}

const SHOWN = 80;
/** A short quotation of what the person wrote. */
export const quote = (text: string): string => `“${text.length > SHOWN ? `${text.slice(0, SHOWN).toWellFormed()}…` : text}”`;

const KIND_OF: Record<LinkedItem['type'], string> = {
  task: 'task',
  project: 'project',
  note: 'note',
  idea: 'idea',
  file: 'file',
  whiteboard: 'whiteboard',
};

const named = ({ type, title, id }: LinkedItem): string => `the ${KIND_OF[type]} ${quote(title)} (${id})`;
const STATUS_WORDS: Record<string, string> = { todo: 'to do', in_progress: 'in progress', in_review: 'in review', done: 'done' };

/** Turns clauses into actions, one after the other; `it` is what the clause before was about. */
class Resolver {
  readonly actions: ProposedAction[] = [];
  private it: Subject | null = null;
  private isFirst = true;

  constructor(private readonly world: RuleWorld) {}

  add(clause: Clause): void {
    const before = this.it;
    this.it = null;
    this.resolve(clause, before);
    this.isFirst = false;
    if (this.actions.length > MAX_ACTIONS) throw new Question(`A plan holds at most ${MAX_ACTIONS} changes. Send fewer at once.`);
  }

  private resolve(clause: Clause, before: Subject | null): void {
    switch (clause.does) {
      case 'create':
        return this.create(clause.title);
      case 'note':
        return this.note(clause.title, clause.text);
      case 'rename':
        return this.rename(clause.target, clause.title, before);
      case 'relate':
        return this.relate(clause, before);
      case 'assign':
        return this.onTasks(clause.target, before, 'task.assign', (subject) => ({
          assigned_to: this.assignee(clause.to, subject),
        }));
      case 'status':
        return this.onTasks(clause.target, before, 'task.set_status', () => ({ status: clause.status }));
      case 'priority':
        return this.onTasks(clause.target, before, 'task.update', () => ({ priority: clause.priority }));
      case 'due': {
        const { date } = clause;
        if (date === 'impossible') throw new Question('No calendar has that date. Which one do you mean?');
        return this.onTasks(clause.target, before, 'task.update', () => ({ due_date: date.date }));
      }
      case 'comment': {
        if (clause.text === '') throw new Question('What shall the comment say? Write it after the colon.');
        return this.onTasks(clause.target, before, 'task.comment', () => ({ content: clause.text }));
      }
      case 'delete':
        return this.onTasks(clause.target, before, 'task.delete', () => ({}));
      case 'unclear':
        return undefined;
    }
  }

  private onTasks(
    target: Target,
    before: Subject | null,
    tool: Tool,
    buildParams: (subject: Subject) => ProposedAction['params'],
  ): void {
    const subjects = this.resolveSubjects(target, before);
    for (const subject of subjects) {
      if (subject.item && subject.item.type !== 'task')
        throw new Question(`${capital(named(subject.item))} is not a task, and this works on tasks only.`);
      this.actions.push({ tool, entity_id: subject.id, params: buildParams(subject) });
    }
    this.it = subjects.length === 1 ? (subjects[0] ?? null) : null;
  }

  private create(title: string): void {
    if (title === '') throw new Question('What is the title of the new task?');
    const project = this.project();
    if (!project) throw new Question('In which project? Link the project, or one of its tasks.');
    this.it = { id: `$${this.actions.length}`, item: null };
    this.actions.push({ tool: 'task.create', params: { title, project_id: project } });
  }

  private note(title: string, text: string): void {
    if (title === '') throw new Question('What is the title of the note?');
    const teams = new Set(this.world.items.map(({ team_id }) => team_id));
    const project = this.project();
    if (!project && teams.size > 1) throw new Question('In which project? The linked items belong to several teams.');
    const place = project ? { project_id: project } : { team_id: this.world.items[0]?.team_id };
    this.actions.push({ tool: 'note.create', params: { title, content: text, ...place } });
  }

  private rename(target: Target, title: string, before: Subject | null): void {
    if (title === '') throw new Question('What is the new title?');
    const subject = this.single(target, before);
    const type = subject.item?.type ?? 'task';
    if (type !== 'task' && type !== 'project') throw new Question('I can rename tasks and projects only.');
    const isTask = type === 'task';
    this.actions.push({
      tool: isTask ? 'task.update' : 'project.update',
      entity_id: subject.id,
      params: isTask ? { title } : { name: title },
    });
    this.it = subject;
  }

  private relate(clause: Clause & { does: 'relate' }, before: Subject | null): void {
    const source = this.single(clause.source, before);
    const target = this.single(clause.target, before);
    if (source.id === target.id) throw new Question('An item cannot have a relation to itself.');
    const params = { source_id: source.id, target_id: target.id, relation_type: clause.type };
    this.actions.push({ tool: 'relation.create', params });
  }

  /** The only linked project, else the only project of the linked tasks; null if there is none. */
  private project(): string | null {
    const of = (type: LinkedItem['type']) => [
      ...new Set(this.world.items.flatMap((item) => (item.type === type && item.project_id !== null ? [item.project_id] : []))),
    ];
    const linked = of('project');
    const candidates = linked.length > 0 ? linked : of('task');
    if (candidates.length > 1) throw new Question('Several projects are linked. In which one? Unlink the others.');
    return candidates[0] ?? null;
  }

  private single(target: Target, before: Subject | null): Subject {
    const subjects = this.resolveSubjects(target, before);
    if (subjects.length !== 1) throw new Question('This works on one item at a time. Name it.');
    return subjects[0] as Subject;
  }

  private resolveSubjects(target: Target, before: Subject | null): Subject[] {
    switch (target.kind) {
      case 'unknown':
        throw new Question(`No linked item is called ${quote(target.written)}. Link it, or write its whole title or its id.`);
      case 'named': {
        const [item, ...others] = target.items;
        if (!item || others.length > 0)
          throw new Question(
            `Which one do you mean by ${quote(target.written)}: ${list(target.items.map(named), 'or')}? Use its id.`,
          );
        return [{ id: item.id, item }];
      }
      case 'it':
        return [before ?? this.onlyTask()];
      case 'all': {
        const items = this.tasks().filter(({ status }) => target.status === null || status === target.status);
        if (items.length > 0) return items.map((item) => ({ id: item.id, item }));
        const words = target.status === null ? '' : ` that is ${STATUS_WORDS[target.status]}`;
        throw new Question(`No task is linked${words}.`);
      }
    }
  }

  private tasks(): LinkedItem[] {
    return this.world.items.filter(({ type }) => type === 'task');
  }

  private onlyTask(): Subject {
    const [task, ...others] = this.isFirst ? this.tasks() : [];
    if (!task || others.length > 0) throw new Question('Which task do you mean by “it”? Write its title or its id.');
    return { id: task.id, item: task };
  }

  private assignee(to: Assignee, { item }: Subject): string | null {
    if (to.kind === 'nobody') return null;
    if (to.kind === 'me') return this.world.userId;
    const teamId = item?.team_id ?? this.world.items[0]?.team_id ?? '';
    const found = this.world.membersNamed(teamId, to.name);
    if (found.length === 0) throw new Question(`No member of the team is called ${quote(to.name)}.`);
    if (found.length > 1) throw new Question(`Several members of the team are called ${quote(to.name)}. Use a username.`);
    return found[0] as string;
  }
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Joins words as in a sentence; at most five of them. */
function list(words: readonly string[], link: string): string {
  const shown = words.length > 5 ? [...words.slice(0, 4), `${words.length - 4} others`] : words;
  return shown.length < 2 ? (shown[0] ?? '') : `${shown.slice(0, -1).join(', ')} ${link} ${shown.at(-1)}`;
}

/** Teams whose members a name in the clauses may mean, with the folded names. */
export const namesIn = (clauses: readonly Clause[]): string[] => [
  ...new Set(clauses.flatMap((clause) => (clause.does === 'assign' && clause.to.kind === 'name' ? [clause.to.name] : []))),
];

/** Turns the clauses of a message into a plan, a question, or an answer. If one clause fails, nothing is proposed. */
export function resolve(clauses: readonly Clause[], world: RuleWorld): Outcome {
  const unclear = clauses.find(({ does }) => does === 'unclear');
  if (clauses.length === 0 || unclear) {
    return { kind: 'answer', unclear: unclear && clauses.length > 1 ? unclear.written : null };
  }
  const resolver = new Resolver(world);
  try {
    for (const clause of clauses) resolver.add(clause);
  } catch (error) {
    if (error instanceof Question) return { kind: 'question', text: error.message };
    throw error;
  }
  return { kind: 'plan', actions: resolver.actions };
}
