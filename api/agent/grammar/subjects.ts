import type { OwnWords } from './sets/own-words.js';
import type { Beyond } from './beyond.js';
import type { Target } from './clauses.js';
import { list, named, namedApart, quote } from './doubts/naming.js';
import { onlyMeaning } from './doubts/which-set.js';
import { openOnly } from './filter.js';
import type { PeopleIndex } from './people.js';
import type { TaskSet } from './outcome.js';
import { phraseStems } from './match.js';
import { droppedWords } from './sets/dropped.js';
import { alternativesOf } from './sets/any-of.js';
import { nearest } from './sets/near.js';
import { isMeant, meansCompleted } from './sets/is-meant.js';
import { type Assignee, RESOLUTIONS, type TaskFilter } from './terms.js';
import type { LinkedItem } from './tokens.js';

/** What the clauses of a message refer to. */
export interface RuleWorld {
  /** Readable linked items, in the order of linking, tasks with their facts. */
  items: readonly LinkedItem[];
  /** The person who asks. */
  userId: string;
  people: PeopleIndex;
  /** YYYY-MM-DD where the person is. */
  today: string;
  /** What the teams name themselves. */
  own?: OwnWords;
  /** What is not linked, as far as it was looked up. */
  beyond?: Beyond;
}

/** A task that a clause is about: a linked one, or the one that an earlier action creates. */
export type Subject = { id: string; item: LinkedItem | null };

/** Something that the person has to say first; its text is the answer, and names these items. */
export class Question extends Error {
  constructor(
    text: string,
    readonly items: readonly LinkedItem[] = [],
  ) {
    super(text);
  }
}

const WHICH_TWO = 'Which two tasks do you mean? Write their titles.';
const PARTLY =
  'I could not look through all tasks of the team now, only among linked items: write again in a minute, or name fewer tasks at once.';
const TOO_MANY =
  'The linked projects have more tasks than I read for one message. Name the tasks, or write “all linked tasks” for those that you linked.';
const whichCycle = (cycles: readonly string[]): string => `Which cycle do you mean: ${list(cycles.map(quote), 'or')}?`;
/** Whether words mean linked tasks only, and not those of linked projects. */
const isOfLinked = (written: string): boolean => /\blinked\b/i.test(written);
const whomWords = ({ written, among }: Extract<Assignee, { kind: 'whom' }>): string =>
  `Whom do you mean by “${written}”${among.length > 0 ? `: ${list(among.map(quote), 'or')}` : ''}? Write the name.`;

/**
 * The ids that an assignee may have; null is nobody.
 * @throws Question a pronoun that means none, or one of several
 */
export function findAssignees(
  { people, userId }: Pick<RuleWorld, 'people' | 'userId'>,
  to: Assignee | undefined,
  teamId?: string,
): (string | null)[] {
  if (!to || to.kind === 'nobody') return [null];
  if (to.kind === 'whom') throw new Question(whomWords(to));
  return to.kind === 'me' ? [userId] : people.find(to.name, teamId);
}

/**
 * The one member of a team to whom tasks shall go; null is nobody.
 * @throws Question none or several have that name
 */
export function assigneeOf(world: Pick<RuleWorld, 'people' | 'userId'>, to: Assignee, teamId: string): string | null {
  const found = findAssignees(world, to, teamId);
  const name = to.kind === 'name' ? quote(to.name) : '';
  if (found.length === 0) throw new Question(`No member of the team is called ${name}.`);
  if (found.length > 1) throw new Question(`Several members of the team are called ${name}. Write @ and a username.`);
  return found[0] as string | null;
}

/**
 * The one member that a filter means.
 * @throws Question none or several have that name
 */
export function onlyAssignees(world: Pick<RuleWorld, 'people' | 'userId'>, to: Assignee | undefined): (string | null)[] {
  const found = findAssignees(world, to);
  if (to?.kind === 'name' && found.length !== 1)
    throw new Question(
      `${found.length === 0 ? 'No member' : 'More than one member'} is called ${quote(to.name)}. Write @ and a username.`,
    );
  return found;
}

/** What the clause before was about; null: it listed tasks, of which some may not be linked. */
export type Before = readonly Subject[] | null;

/** Returns what a target means. */
export class SubjectFinder {
  /** What to say of the tasks that were found. */
  readonly notes = new Set<string>();
  /** The items that these name, in their order. */
  readonly noted = new Set<LinkedItem>();
  /** The sets of tasks that it looked for. */
  readonly sets: TaskSet[] = [];
  /** Whether a task that is done is wanted, where one name means several: only that can be reopened. */
  wantsDone = false;
  /** Whether tasks that are done are not meant by “everything”: nobody gives them to another member. */
  leavesDone = false;

