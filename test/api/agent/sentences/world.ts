import { parseAll } from '../../../../api/agent/grammar/following/conversation.js';
import type { Answered } from '../../../../api/agent/grammar/following/follow-up.js';
import { PeopleIndex } from '../../../../api/agent/grammar/people.js';
import { nearest } from '../../../../api/agent/grammar/sets/near.js';
import { isMeant } from '../../../../api/agent/grammar/sets/is-meant.js';
import type { Asked, Outcome } from '../../../../api/agent/grammar/outcome.js';
import type { OwnWords } from '../../../../api/agent/grammar/sets/own-words.js';
import { Beyond } from '../../../../api/agent/grammar/beyond.js';
import { WordIndex } from '../../../../api/agent/grammar/match.js';
import { resolve, subjectsOf } from '../../../../api/agent/grammar/resolve.js';
import { onlyAssignees } from '../../../../api/agent/grammar/subjects.js';
import type { LinkedItem } from '../../../../api/agent/grammar/tokens.js';
import { alternativesOf } from '../../../../api/agent/grammar/sets/any-of.js';
import type { TaskFilter } from '../../../../api/agent/grammar/terms.js';

/** A Wednesday. */
const TODAY = '2026-11-25';

interface WorldTask extends LinkedItem {
  completed?: string;
}
const task = (
  id: string,
  title: string,
  status: string,
  priority: string,
  due: string | null,
  assigned_to: string | null,
  more: Partial<WorldTask> = {},
): WorldTask => ({
  type: 'task',
  id,
  key: id,
  title,
  status,
  priority,
  due,
  assigned_to,
  team_id: 'team',
  project_id: 'prj',
  tags: [],
  ...more,
});

