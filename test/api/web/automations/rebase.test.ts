import { GATE } from '../../../../api/automation/actions/rules.js';
import { blankDraft, type Draft } from '../../../../api/web/pages/automations/draft.js';
import { describeClashes, looserGates, rebaseDraft } from '../../../../api/web/pages/automations/rebase.js';

const gate = { type: GATE, params: { role: 'manager' } };
const notify = { type: 'notify', params: { message: 'x' } };
const draft = (fields: Partial<Draft> = {}): Draft => ({ ...blankDraft(), name: 'A', actions: [notify], ...fields });

it('takes the gate that another user added, where the form left the steps as they were', () => {
  const theirs = draft({ actions: [gate, notify] });
  const { draft: merged, clashes } = rebaseDraft(draft({ name: 'B' }), draft(), theirs);
  expect(merged).toEqual({ ...theirs, name: 'B' });
  expect(clashes).toEqual([]);
});

it('says that the form replaces the steps of both, and that a gate goes', () => {
  const mine = draft({ actions: [notify, notify] });
  const theirs = draft({ actions: [gate, notify] });
  const { draft: merged, clashes } = rebaseDraft(mine, draft(), theirs);
  expect(merged.actions).toEqual(mine.actions);
  expect(describeClashes(clashes, merged, theirs)).toBe(
    'Both of you changed: steps. The form shows yours, which replace theirs when you save. It has 0 approval gates, 1 fewer than before. Behind no gate now: step 1 (Notify people).',
  );
  expect(looserGates(theirs, mine)).toBe('');
});

describe('a step before a gate that was behind one', () => {
  const comment = { type: 'add_comment', params: { content: 'x' } };
  const edited = { type: 'add_comment', name: 'Say it', params: { content: 'y' } };
  const of = (...actions: Draft['actions']) => ({ actions });
  it.each([
    ['the gate went behind it', of(comment, gate), of(gate, comment), ' Behind no gate now: step 1 (Comment on a task).'],
    ['also if it was edited on the way', of(edited, gate), of(gate, comment), ' Behind no gate now: step 1 (Say it).'],
    [
      'of two gates one is left',
      of(gate, comment, gate, notify),
      of(gate, gate, comment, notify),
      ' Behind fewer gates than before now: step 2 (Comment on a task).',
    ],
    [
      'several, of which three are named',
      of(comment, notify, comment, notify, edited, gate),
      of(gate, comment, notify, comment, notify, edited),
      ' Behind no gate now: step 1 (Comment on a task), step 2 (Notify people), step 3 (Comment on a task) and 2 more.',
    ],
    ['no other step moved', of(comment, gate, notify), of(comment, gate, notify), ''],
    ['a new step is no moved one', of(comment, gate, notify), of(gate, notify), ''],
    ['one of two like steps was free before', of(comment, gate), of(comment, gate, comment), ''],
    ['a gate more', of(gate, comment), of(comment), ''],
  ])('%s', (_what, now, before, text) => {
    expect(looserGates(now, before)).toBe(text);
  });
});
