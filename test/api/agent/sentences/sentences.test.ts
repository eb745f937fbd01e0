import { readFileSync } from 'node:fs';
import { kindsOfSentences } from '../../../../api/agent/grammar/asking/nearest.js';
import { isSame, meaning } from './world.js';

/** World, what is written (several messages: an array), and what it means. */
type Row = [world: string, said: string | string[], means: string];
const read = (name: string): Row[] => JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8')) as Row[];

const ROWS = [
  'seen',
  'unseen',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
  'ninth',
  'tenth',
  'eleventh',
  'twelfth',
  'rules',
]
  .flatMap(read)
  .map(([world, said, means]) => [world, said, means] as const);

it.each(ROWS)('%s: %s', (world, said, means) => {
  const found = meaning(world, ...[said].flat());
  expect(isSame(found, means) ? means : found).toBe(means);
});

it('understands each sentence that help and the first page show', () => {
  const shown = kindsOfSentences({ T: 'bud', U: 'web', P: 'Mia', J: 'Harbor' }, 'given').flatMap(({ sentences }) => sentences);
  expect(shown.length).toBeGreaterThan(25);
  expect(shown.filter((sentence) => /^(A|\?)/.test(meaning('office', sentence)))).toEqual([]);
});

/** Bad luck and malice: eight thousand characters that look like clauses, over fifty linked items. */
const HOSTILE: Record<string, string> = {
  clauses: 'assign a to b and set c to d, ',
  filters: 'close the quick brown fox that is overdue and assigned to uma and due next week in review and ',
  prepositions: 'for in due with priority to ',
  relations: 'a blocks ',
  parts: 'break x into a due friday, ',
  exceptions: 'all overdue tasks except ',
  questions: 'what is uma working on and ',
  apostrophes: "a's ",
  quotes: '“"«„',
  times: 'close the machine tomorrow next week on friday, ',
  negations: "isn't don't ",
  pronouns: 'give his tasks to her, ',
  persons: 'bo and mia and uma and ',
  conditions: 'close a if close b when ',
  topics: 'part 1: high, ',
  choices: 'close overdue or urgent or unassigned and ',
  wishes: 'i want the machine to be done by friday and ',
  holds: 'put it on hold ',
  tracks: 'are we on track for the machine ',
};

/** What goes on with the message before is read once more, beside it. */
const HOSTILE_AFTER = [
  'only the ',
  'no, to bo, ',
  'except all but ',
  'the second one and ',
  'leave it ',
  'make it that ',
  'yes ok ',
  'pull requests open ',
];

it.each(HOSTILE_AFTER)('reads 8 kB of “%s” behind a plan and a question to the end', (piece) => {
  const text = piece.repeat(Math.ceil(8_000 / piece.length)).slice(0, 8_000);
  expect(meaning('many', 'close part 3 of the machine', text)).toMatch(/./);
  expect(meaning('many', 'close the machine', text)).toMatch(/./);
  expect(meaning('many', text, text, text)).toMatch(/./);
});

it.each(Object.entries(HOSTILE))('reads 8 kB of %s to the end', (_name, piece) => {
  // Anything but linear reading would outlast the time of a test.
  expect(meaning('many', piece.repeat(Math.ceil(8_000 / piece.length)).slice(0, 8_000))).toMatch(/./);
});