const LINKED: WorldTask[] = [
  task('inv', 'Export invoices to CSV', 'in_progress', 'medium', '2026-11-20', 'bo', { tags: ['q4'] }),
  task('log', 'Login fails with error 500', 'todo', 'high', '2026-11-27', 'uma'),
  task('crn', 'Inspect the harbor crane', 'in_review', 'medium', '2026-12-02', 'mia'),
  task('crw', 'Order crane wheels', 'todo', 'low', null, null, { is_blocked: true }),
  task('web', 'Publish the new website', 'todo', 'urgent', '2026-11-24', 'uma'),
  task('bud', 'Prepare the 2027 budget', 'todo', 'medium', '2026-12-15', 'ada'),
  task('hb', 'Update the onboarding handbook', 'done', 'low', '2026-11-10', 'bo', { completed: '2026-11-17' }),
  { type: 'project', id: 'prj', title: 'Harbor', status: 'active', team_id: 'team', project_id: 'prj' },
  { type: 'note', id: 'min', title: 'Meeting minutes', status: 'active', team_id: 'team', project_id: null },
];
/** Tasks of the team that are not linked. */
const UNLINKED: WorldTask[] = [
  task('t1', 'Paint the crane arm', 'in_progress', 'high', '2026-11-26', 'uma'),
  task('t2', 'Renew the insurance', 'todo', 'medium', '2026-11-19', 'sam'),
  task('t3', 'Translate the brochure', 'todo', 'low', '2026-12-03', 'mia'),
  task('t4', 'Fix the coffee machine', 'done', 'medium', '2026-11-23', 'bo', { completed: '2026-11-24' }),
  task('t5', 'Call the port authority', 'todo', 'medium', null, null),
];
const WORLDS: Readonly<Record<string, readonly WorldTask[]>> = {
  office: LINKED,
  one: LINKED.filter(({ id }) => id === 'log'),
  bugs: [
    task('b1', 'Search finds nothing', 'todo', 'medium', null, 'bo', { tags: ['bug'] }),
    task('b2', 'Checkout crashes', 'in_progress', 'urgent', null, 'uma', { tags: ['bug'] }),
    task('b3', 'Typo on the home page', 'todo', 'low', null, null, { tags: ['bug'] }),
    task('b4', 'Write the questions and answers', 'todo', 'medium', null, 'mia'),
  ],
  shop: [
    task('s1', 'Redesign the checkout', 'todo', 'medium', null, 'bo', {
      tags: ['web'],
      project_id: 'sto',
      project_title: 'Storefront',
    }),
    task('s2', 'Speed up the product pages', 'in_progress', 'low', '2026-11-27', 'uma', {
      tags: ['web'],
      project_id: 'sto',
      project_title: 'Storefront',
    }),
    task('s3', 'Send out the winter catalog', 'todo', 'medium', '2026-12-01', 'bo', {
      tags: ['print'],
      project_id: 'sto',
      project_title: 'Storefront',
    }),
    task('s4', 'Scan receipts', 'todo', 'low', null, null, { tags: ['app'], project_id: 'mob', project_title: 'Mobile app' }),
    task('s5', 'Show push messages', 'in_review', 'medium', '2026-11-26', 'bo', {
      project_id: 'mob',
      project_title: 'Mobile app',
    }),
    { type: 'project', id: 'sto', title: 'Storefront', status: 'active', team_id: 'team', project_id: 'sto' },
    { type: 'project', id: 'mob', title: 'Mobile app', status: 'active', team_id: 'team', project_id: 'mob' },
  ],
  pay: [
    task('p1', 'Migrate Stripe webhooks to v3', 'in_progress', 'high', '2026-11-27', 'uma', { is_blocked: true }),
    task('p2', 'Document the refund policy', 'todo', 'medium', '2026-12-03', 'mia'),
    task('p3', 'Approve supplier contracts', 'in_review', 'urgent', '2026-11-24', 'bo'),
    task('p4', 'Configure single sign-on', 'todo', 'low', null, null),
    task('p5', 'Evaluate payroll vendors', 'todo', 'medium', '2026-12-10', 'bo'),
    task('p6', 'Notify customers about price changes', 'todo', 'high', '2026-12-01', null),
    task('p7', 'Renew TLS certificates', 'todo', 'urgent', '2026-11-20', 'uma'),
    task('p8', 'Investigate slow reports', 'done', 'low', '2026-11-18', 'mia', { completed: '2026-11-24' }),
    { type: 'project', id: 'prj', title: 'Payments', status: 'active', team_id: 'team', project_id: 'prj' },
  ],
  roc: [
    task('r12', 'Login crash', 'in_progress', 'high', null, 'bo', { key: 'ROC-12' }),
    task('r16', 'Rotate the keys', 'in_review', 'medium', null, 'mia', { key: 'ROC-16', stage: 'Code review' }),
    task('r22', 'Dark mode', 'in_review', 'low', null, 'uma', { key: 'ROC-22', stage: 'In QA' }),
  ],
  cyc: [
    task('c1', 'Login bug', 'in_progress', 'high', '2026-11-20', 'bo', {
      key: 'ACM-1',
      fields: { severity: 's1', impact: 'low' },
      cycle: { name: 'Cycle 4', status: 'active' },
    }),
    task('c6', 'Export report', 'todo', 'medium', null, 'uma', {
      key: 'ACM-6',
      fields: { severity: 's2', impact: 'high' },
      cycle: null,
    }),
    task('c7', 'Slow search', 'todo', 'low', '2026-11-19', null, {
      key: 'ACM-7',
      fields: { severity: 's1', impact: 'high' },
      cycle: { name: 'Cycle 4', status: 'active' },
    }),
    task('c8', 'Dark theme', 'done', 'low', null, 'mia', {
      key: 'ACM-8',
      completed: '2026-11-24',
      fields: {},
      cycle: { name: 'Cycle 4', status: 'active' },
    }),
    task('c9', 'Old invoices', 'todo', 'medium', null, 'mia', {
      key: 'ACM-9',
      fields: { severity: 's3' },
      cycle: { name: 'Cycle 5', status: 'planned' },
    }),
  ],
  many: Array.from({ length: 50 }, (_, n) =>
    task(`m${n}`, `Order part ${n} of the machine and test it`, 'todo', 'low', null, null),
  ),
};
/** What the team of the world `roc` names itself. */
const OWN: OwnWords = {
  stages: [
    { name: 'Backlog', status: 'todo' },
    { name: 'Code review', status: 'in_review' },
    { name: 'In QA', status: 'in_review' },
    { name: 'Ready to deploy', status: 'done' },
  ],
  fields: ['Severity', 'Story size'],
};
/** What the team of the world `cyc` names itself. */
const OWN_CHOICES: OwnWords = {
  stages: [],
  fields: ['Severity', 'Impact', 'Story size'],
  choices: [
    ...['S1', 'S2', 'S3'].map((label) => ({ field: 'Severity', value: label.toLowerCase(), label })),
    ...['Low', 'High'].map((label) => ({ field: 'Impact', value: label.toLowerCase(), label })),
  ],
};
const member = (user_id: string, name: string) => ({ user_id, team_id: 'team', names: [user_id, name] });
const MEMBERS = [
  member('ada', 'Ada Berg'),
  member('uma', 'Uma Patel'),
  member('bo', 'Bo Lind'),
  member('mia', 'Mia Chen'),
  member('sam', 'Sam Lee'),
  member('sortiz', 'Sam Ortiz'),
  member('mark', 'Mark Hill'),
].map((each) => (each.user_id === 'sam' ? { ...each, user_id: 'sam', names: ['slee', 'Sam Lee'] } : each));
const people = new PeopleIndex(MEMBERS);
/** Whether some member has this name. */
export const isMember = (name: string): boolean => people.find(name.toLowerCase()).length > 0;
/** The same team with another member. */
export const peopleWith = (user_id: string, name: string): PeopleIndex => new PeopleIndex([...MEMBERS, member(user_id, name)]);

