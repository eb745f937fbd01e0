/** Names of members and titles that are made to look like a part of a sentence. */
import { readFileSync } from 'node:fs';
import type { LinkedItem } from '../../../../api/agent/grammar/tokens.js';
import { isMember, meaning, meaningAmong, peopleWith } from './world.js';

type Row = [world: string, said: string | string[], means: string];
const ROWS = ['seen', 'unseen', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'rules'].flatMap(
  (name) => JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8')) as Row[],
);
const WORDS = /[^\p{L}\p{N}'-]+/u;

/** Each word, and each two words side by side, of messages. */
function namesIn(messages: readonly string[]): string[] {
  const words = messages
    .join(' ')
    .split(WORDS)
    .filter((word) => word !== '')
    .map((word) => word.replace(/'s$/, ''));
  return [...new Set([...words, ...words.slice(1).map((word, at) => `${words[at]} ${word}`)])];
}

it('no name of a member turns the plan of a sentence into another one', () => {
  const turned: string[] = [];
  for (const [world, said] of ROWS) {
    const messages = [said].flat();
    const means = meaning(world, ...messages);
    // A question for the name that is missing has its answer then.
    if (means.startsWith('? No member')) continue;
    for (const name of namesIn(messages).filter((each) => !isMember(each))) {
      const others = { people: peopleWith('eve', name) };
      const found = meaningAmong(world, messages, others);
      // Where a question stands instead of the plan before, the last message has no plan to go on with.
      const [earlier, stands] = [messages.slice(0, -1), meaning(world, ...messages.slice(0, -1))];
      if (earlier.length > 0 && meaningAmong(world, earlier, others) !== stands) continue;
      // What is told where no cycle has the name is no plan.
      const isSameCycle = means.startsWith('cycle ') && found.split(',')[0] === means.split(',')[0];
      // Instead of our question stands an answer, which changes nothing.
      const isAnswered = means.startsWith('?') && found.startsWith('list:');
      if (found !== means && !isSameCycle && !isAnswered && !/^[?A]/.test(found))
        turned.push(`${messages.join(' ')}: ${name}: ${found}`);
    }
  }
  expect(turned).toEqual([]);
});

it('a username is no way to take what another member of that name is given', () => {
  const people = peopleWith('mia', 'Eve Mallory');
  expect(meaningAmong('office', ['assign the budget to Bo'], { people })).toBe('assign bud assigned_to=bo');
  const impostor = peopleWith('lind', 'Eve Mallory');
  expect(meaningAmong('office', ['assign the budget to Lind'], { people: impostor })).toMatch(/^\? Several members .* Write @/);
  expect(meaningAmong('office', ['assign the budget to @lind'], { people: impostor })).toBe('assign bud assigned_to=lind');
});

it.each([
  ['Friday', 'move the login task to Friday', 'update log due_date=2026-11-27'],
  ['Review', 'move the budget to review', 'set_status bud status=in_review'],
  ['High', 'set the budget to high', 'update bud priority=high'],
  ['It', 'add it to the harbor project', '?'],
  ['Everything', 'give everything in review to Bo', 'assign crn assigned_to=bo'],
])('a member called %s does not change what “%s” means', (name, said, means) => {
  const found = meaningAmong('office', [said], { people: peopleWith('eve', name) });
  expect(means === '?' ? found.slice(0, 1) : found).toBe(means);
});

const evil = (title: string): LinkedItem => ({
  type: 'task',
  id: 'evil',
  title,
  status: 'todo',
  team_id: 'team',
  project_id: 'prj',
});

it.each([
  ['website into', 'put the website into review'],
  ["login shouldn't", "the login shouldn't be closed"],
  ['login bug until', 'extend the deadline for the login bug until December 10th'],
  ['do the invoices', 'Uma should take the budget. She can also do the invoices.'],
  ['over the budget', 'Uma takes over the budget'],
  ['budget needs', 'the budget needs to be finished by December 1st'],
  ['lower the website', "lower the website's priority to medium"],
])('a task called “%s” is not meant by “%s”', (title, said) => {
  expect(meaningAmong('office', [said], { items: [evil(title)] })).toMatch(/^[?A]/);
});

it.each(['all tasks', 'everything', 'delete all tasks', 'Bo', 'his tasks', 'it', 'Bo is ill', 'to Bo', 'tomorrow'])(
  'a task called “%s” never makes a sentence change tasks that it does not name',
  (title) => {
    const items = [evil(title)];
    for (const said of [`close ${title}`, `close "${title}"`, `rename ${title} to x`, `set the priority of ${title} to high`])
      expect(meaningAmong('office', [said], { items })).toMatch(/^([?A]|(set_status|update) evil [^|]*$)/);
  },
);

it.each(['actually', 'too', 'instead', 'same', 'the rest', 'and', 'undo', 'else'])(
  'a task called “%s” is that task, and no word of a follow-up',
  (title) => {
    const items = [evil(title)];
    for (const said of [`close ${title}`, `close "${title}"`, `${title} is done`])
      expect([said, meaningAmong('office', [said], { items })]).toEqual([said, 'set_status evil status=done']);
    for (const said of [`the budget ${title}`, `and the budget ${title}`])
      expect(meaningAmong('office', ['close the website', said], { items })).not.toMatch(/^set_status bud/);
  },
);

const unlinked = (title: string): LinkedItem => ({ ...evil(title), project_id: 'other' });

it.each(
  [
    'it',
    'all',
    'all tasks',
    'everything',
    'them',
    'website into',
    'the budget',
    'Bo',
    'budget needs',
    'over the budget',
    'website into review',
    'login and everything',
    'tasks of Uma',
  ].flatMap((title) => ['unlinked', 'covered'].map((how) => [title, how] as const)),
)('a task called “%s” that is %s changes the meaning of no sentence', (title, how) => {
  const others = (name: string) => (how === 'covered' ? { covered: [evil(name)] } : { unlinked: [unlinked(name)] });
  const turned = ROWS.flatMap(([world, said]) => {
    const messages = [said].flat();
    const found = meaningAmong(world, messages, others(title));
    // A task of a linked project is one of those with its facts, whatever it is called.
    // A sentence that names nothing known may name the new task now: as a question, or by its whole name.
    return found === meaningAmong(world, messages, others('Quiet')) || /^[?A]/.test(found)
      ? []
      : [`${messages.join(' ')}: ${found}`];
  });
  expect(turned).toEqual([]);
});

it('a title that is not linked never stands for a linked one, and two that fit are a question', () => {
  expect(meaningAmong('office', ['close the budget'], { unlinked: [unlinked('budget')] })).toBe('set_status bud status=done');
  expect(meaningAmong('office', ['close the insurance'], { unlinked: [unlinked('The insurance')] })).toMatch(/^\? Which one/);
  expect(meaningAmong('office', ['close the boat insurance'], { unlinked: [unlinked('Boat insurance')] })).toBe(
    'set_status evil status=done',
  );
  expect(meaningAmong('office', ['close everything'], { unlinked: [unlinked('Anything')] })).not.toContain('evil');
});

it('a task of a series that is done is meant only by what reopens it', () => {
  const series = [
    { ...unlinked('Weekly report'), id: 'old', status: 'done' },
    { ...unlinked('Weekly report'), id: 'new' },
  ];
  expect(meaningAmong('office', ['close the weekly report'], { unlinked: series })).toBe('set_status new status=done');
  expect(meaningAmong('office', ['reopen the weekly report'], { unlinked: series })).toBe('set_status old status=todo');
});
