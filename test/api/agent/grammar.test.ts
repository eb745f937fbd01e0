import fc from 'fast-check';
import { foldName } from '../../../api/agent/grammar/fold.js';
import { parse } from '../../../api/agent/grammar/following/conversation.js';
import { PeopleIndex } from '../../../api/agent/grammar/people.js';
import type { Outcome } from '../../../api/agent/grammar/outcome.js';
import { resolve } from '../../../api/agent/grammar/resolve.js';
import type { LinkedItem } from '../../../api/agent/grammar/tokens.js';
import { TABLE, WORLDS } from './grammar-table.js';

const member = (user_id: string, ...names: string[]) => ({ user_id, team_id: 'team', names: [user_id, ...names] });
const PEOPLE = new PeopleIndex([member('sam', 'Sam Lee'), member('sally', 'Sam Lee'), member('mia')]);
/** A Friday. */
const TODAY = '2026-11-20';

const interpret = (message: string, items: readonly LinkedItem[]): Outcome =>
  resolve(parse(message, items, TODAY, PEOPLE), { items, userId: 'me', people: PEOPLE, today: TODAY });

/** The outcome as the table writes it. */
function shown(outcome: Outcome, expected: string): string {
  if (outcome.kind === 'question') return /^\?.+/.test(expected) ? `? ${(outcome.text.match(/\bk\d/g) ?? []).join(' ')}` : '?';
  if (outcome.kind === 'ask' || outcome.kind === 'unblock') return 'S';
  if (outcome.kind === 'undo' || outcome.kind === 'discard') return outcome.kind;
  if (outcome.kind === 'answer') return outcome.unclear === null ? 'A' : `A: ${outcome.unclear}`;
  return outcome.actions
    .map(({ tool, entity_id, params }) => [tool, ...(entity_id ? [entity_id] : []), JSON.stringify(params)].join(' '))
    .join(' | ');
}

const ROWS = TABLE.map(([world, message, expected]) => [world, message.slice(0, 60), message, expected] as const);

it.each(ROWS)('%s: %s', (world, _start, message, expected) => {
  expect(shown(interpret(message, WORLDS[world] as LinkedItem[]), expected)).toBe(expected);
});

const PIECES = [
  'and',
  ';',
  ':',
  '"',
  '“',
  '”',
  'to',
  'it',
  'this',
  'all',
  'tasks',
  'task',
  'done',
  'todo',
  'close',
  'delete',
  'x',
  'y',
  '\n',
];
const SENTENCES = [
  '"x"',
  '"y" and',
  '“x”;',
  '"x" blocks',
  'close y',
  'delete x',
  'assign it to me',
  'and close x',
  '; close x',
  '\nclose y',
  'blocks x',
  'comment on x: a',
];
const title = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.constantFrom(...SENTENCES)), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(' ').trim())
  .filter((text) => text !== '');
const task = (id: string, name: string): LinkedItem => ({
  type: 'task',
  id,
  title: name,
  status: 'todo',
  team_id: 'team',
  project_id: 'apollo',
});

/** The items that a plan would write. */
const touched = (outcome: Outcome): unknown[] =>
  outcome.kind === 'plan'
    ? outcome.actions.flatMap(({ entity_id, params }) => [entity_id, params['source_id'], params['target_id']])
    : [];

const RUNS = Number(process.env['GRAMMAR_RUNS'] ?? 6_000);

it('no title makes a clause act on another item than the one that has it', () => {
  const forms: ((name: string) => string)[] = [
    (name) => `close ${name}`,
    (name) => `delete ${name}`,
    (name) => `set ${name} to done`,
    (name) => `please rename ${name} to "z"`,
    (name) => `assign ${name} to me`,
    (name) => `set priority of ${name} to high`,
    (name) => `comment on ${name}: hello`,
    (name) => `unassign ${name}`,
  ];
  fc.assert(
    fc.property(title, fc.array(title, { maxLength: 3 }), fc.constantFrom(...forms), (own, others, form) => {
      const message = form(own);
      // Another title that begins with this one, or covers its beginning, may be what was meant: no grammar could tell. Neither if it is a word of the
      // clause itself: of “y and” and “to”, the clause “set priority of y and to high” may name both.
      const isWord = (other: string): boolean => form('').split(/\s+/).includes(other);
      const unlike = others.filter((other) => (!form(own).includes(other) || own.includes(other)) && !isWord(other));
      fc.pre(unlike.every((other) => other.trim() !== own.trim()));
      const items = [
        task('own', own),
        task('id-x', 'x'),
        task('id-y', 'y'),
        ...unlike.map((other, i) => task(`other-${i}`, other)),
      ];
      if (own === 'x' || own === 'y') return;
      const found = touched(interpret(message, items)).filter((id) => id !== undefined);
      expect([...new Set(found)].filter((id) => id !== 'own')).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

const anyText = (maxLength: number) =>
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength }),
    fc.string({ unit: 'binary', maxLength }),
    fc.string({ unit: 'binary-ascii', maxLength }),
  );

it('a title of any characters is found where it stands in a message, and only there', () => {
  fc.assert(
    fc.property(anyText(40), (own) => {
      fc.pre(
        !['', 'x', 'id-x'].includes(foldName(own)) && !/^[\s\p{P}]|[\s\p{M}\u1160-\u11ff]$/u.test(own) && !/^\p{M}/u.test(own),
      );
      const outcome = interpret(`close ${own}`, [task('own', own), task('id-x', 'x')]);
      expect(touched(outcome).filter((id) => id !== undefined && id !== 'own')).toEqual([]);
      if (/^\w+$/.test(own)) expect(touched(outcome)).toContain('own');
    }),
    { numRuns: RUNS },
  );
});

it('reads any message without an error', () => {
  fc.assert(
    fc.property(anyText(200), fc.array(fc.oneof(title, anyText(40)), { maxLength: 5 }), (message, titles) => {
      interpret(
        message,
        titles.map((name, i) => task(`t${i}`, name)),
      );
    }),
    { numRuns: RUNS },
  );
});

/** A grammar that takes time by the square of a message would need minutes here, and the test has two. */
it.each([
  ['open quotes', '“"«„'.repeat(2_500)],
  ['semicolons', `comment on x: ${';'.repeat(9_900)}`],
  ['separators', 'comment on x; '.repeat(700)],
  ['heads', 'comment on x and '.repeat(580)],
  ['words of long titles', 'm '.repeat(5_000)],
  ['nested politeness', 'please thanks then '.repeat(520)],
])('reads ten thousand characters of %s', (_name, message) => {
  const items = Array.from({ length: 50 }, (_, i) => task(`t${i}`, `${'m '.repeat(80)}${i}`));
  for (let i = 0; i < 20; i += 1) expect(interpret(message, items).kind).not.toBe('plan');
});