/** Who may be named, and what is linked beside the tasks of a world. */
interface Others {
  people?: PeopleIndex;
  items?: readonly LinkedItem[];
  /** More tasks of the team that are not linked. */
  unlinked?: readonly LinkedItem[];
  /** Tasks of the linked project `prj` that are not linked themselves. */
  covered?: readonly LinkedItem[];
}

function lookUpOne(
  beyond: Beyond,
  unlinked: readonly LinkedItem[],
  key: string,
  found: LinkedItem[],
  stems: readonly string[],
): void {
  beyond.add(key, found, false);
  if (found.length === 0 && stems.length > 1) beyond.addNear(key, nearest(unlinked, stems).tasks);
}

/** Looks names up among the tasks of the team, as the product does in its database. */
function lookUp(beyond: Beyond, unlinked: readonly LinkedItem[]): boolean {
  const phrases = beyond.takeWanted();
  const titles = new WordIndex(unlinked);
  for (const { key, words, stems } of phrases)
    lookUpOne(
      beyond,
      unlinked,
      key,
      [...new Set([...unlinked.filter(({ id }) => words[0] === id), ...titles.find(words), ...titles.find(stems)])],
      stems,
    );
  return phrases.length > 0;
}

/** Reads a message, or the last of several, as the person Ada. */
export const outcomeOf = (world: string, ...messages: string[]): Outcome => interpret(world, messages, {});

/** What the product would have answered to a message before. */
function answered(world: string, outcome: Outcome): Answered {
  if (outcome.kind === 'plan') return { plan: 'staged', named: outcome.items };
  if (outcome.kind !== 'ask') return { plan: null, named: outcome.kind === 'question' ? outcome.items : [] };
  return { plan: null, named: outcome.asked.does === 'tasks' ? foundBy(world, outcome.asked) : [] };
}
function interpretSafely(world: string, messages: readonly string[], others: Others): Outcome {
  try {
    return interpret(world, messages, others);
  } catch {
    return { kind: 'answer', unclear: null };
  }
}

function interpret(world: string, messages: readonly string[], others: Others): Outcome {
  const items = [...(WORLDS[world] ?? []), ...(others.items ?? [])];
  const beyond = new Beyond(new Set(others.covered ? ['prj'] : []));
  const covered = (others.covered ?? []).map((each) => ({ ...each, isLinked: false as const }));
  if (others.covered) beyond.cover({ items: covered, isCut: false });
  const rules = {
    items,
    ...(world === 'roc' && { own: OWN }),
    ...(world === 'cyc' && { own: OWN_CHOICES }),
    userId: 'ada',
    people: others.people ?? people,
    today: TODAY,
    beyond,
  };
  const answers = messages
    .slice(1)
    .map((_message, at) => answered(world, interpretSafely(world, messages.slice(0, at + 1), others)));
  let read = parseAll(messages, rules, answers);
  const unlinked = [...UNLINKED, ...covered, ...(others.unlinked ?? [])].map((each) => ({ ...each, isLinked: false as const }));
  while (lookUp(beyond, unlinked)) read = parseAll(messages, rules, answers);
  return resolve(read.at(-1) ?? [], rules, subjectsOf(read.slice(0, -1), rules), read.at(-2) ?? []);
}

const shownParams = (params: Readonly<Record<string, unknown>>): string =>
  Object.entries(params)
    .map(
      ([name, value]) =>
        `${name}=${Array.isArray(value) ? value.join('+') : typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)}`,
    )
    .join(',');

