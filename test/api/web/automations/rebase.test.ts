import { GATE } from '../../../../api/automation/actions/rules.js';
import { blankDraft, type Draft } from '../../../../api/web/pages/automations/draft.js';
import { describeClashes, fewerGates, rebaseDraft } from '../../../../api/web/pages/automations/rebase.js';

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
    'Both of you changed: steps. The form shows yours, which replace theirs when you save. It has 0 approval gates, 1 fewer than before.',
  );
  expect(fewerGates(theirs, mine)).toBe('');
});