  constructor(private readonly world: RuleWorld) {}

  /** @throws Question if it is not certain */
  find(target: Target, before: Before): Subject[] {
    switch (target.kind) {
      case 'unknown': {
        const found = this.nearTo(target);
        const near = found.length > 0 ? ` Do you mean ${list(namedApart(found), 'or')}?` : '';
        throw new Question(`${this.unknownWords(target)}${near} Link it, or write its title or its number.`, found);
      }
      case 'named':
        return [this.only(target.items, target.written)];
      case 'it':
        return before?.length === 1 ? [...before] : [this.onlyTask()];
      case 'same':
        return before && before.length > 0 ? [...before] : [this.onlyTask()];
      case 'rest':
        throw new Question(`Which tasks are ${quote(target.written)}? Write their titles, or what they have in common.`);
      case 'them':
        return this.several(before, target.both);
      case 'part':
        return this.partOf(target, before);
      case 'list':
        return uniqueSubjects(target.targets.flatMap((each) => this.find(each, before)));
      case 'all': {
        if (target.filter.lacksIt) throw new Question('Without what? Write “without an owner” or “without a due date”.');
        const except = target.except ? this.find(target.except, before).map(({ id }) => id) : [];
        const items = this.matching(target).filter(({ id }) => !except.includes(id));
        if (target.both && items.length !== 2) throw new Question(WHICH_TWO);
        if (items.length > 0) return items.map((item) => ({ id: item.id, item }));
        if (Object.keys(target.filter).length === 0) throw new Question('No task is linked.');
        throw new Question([`No task of what is linked fits ${quote(target.written)}.`, ...this.notes].join(' '));
      }
    }
  }

  /** @throws Question it leaves nothing, or all */
  private partOf(
    { of, part: { is, filter = {}, target, written } }: Extract<Target, { kind: 'part' }>,
    before: Before,
  ): Subject[] {
    const count = this.sets.length;
    const found = this.find(of, before);
    // What is left out then is what the person leaves out.
    this.sets.length = count;
    const ids = target ? new Set(this.find(target, before).map(({ id }) => id)) : undefined;
    const people = onlyAssignees(this.world, filter.assignee);
    const isIn = ({ id, item }: Subject): boolean =>
      ids ? ids.has(id) : item !== null && isMeant(item, filter, people, this.world.today);
    const named = found.filter(isIn);
    if (named.length === 0) throw new Question(`None of them is ${quote(written)}. The plan before stays as it is.`);
    if (is === 'only') return named;
    if (named.length === found.length) throw new Question(`Then nothing is left. Write “discard the plan” to leave it.`);
    return found.filter((subject) => !isIn(subject));
  }

  /** The one item that a target means. @throws Question several */
  single(target: Target, before: Before): Subject {
    const [subject, ...others] = this.find(target, before);
    if (!subject || others.length > 0) throw new Question('This works on one item at a time. Name it.');
    return subject;
  }

  /** The only project that is linked; undefined for none, or several. */
  onlyProject(): LinkedItem | undefined {
    const [project, ...others] = this.world.items.filter(({ type }) => type === 'project');
    return others.length === 0 ? project : undefined;
  }

  /** The linked tasks that a question names by nothing but their words; null for another question. */
  matchingWords({ words, said: _said, statuses: _open, ...others }: TaskFilter): Before {
    if (!words || Object.keys(others).length > 0) return null;
    return this.tasks()
      .filter((item) => isMeant(item, { words }, [], this.world.today))
      .map((item) => ({ id: item.id, item }));
  }

  /** The items whose titles share most words with a name that nothing has. */
  private nearTo({ near, names }: Extract<Target, { kind: 'unknown' }>): readonly LinkedItem[] {
    const { beyond } = this.world;
    const [words = [], ...others] = names;
    if (!beyond || others.length > 0) return near;
    const items = [...near, ...beyond.near(words)];
    return nearest([...new Map(items.map((item) => [item.id, item])).values()], phraseStems(words).distinctive).tasks;
  }

  private unknownWords({ written, names }: Extract<Target, { kind: 'unknown' }>): string {
    const { beyond } = this.world;
    const said = quote(written);
    if (beyond?.isPartial) return `${PARTLY} No linked item is called ${said}.`;
    if (beyond && names.some((words) => beyond.isCut(words))) return `Too many tasks of the team have words like ${said}.`;
    return beyond ? `No linked item, and no task of the team, is called ${said}.` : `No linked item is called ${said}.`;
  }