function shownActivity({ asked, of }: Extract<Asked, { does: 'activity' }>): string {
  const who =
    asked.who &&
    onlyAssignees({ people, userId: 'ada' }, asked.who).map((id) => MEMBERS.find((each) => each.user_id === id)?.names.at(-1));
  const { from = '', to = TODAY } = asked.days ?? {};
  const parts = [
    asked.by && `by ${asked.by}`,
    who && `of ${who.join()}`,
    of && `${of.type === 'project' ? 'in' : 'of'} ${of.id}`,
    asked.days && `${from}..${to}`,
  ];
  return ['activity', ...parts].filter((part) => part).join(' ');
}

const fits = (each: WorldTask, filter: TaskFilter): boolean =>
  isMeant({ project_title: 'Harbor', ...each }, filter, onlyAssignees({ people, userId: 'ada' }, filter.assignee), TODAY);

/** The tasks that a question finds. */
const foundBy = (world: string, { question, without }: Extract<Asked, { does: 'tasks' }>): WorldTask[] =>
  [...(WORLDS[world] ?? []), ...(world === 'cyc' ? [] : UNLINKED)]
    .filter((each) => each.type === 'task' && alternativesOf(question.filter).some((one) => fits(each, one)))
    .filter(({ id }) => !without.includes(id));

function shownAnswer(world: string, outcome: Extract<Outcome, { kind: 'ask' }>): string {
  const { asked } = outcome;
  if (asked.does === 'help') return 'H';
  if (asked.does === 'summary') return 'S';
  if (asked.does === 'forecast') return `forecast: ${asked.project.id}`;
  if (asked.does === 'cycle') {
    const { when, names } = asked.cycle;
    const other = asked.otherwise ? `, or ${shownAnswer(world, { kind: 'ask', asked: asked.otherwise })}` : '';
    return `cycle ${names.length > 0 ? names.join('/') : when}${other}`;
  }
  if (asked.does === 'blocking') return `${asked.end === 'before' ? 'blockers' : 'blocked'}: ${asked.ids.join(' ')}`;
  if (asked.does === 'activity') return shownActivity(asked);
  if (asked.does === 'about') return `list: ${asked.ids.join(' ')}`;
  const { show, filter } = asked.question;
  const tasks = [...(WORLDS[world] ?? []), ...UNLINKED].filter(({ type }) => type === 'task');
  const found = foundBy(world, asked).map(({ id }) => id);
  const isOfAll = show === 'load' && Object.keys(filter).length === 1 && filter.statuses?.length === 3;
  if (isOfAll) return asked.of ? `load for ${asked.of.id}` : 'load';
  const near = found.length === 0 && show === 'list' && filter.words ? nearest(tasks, filter.words) : undefined;
  // What the product answers then: the tasks that it may be about.
  if (near && near.tasks.length > 0 && !near.hasAll) return `? ${near.tasks.map(({ id }) => `(${id})`).join(' ')}`;
  const cycle = filter.cycle ? ` in ${filter.cycle.names.join('/') || filter.cycle.when}` : '';
  return `${show}${cycle}: ${found.sort().join(' ')}`.trim();
}

/** What a message comes to, as the lists of sentences write it. */
export const meaning = (world: string, ...messages: string[]): string => meaningAmong(world, messages, {});

/** The same, with other members or items. */
export function meaningAmong(world: string, messages: readonly string[], others: Others): string {
  try {
    const outcome = interpret(world, messages, others);
    if (outcome.kind === 'question') return `? ${outcome.text}`;
    if (outcome.kind === 'answer') return outcome.unclear === null ? 'A' : `A: ${outcome.unclear}`;
    if (outcome.kind === 'ask') return shownAnswer(world, outcome);
    if (outcome.kind === 'undo' || outcome.kind === 'discard') return outcome.kind;
    if (outcome.kind === 'unblock') return `unblock ${outcome.id}${outcome.by ? ` from ${outcome.by}` : ''}`;
    return outcome.actions
      .map(({ tool, entity_id, params }) =>
        [tool.replace(/^task\./, ''), ...(entity_id ? [entity_id] : []), shownParams(params)].join(' ').trim(),
      )
      .join(' | ');
  } catch (error) {
    return `? ${(error as Error).message}`;
  }
}

/** Whether a question of ours is the one that was expected: `? a b` names these ids; `-` is a question, or a clause that is not understood. */
export function isSame(found: string, expected: string): boolean {
  if (expected === '-') return /^[?A]/.test(found);
  if (!expected.startsWith('?') || !found.startsWith('?')) return found === expected;
  const ids = expected.slice(1).split(' ');
  return ids.filter((id) => id !== '').every((id) => found.includes(`(${id})`));
}
