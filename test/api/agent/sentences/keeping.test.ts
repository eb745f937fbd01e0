import { outcomeOf } from './world.js';

// What a message says of priorities that it leaves, or lowers, and what it cannot do.

const notesOf = (world: string, said: string): string => {
  const outcome = outcomeOf(world, said);
  return outcome.kind === 'plan' ? outcome.notes.join(' ') : outcome.kind === 'question' ? outcome.text : '';
};

it('says which urgent tasks of a set keep their priority, and takes them where they are named', () => {
  expect(notesOf('bugs', 'mark everything tagged bug as high')).toBe(
    'Urgent tasks keep their priority: the task “Checkout crashes” (b2). Name one to lower it, as in “set … to high”.',
  );
  expect(notesOf('bugs', 'set Checkout crashes to high')).toBe('');
  expect(notesOf('bugs', 'lower everything tagged bug to high')).toContain(
    'This lowers the priority of the task “Checkout crashes” (b2)',
  );
});

it('says that a change of many lowers some of them', () => {
  const note = notesOf('bugs', 'everything tagged bug is low priority now');
  expect(note).toMatch(/^This lowers the priority of .*\(b1\).*\(b2\)/);
  expect(note).not.toContain('(b3)');
});

it('asks where every task of a set would keep its priority', () => {
  expect(notesOf('bugs', 'make everything that is urgent high priority')).toContain('Urgent tasks keep their priority');
});

it('says what it cannot do, with a sentence that it can', () => {
  expect(notesOf('office', 'remind me about the budget on Monday')).toContain('“set the due date of bud to 2026-11-30”');
  expect(notesOf('office', 'note that the supplier of the crane wheels is late')).toContain('comment on “Order crane wheels”: …');
});

it('does what other sentences say beside one in which urgent tasks keep their priority', () => {
  const outcome = outcomeOf('bugs', 'mark everything tagged bug as high and close Checkout crashes');
  const done = outcome.kind === 'plan' ? outcome.actions.map(({ entity_id, params }) => [entity_id, params]) : outcome;
  expect(done).toEqual([
    ['b1', { priority: 'high' }],
    ['b3', { priority: 'high' }],
    ['b2', { status: 'done' }],
  ]);
  const refused = notesOf('bugs', 'close Checkout crashes and make everything that is urgent high priority');
  expect(refused).toContain('Urgent tasks keep their priority');
});