  private only(items: readonly LinkedItem[], written: string): Subject {
    const tasks = items.filter(({ type }) => type === 'task');
    const isBeyond = items.every(({ isLinked }) => isLinked === false);
    const fitting = items.length > 1 && tasks.length > 0 && !isBeyond ? tasks : items;
    const [item, ...others] = isBeyond ? this.living(fitting) : fitting;
    if (!item || others.length > 0)
      throw new Question(
        `Which one do you mean by ${quote(written)}: ${list(namedApart(fitting), 'or')}? Write its ${fitting.every(({ key }) => key != null) ? 'number' : 'whole title or its id'}.`,
        fitting,
      );
    if (item.isLinked === false) {
      this.notes.add(`${quote(written)} is ${named(item)}${this.world.beyond?.isCovered(item) ? '' : ', which is not linked'}.`);
      this.noted.add(item);
    }
    return { id: item.id, item };
  }

  /** Of several tasks with the words, the one that is not done yet, as the last one of a series; or the one that is. */
  private living(items: readonly LinkedItem[]): readonly LinkedItem[] {
    const fitting = items.filter(({ status }) => (status === 'done') === this.wantsDone);
    return items.length > 1 && fitting.length === 1 ? fitting : items;
  }

  private matching(target: Extract<Target, { kind: 'all' }>): LinkedItem[] {
    const found = alternativesOf(target.filter).flatMap((filter) => this.fitting({ ...target, filter }));
    const ids = new Set(found.map(({ id }) => id));
    // In the order of linking, as one set is.
    return target.filter.anyOf ? this.known(target).filter(({ id }) => ids.has(id)) : found;
  }

  /** Linked tasks, and those of linked projects where a set may mean them. */
  private known({ filter, written, isAny: isOfNoFact }: Extract<Target, { kind: 'all' }>): LinkedItem[] {
    const isAny = isOfNoFact ?? Object.keys(filter).length === 0;
    // Without a fact, or by words that titles may have, the linked ones, if there are any.
    const isOfLinks = isOfLinked(written) || ((isAny || filter.words !== undefined) && this.tasks().length > 0);
    const { items = [], isCut = false } = isOfLinks ? {} : (this.world.beyond?.coveredTasks ?? {});
    if (isCut) throw new Question(TOO_MANY);
    const known = [...this.tasks(), ...items];
    const open = known.filter(({ status }) => status !== 'done');
    return isAny && this.leavesDone && open.length > 0 ? open : known;
  }

  private fitting(target: Extract<Target, { kind: 'all' }>): LinkedItem[] {
    const { filter, written, isAny: isOfNoFact } = target;
    const people = onlyAssignees(this.world, filter.assignee);
    // A person's tasks, and those of a project, are their open ones.
    const meant = filter.assignee || filter.due ? openOnly(filter) : filter;
    const isAny = isOfNoFact ?? Object.keys(filter).length === 0;
    const known = this.known(target);
    if (!isAny && !isOfLinked(written)) this.sets.push({ written, filter: meant, people });
    const { words, said: _said, ...facts } = meant;
    const among = (part: TaskFilter) => known.filter((item) => isMeant(item, part, people, this.world.today));
    const found = among(facts);
    const cycles = [...new Set(filter.cycle ? found.flatMap(({ cycle }) => (cycle ? [cycle.name] : [])) : [])];
    if (cycles.length > 1) throw new Question(whichCycle(cycles));
    const dropped = meansCompleted(facts) ? droppedWords(among({ ...facts, resolutions: RESOLUTIONS })) : '';
    if (dropped !== '') this.notes.add(dropped);
    if (!words) return found;
    const { tasks, doubt } = onlyMeaning(found, words);
    if (doubt) throw new Question(`${quote(written)} may be ${doubt}`);
    return tasks;
  }

  private several(before: Before, both: boolean): Subject[] {
    if (!before) throw new Question('Which of the listed tasks do you mean? Write their titles, or what they have in common.');
    const found = before.length > 0 ? [...before] : this.tasks().map((item) => ({ id: item.id, item }));
    if (found.length === 0) throw new Question('No task is linked.');
    if (both && found.length !== 2) throw new Question(WHICH_TWO);
    return found;
  }

  private tasks(): LinkedItem[] {
    return this.world.items.filter(({ type }) => type === 'task');
  }

  private onlyTask(): Subject {
    const [task, ...others] = this.tasks();
    if (!task || others.length > 0) throw new Question('Which task do you mean by “it”? Write its title or its number.');
    return { id: task.id, item: task };
  }
}

const uniqueSubjects = (subjects: readonly Subject[]): Subject[] => [
  ...new Map(subjects.map((subject) => [subject.id, subject])).values(),
];
